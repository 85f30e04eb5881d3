// SPDX-License-Identifier: GPL-2.0
/*
 * Opens a policy's object and says what it is. What is wrong with it becomes one
 * sentence; who reads it knows the path already.
 */
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int refuse(struct host *host, const char *format, ...)
{
	struct channel *channel = host->channel;
	va_list args;

	va_start(args, format);
	vsnprintf(channel->message, sizeof(channel->message), format, args);
	va_end(args);
	return -EINVAL;
}

static void copy_text(char *to, size_t room, const char *from)
{
	snprintf(to, room, "%s", from ? from : "");
}

static int describe(struct host *host, const char *name, const char *help,
		    const struct gpuemu_policy_option *options, const char *const *counters)
{
	struct channel_policy *policy = &host->channel->policy;

	copy_text(policy->name, sizeof(policy->name), name);
	copy_text(policy->help, sizeof(policy->help), help);
	for (; options && options->key; options++) {
		struct channel_option *o = &policy->options[policy->noptions];

		if (policy->noptions++ == CHANNEL_OPTIONS)
			return refuse(host, "more than %u options", CHANNEL_OPTIONS);
		if (strlen(options->key) >= sizeof(o->key))
			return refuse(host, "option '%.40s': its key is longer than %zu characters",
				      options->key, sizeof(o->key) - 1);
		copy_text(o->key, sizeof(o->key), options->key);
		copy_text(o->doc, sizeof(o->doc), options->doc);
		o->def = options->def;
		o->min = options->min;
		o->max = options->max;
	}
	for (; counters && *counters; counters++) {
		if (policy->ncounters == CHANNEL_COUNTERS)
			return refuse(host, "more than %u counters", CHANNEL_COUNTERS);
		if (strlen(*counters) >= sizeof(policy->counters[0]))
			return refuse(host, "counter '%.40s': its name is longer than %zu characters",
				      *counters, sizeof(policy->counters[0]) - 1);
		copy_text(policy->counters[policy->ncounters++], sizeof(policy->counters[0]),
			  *counters);
	}
	host->ncounters = policy->ncounters;
	return 0;
}

static int check_abi(struct host *host, uint32_t abi)
{
	if (abi == GPUEMU_POLICY_ABI)
		return 0;
	return refuse(host, "it is of policy ABI %u, and this gpuemu has %u: build it against its gpuemu_policy.h",
		      abi, GPUEMU_POLICY_ABI);
}

static int take_prefetch(struct host *host, const struct gpuemu_prefetch_ops *ops)
{
	int rc = check_abi(host, ops->abi);

	if (rc)
		return rc;
	if (!ops->on_batch)
		return refuse(host, "gpuemu_prefetch has no on_batch()");
	host->prefetch = ops;
	host->channel->policy.touches = ops->on_touch != NULL;
	host->channel->policy.needs_record = ops->needs_record;
	return describe(host, ops->name, ops->help, ops->options, ops->counters);
}

static int take_evict(struct host *host, const struct gpuemu_evict_ops *ops)
{
	int rc = check_abi(host, ops->abi);

	if (rc)
		return rc;
	if (!ops->insert || !ops->remove || !ops->pick)
		return refuse(host, "gpuemu_evict has no %s()",
			      !ops->insert ? "insert" : !ops->remove ? "remove" : "pick");
	host->evict = ops;
	host->channel->policy.touches = ops->touch != NULL;
	host->channel->policy.needs_record = ops->needs_record;
	return describe(host, ops->name, ops->help, ops->options, ops->counters);
}

/* The loader names the object once more; a sentence names it once. */
static int not_loaded(struct host *host, const char *text)
{
	size_t n = strlen(host->channel->path);

	if (strncmp(text, host->channel->path, n) == 0 && text[n] == ':')
		text += n + 2;
	return refuse(host, "%s", text);
}

int host_load(struct host *host)
{
	/* enum policy_kind: the engine's is 0 and 1 */
	const bool evict = host->channel->kind != 0;
	const char *symbol = evict ? "gpuemu_evict" : "gpuemu_prefetch";
	void *object, *ops;

	object = dlopen(host->channel->path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return not_loaded(host, dlerror());
	ops = dlsym(object, symbol);
	if (ops)
		return evict ? take_evict(host, ops) : take_prefetch(host, ops);
	if (dlsym(object, evict ? "gpuemu_prefetch" : "gpuemu_evict"))
		return refuse(host, "it exports no %s: it is a policy for --%s", symbol,
			      evict ? "prefetch" : "evict");
	return refuse(host, "it exports no %s", symbol);
}
