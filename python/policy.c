// SPDX-License-Identifier: GPL-2.0
/*
 * The policies that ask a Python program (gpuemu.py): each call is a line of text in one named
 * pipe, and an answer a line in another. They know nothing but the pipes' folder,
 * GPUEMU_PYTHON_POLICY. Prefetch and eviction run in a process each, with pipes of their own. The
 * engine bounds how long it waits, and ends these processes with its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpuemu_policy.h>

struct asked {
	FILE *ask, *answer;
	char *line;
	size_t room;
};

static FILE *open_pipe(const char *kind, const char *name, const char *mode)
{
	const char *folder = getenv("GPUEMU_PYTHON_POLICY");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s-%s", folder ? folder : ".", kind, name);
	return fopen(path, mode);
}

static int create(const char *kind, const struct gpuemu_policy_view *view, void **state)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->ask = open_pipe(kind, "ask", "w");
	a->answer = a->ask ? open_pipe(kind, "answer", "r") : NULL;
	if (!a->answer) {
		int ret = -errno;

		if (a->ask)
			fclose(a->ask);
		free(a);
		return ret;
	}
	fprintf(a->ask, "begin %" PRIu64 "\n", view->frames);
	*state = a;
	return 0;
}

static int create_prefetch(const struct gpuemu_policy_view *view, void **state)
{
	return create("prefetch", view, state);
}

static int create_evict(const struct gpuemu_policy_view *view, void **state)
{
	return create("evict", view, state);
}

static void destroy(void *state)
{
	struct asked *a = state;

	fclose(a->ask);
	fclose(a->answer);
	free(a->line);
	free(a);
}

/* The next page of an answer; false: it has no more. */
static bool next_page(char **at, uint64_t *page)
{
	char *end;

	*page = strtoull(*at, &end, 10) & ~(GPUEMU_POLICY_PAGE - 1);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* Sends what was asked, and waits for the line that answers it. NULL: nobody does. */
static char *answer(struct asked *a)
{
	if (fflush(a->ask) || getline(&a->line, &a->room, a->answer) < 0)
		return NULL;
	return a->line;
}

static unsigned int on_batch(void *state, const struct gpuemu_policy_view *view,
			     const struct gpuemu_policy_fault *faults, unsigned int n,
			     uint64_t *pages, unsigned int max)
{
	struct asked *a = state;
	unsigned int count = 0;
	char *at;

	(void)view;
	fprintf(a->ask, "batch %u", max);
	for (unsigned int i = 0; i < n; i++)
		fprintf(a->ask, " %" PRIu64 " %" PRIu64 " %u %u %u %u %u", faults[i].addr,
			faults[i].cycle, faults[i].merged, faults[i].sm, faults[i].warp,
			faults[i].write, faults[i].resident);
	fputc('\n', a->ask);
	at = answer(a);
	while (at && count < max && next_page(&at, &pages[count]))
		count++;
	return count;
}

/*
 * The program answers with pages in its order, some at a time, and this takes the first that may
 * go. The first number of the first answer is how many the program wants to go at least.
 */
static unsigned int pick(void *state, const struct gpuemu_policy_view *view, unsigned int need,
			 bool (*keep)(void *ctx, uint64_t addr), void *ctx, uint64_t *pages,
			 unsigned int max)
{
	struct asked *a = state;
	unsigned int count = 0;
	uint64_t page;
	char *at;

	(void)view;
	fprintf(a->ask, "pick %u\n", need);
	at = answer(a);
	if (at) {
		unsigned long want = strtoul(at, &at, 10);

		need = want > max ? max : want > need ? (unsigned int)want : need;
	}
	while (at && count < need) {
		bool any = false;

		while (count < need && next_page(&at, &page)) {
			any = true;
			if (!keep(ctx, page))
				pages[count++] = page;
		}
		if (!any || count == need)
			break;
		fputs("more\n", a->ask);
		at = answer(a);
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

static int insert(void *state, uint64_t addr, bool prefetched)
{
	on_arrive(state, addr, prefetched);
	return 0;
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
	.create = create_prefetch,
	.destroy = destroy,
	.on_batch = on_batch,
	.on_arrive = on_arrive,
	.on_touch = on_touch,
	.on_leave = on_leave,
};

const struct gpuemu_evict_ops gpuemu_evict = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "python",
	.help = "asks the Python program that started the run",
	.create = create_evict,
	.destroy = destroy,
	.insert = insert,
	.touch = on_touch,
	.remove = on_leave,
	.pick = pick,
};
