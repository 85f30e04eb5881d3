/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A loaded policy, as the files of plugin/ share it: plugin.c opens and asks,
 * adapter.c is what paging calls. Private to plugin/.
 */
#ifndef GPUEMU_PLUGIN_LOADED_H
#define GPUEMU_PLUGIN_LOADED_H

#include "plugin/pages.h"
#include "plugin/plugin.h"
#include "plugin/process.h"

struct plugin {
	struct process process;		/* process.channel NULL: it was ended */
	enum policy_kind kind;
	unsigned int limit_ms;
	bool limit_is_site;		/* limit_ms is the site's */
	char *path;			/* absolute */
	struct channel_policy policy;	/* checked copy; names and options below point into it */
	struct gpuemu_policy_option options[CHANNEL_OPTIONS + 1];
	const char *counters[CHANNEL_COUNTERS + 1];
	struct gpuemu_prefetch_ops prefetch;
	struct gpuemu_evict_ops evict;

	const struct gpuemu_policy_view *view;	/* NULL before plugin_start() */
	bool started;			/* it has a state; what fails now is replaced */
	const struct gpuemu_evict_ops *fallback;
	void *fallback_state;
	struct pages here;
	uint64_t calls;			/* of pick(), numbers kept[] of here */
	/* During pick(): who says what is kept. */
	bool (*keep)(void *ctx, uint64_t addr);
	void *keep_ctx;
	uint64_t likely[CHANNEL_KEPT];	/* VA blocks that the last pick() looked at */
	unsigned int nlikely;
	unsigned int nevents;		/* that wait in the channel */
	unsigned int nranges;		/* in the channel */
	struct gpuemu_policy_range ranges[CHANNEL_RANGES];
	uint64_t counted[CHANNEL_COUNTERS];
	uint64_t refused;
	char trouble[512];		/* "": all is well */
};

/* True: it answered. False: it has been replaced, now or before. */
bool plugin_call(struct plugin *plugin, enum channel_call call);
/* Ends the process and goes on without; what is wrong completes "policy FILE: ". */
void plugin_fail(struct plugin *plugin, const char *what, ...)
	__attribute__((format(printf, 2, 3)));
/* Notes what happened to a page. */
void plugin_event(struct plugin *plugin, uint64_t addr, enum channel_event event, bool flag);
/* Puts managed ranges into the channel where they changed. */
void plugin_ranges(struct plugin *plugin);

/* adapter.c: the process asks for the kept pages of a block, in pick(). */
bool plugin_tell_kept(void *ctx);
/* adapter.c: fills plugin->prefetch or plugin->evict. */
void plugin_fill_ops(struct plugin *plugin);
/* adapter.c: the fallback takes over what is here. */
void plugin_fall_back(struct plugin *plugin);

#endif
