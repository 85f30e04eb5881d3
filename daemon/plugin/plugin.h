/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A user's paging policy (include/gpuemu_policy.h) in a process of its own. The
 * engine sees the ops of a row; behind them, what happens to pages is written to
 * shared memory, and each decision is one round trip. What comes back is
 * checked, so nothing the process does reaches a page, and a call that does not end
 * costs paging.policy_ms once: then a built-in policy goes on.
 *
 * Wall time bounds calls and decides nothing else. paging/ calls it.
 */
#ifndef GPUEMU_PLUGIN_PLUGIN_H
#define GPUEMU_PLUGIN_PLUGIN_H

#include "base/base.h"
#include "base/spec.h"
#include "gpuemu_policy.h"

enum policy_kind { POLICY_PREFETCH, POLICY_EVICT };

struct plugin;

/*
 * Which objects may be loaded here, and with which rights. NULL in its place: any object, with the
 * rights of this process, because its user named the object.
 */
struct plugin_site {
	const char *const *allowed;	/* absolute paths, NULL ends; the only ones */
	uint32_t uid;			/* the process becomes this user and group; 0: it stays */
	uint32_t limit_ms;		/* of a call, below paging.policy_ms; 0: there is none */
};

/*
 * Does the value of paging.prefetch or paging.evict name an object, as FILE.so[:OPTIONS]
 * or DIR/FILE[:OPTIONS]?
 */
bool plugin_is_path(const char *text);

/*
 * Starts the process, which loads the object. path is without options. -ENOENT,
 * -EPERM (not allowed here), -EINVAL (no such object, other ABI), -ETIMEDOUT...: err says why.
 */
int plugin_open(const struct plugin_site *site, const char *path, enum policy_kind kind,
		const struct gpu_spec *spec, struct plugin **plugin, struct err *err);
/* Ends the process. For one whose state was not made; else ops->destroy() has done it. */
void plugin_close(struct plugin *plugin);

/*
 * The object's name, help, options, counters and needs_record, and the operations
 * of the process. create() is NULL: plugin_start() is called in its place. Valid as
 * long as the plugin.
 */
const struct gpuemu_prefetch_ops *plugin_prefetch_ops(const struct plugin *plugin);
const struct gpuemu_evict_ops *plugin_evict_ops(const struct plugin *plugin);

/*
 * The object's create(). view lives as long as the state; options and record are
 * handed over here. fallback replaces an eviction policy that fails (NULL for a prefetch
 * policy: none does). When it fails the plugin is the caller's to close.
 */
int plugin_start(struct plugin *plugin, const struct gpuemu_policy_view *view, uint64_t seed,
		 const struct gpuemu_evict_ops *fallback, void **state, struct err *err);

/* NULL, or one sentence: why and by what it was replaced. */
const char *plugin_trouble(const struct plugin *plugin);
/* Pages in answers that were no sense: not aligned, not in device memory, kept, named twice, too many. */
uint64_t plugin_refused(const struct plugin *plugin);
/* Delivers what waits, so that counters are up to date. */
void plugin_flush(struct plugin *plugin);

#endif
