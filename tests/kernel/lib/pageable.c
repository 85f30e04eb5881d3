// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/pageable.h"

int pageable_give(int fd)
{
	struct gpuemu_pageable p = { .size = sizeof(p) };

	return call(fd, GPUEMU_IOCTL_PAGEABLE, &p);
}

uint8_t *map_anonymous(size_t bytes)
{
	uint8_t *p = mmap(NULL, bytes + BLOCK, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *start;

	if (p == MAP_FAILED)
		return NULL;
	start = (uint8_t *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
	if (start > p)
		munmap(p, start - p);
	munmap(start + bytes, p + BLOCK - start);
	return start;
}

int huge_kb(const void *addr)
{
	char line[256], first[32];
	FILE *f = fopen("/proc/self/smaps", "r");
	bool here = false;
	int kb = -1;

	snprintf(first, sizeof(first), "%lx-", (unsigned long)addr);
	while (f && kb < 0 && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, first, strlen(first)))
			here = true;
		if (here)
			sscanf(line, "AnonHugePages: %d", &kb);
	}
	if (f)
		fclose(f);
	return kb;
}

uint8_t *map_huge_page(void)
{
	uint8_t *p = map_anonymous(BLOCK);
	size_t i;

	if (!p || madvise(p, BLOCK, MADV_HUGEPAGE))
		return NULL;
	for (i = 0; i < BLOCK / PAGE; i++)
		p[i * PAGE] = i;
	return huge_kb(p) == BLOCK / 1024 ? p : NULL;
}

int pageable_open(struct pageable *p)
{
	int ret;

	memset(p, 0, sizeof(*p));
	p->fd = -1;
	ret = nl_open(&p->nl);
	if (!ret)
		ret = engine_open(&p->e);
	if (ret)
		return ret;
	engine_acker_start(&p->e);
	p->fd = client_open();
	if (p->fd < 0)
		return -errno;
	p->space = client_space(p->fd);
	ret = pageable_give(p->fd);
	if (ret)
		return ret;
	p->mem = map_anonymous(sizeof(p->copy));
	if (!p->mem)
		return -ENOMEM;
	fill(p->copy, sizeof(p->copy), 31);
	memcpy(p->mem, p->copy, sizeof(p->copy));
	return 0;
}

void pageable_close(struct pageable *p)
{
	if (p->mem)
		munmap(p->mem, sizeof(p->copy));
	if (p->fd >= 0)
		close(p->fd);
	engine_close(&p->e);
	nl_close(&p->nl);
}

int pageable_ask(struct pageable *p, const void *addr, uint32_t pages,
		 enum gpuemu_access access, enum gpuemu_migration_op op, uint8_t *flags)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)addr & ~(PAGE - 1), .va_space = p->space,
		.pages = pages, .op = op,
	};

	engine_fault(&p->e, p->space, (void *)(uintptr_t)m.addr, access);
	if (engine_raise(&p->e, 0) != 1)
		return -EIO;
	*flags = p->e.control->batch.faults[0].flags;
	return engine_commit_flags(&p->e, &m, 1, GPUEMU_COMMIT_EVICT) < 0 ? -EIO : m.status;
}

int pageable_try(struct pageable *p, const void *addr, uint32_t pages,
		 enum gpuemu_access access, uint8_t *flags)
{
	return pageable_ask(p, addr, pages, access, GPUEMU_MIGRATE_REMOTE, flags);
}

int pageable_bring(struct pageable *p, const void *addr, uint32_t pages)
{
	uint8_t flags;
	int ret, tries;

	for (tries = 0; tries < 2000; tries++) {
		ret = pageable_ask(p, addr, pages, GPUEMU_ACCESS_WRITE, GPUEMU_MIGRATE_H2D,
				   &flags);
		if (ret != -EAGAIN)
			return ret;
		sleep_ms(1);
	}
	return -ETIMEDOUT;
}

int pageable_fault(struct pageable *p, const void *addr, uint32_t pages,
		   enum gpuemu_access access, uint8_t *flags)
{
	int ret, tries;

	for (tries = 0; tries < 2000; tries++) {
		ret = pageable_try(p, addr, pages, access, flags);
		if (ret != -EAGAIN)
			return ret;
		sleep_ms(1);
	}
	return -ETIMEDOUT;
}

int pageable_reads(struct pageable *p, const void *addr, uint32_t pages)
{
	uint8_t flags;

	return pageable_fault(p, addr, pages, GPUEMU_ACCESS_READ, &flags);
}

int pageable_writes(struct pageable *p, const void *addr, uint32_t pages)
{
	uint8_t flags;

	return pageable_fault(p, addr, pages, GPUEMU_ACCESS_WRITE, &flags);
}

uint64_t pageable_entry(struct pageable *p, const void *addr)
{
	return engine_entry(&p->e, p->space, addr);
}

volatile uint8_t *pageable_gpu(struct pageable *p, const void *addr)
{
	uint8_t *page = engine_at(&p->e, pageable_entry(p, addr));

	return page ? page + (uintptr_t)addr % PAGE : NULL;
}

uint64_t pageable_count(struct pageable *p, int counter)
{
	return nl_stat(&p->nl, p->space, counter);
}

static int try_to_hold(struct engine *e, struct pageable *p)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)p->mem, .va_space = p->space,
		.pages = PAGEABLE_PAGES, .op = p->hold,
	};
	int ret;

	engine_fault(e, p->space, p->mem, GPUEMU_ACCESS_WRITE);
	ret = engine_raise(e, 0);
	if (ret != 1)
		return ret < 0 ? ret : -EPROTO;
	ret = engine_commit(e, &m, 1);
	return ret < 0 ? ret : m.status;
}

int pageable_hold(struct engine *e, int from, int to, void *arg)
{
	struct pageable *p = arg;
	int tries, i, ret = -EAGAIN;
	volatile uint8_t *page;

	(void)from;
	for (tries = 0; (ret == -EAGAIN || ret == -EBUSY) && tries < 2000; tries++) {
		if (tries)
			sleep_ms(1);
		ret = try_to_hold(e, p);
	}
	for (i = 0; !ret && i < 2; i++) {
		page = engine_page(e, p->space, p->mem + i * PAGE);
		if (page)
			*page = 0xe0 + i;
		else
			ret = -EFAULT;
	}
	return engine_say(to, ret);
}
