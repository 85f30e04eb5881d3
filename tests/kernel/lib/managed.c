// SPDX-License-Identifier: GPL-2.0
/* Managed pages in a known place with known bytes; see managed.h. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/managed.h"

/* What brings a page from home to its place, or 0. */
static uint8_t op_to(enum placement where, size_t i)
{
	switch (where) {
	case ON_DEVICE:
		return GPUEMU_MIGRATE_H2D;
	case HALF:
		return i % 2 ? GPUEMU_MIGRATE_H2D : 0;
	case REMOTE:
		return GPUEMU_MIGRATE_REMOTE;
	case DUPLICATED:
		return GPUEMU_MIGRATE_DUPLICATE;
	default:
		return 0;
	}
}

int managed_move(struct managed *m)
{
	struct gpuemu_migration list[MANAGED_PAGES];
	uint32_t n = 0;
	size_t i;
	int ret;

	memset(list, 0, sizeof(list));
	for (i = 0; i < MANAGED_PAGES; i++) {
		if (!op_to(m->where, i))
			continue;
		list[n].addr = (uintptr_t)m->mem + i * PAGE;
		list[n].va_space = m->space;
		list[n].pages = 1;
		list[n++].op = op_to(m->where, i);
	}
	if (!n)
		return 0;
	ret = engine_raise(&m->e, GPUEMU_RAISE_EMPTY_OK);
	if (ret < 0)
		return ret;
	ret = engine_commit(&m->e, list, n);
	return ret < 0 ? ret : ret == (int)n ? 0 : -EIO;
}

int managed_place(struct managed *m, enum placement where)
{
	size_t i;

	m->where = where;
	/* All home and mapped; then out what has to be out. */
	for (i = 0; i < MANAGED_PAGES; i++)
		*(volatile uint8_t *)(m->mem + i * PAGE);
	/* Reading leaves the engine what it shares. */
	if ((managed_resident(m, 0, MANAGED_PAGES) ||
	     engine_remote(&m->e, m->space, m->mem, MANAGED_PAGES)) &&
	    engine_d2h(&m->e, m->space, m->mem, MANAGED_PAGES))
		return -EIO;
	return managed_move(m);
}

void managed_refill(struct managed *m, uint32_t seed)
{
	fill(m->copy, sizeof(m->copy), seed);
	memcpy(m->mem, m->copy, sizeof(m->copy));
}

int managed_open(struct managed *m, enum placement where)
{
	uint8_t *at = reserve(2 * BLOCK);
	int ret = engine_open(&m->e);

	if (ret)
		return ret;
	engine_acker_start(&m->e);
	m->fd = client_open();
	m->space = client_space(m->fd);
	m->mem = map_managed_at(m->fd, at + BLOCK - MANAGED_BYTES / 2,
				MANAGED_BYTES);
	if (!m->mem)
		return -ENOMEM;
	managed_refill(m, 77);
	/*
	 * Once there and back: the thread that acknowledges must not take its
	 * first page faults while a test's munmap() waits for it with this
	 * process' mmap_lock. Real engines are processes of their own.
	 */
	ret = managed_place(m, ON_DEVICE);
	return ret ? ret : managed_place(m, where);
}

void managed_close(struct managed *m)
{
	munmap(m->mem, MANAGED_BYTES);
	close(m->fd);
	engine_close(&m->e);
}

/* The device's bytes first: reading them from the CPU would move them. */
bool managed_intact(struct managed *m, size_t first, size_t n)
{
	size_t i, at;
	void *frame;

	for (i = first; i < first + n; i++) {
		at = i * PAGE;
		frame = engine_page(&m->e, m->space, m->mem + at);
		if (frame && memcmp(frame, m->copy + at, PAGE))
			return false;
		if (memcmp(m->mem + at, m->copy + at, PAGE))
			return false;
	}
	return true;
}

bool managed_zero(const uint8_t *p, size_t bytes)
{
	return !p[0] && !memcmp(p, p + 1, bytes - 1);
}

uint32_t managed_resident(struct managed *m, size_t first, size_t n)
{
	return engine_resident(&m->e, m->space, m->mem + first * PAGE, n);
}

uint32_t managed_placed(const struct managed *m, size_t first, size_t n)
{
	uint32_t count = 0;
	size_t i;

	for (i = first; i < first + n; i++)
		count += op_to(m->where, i) == GPUEMU_MIGRATE_H2D;
	return count;
}

static sigjmp_buf touch_failed;

static void on_touch(int sig)
{
	siglongjmp(touch_failed, sig);
}

int signal_of(volatile uint8_t *p, bool write)
{
	struct sigaction act = { .sa_handler = on_touch }, segv, bus;
	int sig;

	sigaction(SIGSEGV, &act, &segv);
	sigaction(SIGBUS, &act, &bus);
	sig = sigsetjmp(touch_failed, 1);
	if (!sig) {
		if (write)
			*p = *p;
		else
			*p;
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	return sig;
}
