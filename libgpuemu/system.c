// SPDX-License-Identifier: GPL-2.0
/* Which of the process's memory is mapped, and how. See system.h; all backends use it. */
#include "system.h"

#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Mappings of the kernel's own are no memory of the program. Reading a device's registers may
 * change the device.
 */
static bool is_memory(const char *name)
{
	if (!strncmp(name, "/dev/", 5))
		return !strncmp(name, "/dev/shm/", 9) || !strncmp(name, "/dev/zero", 9);
	return strncmp(name, "[vvar", 5) && strncmp(name, "[vdso", 5) &&
	       strncmp(name, "[vsyscall", 9);
}

/* Managed memory, of this context or another of the process, is its context's alone. */
static bool is_managed(const struct system_range *range)
{
	return range->start >= ARENA_START && range->end <= ARENA_END;
}

/* Neighbours with the same rights are one: an allocation may reach over both. */
static int add(struct system *s, const struct system_range *range)
{
	struct system_range *last = s->count ? &s->at[s->count - 1] : NULL;

	if (last && last->end == range->start && last->read_only == range->read_only) {
		last->end = range->end;
		return 0;
	}
	if (array_grow(s->at, s->room, s->count))
		return -ENOMEM;
	s->at[s->count++] = *range;
	return 0;
}

static int read_maps(struct system *s)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t room = 0;
	int ret = f ? 0 : -errno;

	s->count = 0;
	while (f && !ret && getline(&line, &room, f) > 0) {
		struct system_range range;
		char rights[5];
		int name = 0;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &range.start,
			   &range.end, rights, &name) < 3 || rights[0] != 'r' ||
		    !is_memory(line + name) || is_managed(&range))
			continue;
		range.read_only = rights[1] != 'w';
		ret = add(s, &range);
	}
	if (f)
		fclose(f);
	free(line);
	if (ret)
		s->count = 0;
	return ret;
}

void system_refresh(void *ctx)
{
	/* Without memory for it nothing is mapped, and a kernel's access finds that out. */
	read_maps(ctx);
}

bool system_find(void *ctx, uint64_t addr, struct system_range *range)
{
	const struct system *s = ctx;
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->at[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->count || s->at[low].start > addr)
		return false;
	*range = s->at[low];
	return true;
}

void system_free(struct system *s)
{
	free(s->at);
	*s = (struct system){ 0 };
}
