// SPDX-License-Identifier: GPL-2.0
/*
 * Opens a policy's object in its process, asks it, and replaces it when it does
 * not answer as it should. What paging calls is in adapter.c.
 */
#include "plugin/loaded.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD_MS	5000u	/* at least: from a slow disk, the first time */

static const char *const kind_names[] = { "prefetch", "eviction" };
static const char *const replacements[] = { "none", "lru" };

/* --- what an object is called ------------------------------------------------------ */

bool plugin_is_path(const char *text)
{
	size_t len = strcspn(text, ":");

	return memchr(text, '/', len) ||
	       (len > 3 && memcmp(text + len - 3, ".so", 3) == 0);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int not_allowed(const struct plugin_site *site, const char *path, struct err *err)
{
	char all[256] = "none";
	size_t at = 0;

	for (unsigned int i = 0; site->allowed[i] && at < sizeof(all); i++)
		at += (size_t)snprintf(all + at, sizeof(all) - at, "%s%s", i ? ", " : "",
				       site->allowed[i]);
	return err_set(err, -EPERM,
		       "policy %s: the daemon loads objects that its administrator allows "
		       "(gpuemud --policy FILE.so); allowed here: %s", path, all);
}

/* The path, absolute, where this site has it. *out: the caller's to free. */
static int find_object(const struct plugin_site *site, const char *path, char **out,
		       struct err *err)
{
	if (!site) {
		*out = realpath(path, NULL);
		return *out ? 0 : err_set(err, errno == ENOENT ? -ENOENT : -EINVAL,
					  "policy %s: %s", path, strerror(errno));
	}
	for (unsigned int i = 0; site->allowed[i]; i++) {
		const char *allowed = site->allowed[i];

		if (strcmp(strchr(path, '/') ? allowed : base_name(allowed), path) != 0)
			continue;
		*out = strdup(allowed);
		return *out ? 0 : err_set(err, -ENOMEM, "no memory for a policy");
	}
	return not_allowed(site, path, err);
}

/* --- when it fails ------------------------------------------------------------------ */

static const char *place_name(const struct plugin *plugin, uint32_t place)
{
	const bool prefetch = plugin->kind == POLICY_PREFETCH;

	switch (place) {
	case IN_LOAD:
		return "while it was loaded";
	case IN_CREATE:
		return "in create()";
	case IN_ARRIVE:
		return prefetch ? "in on_arrive()" : "in insert()";
	case IN_TOUCH:
		return prefetch ? "in on_touch()" : "in touch()";
	case IN_LEAVE:
		return prefetch ? "in on_leave()" : "in remove()";
	case IN_DECIDE:
		return prefetch ? "in on_batch()" : "in pick()";
	case IN_DESTROY:
		return "in destroy()";
	default:
		return "between two calls";
	}
}

static void name_trouble(struct plugin *plugin, const char *what)
{
	const int kind = plugin->kind;

	/* Before there is a state the run is refused: nothing goes on. */
	if (plugin->started)
		snprintf(plugin->trouble, sizeof(plugin->trouble),
			 "%s policy %.200s: %s; the run goes on with %s", kind_names[kind],
			 plugin->path, what, replacements[kind]);
	else
		snprintf(plugin->trouble, sizeof(plugin->trouble), "%s policy %.200s: %s",
			 kind_names[kind], plugin->path, what);
}

void plugin_fail(struct plugin *plugin, const char *what, ...)
{
	char text[256];
	va_list args;
	int status;

	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	process_end(&plugin->process, &status);
	name_trouble(plugin, text);
	if (plugin->started)
		plugin_fall_back(plugin);
}

/* The process is gone, or does not answer in time. */
static void fail_call(struct plugin *plugin, int rc)
{
	uint32_t doing = plugin->process.channel->place;
	const char *place = place_name(plugin, doing);
	int status;

	process_end(&plugin->process, &status);
	if (rc == -ETIMEDOUT)
		plugin_fail(plugin, "took longer than %u ms (%s) %s", plugin->limit_ms,
			    plugin->limit_is_site ? "this daemon's limit" : "paging.policy_ms",
			    place);
	else if (rc == -EPROTO)
		plugin_fail(plugin, "its process said what makes no sense %s", place);
	else if (status != -1 && WIFEXITED(status))
		plugin_fail(plugin, "ended itself with exit status %d %s", WEXITSTATUS(status),
			    place);
	else if (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		plugin_fail(plugin, "crashed with signal %d (%s) %s", WTERMSIG(status),
			    sigdescr_np(WTERMSIG(status)), place);
	else
		plugin_fail(plugin, "its process was killed or closed the connection %s", place);
}

/* --- calls -------------------------------------------------------------------------- */

static void take_counters(struct plugin *plugin)
{
	for (unsigned int i = 0; i < plugin->policy.ncounters; i++) {
		uint64_t value = plugin->process.channel->counters[i];

		if (plugin->view && value != plugin->counted[i])
			plugin->view->count(plugin->view->ctx, i, value - plugin->counted[i]);
		plugin->counted[i] = value;
	}
}

bool plugin_call(struct plugin *plugin, enum channel_call call)
{
	struct channel *channel = plugin->process.channel;
	unsigned int limit = plugin->limit_ms;
	int rc;

	if (!channel)
		return false;
	channel->call = call;
	channel->nevents = plugin->nevents;
	plugin->nevents = 0;
	if (call == CALL_LOAD)
		limit = MAX(limit, LOAD_MS);
	rc = process_call(&plugin->process, limit, plugin->keep ? plugin_tell_kept : NULL, plugin);
	if (rc) {
		fail_call(plugin, rc);
		return false;
	}
	take_counters(plugin);
	rc = channel->status;
	if (rc && call >= CALL_EVENTS) {
		plugin_fail(plugin, "insert() failed: %s", strerror(rc < 0 ? -rc : EINVAL));
		return false;
	}
	return true;
}

void plugin_event(struct plugin *plugin, uint64_t addr, enum channel_event event, bool flag)
{
	if (plugin->nevents == CHANNEL_EVENTS)
		plugin_call(plugin, CALL_EVENTS);
	if (plugin->process.channel)
		plugin->process.channel->events[plugin->nevents++] =
			addr | (uint64_t)event | (flag ? EVENT_FLAG : 0);
}

void plugin_flush(struct plugin *plugin)
{
	if (plugin->nevents)
		plugin_call(plugin, CALL_EVENTS);
}

void plugin_ranges(struct plugin *plugin)
{
	const struct gpuemu_policy_view *view = plugin->view;
	struct channel *channel = plugin->process.channel;
	struct gpuemu_policy_range range;
	bool changed = false;
	unsigned int n = 0;
	uint64_t at = 0;

	while (n < CHANNEL_RANGES && view->next_range(view->ctx, at, &range) && range.end > at) {
		if (n >= plugin->nranges || plugin->ranges[n].start != range.start ||
		    plugin->ranges[n].end != range.end) {
			plugin->ranges[n] = range;
			changed = true;
		}
		n++;
		at = range.end;
	}
	changed |= n != plugin->nranges;
	plugin->nranges = n;
	channel->nranges = n;
	channel->new_ranges = changed;
	if (changed)
		memcpy(channel->ranges, plugin->ranges, n * sizeof(*plugin->ranges));
}

/* --- opening ------------------------------------------------------------------------ */

/* A name or key that a user types and a report prints. */
static bool is_word(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			return false;
	return text[0];
}

/* One line of text, whatever the object has in it. */
static void clean(char *text, size_t bytes)
{
	text[bytes - 1] = '\0';
	for (char *c = text; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = ' ';
}

/* The channel's copy may still change; this one does not. */
static int take_description(struct plugin *plugin, struct err *err)
{
	struct channel_policy *policy = &plugin->policy;

	*policy = plugin->process.channel->policy;
	policy->noptions = MIN(policy->noptions, CHANNEL_OPTIONS);
	policy->ncounters = MIN(policy->ncounters, CHANNEL_COUNTERS);
	clean(policy->help, sizeof(policy->help));
	if (!is_word(policy->name, sizeof(policy->name)))
		return err_set(err, -EINVAL, "policy %s: its name is no word of letters, digits, _ and -",
			       plugin->path);
	for (unsigned int i = 0; i < policy->noptions; i++) {
		struct channel_option *o = &policy->options[i];

		clean(o->doc, sizeof(o->doc));
		if (!is_word(o->key, sizeof(o->key)) || o->min > o->def || o->def > o->max)
			return err_set(err, -EINVAL,
				       "policy %s: option %u: its key is no word, or its default out of its range",
				       plugin->path, i + 1);
		plugin->options[i] = (struct gpuemu_policy_option){
			.key = o->key, .def = o->def, .min = o->min, .max = o->max, .doc = o->doc,
		};
	}
	for (unsigned int i = 0; i < policy->ncounters; i++) {
		if (!is_word(policy->counters[i], sizeof(policy->counters[i])))
			return err_set(err, -EINVAL, "policy %s: counter %u: its name is no word",
				       plugin->path, i + 1);
		plugin->counters[i] = policy->counters[i];
	}
	return 0;
}

static int load(struct plugin *plugin, const struct plugin_site *site, struct err *err)
{
	struct channel *channel = plugin->process.channel;
	char why[sizeof(channel->message)];
	int rc;

	if (strlen(plugin->path) >= sizeof(channel->path))
		return err_set(err, -ENAMETOOLONG, "policy %s: the path is too long", plugin->path);
	strcpy(channel->path, plugin->path);
	channel->kind = (uint32_t)plugin->kind;
	channel->uid = site ? site->uid : 0;
	if (!plugin_call(plugin, CALL_LOAD))
		return err_set(err, -EINVAL, "%s", plugin->trouble);
	rc = channel->status;
	if (!rc)
		return take_description(plugin, err);
	memcpy(why, channel->message, sizeof(why));
	clean(why, sizeof(why));
	return err_set(err, rc < 0 ? rc : -EINVAL, "%s policy %s: %s",
		       kind_names[plugin->kind], plugin->path, why);
}

static int start(struct plugin *plugin, const struct plugin_site *site, const char *path,
		 struct err *err)
{
	int rc = find_object(site, path, &plugin->path, err);

	if (rc)
		return rc;
	rc = process_start(&plugin->process, plugin->path);
	if (rc)
		return err_set(err, rc, "policy %s: its process does not start: %s", path,
			       strerror(-rc));
	rc = load(plugin, site, err);
	if (!rc)
		plugin_fill_ops(plugin);
	return rc;
}

int plugin_open(const struct plugin_site *site, const char *path, enum policy_kind kind,
		const struct gpu_spec *spec, struct plugin **out, struct err *err)
{
	struct plugin *plugin = calloc(1, sizeof(*plugin));
	int rc;

	if (!plugin)
		return err_set(err, -ENOMEM, "no memory for a policy");
	plugin->kind = kind;
	plugin->limit_ms = (unsigned int)spec->policy_ms;
	if (site && site->limit_ms && site->limit_ms < plugin->limit_ms) {
		plugin->limit_ms = site->limit_ms;
		plugin->limit_is_site = true;
	}
	rc = start(plugin, site, path, err);
	if (rc) {
		plugin_close(plugin);
		return rc;
	}
	*out = plugin;
	return 0;
}

void plugin_close(struct plugin *plugin)
{
	int status;

	process_end(&plugin->process, &status);
	pages_clear(&plugin->here);
	free(plugin->path);
	free(plugin);
}

/* --- starting ------------------------------------------------------------------------- */

static int give_record(struct plugin *plugin, const struct gpuemu_policy_view *view)
{
	const char *from = (const char *)view->record;
	size_t bytes = view->record_length * sizeof(*view->record), done = 0;

	while (done < bytes) {
		ssize_t n = write(plugin->process.record, from + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* Pages that an earlier policy brought. */
static int tell_residents(struct plugin *plugin)
{
	for (unsigned int i = 0; i < plugin->nranges; i++) {
		const struct gpuemu_policy_range *range = &plugin->ranges[i];

		for (uint64_t addr = range->start; addr < range->end; addr += PAGE_BYTES) {
			if (!plugin->view->resident(plugin->view->ctx, addr))
				continue;
			if (pages_add(&plugin->here, addr))
				return -ENOMEM;
			plugin_event(plugin, addr, EVENT_HERE, false);
		}
	}
	return 0;
}

static int create(struct plugin *plugin, uint64_t seed)
{
	const struct gpuemu_policy_view *view = plugin->view;
	struct channel *channel = plugin->process.channel;
	int rc = give_record(plugin, view);

	if (rc)
		return rc;
	channel->seed = seed;
	channel->frames = view->frames;
	channel->record_length = view->record ? view->record_length : 0;
	if (plugin->policy.noptions)
		memcpy(channel->options, view->options,
		       plugin->policy.noptions * sizeof(*view->options));
	plugin_ranges(plugin);
	rc = tell_residents(plugin);
	if (rc)
		return rc;
	if (!plugin_call(plugin, CALL_CREATE))
		return -EIO;
	rc = channel->status;
	return rc > 0 ? -EINVAL : rc;
}

int plugin_start(struct plugin *plugin, const struct gpuemu_policy_view *view, uint64_t seed,
		 const struct gpuemu_evict_ops *fallback, void **state, struct err *err)
{
	int rc;

	plugin->view = view;
	rc = create(plugin, seed);
	if (plugin->trouble[0])
		return err_set(err, -EINVAL, "%s", plugin->trouble);
	if (rc)
		return err_set(err, rc, "%s policy %s: create() failed: %s",
			       kind_names[plugin->kind], plugin->path, strerror(-rc));
	plugin->fallback = fallback;
	plugin->started = true;
	*state = plugin;
	return 0;
}

const char *plugin_trouble(const struct plugin *plugin)
{
	return plugin->trouble[0] ? plugin->trouble : NULL;
}

uint64_t plugin_refused(const struct plugin *plugin)
{
	return plugin->refused;
}

const struct gpuemu_prefetch_ops *plugin_prefetch_ops(const struct plugin *plugin)
{
	return &plugin->prefetch;
}

const struct gpuemu_evict_ops *plugin_evict_ops(const struct plugin *plugin)
{
	return &plugin->evict;
}
