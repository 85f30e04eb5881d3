// SPDX-License-Identifier: GPL-2.0
/*
 * KCOV gives each thread that asks a list of the places that it comes by in the kernel,
 * which are the module's alone: nothing else is built with it. A place is where one of
 * the compiler's calls returns to. Which were reached is in memory that all processes share.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz/kcov.h"

enum {
	WORDS = 1 << 16,	/* places between two looks, with their number */
	TEXT_MAX = 4 << 20,	/* bytes */
};

struct places {
	uint64_t base, bytes;	/* of the module in memory */
	_Atomic uint8_t reached[TEXT_MAX];
};

static const char path[] = "/sys/kernel/debug/kcov";
static struct places *places;
static __thread uint64_t *list;

/* The kernel is not moved at boot, or KCOV would say other addresses than these. */
static void find_module(void)
{
	FILE *file = fopen("/proc/modules", "r");
	unsigned long long base, bytes;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "gpuemu %llu %*d %*s %*s %llx", &bytes, &base) != 2)
			continue;
		places->base = base;
		places->bytes = bytes < TEXT_MAX ? bytes : TEXT_MAX;
	}
	if (file)
		fclose(file);
}

void kcov_open(void)
{
	if (access(path, F_OK))
		return;
	places = mmap(NULL, sizeof(*places), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		abort();
	find_module();
	/* For clients that are another user's. */
	if (chmod("/sys/kernel/debug", 0755) || chmod(path, 0666))
		abort();
}

void kcov_begin(void)
{
	int fd;

	/* A parent's is not this thread's. */
	list = NULL;
	if (!places)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!ioctl(fd, KCOV_INIT_TRACE, (unsigned long)WORDS)) {
		list = mmap(NULL, WORDS * sizeof(*list), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (list == MAP_FAILED || ioctl(fd, KCOV_ENABLE, (unsigned long)KCOV_TRACE_PC))
			list = NULL;
	}
	/* The thread has it on its own from here. */
	close(fd);
}

void kcov_take(void)
{
	uint64_t i, n, at;

	if (!list)
		return;
	n = __atomic_load_n(&list[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < WORDS; i++) {
		at = list[i] - places->base;
		/* Most are there: to write each again would be slow. */
		if (at < places->bytes && !atomic_load(&places->reached[at]))
			atomic_store(&places->reached[at], 1);
	}
	__atomic_store_n(&list[0], 0, __ATOMIC_RELAXED);
}

bool kcov_reached(uint32_t *reached)
{
	uint64_t i;

	if (!places)
		return false;
	*reached = 0;
	for (i = 0; i < places->bytes; i++)
		*reached += places->reached[i];
	return true;
}
