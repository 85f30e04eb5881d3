// SPDX-License-Identifier: GPL-2.0
/*
 * A memory that answers every line after latency.global cycles and takes
 * mem.lines_per_cycle of each SM. Caches and DRAM take its place behind the
 * same interface. Called by the SMs (send, receive) and their wake-up (next).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/mem.h"

struct response {
	uint64_t cycle;
	uint32_t tag;
};

/* The latency is the same for all, so responses come in the order of the requests. */
struct port {
	struct response *ring;
	uint32_t head, count, size;	/* size is a power of two */
	uint32_t sent;			/* lines in cycle last */
	uint64_t last;
};

struct mem {
	struct port *ports;		/* one an SM */
	unsigned int sms;
	uint32_t latency, lines_per_cycle;
	struct mem_stats stats;
};

int mem_create(const struct gpu_spec *spec, struct mem **out)
{
	struct mem *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->sms = spec->sms;
	m->latency = spec->lat_global;
	m->lines_per_cycle = spec->mem_lines_per_cycle;
	m->ports = calloc(m->sms, sizeof(*m->ports));
	if (!m->ports) {
		free(m);
		return -ENOMEM;
	}
	mem_cancel(m);
	*out = m;
	return 0;
}

void mem_destroy(struct mem *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->sms; i++)
		free(m->ports[i].ring);
	free(m->ports);
	free(m);
}

bool mem_ready(const struct mem *m, unsigned int sm, uint64_t now)
{
	const struct port *p = &m->ports[sm];

	return p->last != now || p->sent < m->lines_per_cycle;
}

static int port_grow(struct port *p)
{
	uint32_t size = p->size ? 2 * p->size : 512;
	struct response *ring = malloc(size * sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count; i++)
		ring[i] = p->ring[(p->head + i) & (p->size - 1)];
	free(p->ring);
	p->ring = ring;
	p->size = size;
	p->head = 0;
	return 0;
}

int mem_send(struct mem *m, const struct mem_request *request, uint64_t now)
{
	struct port *p = &m->ports[request->sm];

	if (p->count == p->size && port_grow(p))
		return -ENOMEM;
	if (p->last != now) {
		p->last = now;
		p->sent = 0;
	}
	p->sent++;
	p->ring[(p->head + p->count++) & (p->size - 1)] = (struct response){
		.cycle = now + m->latency, .tag = request->tag,
	};
	m->stats.lines++;
	return 0;
}

bool mem_receive(struct mem *m, unsigned int sm, uint64_t now, uint32_t *tag)
{
	struct port *p = &m->ports[sm];
	struct response *r;

	if (!p->count)
		return false;
	r = &p->ring[p->head];
	if (r->cycle > now)
		return false;
	*tag = r->tag;
	p->head = (p->head + 1) & (p->size - 1);
	p->count--;
	return true;
}

uint64_t mem_next(const struct mem *m, unsigned int sm)
{
	const struct port *p = &m->ports[sm];

	return p->count ? p->ring[p->head].cycle : UINT64_MAX;
}

void mem_cancel(struct mem *m)
{
	for (unsigned int i = 0; i < m->sms; i++) {
		m->ports[i].count = 0;
		m->ports[i].last = UINT64_MAX;
	}
}

const struct mem_stats *mem_stats(const struct mem *m)
{
	return &m->stats;
}
