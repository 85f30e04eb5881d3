// SPDX-License-Identifier: GPL-2.0
/*
 * The shared options of run and bench, one table. What a policy is called
 * comes from the engine's own tables, so a new policy needs nothing here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "target.h"

enum {
	OPT_BACKEND = CLI_SHARED, OPT_CONFIG, OPT_SET, OPT_VRAM, OPT_PREFETCH,
	OPT_EVICT, OPT_PAGING, OPT_SCHED, OPT_SEED, OPT_DEVICE,
};

const struct cli_option target_options[] = {
	{ "backend", "B", "who moves the pages (gpuemu list backends)", OPT_BACKEND },
	{ "config", "GPU", "a GPU of gpuemu list configs, or a file", OPT_CONFIG },
	{ "set", "KEY=VALUE", "one key of gpuemu list keys; may be repeated", OPT_SET },
	{ "vram", "SIZE", "device memory, as 16M (paging.vram)", OPT_VRAM },
	{ "prefetch", "P", "prefetch policy (gpuemu list prefetchers)", OPT_PREFETCH },
	{ "evict", "P", "eviction policy (gpuemu list evictors)", OPT_EVICT },
	{ "paging", "on|off", "off: all pages are in device memory from the start", OPT_PAGING },
	{ "sched", "S", "warp scheduler (gpuemu list schedulers)", OPT_SCHED },
	{ "seed", "N", "seed of the inputs and of random policies, 1 if not given", OPT_SEED },
	{ "device", "FILE", "the module's device node, /dev/gpuemu if not given", OPT_DEVICE },
	{ NULL }
};

/* Options that are short for one key. */
static const struct {
	int id;
	const char *key, *option;
} short_for[] = {
	{ OPT_VRAM, "paging.vram", "--vram" },
	{ OPT_PREFETCH, "paging.prefetch", "--prefetch" },
	{ OPT_EVICT, "paging.evict", "--evict" },
	{ OPT_PAGING, "paging.enabled", "--paging" },
	{ OPT_SCHED, "sm.scheduler", "--sched" },
	{ OPT_SEED, "gpu.seed", "--seed" },
};

void target_init(struct target *t)
{
	memset(t, 0, sizeof(*t));
	spec_defaults(&t->spec);
	t->seed = t->spec.seed;
}

/* Policies are checked by target_check(); a backend is no key of the model. */
static int check_backend(const char *value, struct err *err)
{
	const char *name, *help;
	char known[256] = "";
	size_t used = 0;

	for (unsigned int n = 0; gpu_list_row("backends", n, &name, &help); n++) {
		if (!strcmp(name, value))
			return 0;
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used,
						 "%s%s", n ? ", " : "", name);
	}
	return err_set(err, -EINVAL, "unknown backend '%s'; there are: %s", value, known);
}

int target_set(struct target *t, const char *key, const char *value,
	       struct err *err)
{
	size_t used = strlen(t->lines);
	int n, ret;

	ret = spec_set(&t->spec, key, value, err);
	if (ret)
		return ret;
	t->seed = t->spec.seed;
	n = snprintf(t->lines + used, sizeof(t->lines) - used, "%s=%s\n", key, value);
	if (n < 0 || (size_t)n >= sizeof(t->lines) - used) {
		t->lines[used] = '\0';
		return err_set(err, -E2BIG, "too many settings");
	}
	return 0;
}

static int set_pair(struct target *t, const char *pair, struct err *err)
{
	const char *equals = strchr(pair, '=');
	char key[64];

	if (!equals || equals == pair || (size_t)(equals - pair) >= sizeof(key))
		return err_set(err, -EINVAL, "--set %s: not KEY=VALUE (gpuemu list keys)", pair);
	memcpy(key, pair, (size_t)(equals - pair));
	key[equals - pair] = '\0';
	return target_set(t, key, equals + 1, err);
}

int target_option(struct target *t, int id, const char *arg,
		  struct err *err)
{
	switch (id) {
	case OPT_BACKEND:
		t->backend = arg;
		return check_backend(arg, err);
	case OPT_CONFIG:
		t->config = arg;
		return 0;
	case OPT_DEVICE:
		t->device = arg;
		return 0;
	case OPT_SET:
		return set_pair(t, arg, err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(short_for); i++) {
		struct err why = { "" };
		int ret;

		if (short_for[i].id != id)
			continue;
		ret = target_set(t, short_for[i].key, arg, &why);
		return ret ? err_set(err, ret, "%s: %s", short_for[i].option, why.text) : 0;
	}
	return err_set(err, -EINVAL, "option %d is not a setting", id);
}

int target_check(const struct target *t, struct err *err)
{
	return gpu_spec_check(&t->spec, err);
}

int target_open(const struct target *t, struct gpuemu_ctx **ctx,
		struct err *err)
{
	struct gpuemu_options options = {
		.size = sizeof(options),
		.backend = t->backend,
		.config = t->config,
		.settings = t->lines,
		.device = t->device,
	};
	int ret = gpuemu_open(ctx, &options);
	const char *reason;

	if (!ret)
		return 0;
	reason = gpuemu_last_error(NULL);
	return err_set(err, ret, "%s", reason && *reason ? reason : gpuemu_strerror(ret));
}
