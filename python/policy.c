// SPDX-License-Identifier: GPL-2.0
/*
 * The prefetch policy that asks a Python program (gpuemu.py): each call is a line of text in one
 * named pipe, and the answer to a batch a line in another. It knows nothing but the pipes' folder,
 * GPUEMU_PYTHON_POLICY. The engine bounds how long it waits, and ends this process with its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpuemu_policy.h>

struct asked {
	FILE *ask, *answer;
	char *line;
	size_t room;
};

static FILE *open_pipe(const char *name, const char *mode)
{
	const char *folder = getenv("GPUEMU_PYTHON_POLICY");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : ".", name);
	return fopen(path, mode);
}

static int create(const struct gpuemu_policy_view *view, void **state)
{
	struct asked *a = calloc(1, sizeof(*a));

	(void)view;
	if (!a)
		return -ENOMEM;
	a->ask = open_pipe("ask", "w");
	a->answer = a->ask ? open_pipe("answer", "r") : NULL;
	if (!a->answer) {
		int ret = -errno;

		if (a->ask)
			fclose(a->ask);
		free(a);
		return ret;
	}
	*state = a;
	return 0;
}

static void destroy(void *state)
{
	struct asked *a = state;

	fclose(a->ask);
	fclose(a->answer);
	free(a->line);
	free(a);
}

static unsigned int on_batch(void *state, const struct gpuemu_policy_view *view,
			     const struct gpuemu_policy_fault *faults, unsigned int n,
			     uint64_t *pages, unsigned int max)
{
	struct asked *a = state;
	unsigned int count = 0;
	char *at, *end;

	(void)view;
	fprintf(a->ask, "batch %u", max);
	for (unsigned int i = 0; i < n; i++)
		fprintf(a->ask, " %" PRIu64 " %" PRIu64 " %u %u %u %u %u", faults[i].addr,
			faults[i].cycle, faults[i].merged, faults[i].sm, faults[i].warp,
			faults[i].write, faults[i].resident);
	fputc('\n', a->ask);
	if (fflush(a->ask) || getline(&a->line, &a->room, a->answer) < 0)
		return 0;
	for (at = a->line; count < max; at = end) {
		uint64_t page = strtoull(at, &end, 10);

		if (end == at)
			break;
		pages[count++] = page & ~(GPUEMU_POLICY_PAGE - 1);
	}
	return count;
}

static void on_arrive(void *state, uint64_t addr, bool prefetched)
{
	struct asked *a = state;

	fprintf(a->ask, "a %" PRIu64 " %d\n", addr, prefetched);
}

static void on_touch(void *state, uint64_t addr, bool write)
{
	struct asked *a = state;

	fprintf(a->ask, "t %" PRIu64 " %d\n", addr, write);
}

static void on_leave(void *state, uint64_t addr)
{
	struct asked *a = state;

	fprintf(a->ask, "l %" PRIu64 "\n", addr);
}

const struct gpuemu_prefetch_ops gpuemu_prefetch = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "python",
	.help = "asks the Python program that started the run",
	.create = create,
	.destroy = destroy,
	.on_batch = on_batch,
	.on_arrive = on_arrive,
	.on_touch = on_touch,
	.on_leave = on_leave,
};
