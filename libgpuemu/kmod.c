// SPDX-License-Identifier: GPL-2.0
/*
 * The kmod backend: a client of /dev/gpuemu. Works are queued at the module and
 * done by whatever engine is attached; the module keeps PTX images, so a new
 * engine serves the same context. What only the engine kept (options) is told
 * again to one that came later.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/gpuemu.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kmod.h"
#include "system.h"

#define REPORT_GUESS	(64u << 10)

static uint64_t to_u64(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* A signal that the program handles must not look like an error of the GPU. */
static int call(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg) ? -errno : 0;
	} while (ret == -EINTR);
	return ret;
}

static int info(int fd, struct gpuemu_info *i)
{
	*i = (struct gpuemu_info){ .size = sizeof(*i) };
	return call(fd, GPUEMU_IOCTL_INFO, i);
}

static int no_engine(const char *device, struct err *err)
{
	return err_set(err, -ENODEV, "no engine is attached to %s: start gpuemud", device);
}

/* --- waiting ------------------------------------------------------------------ */

static void say_how(const struct gpuemu_wait *w, struct err *err)
{
	if (w->status == -EIO)
		err_set(err, 0, "device lost: its engine (gpuemud) ended before the work was done");
	else if (w->message[0])
		err_set(err, 0, "%.*s", GPUEMU_MESSAGE_MAX - 1, (const char *)w->message);
	else
		err_set(err, 0, "%s", gpuemu_strerror(w->status));
}

static void take_report(struct kmod_report *report, char *text, size_t bytes)
{
	if (text)
		text[bytes] = '\0';
	*report = (struct kmod_report){ text, bytes };
}

/*
 * The work's status, with err, and its report, whatever the status. `room` bytes
 * are tried first; what is longer takes a second call.
 */
int kmod_wait_work(const struct kmod *k, uint64_t id, uint32_t timeout_ms, uint32_t room,
		   struct kmod_report *report, struct err *err)
{
	struct gpuemu_wait w = { .size = sizeof(w), .timeout_ms = timeout_ms, .id = id };
	char *text = NULL, *grown;
	int ret;

	*report = (struct kmod_report){ NULL, 0 };
	do {
		grown = room ? realloc(text, (size_t)room + 1) : NULL;
		if (room && !grown) {
			free(text);
			return err_set(err, -ENOMEM, "no memory for a report of %u bytes", room);
		}
		text = grown;
		w.report = to_u64(text);
		w.report_bytes = room;
		ret = call(k->fd, GPUEMU_IOCTL_WAIT, &w);
		room = w.report_bytes;
	} while (ret == -ENOSPC && room <= GPUEMU_REPORT_MAX);
	if (ret) {
		free(text);
		return ret == -ETIMEDOUT ? ret :
		       err_set(err, ret, "cannot wait for the engine: %s", gpuemu_strerror(ret));
	}
	take_report(report, text, w.report_bytes);
	if (w.status)
		say_how(&w, err);
	return w.status;
}

static int wait_work(const struct kmod *k, uint64_t id, uint32_t room, struct kmod_report *report,
		     struct err *err)
{
	return kmod_wait_work(k, id, ~0u, room, report, err);
}

/* --- submitting ------------------------------------------------------------------ */

int kmod_submit_work(struct gpuemu_ctx *ctx, uint32_t kind, uint32_t stream, const void *payload,
		     size_t bytes, uint64_t *id, struct err *err)
{
	const struct kmod *k = ctx->state;
	struct gpuemu_submit s = {
		.size = sizeof(s),
		.kind = kind,
		.stream = stream,
		.payload_bytes = bytes,
		.payload = to_u64(payload),
	};
	int ret;

	if (bytes > GPUEMU_PAYLOAD_MAX)
		return err_set(err, -E2BIG,
			       "%zu bytes of arguments or options: at most %u are taken", bytes,
			       GPUEMU_PAYLOAD_MAX);
	do {
		ret = call(k->fd, GPUEMU_IOCTL_SUBMIT, &s);
	} while (ret == -EAGAIN && kmod_reap_one(ctx));
	if (ret == -ENODEV)
		return no_engine(k->device, err);
	if (ret == -EINVAL && kind == GPUEMU_WORK_RUN)
		return err_set(err, ret, "the module behind %s knows no works of streams: "
			       "install module and library of one version", k->device);
	if (ret)
		return err_set(err, ret, "cannot submit to %s: %s", k->device,
			       gpuemu_strerror(ret));
	*id = s.id;
	return 0;
}

/* *text (may be NULL: not wanted) := the report of a work that went well. */
static int submit_and_wait(struct gpuemu_ctx *ctx, uint32_t kind, const void *payload,
			   size_t bytes, char **text, struct err *err)
{
	struct kmod_report report;
	uint64_t id;
	int ret;

	ret = kmod_submit_work(ctx, kind, 0, payload, bytes, &id, err);
	if (ret)
		return ret;
	ret = wait_work(ctx->state, id, text ? REPORT_GUESS : 0, &report, err);
	if (!ret && text)
		*text = report.text;
	else
		free(report.text);
	return ret;
}

static int tell_options(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	return submit_and_wait(ctx, GPUEMU_WORK_CONFIGURE, settings, strlen(settings) + 1, NULL,
			       err);
}

/* A payload of `count` items behind a head. NULL: no memory. */
static void *make_payload(const void *head, size_t head_bytes, const void *items, size_t item_bytes)
{
	char *payload = malloc(head_bytes + item_bytes);

	if (payload) {
		memcpy(payload, head, head_bytes);
		if (item_bytes)
			memcpy(payload + head_bytes, items, item_bytes);
	}
	return payload;
}

static int tell_module(struct gpuemu_ctx *ctx, const struct gpuemu_module *module,
		       struct err *err)
{
	struct gpu_work_load load = {
		.size = sizeof(load),
		.module = module->id,
		.global_base = to_u64(module->segment),
	};
	size_t length = strlen(module->name);
	uint32_t bytes = 0;
	const void *bank = module->constants_written ?
			   ptx_module_constants(module->ptx, &bytes) : NULL;
	void *payload;
	int ret;

	/* The end of a path says more than its start. */
	snprintf(load.name, sizeof(load.name), "%s",
		 module->name + (length < sizeof(load.name) ? 0 : length - sizeof(load.name) + 1));
	payload = make_payload(&load, sizeof(load), bank, bytes);
	ret = payload ? submit_and_wait(ctx, GPUEMU_WORK_LOAD, payload, sizeof(load) + bytes, NULL,
					err) : -ENOMEM;
	free(payload);
	return ret;
}

static int tell_record(struct gpuemu_ctx *ctx, struct err *err)
{
	const struct gpu_work_record head = { .size = sizeof(head) };
	const uint64_t most = (GPUEMU_PAYLOAD_MAX - sizeof(head)) / sizeof(uint64_t);
	uint64_t at = 0;
	int ret;

	/* A record without touches is told, too. */
	do {
		uint64_t n = MIN(most, ctx->recorded.count - at);
		size_t bytes = n * sizeof(uint64_t);
		void *payload = make_payload(&head, sizeof(head), ctx->recorded.pages + at, bytes);

		if (!payload)
			return -ENOMEM;
		ret = submit_and_wait(ctx, GPUEMU_WORK_RECORD, payload, sizeof(head) + bytes, NULL,
				      err);
		free(payload);
		at += n;
	} while (!ret && at < ctx->recorded.count);
	return ret;
}

/*
 * Which memory is managed, for policies that look at it; what does not fit one work is
 * left out. Freed ranges are no harm until the next telling: the module knows better.
 */
static int tell_ranges(struct gpuemu_ctx *ctx, struct err *err)
{
	struct gpu_work_ranges head = { .size = sizeof(head) };
	const unsigned int most = (GPUEMU_PAYLOAD_MAX - sizeof(head) -
				   ctx->nadvice * sizeof(*ctx->advice)) / sizeof(struct gpu_range);
	struct kmod *k = ctx->state;
	struct gpu_range *ranges;
	void *payload;
	size_t bytes;
	int ret;

	if (k->ranges_told)
		return 0;
	/* The advice goes behind the ranges, and has a bound of its own. */
	ranges = calloc(1, GPUEMU_PAYLOAD_MAX);
	if (!ranges)
		return -ENOMEM;
	for (const struct allocation *a = ctx->allocations; a && head.count < most; a = a->next)
		if (a->kind != MEM_DEVICE)
			ranges[head.count++] = (struct gpu_range){ a->addr, a->bytes };
	head.count_advice = ctx->nadvice;
	if (ctx->nadvice)
		memcpy(&ranges[head.count], ctx->advice, ctx->nadvice * sizeof(*ctx->advice));
	bytes = head.count * sizeof(*ranges) + ctx->nadvice * sizeof(*ctx->advice);
	payload = make_payload(&head, sizeof(head), ranges, bytes);
	ret = payload ? submit_and_wait(ctx, GPUEMU_WORK_RANGES, payload, sizeof(head) + bytes,
					NULL, err) : -ENOMEM;
	free(payload);
	free(ranges);
	k->ranges_told = !ret;
	return ret;
}

/*
 * An engine that attached after the last work was submitted knows the images
 * of this context, not its options nor the images' names.
 */
int kmod_meet_engine(struct gpuemu_ctx *ctx, struct err *err)
{
	struct kmod *k = ctx->state;
	struct gpuemu_info i;
	int ret;

	ret = info(k->fd, &i);
	if (ret)
		return err_set(err, ret, "%s: %s", k->device, gpuemu_strerror(ret));
	if (i.engine_generation == k->generation)
		return kmod_drop_kept(ctx, err);
	kmod_engine_gone(ctx);
	if (i.engine_generation == 0)
		return no_engine(k->device, err);
	k->ranges_told = false;
	if (ctx->recorded.pages)
		ret = tell_record(ctx, err);
	/* The engine uses a record from the next configuration on, even from an empty one. */
	if (!ret && (ctx->settings || ctx->recorded.pages))
		ret = tell_options(ctx, ctx->settings ? ctx->settings : "", err);
	for (struct gpuemu_module *m = ctx->modules; m && !ret; m = m->next)
		ret = tell_module(ctx, m, err);
	if (!ret)
		k->generation = i.engine_generation;
	return ret;
}

int kmod_tell_all(struct gpuemu_ctx *ctx, struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	return ret ? ret : tell_ranges(ctx, err);
}

/*
 * Told with the next work, to whichever engine is attached then. Works that were submitted
 * before are done before.
 */
static int kmod_advise(struct gpuemu_ctx *ctx, struct err *err)
{
	struct kmod *k = ctx->state;

	stream_wait_all(ctx);
	k->ranges_told = false;
	return 0;
}

/* Without the lock: the device is the same from open() to close(). */
static struct gpu_progress kmod_progress(const struct gpuemu_ctx *ctx)
{
	const struct kmod *k = ctx->state;
	struct gpuemu_info i;

	if (info(k->fd, &i))
		return (struct gpu_progress){ .launches = 0 };
	return (struct gpu_progress){ i.launches, i.ctas_done, i.ctas };
}

static int kmod_statistics(struct gpuemu_ctx *ctx, char **json, struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	return ret ? ret : submit_and_wait(ctx, GPUEMU_WORK_STATISTICS, NULL, 0, json, err);
}

static int kmod_touch(struct gpuemu_ctx *ctx, const struct gpu_work_touch *touch, char **json,
		      struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	if (!ret)
		ret = tell_ranges(ctx, err);
	if (ret)
		return ret;
	return submit_and_wait(ctx, GPUEMU_WORK_TOUCH, touch, sizeof(*touch), json, err);
}

static int kmod_touches(struct gpuemu_ctx *ctx, struct record *record, struct err *err)
{
	struct gpu_work_record fetch = { .size = sizeof(fetch), .fetch = 1 };
	uint64_t all, n;
	int ret = kmod_meet_engine(ctx, err);

	while (!ret) {
		struct kmod_report report;
		uint64_t id;

		fetch.from = record->count;
		ret = kmod_submit_work(ctx, GPUEMU_WORK_RECORD, 0, &fetch, sizeof(fetch), &id, err);
		if (!ret)
			ret = wait_work(ctx->state, id, GPUEMU_REPORT_MAX, &report, err);
		if (ret)
			break;
		if (report.bytes < sizeof(all) || report.bytes % sizeof(all)) {
			free(report.text);
			return err_set(err, -EPROTO, "the engine's record makes no sense");
		}
		memcpy(&all, report.text, sizeof(all));
		n = report.bytes / sizeof(all) - 1;
		for (uint64_t i = 0; !ret && i < n; i++) {
			uint64_t addr;

			memcpy(&addr, report.text + (i + 1) * sizeof(addr), sizeof(addr));
			ret = record_add(record, addr);
		}
		free(report.text);
		if (!n || record->count >= all)
			break;
	}
	return ret;
}

static int kmod_configure(struct gpuemu_ctx *ctx, const char *settings, struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	return ret ? ret : tell_options(ctx, settings, err);
}

/* --- memory and modules ------------------------------------------------------------- */

static int kmod_map(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	struct kmod *k = ctx->state;
	int ret;

	k->ranges_told = false;
	if (mmap(addr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, k->fd,
		 (off_t)to_u64(addr)) != MAP_FAILED)
		return 0;
	ret = -errno;
	return err_set(err, -ENOMEM, "%s gives no %zu bytes of managed memory: %s", k->device,
		       bytes, gpuemu_strerror(ret));
}

static void kmod_drop(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	struct kmod *k = ctx->state;

	k->ranges_told = false;
	munmap(addr, bytes);
}

static int kmod_map_device(struct gpuemu_ctx *ctx, void *addr, size_t bytes, struct err *err)
{
	const struct kmod *k = ctx->state;
	int ret;

	/* A large range begins a VA block, and device memory is never smaller than one. */
	stream_wait_all(ctx);
	if (mmap(addr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, k->fd,
		 (off_t)(GPUEMU_MMAP_DEVICE | to_u64(addr))) != MAP_FAILED)
		return 0;
	ret = -errno;
	if (ret == -EINVAL)
		return err_set(err, -EOPNOTSUPP, "the module behind %s knows no device memory: "
			       "install module and library of one version", k->device);
	return err_set(err, -ENOMEM, "no %zu bytes of device memory are left: %s", bytes,
		       gpuemu_strerror(ret));
}

static void kmod_drop_device(struct gpuemu_ctx *ctx, void *addr, size_t bytes)
{
	munmap(addr, bytes);
}

static void kmod_unload(struct gpuemu_ctx *ctx, struct gpuemu_module *module)
{
	const struct kmod *k = ctx->state;
	struct gpuemu_module_unload u = { .size = sizeof(u), .id = module->id };

	call(k->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &u);
}

static int kmod_load(struct gpuemu_ctx *ctx, struct gpuemu_module *module, const char *text,
		     size_t bytes, struct err *err)
{
	const struct kmod *k = ctx->state;
	struct gpuemu_module_load load = {
		.size = sizeof(load),
		.image = to_u64(text),
		.image_bytes = bytes,
	};
	int ret;

	ret = kmod_meet_engine(ctx, err);
	if (ret)
		return ret;
	ret = call(k->fd, GPUEMU_IOCTL_MODULE_LOAD, &load);
	if (ret)
		return err_set(err, ret, "%s: cannot be loaded: %s", module->name,
			       gpuemu_strerror(ret));
	module->id = load.id;
	ret = tell_module(ctx, module, err);
	if (ret)
		kmod_unload(ctx, module);
	return ret;
}

/* An engine that comes later is told with the module. */
static int kmod_constants(struct gpuemu_ctx *ctx, struct gpuemu_module *module, struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	return ret ? ret : tell_module(ctx, module, err);
}

/* --- opening -------------------------------------------------------------------------- */

static bool kmod_present(const char *device)
{
	int fd = open(device, O_RDWR | O_CLOEXEC);
	struct gpuemu_info i;
	bool present;

	if (fd < 0)
		return false;
	present = info(fd, &i) == 0 && i.abi == GPUEMU_ABI_VERSION && i.engine_generation;
	close(fd);
	return present;
}

static int open_device(const char *device, int *fd, struct err *err)
{
	*fd = open(device, O_RDWR | O_CLOEXEC);
	if (*fd >= 0)
		return 0;
	switch (errno) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		return err_set(err, -ENOENT, "no device %s: load the module (insmod gpuemu.ko)",
			       device);
	case EACCES:
	case EPERM:
		return err_set(err, -EACCES, "no permission to open %s", device);
	default:
		return err_set(err, -errno, "cannot open %s: %s", device, strerror(errno));
	}
}

static int check_device(const char *device, int fd, struct err *err)
{
	struct gpuemu_info i;
	int ret;

	ret = info(fd, &i);
	if (ret == -ENOTTY || ret == -EINVAL)
		return err_set(err, -ENOENT, "%s is not a gpuemu device", device);
	if (ret)
		return err_set(err, ret, "%s: %s", device, gpuemu_strerror(ret));
	if (i.abi != GPUEMU_ABI_VERSION)
		return err_set(err, -EINVAL,
			       "the module behind %s speaks ABI version %u, this library %d: "
			       "install module and library of one version",
			       device, i.abi, GPUEMU_ABI_VERSION);
	return i.engine_generation ? 0 : no_engine(device, err);
}

static void kmod_close(struct gpuemu_ctx *ctx)
{
	struct kmod *k = ctx->state;

	if (!k)
		return;
	if (k->fd >= 0)
		close(k->fd);
	kmod_run_fini(k);
	free(k->device);
	free(k);
	ctx->state = NULL;
}

/*
 * Before the first work. An older module knows no such call, and a kernel without
 * device-private memory no such thing: then it is so, and an error says why.
 */
static int give_memory(struct gpuemu_ctx *ctx, struct err *err)
{
	struct gpuemu_pageable p = { .size = sizeof(p) };
	struct kmod *k = ctx->state;
	int ret;

	if (!ctx->pageable) {
		k->not_pageable = "GPUEMU_PAGEABLE=0";
		return 0;
	}
	ret = call(k->fd, GPUEMU_IOCTL_PAGEABLE, &p);
	if (!ret)
		return 0;
	ctx->pageable = false;
	k->not_pageable = ret == -EOPNOTSUPP ? "this kernel has no CONFIG_DEVICE_PRIVATE" :
			  "the module is older than the library";
	if (ret == -EOPNOTSUPP || ret == -ENOTTY)
		return 0;
	return err_set(err, ret, "%s: cannot give kernels the program's memory: %s", k->device,
		       gpuemu_strerror(ret));
}

/*
 * Advice and prefetching are for memory of the process that it may write. What the module makes
 * of it depends on the pages, and it looks at each.
 */
static int kmod_manage(struct gpuemu_ctx *ctx, uintptr_t addr, size_t bytes)
{
	const uint64_t end = (uint64_t)addr + bytes;
	struct system_range range;
	struct system maps = { 0 };
	int ret = end < addr ? -EINVAL : 0;

	(void)ctx;
	system_refresh(&maps);
	for (uint64_t at = addr; !ret && at < end; at = range.end)
		if (!system_find(&maps, at, &range) || range.read_only)
			ret = -EINVAL;
	system_free(&maps);
	return ret;
}

/* Unknown options and values are the caller's error, as they are at open elsewhere. */
static int greet(struct gpuemu_ctx *ctx, struct err *err)
{
	int ret = kmod_meet_engine(ctx, err);

	return ret == -ERANGE || ret == -ENOENT ? -EINVAL : ret;
}

static int kmod_open(struct gpuemu_ctx *ctx, const char *device, struct err *err)
{
	struct kmod *k = calloc(1, sizeof(*k));
	int ret = -ENOMEM;

	if (!k)
		return ret;
	ctx->state = k;
	k->fd = -1;
	kmod_run_init(k);
	k->device = strdup(device);
	if (k->device)
		ret = open_device(device, &k->fd, err);
	if (!ret)
		ret = check_device(device, k->fd, err);
	if (!ret)
		ret = give_memory(ctx, err);
	if (!ret)
		ret = greet(ctx, err);
	if (ret)
		kmod_close(ctx);
	return ret;
}

const struct backend_ops backend_kmod = {
	.name = "kmod",
	.pageable = true,
	.manage = kmod_manage,
	.present = kmod_present,
	.open = kmod_open,
	.close = kmod_close,
	.configure = kmod_configure,
	.map = kmod_map,
	.drop = kmod_drop,
	.map_device = kmod_map_device,
	.drop_device = kmod_drop_device,
	.copy = kmod_copy,
	.load = kmod_load,
	.unload = kmod_unload,
	.constants = kmod_constants,
	.submit = kmod_submit,
	.wait = kmod_wait,
	.idle = kmod_idle,
	.wait_mark = kmod_wait_mark,
	.pass = kmod_pass,
	.halt_after = kmod_halt_after,
	.halt_at = kmod_halt_at,
	.advise = kmod_advise,
	.progress = kmod_progress,
	.statistics = kmod_statistics,
	.touches = kmod_touches,
	.touch = kmod_touch,
};
