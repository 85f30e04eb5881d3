// SPDX-License-Identifier: GPL-2.0
/*
 * An eviction policy as an object of its own: who came first goes first, `group` pages
 * at a time. Decides as the built-in `fifo` does. gpuemu-policy(7) builds and runs it.
 */
#include <errno.h>
#include <stdlib.h>

#include <gpuemu_policy.h>

enum { GROUP };			/* options */
enum { PICKS, PASSED_OVER };	/* counters */

static const struct gpuemu_policy_option options[] = {
	{ "group", 1, 1, 512, "pages that go at a time, at least" },
	{ NULL }
};

static const char *const counters[] = { "picks", "passed_over", NULL };

#define BUCKETS	4096u

struct page {
	struct page *before, *after;	/* in the order of arrival */
	struct page *next;		/* in its bucket */
	uint64_t addr;
};

struct fifo {
	struct page order;		/* head of the ring */
	struct page *buckets[BUCKETS];
};

static int create(const struct gpuemu_policy_view *view, void **state)
{
	struct fifo *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->order.before = &f->order;
	f->order.after = &f->order;
	*state = f;
	return 0;
}

static void destroy(void *state)
{
	struct fifo *f = state;
	struct page *after;

	for (struct page *p = f->order.after; p != &f->order; p = after) {
		after = p->after;
		free(p);
	}
	free(f);
}

/* Where the pointer to the page is, or would be. */
static struct page **find(struct fifo *f, uint64_t addr)
{
	struct page **at = &f->buckets[addr / GPUEMU_POLICY_PAGE % BUCKETS];

	while (*at && (*at)->addr != addr)
		at = &(*at)->next;
	return at;
}

static int insert(void *state, uint64_t addr, bool prefetched)
{
	struct fifo *f = state;
	struct page **at = find(f, addr), *page;

	if (*at)
		return 0;
	page = calloc(1, sizeof(*page));
	if (!page)
		return -ENOMEM;
	*at = page;
	page->addr = addr;
	page->after = &f->order;
	page->before = f->order.before;
	page->before->after = page;
	f->order.before = page;
	return 0;
}

static void leave(void *state, uint64_t addr)
{
	struct page **at = find(state, addr), *page = *at;

	if (!page)
		return;
	*at = page->next;
	page->before->after = page->after;
	page->after->before = page->before;
	free(page);
}

static unsigned int pick(void *state, const struct gpuemu_policy_view *view, unsigned int need,
			 bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			 uint64_t *pages, unsigned int max)
{
	struct fifo *f = state;
	unsigned int n = 0;

	if (need < view->options[GROUP])
		need = view->options[GROUP];
	for (struct page *p = f->order.after; p != &f->order && n < need && n < max; p = p->after) {
		if (keep(ctx, p->addr))
			view->count(view->ctx, PASSED_OVER, 1);
		else
			pages[n++] = p->addr;
	}
	view->count(view->ctx, PICKS, 1);
	return n;
}

const struct gpuemu_evict_ops gpuemu_evict = {
	.abi = GPUEMU_POLICY_ABI,
	.name = "fifo",
	.help = "who came first goes first",
	.options = options,
	.counters = counters,
	.create = create,
	.destroy = destroy,
	.insert = insert,
	.remove = leave,
	.pick = pick,
};
