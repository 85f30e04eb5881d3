// SPDX-License-Identifier: GPL-2.0
/*
 * The operations that paging calls as it calls those of a row. Each notes what
 * happened, or asks the process and checks the answer. After a failure a prefetch
 * policy wishes for nothing, and an eviction policy's fallback goes on.
 */
#include <errno.h>
#include <string.h>

#include "plugin/loaded.h"

#define VA_END	(1ull << 47)	/* managed memory lies below */

/* --- prefetch -------------------------------------------------------------------- */

/* Refuses addresses that are none. The handler checks the rest later. */
static unsigned int take_wishes(struct plugin *plugin, uint64_t *pages, unsigned int max)
{
	const struct channel *channel = plugin->process.channel;
	unsigned int n = channel->count, taken = 0;

	if (n > max) {
		plugin->refused += n - max;
		n = max;
	}
	for (unsigned int i = 0; i < n; i++) {
		uint64_t addr = channel->pages[i];

		if (addr % PAGE_BYTES || !addr || addr >= VA_END)
			plugin->refused++;
		else
			pages[taken++] = addr;
	}
	return taken;
}

static unsigned int prefetch_on_batch(void *state, const struct gpuemu_policy_view *view,
				      const struct gpuemu_policy_fault *faults, unsigned int n,
				      uint64_t *pages, unsigned int max)
{
	struct plugin *plugin = state;
	struct channel *channel = plugin->process.channel;

	if (!channel)
		return 0;
	max = MIN(max, CHANNEL_PAGES);
	n = MIN(n, CHANNEL_FAULTS);
	memcpy(channel->faults, faults, n * sizeof(*faults));
	channel->nfaults = n;
	channel->max = max;
	plugin_ranges(plugin);
	return plugin_call(plugin, CALL_DECIDE) ? take_wishes(plugin, pages, max) : 0;
}

static void prefetch_on_arrive(void *state, uint64_t addr, bool prefetched)
{
	plugin_event(state, addr, EVENT_ARRIVE, prefetched);
}

static void prefetch_on_touch(void *state, uint64_t addr, bool write)
{
	plugin_event(state, addr, EVENT_TOUCH, write);
}

static void prefetch_on_leave(void *state, uint64_t addr)
{
	plugin_event(state, addr, EVENT_LEAVE, false);
}

static void plugin_destroy(void *state)
{
	struct plugin *plugin = state;

	plugin_call(plugin, CALL_DESTROY);
	if (plugin->fallback_state)
		plugin->fallback->destroy(plugin->fallback_state);
	plugin_close(plugin);
}

/* --- eviction ---------------------------------------------------------------------- */

void plugin_fall_back(struct plugin *plugin)
{
	const struct gpuemu_evict_ops *ops = plugin->fallback;

	if (!ops || ops->create(plugin->view, &plugin->fallback_state))
		return;
	/* In the order of addresses within a block, of arrival between blocks. */
	for (size_t i = 0; i < plugin->here.nblocks; i++) {
		const struct pages_block *block = &plugin->here.blocks[i];

		for (unsigned int page = bitmap_next(block->here, BLOCK_PAGES, 0);
		     page < BLOCK_PAGES; page = bitmap_next(block->here, BLOCK_PAGES, page + 1))
			if (ops->insert(plugin->fallback_state,
					block->addr + page * PAGE_BYTES, false))
				return;
	}
}

static int evict_insert(void *state, uint64_t addr, bool prefetched)
{
	struct plugin *plugin = state;
	int rc = pages_add(&plugin->here, addr);

	if (rc)
		return rc;
	if (plugin->fallback_state)
		return plugin->fallback->insert(plugin->fallback_state, addr, prefetched);
	plugin_event(plugin, addr, EVENT_ARRIVE, prefetched);
	return 0;
}

static void evict_touch(void *state, uint64_t addr, bool write)
{
	struct plugin *plugin = state;

	if (plugin->fallback_state)
		plugin->fallback->touch(plugin->fallback_state, addr, write);
	else if (plugin->policy.touches)
		plugin_event(plugin, addr, EVENT_TOUCH, write);
}

static void evict_remove(void *state, uint64_t addr)
{
	struct plugin *plugin = state;

	pages_drop(&plugin->here, addr);
	if (plugin->fallback_state)
		plugin->fallback->remove(plugin->fallback_state, addr);
	else
		plugin_event(plugin, addr, EVENT_LEAVE, false);
}

/* Which pages of the block must stay in this call. */
static void look_up_kept(struct plugin *plugin, struct pages_block *block)
{
	memset(block->kept, 0, sizeof(block->kept));
	block->kept_in = plugin->calls;
	for (unsigned int page = bitmap_next(block->here, BLOCK_PAGES, 0); page < BLOCK_PAGES;
	     page = bitmap_next(block->here, BLOCK_PAGES, page + 1))
		if (plugin->keep(plugin->keep_ctx, block->addr + page * PAGE_BYTES))
			bitmap_set(block->kept, page);
}

/* The next pick() most often looks where the last one did. */
static void remember(struct plugin *plugin, const struct pages_block *block)
{
	if (plugin->nlikely < CHANNEL_KEPT)
		plugin->likely[plugin->nlikely++] = block->addr;
}

static void hand_kept(struct plugin *plugin, unsigned int at, const struct pages_block *block)
{
	struct channel_kept *kept = &plugin->process.channel->kept[at];

	kept->block = block->addr;
	memcpy(kept->pages, block->kept, sizeof(kept->pages));
}

/* Each block once in a call: a process cannot keep the engine busy with it. */
bool plugin_tell_kept(void *ctx)
{
	struct plugin *plugin = ctx;
	uint64_t addr = plugin->process.channel->kept[0].block;
	struct pages_block *block = pages_find(&plugin->here, addr);

	if (!block || block->kept_in == plugin->calls)
		return false;
	look_up_kept(plugin, block);
	hand_kept(plugin, 0, block);
	remember(plugin, block);
	return true;
}

static void hand_likely(struct plugin *plugin)
{
	const unsigned int n = plugin->nlikely;
	unsigned int handed = 0;

	plugin->calls++;
	plugin->nlikely = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct pages_block *block = pages_find(&plugin->here, plugin->likely[i]);

		if (!block || block->kept_in == plugin->calls)
			continue;
		look_up_kept(plugin, block);
		hand_kept(plugin, handed++, block);
	}
	plugin->process.channel->nkept = handed;
}

static uint64_t count_may_go(struct plugin *plugin)
{
	uint64_t n = 0;

	for (size_t i = 0; i < plugin->here.nblocks; i++) {
		struct pages_block *block = &plugin->here.blocks[i];

		if (block->kept_in != plugin->calls)
			look_up_kept(plugin, block);
		for (unsigned int w = 0; w < ARRAY_SIZE(block->here); w++)
			n += (unsigned int)__builtin_popcountll(block->here[w] & ~block->kept[w]);
	}
	return n;
}

/* A page once, of those that are here and may go. */
static unsigned int take_victims(struct plugin *plugin, uint64_t *pages, unsigned int max)
{
	const struct channel *channel = plugin->process.channel;
	unsigned int n = channel->count, taken = 0;

	if (n > max) {
		plugin->refused += n - max;
		n = max;
	}
	for (unsigned int i = 0; i < n; i++) {
		uint64_t addr = channel->pages[i];
		struct pages_block *block = pages_find(&plugin->here, addr);

		if (block && block->kept_in != plugin->calls)
			look_up_kept(plugin, block);
		if (addr % PAGE_BYTES || !block || !bitmap_test(block->here, pages_bit(addr)) ||
		    bitmap_test(block->kept, pages_bit(addr))) {
			plugin->refused++;
			continue;
		}
		if (block->named_in != plugin->calls)
			remember(plugin, block);
		block->named_in = plugin->calls;
		bitmap_set(block->kept, pages_bit(addr));
		pages[taken++] = addr;
	}
	return taken;
}

/* 0 and the process is well: all pages are kept. */
static unsigned int ask_victims(struct plugin *plugin, unsigned int need, uint64_t *pages,
				unsigned int max)
{
	struct channel *channel = plugin->process.channel;
	unsigned int n;
	uint64_t may_go;

	hand_likely(plugin);
	channel->need = need;
	channel->max = max;
	plugin_ranges(plugin);
	if (!plugin_call(plugin, CALL_DECIDE))
		return 0;
	n = take_victims(plugin, pages, max);
	if (n)
		return n;
	may_go = count_may_go(plugin);
	/* Without a page that goes, the faults would wait for ever. */
	if (may_go)
		plugin_fail(plugin, "named no page in pick() although %llu may go",
			    (unsigned long long)may_go);
	return 0;
}

static unsigned int evict_pick(void *state, const struct gpuemu_policy_view *view,
			       unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			       uint64_t *pages, unsigned int max)
{
	struct plugin *plugin = state;
	unsigned int n = 0;

	if (plugin->process.channel) {
		plugin->keep = keep;
		plugin->keep_ctx = ctx;
		n = ask_victims(plugin, need, pages, MIN(max, CHANNEL_PAGES));
		plugin->keep = NULL;
	}
	if (n || !plugin->fallback_state)
		return n;
	return plugin->fallback->pick(plugin->fallback_state, view, need, keep, ctx, pages, max);
}

/* --- both ------------------------------------------------------------------------------ */

void plugin_fill_ops(struct plugin *plugin)
{
	const struct channel_policy *policy = &plugin->policy;

	if (plugin->kind == POLICY_PREFETCH)
		plugin->prefetch = (struct gpuemu_prefetch_ops){
			.abi = GPUEMU_POLICY_ABI,
			.name = policy->name,
			.help = policy->help,
			.options = plugin->options,
			.counters = plugin->counters,
			.needs_record = policy->needs_record != 0,
			.destroy = plugin_destroy,
			.on_batch = prefetch_on_batch,
			.on_arrive = prefetch_on_arrive,
			.on_touch = policy->touches ? prefetch_on_touch : NULL,
			.on_leave = prefetch_on_leave,
		};
	else
		plugin->evict = (struct gpuemu_evict_ops){
			.abi = GPUEMU_POLICY_ABI,
			.name = policy->name,
			.help = policy->help,
			.options = plugin->options,
			.counters = plugin->counters,
			.needs_record = policy->needs_record != 0,
			.destroy = plugin_destroy,
			.insert = evict_insert,
			.touch = evict_touch,
			.remove = evict_remove,
			.pick = evict_pick,
		};
}
