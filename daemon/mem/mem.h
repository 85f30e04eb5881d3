/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory system below an SM: the coalescer and the shared-memory banks as
 * pure functions, and behind a request/response interface whatever answers
 * lines. It knows lines and SMs, not warps; it moves no data, only time.
 */
#ifndef GPUEMU_MEM_MEM_H
#define GPUEMU_MEM_MEM_H

#include "base/base.h"
#include "base/spec.h"

/* One memory transaction of a warp instruction. */
struct mem_line {
	uint64_t addr;		/* line_bytes aligned */
	uint32_t lanes;		/* that it serves */
};

/*
 * Coalesces: distinct lines over the whole warp, in the order of the lanes that
 * first touch them. An access is naturally aligned and no longer than a line,
 * so no lane touches two. Returns how many lines it wrote (at most 32).
 */
unsigned int mem_coalesce(const uint64_t addr[WARP_LANES], uint32_t lanes,
			  unsigned int line_bytes,
			  struct mem_line lines[WARP_LANES]);

/*
 * Cycles that shared memory is busy with an access: the most distinct words
 * that one bank has to give (lanes on the same word share it). At least 1.
 */
unsigned int mem_bank_cycles(const uint64_t addr[WARP_LANES], uint32_t lanes,
			     unsigned int bytes, unsigned int banks);

enum mem_kind { MEM_READ, MEM_WRITE, MEM_ATOMIC };

struct mem_request {
	uint64_t addr;		/* of the line */
	uint32_t tag;		/* comes back with the response */
	uint16_t sm;
	uint8_t kind;		/* enum mem_kind */
};

struct mem;

int mem_create(const struct gpu_spec *spec, struct mem **mem);
void mem_destroy(struct mem *mem);

/* Can the SM send a line in this cycle? mem_send() needs it. */
bool mem_ready(const struct mem *mem, unsigned int sm, uint64_t now);
/* Every request is answered once, stores too (their acknowledgement). -ENOMEM. */
int mem_send(struct mem *mem, const struct mem_request *request, uint64_t now);
/* Takes one response that has arrived for the SM; false: none (any more). */
bool mem_receive(struct mem *mem, unsigned int sm, uint64_t now, uint32_t *tag);
/* Cycle in which the SM's next response arrives, UINT64_MAX: none is under way. */
uint64_t mem_next(const struct mem *mem, unsigned int sm);
/* Forgets requests under way (a kernel was ended). */
void mem_cancel(struct mem *mem);

struct mem_stats {
	uint64_t lines;		/* requests */
};
const struct mem_stats *mem_stats(const struct mem *mem);

#endif
