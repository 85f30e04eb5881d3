// SPDX-License-Identifier: GPL-2.0
/*
 * Device memory that is not paged, on the backends sim and uffd: kernels use it without a far
 * fault, it is taken from what managed pages may use, and copies take the link's time.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpuemu.h"

#define MIB	(1ull << 20)

/* Each thread adds one to a word: 4096 bytes apart. */
static const char ptx[] =
	".version 6.0\n.target sm_60\n.address_size 64\n"
	".visible .entry touch(.param .u64 p)\n{\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"
	"mad.lo.s32 %r4, %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r4, 4096;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.u32 %r5, [%rd3];\nadd.s32 %r5, %r5, 1;\nst.global.u32 [%rd3], %r5;\nret;\n}\n";

#define OK(ctx, call) do { \
	int ok_ret = (call); \
	if (ok_ret) \
		fail_msg("%s: %d: %s", #call, ok_ret, gpuemu_last_error(ctx)); \
} while (0)

struct fixture {
	struct gpuemu_ctx *ctx;
	struct gpuemu_function *touch;
};

/* False: there is no such backend here. */
static bool open_on(struct fixture *f, const char *backend, const char *settings)
{
	const struct gpuemu_options o = {
		.size = sizeof(o), .backend = backend, .settings = settings,
	};
	struct gpuemu_module *module;
	int ret = gpuemu_open(&f->ctx, &o);

	if (ret && !strcmp(backend, "uffd")) {
		print_message("no userfaultfd here: %s\n", gpuemu_last_error(NULL));
		return false;
	}
	OK(NULL, ret);
	OK(f->ctx, gpuemu_module_load_data(f->ctx, &module, ptx, sizeof(ptx) - 1, "touch.ptx"));
	OK(f->ctx, gpuemu_module_get_function(module, &f->touch, "touch"));
	return true;
}

static void open_with(struct fixture *f, const char *settings)
{
	open_on(f, "sim", settings);
}

static void touch(struct fixture *f, void *p, uint32_t pages)
{
	const struct gpuemu_dim3 grid = { pages / 32, 1, 1 }, block = { 32, 1, 1 };
	const struct gpuemu_arg arg = gpuemu_arg_ptr(p);

	OK(f->ctx, gpuemu_launch(f->touch, grid, block, 0, NULL, &arg, 1));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
}

/* A number of the whole session: kernels have the same keys, and come first. */
static unsigned long number(struct fixture *f, const char *key)
{
	unsigned long n = ULONG_MAX;
	char *json;

	OK(f->ctx, gpuemu_statistics(f->ctx, &json));
	for (char *at = json; (at = strstr(at, key)); at++) {
		char *value = strchr(at, ':') + 1;

		value += strspn(value, " ");
		if (*value >= '0' && *value <= '9')
			n = strtoul(value, NULL, 10);
	}
	assert_true(n < ULONG_MAX);
	gpuemu_free(json);
	return n;
}

static const char *const backends[] = { "sim", "uffd" };
#define BACKENDS	(sizeof(backends) / sizeof(*backends))

static void no_far_fault(void **state)
{
	static const struct {
		const char *backend, *settings;
		bool paged;
	} rows[] = {
		{ "sim", "paging.vram=16M\n", true },
		{ "sim", "paging.vram=16M\npaging.enabled=0\n", false },
		{ "sim", "paging.vram=16M\ngpu.functional=1\n", false },
		{ "uffd", "paging.vram=16M\n", true },
		{ "uffd", "paging.vram=16M\npaging.enabled=0\n", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture f;
		void *device, *managed;

		if (!open_on(&f, rows[i].backend, rows[i].settings))
			continue;
		OK(f.ctx, gpuemu_mem_alloc_device(f.ctx, &device, 3 * MIB));
		OK(f.ctx, gpuemu_mem_alloc_managed(f.ctx, &managed, 3 * MIB));
		*(uint32_t *)device = 41;
		touch(&f, device, 768);
		if (rows[i].paged)
			assert_int_equal(number(&f, "\"far_faults\""), 0);
		touch(&f, managed, 768);
		if (rows[i].paged)
			assert_int_equal(number(&f, "\"far_faults\""), 768);
		assert_int_equal(*(uint32_t *)device, 42);
		assert_int_equal(*(uint32_t *)managed, 1);
		assert_int_equal(*(uint32_t *)((char *)device + 767 * 4096), 1);
		gpuemu_close(f.ctx);
	}
}

/* Exactly on sim; in real time a page may leave before its access is repeated, and come again. */
static void counted(struct fixture *f, const char *backend, const char *key, unsigned long want)
{
	unsigned long n = number(f, key);

	if (strcmp(backend, "sim"))
		assert_in_range(n, want, want + want / 2);
	else
		assert_int_equal(n, want);
}

/* 8 MiB: what is taken is not the managed pages', and comes back. */
static void share_frames(const char *backend)
{
	void *device, *more, *managed;
	struct fixture f;

	if (!open_on(&f, backend, "paging.vram=8M\n"))
		return;
	OK(f.ctx, gpuemu_mem_alloc_managed(f.ctx, &managed, 4 * MIB));
	touch(&f, managed, 1024);
	assert_int_equal(number(&f, "\"evicted_pages\""), 0);
	OK(f.ctx, gpuemu_mem_alloc_device(f.ctx, &device, 5 * MIB));
	assert_int_equal(gpuemu_mem_alloc_device(f.ctx, &more, 1), -ENOMEM);
	assert_null(more);
	touch(&f, device, 1024);
	/* The managed pages went home for it, and now have 512 frames for 1024. */
	assert_int_equal(number(&f, "\"far_faults\""), 1024);
	touch(&f, managed, 1024);
	counted(&f, backend, "\"far_faults\"", 2048);
	counted(&f, backend, "\"evicted_pages\"", 512);
	OK(f.ctx, gpuemu_mem_free(f.ctx, device));
	OK(f.ctx, gpuemu_mem_alloc_device(f.ctx, &more, 2 * MIB));
	assert_int_equal(*(uint32_t *)more, 0);
	/* It is no managed memory, and what was freed is nobody's. */
	assert_int_equal(gpuemu_mem_prefetch(f.ctx, more, 4096, NULL), -EINVAL);
	touch(&f, managed, 32);
	OK(f.ctx, gpuemu_mem_free(f.ctx, more));
	{
		const struct gpuemu_dim3 one = { 1, 1, 1 };
		const struct gpuemu_arg arg = gpuemu_arg_ptr(more);

		OK(f.ctx, gpuemu_launch(f.touch, one, one, 0, NULL, &arg, 1));
		assert_int_equal(gpuemu_synchronize(f.ctx), -EFAULT);
	}
	gpuemu_close(f.ctx);
}

static void frames_are_shared(void **state)
{
	for (size_t i = 0; i < BACKENDS; i++)
		share_frames(backends[i]);
}

/* 16 GB/s at 700 MHz: 1 MiB takes 45,875 cycles, in whichever stream. */
static void take_time(const char *backend)
{
	struct gpuemu_event *begin, *end;
	struct gpuemu_stream *streams[2] = { NULL, NULL };
	struct fixture f;
	int64_t cycles;

	if (!open_on(&f, backend, "paging.link_mbps=16000\ngpu.clock_mhz=700\n"))
		return;
	OK(f.ctx, gpuemu_stream_create(f.ctx, &streams[1]));
	OK(f.ctx, gpuemu_event_create(f.ctx, &begin));
	OK(f.ctx, gpuemu_event_create(f.ctx, &end));
	for (int i = 0; i < 2; i++) {
		OK(f.ctx, gpuemu_event_record(begin, streams[i]));
		OK(f.ctx, gpuemu_mem_copy(f.ctx, NULL, NULL, MIB, 0, streams[i]));
		OK(f.ctx, gpuemu_event_record(end, streams[i]));
		OK(f.ctx, gpuemu_event_synchronize(end));
		OK(f.ctx, gpuemu_event_elapsed(begin, end, &cycles));
		assert_in_range(cycles, 45875, 45876);
	}
	gpuemu_close(f.ctx);
}

static void copies_take_time(void **state)
{
	for (size_t i = 0; i < BACKENDS; i++)
		take_time(backends[i]);
}

static int64_t between(struct fixture *f, struct gpuemu_event *from, struct gpuemu_event *to)
{
	int64_t cycles;

	OK(f->ctx, gpuemu_event_synchronize(to));
	OK(f->ctx, gpuemu_event_elapsed(from, to, &cycles));
	return cycles;
}

/*
 * At 16 GB/s and 700 MHz 1 MiB takes 45,875 cycles, from pageable memory at 8 GB/s 91,750. Two
 * copies in one direction take turns, one in the other direction goes beside them, and none
 * waits for the host.
 */
static void engines_take_turns(void **state)
{
	const unsigned int flags[4] = {
		0, GPUEMU_COPY_PAGEABLE, GPUEMU_COPY_HOME, GPUEMU_COPY_INSIDE
	};
	const int64_t ends[4] = { 45875, 45875 + 91750, 45875, 0 };
	struct gpuemu_event *begin, *end[4];
	struct gpuemu_stream *streams[4];
	struct fixture f;

	open_with(&f, "paging.link_mbps=16000\npaging.pageable_mbps=8000\ngpu.clock_mhz=700\n");
	OK(f.ctx, gpuemu_event_create(f.ctx, &begin));
	for (int i = 0; i < 4; i++) {
		OK(f.ctx, gpuemu_stream_create(f.ctx, &streams[i]));
		OK(f.ctx, gpuemu_event_create(f.ctx, &end[i]));
	}
	OK(f.ctx, gpuemu_event_record(begin, streams[0]));
	for (int i = 0; i < 4; i++) {
		OK(f.ctx, gpuemu_mem_copy(f.ctx, NULL, NULL, MIB, flags[i], streams[i]));
		OK(f.ctx, gpuemu_event_record(end[i], streams[i]));
	}
	for (int i = 0; i < 4; i++)
		assert_in_range(between(&f, begin, end[i]), ends[i], ends[i] + 2);
	assert_int_equal(gpuemu_mem_copy(f.ctx, NULL, NULL, 1, 8, NULL), -EINVAL);
	assert_int_equal(gpuemu_mem_copy(f.ctx, end, NULL, 1, 0, NULL), -EINVAL);
	gpuemu_close(f.ctx);
}

/*
 * A stream copies in, runs and copies out while another one does the same: what a kernel reads is
 * what the copy before it brought, and what the copy behind it brings home is the kernel's. The
 * host sees none of it before it waits.
 */
static void copies_wait_their_turn(void **state)
{
	const struct gpuemu_dim3 grid = { 8, 1, 1 }, block = { 32, 1, 1 };
	struct gpuemu_stream *streams[2];
	uint32_t *device[2], *host[2];
	struct fixture f;

	open_with(&f, "");
	for (int i = 0; i < 2; i++) {
		struct gpuemu_arg at;

		OK(f.ctx, gpuemu_stream_create(f.ctx, &streams[i]));
		OK(f.ctx, gpuemu_mem_alloc_device(f.ctx, (void **)&device[i], MIB));
		OK(f.ctx, gpuemu_mem_alloc_managed(f.ctx, (void **)&host[i], MIB));
		host[i][1024] = 41 + i;
		at = gpuemu_arg_ptr(device[i]);
		OK(f.ctx, gpuemu_mem_copy(f.ctx, device[i], host[i], MIB, 0, streams[i]));
		OK(f.ctx, gpuemu_launch(f.touch, grid, block, 0, streams[i], &at, 1));
		OK(f.ctx, gpuemu_mem_copy(f.ctx, host[i], device[i], MIB, GPUEMU_COPY_HOME,
					  streams[i]));
		assert_int_equal(host[i][1024], 41 + i);
		assert_int_equal(device[i][1024], 0);
	}
	OK(f.ctx, gpuemu_synchronize(f.ctx));
	for (int i = 0; i < 2; i++)
		assert_int_equal(host[i][1024], 42 + i);
	gpuemu_close(f.ctx);
}

/* Without time copies are done in their turn, too. */
static void copies_without_time(void **state)
{
	uint32_t *device, *host;
	struct gpuemu_stream *stream;
	struct fixture f;

	open_with(&f, "gpu.functional=1\n");
	OK(f.ctx, gpuemu_stream_create(f.ctx, &stream));
	OK(f.ctx, gpuemu_mem_alloc_device(f.ctx, (void **)&device, MIB));
	OK(f.ctx, gpuemu_mem_alloc_managed(f.ctx, (void **)&host, MIB));
	host[7] = 7;
	OK(f.ctx, gpuemu_mem_copy(f.ctx, device, host, MIB, 0, stream));
	OK(f.ctx, gpuemu_stream_synchronize(f.ctx, stream));
	assert_int_equal(device[7], 7);
	gpuemu_close(f.ctx);
}

/*
 * The program's own pages: managed in place, with what they hold, and given back as they are
 * then.
 */
static void registered_memory(void **state)
{
	for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++) {
		const struct gpuemu_options o = {
			.size = sizeof(o),
			.backend = backends[i],
			.settings = "paging.vram=8M\n",
		};
		struct gpuemu_module *module;
		struct fixture f;
		char *own = aligned_alloc(4096, 66 * 4096);
		void *managed;
		int ret = gpuemu_open(&f.ctx, &o);

		assert_non_null(own);
		if (ret && i) {
			print_message("no userfaultfd here: %s\n", gpuemu_last_error(NULL));
			free(own);
			continue;
		}
		assert_int_equal(ret, 0);
		OK(f.ctx,
		   gpuemu_module_load_data(f.ctx, &module, ptx, sizeof(ptx) - 1, "touch.ptx"));
		OK(f.ctx, gpuemu_module_get_function(module, &f.touch, "touch"));
		for (unsigned int page = 0; page < 66; page++)
			memset(own + page * 4096, (int)page, 4096);
		/* From within the second page to within the last but one: 64 whole pages. */
		OK(f.ctx, gpuemu_mem_register(f.ctx, own + 4096 + 100, 64 * 4096 - 200));
		assert_int_equal(gpuemu_mem_register(f.ctx, own + 4096, 1), -EEXIST);
		assert_int_equal(gpuemu_mem_register(f.ctx, own, 0), -EINVAL);
		assert_int_equal(own[4096], 1);
		touch(&f, own + 4096, 64);
		assert_int_equal(number(&f, "\"far_faults\""), 64);
		for (unsigned int page = 1; page < 65; page++) {
			assert_int_equal(own[page * 4096], page + 1);
			assert_int_equal(own[page * 4096 + 4095], page);
		}
		touch(&f, own + 4096, 64);
		OK(f.ctx, gpuemu_mem_free(f.ctx, own + 4096 + 100));
		assert_int_equal(gpuemu_mem_free(f.ctx, own + 4096), -EINVAL);
		for (unsigned int page = 1; page < 65; page++)
			assert_int_equal(own[page * 4096], page + 2);
		OK(f.ctx, gpuemu_mem_alloc_managed(f.ctx, &managed, 4096));
		OK(f.ctx, gpuemu_mem_register(f.ctx, own + 4096, 4096));
		/* What is still registered outlives the context. */
		gpuemu_close(f.ctx);
		assert_int_equal(own[4096], 3);
		assert_int_equal(own[65 * 4096 + 7], 65);
		free(own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_far_fault),	       cmocka_unit_test(registered_memory),
		cmocka_unit_test(frames_are_shared),   cmocka_unit_test(copies_take_time),
		cmocka_unit_test(engines_take_turns),  cmocka_unit_test(copies_wait_their_turn),
		cmocka_unit_test(copies_without_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
