// SPDX-License-Identifier: GPL-2.0
/*
 * The shared options of run, ptx and bench in one table. The engine's own tables name the
 * policies, so a new policy needs no change here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "gpu/gpu.h"
#include "output.h"
#include "target.h"

const struct cli_option target_options[] = {
	{ "backend", "B", "who moves the pages (gpuemu list backends)", TARGET_BACKEND },
	{ "config", "GPU", "a GPU of gpuemu list configs, or a file", TARGET_CONFIG },
	{ "set", "KEY=VALUE", "one key of gpuemu list keys; may be repeated", TARGET_SET },
	{ "vram", "SIZE", "device memory, as 16M (paging.vram)", TARGET_VRAM },
	{ "prefetch", "P", "prefetch policy (gpuemu list prefetchers)", TARGET_PREFETCH },
	{ "evict", "P", "eviction policy (gpuemu list evictors)", TARGET_EVICT },
	{ "paging", "on|off", "off: all pages are in device memory from the start", TARGET_PAGING },
	{ "sched", "S", "warp scheduler (gpuemu list schedulers)", TARGET_SCHED },
	{ "cta", "M", "which CTAs an SM holds, and schedules (gpuemu list mechanisms)", TARGET_CTA },
	{ "manage", "U", "what resources are managed by: cta, wlm (warp) or zorua (phase)", TARGET_MANAGE },
	{ "mem-order", "O", "loads that L1D cannot take: fifo, mascar, vt, reexecute", TARGET_MEM_ORDER },
	{ "slice", "P", "how kernels share the SMs (gpuemu list dispatchers)", TARGET_SLICE },
	{ "seed", "N", "seed of the inputs and of random policies, 1 if not given", TARGET_SEED },
	{ "device", "FILE", "the module's device node, /dev/gpuemu if not given", TARGET_DEVICE },
	{ NULL }
};

/* Options that are short for one key. */
static const struct {
	int id;
	const char *key, *option;
} short_for[] = {
	{ TARGET_VRAM, "paging.vram", "--vram" },
	{ TARGET_PREFETCH, "paging.prefetch", "--prefetch" },
	{ TARGET_EVICT, "paging.evict", "--evict" },
	{ TARGET_PAGING, "paging.enabled", "--paging" },
	{ TARGET_SCHED, "sm.scheduler", "--sched" },
	{ TARGET_CTA, "sm.cta", "--cta" },
	{ TARGET_MEM_ORDER, "sm.mem_order", "--mem-order" },
	{ TARGET_SLICE, "gpu.dispatch", "--slice" },
	{ TARGET_SEED, "gpu.seed", "--seed" },
	{ TARGET_FUNCTIONAL, "gpu.functional", "--functional" },
	{ TARGET_REGS, "occupancy.regs", "--regs" },
	{ TARGET_MAXREGS, "compiler.maxregs", "--maxregs" },
	{ TARGET_THREADS, "gpu.threads", "--threads" },
};

void target_init(struct target *t)
{
	memset(t, 0, sizeof(*t));
	spec_defaults(&t->spec);
	t->seed = t->spec.seed;
}

/* target_check() checks policies; a backend is no key of the model. */
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

/* --cta and --manage set the same key: one of them chooses the mechanism. */
static int choose_mechanism(struct target *t, int option, struct err *err)
{
	if (t->mechanism && t->mechanism != option)
		return err_set(err, -EINVAL, "--cta and --manage both choose the SM's mechanism (sm.cta): give one");
	t->mechanism = option;
	return 0;
}

/* The unit of management: the names of Zorua's two baselines and of Zorua itself. */
static int set_manage(struct target *t, const char *unit, struct err *err)
{
	int ret = choose_mechanism(t, TARGET_MANAGE, err);

	if (ret)
		return ret;
	if (!strcmp(unit, "cta"))
		return target_set(t, "sm.cta", "baseline", err);
	if (!strcmp(unit, "wlm") || !strcmp(unit, "zorua"))
		return target_set(t, "sm.cta", unit, err);
	return err_set(err, -EINVAL, "--manage %s; there are: cta, wlm, zorua", unit);
}

int target_option(struct target *t, int id, const char *arg,
		  struct err *err)
{
	switch (id) {
	case TARGET_BACKEND:
		t->backend = arg;
		return check_backend(arg, err);
	case TARGET_CONFIG:
		t->config = arg;
		return 0;
	case TARGET_DEVICE:
		t->device = arg;
		return 0;
	case TARGET_SET:
		return set_pair(t, arg, err);
	case TARGET_POLICY_FAILURE:
		t->fall_back = !strcmp(arg, "fall-back");
		return t->fall_back || !strcmp(arg, "fail") ? 0 :
		       err_set(err, -EINVAL, "--policy-failure=%s: fail or fall-back", arg);
	case TARGET_MANAGE:
		return set_manage(t, arg, err);
	case TARGET_RECORDED:
		t->recorded = arg;
		/* Touches are reported in the same way as when they were recorded. */
		return target_set(t, "paging.record", "on", err);
	case TARGET_RECORD:
		t->record = arg;
		return target_set(t, "paging.record", "on", err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(short_for); i++) {
		struct err why = { "" };
		char name[64];
		int ret;

		if (short_for[i].id != id)
			continue;
		if (id == TARGET_CTA && (ret = choose_mechanism(t, id, err)))
			return ret;
		/* People write --slice left-over, and the key has left_over. */
		if (id == TARGET_SLICE && arg) {
			snprintf(name, sizeof(name), "%s", arg);
			for (char *c = name; *c; c++)
				*c = *c == '-' ? '_' : *c;
			arg = name;
		}
		/* An option without a value is a switch. */
		ret = target_set(t, short_for[i].key, arg ? arg : "on", &why);
		return ret ? err_set(err, ret, "%s: %s", short_for[i].option, why.text) : 0;
	}
	return err_set(err, -EINVAL, "option %d is not a setting", id);
}

int target_check(const struct target *t, struct err *err)
{
	struct gpu_spec spec;
	int ret = target_spec(t, &spec, err);

	return ret ? ret : gpu_spec_check(&spec, err);
}

int target_spec(const struct target *t, struct gpu_spec *spec, struct err *err)
{
	const char *const dirs[] = { getenv("GPUEMU_DATADIR"), GPUEMU_DATADIR };
	char *path;
	int ret;

	spec_defaults(spec);
	if (t->config) {
		ret = datadir_find_config(dirs, ARRAY_SIZE(dirs), t->config, &path, err);
		if (ret)
			return ret;
		ret = spec_load_file(spec, path, err);
		free(path);
		if (ret)
			return -EINVAL;
	}
	return spec_from_text(spec, t->lines, err);
}

int target_record_check(const struct target *t, struct err *err)
{
	struct err why;
	int ret = output_check(t->record, &why);

	return ret ? err_set(err, ret, "--record: %s", why.text) : 0;
}

int target_record(const struct target *t, struct gpuemu_ctx *ctx, struct err *err)
{
	int ret = t->record ? gpuemu_record(ctx, t->record) : 0;

	return ret ? err_set(err, ret, "--record: %s", gpuemu_last_error(ctx)) : 0;
}

/*
 * The user chose no backend, and sim was taken although there is a device. The user may take
 * its configured times for measured ones, so this says why the device is not used.
 */
static void tell_device(const struct target *t)
{
	const char *device = t->device ? t->device : "/dev/gpuemu", *chosen = getenv("GPUEMU_BACKEND");
	int fd;

	if (t->backend || (chosen && *chosen) || access(device, F_OK))
		return;
	fd = open(device, O_RDWR | O_CLOEXEC);
	fprintf(stderr, "gpuemu: backend sim, with configured times, because %s cannot be used: %s\n",
		device, fd < 0 ? strerror(errno) : "no engine is attached to it; start gpuemud");
	if (fd >= 0)
		close(fd);
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
		.recorded = t->recorded,
	};
	int ret = gpuemu_open(ctx, &options);
	const char *reason;

	if (!ret) {
		if (!strcmp(gpuemu_backend(*ctx), "sim"))
			tell_device(t);
		return 0;
	}
	reason = gpuemu_last_error(NULL);
	return err_set(err, ret, "%s", reason && *reason ? reason : gpuemu_strerror(ret));
}

bool target_through_module(const struct target *t)
{
	const char *backend = t->backend ? t->backend : getenv("GPUEMU_BACKEND");

	if (backend && *backend)
		return !strcmp(backend, "kmod");
	return !access(t->device ? t->device : "/dev/gpuemu", F_OK);
}
