// SPDX-License-Identifier: GPL-2.0
/*
 * libgpuemu end to end on the sim backend: what a program sees. Results of
 * kernels, every documented error with its sentence, and that a context goes on
 * after each.
 */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libgpuemu_bench.h"

/* --- what works ----------------------------------------------------------------- */

static void test_vecadd(void **state)
{
	struct fixture *f = *state;

	OK(f->ctx, launch_vecadd(f, NULL));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
	assert_string_equal(gpuemu_backend(f->ctx), "sim");
	assert_int_equal(gpuemu_version(), GPUEMU_VERSION_MAJOR << 16 | GPUEMU_VERSION_MINOR);
	assert_string_equal(gpuemu_last_error(f->ctx), "");
}

static void test_params_by_pointer(void **state)
{
	struct fixture *f = *state;
	uint32_t n = N;
	void *params[] = { &f->a, &f->b, &f->c, &n };

	OK(f->ctx, gpuemu_launch_params(f->vecadd, grid, block, 0, NULL, params));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
	params[2] = NULL;
	expect_error(f->ctx, gpuemu_launch_params(f->vecadd, grid, block, 0, NULL, params),
		     -EINVAL, "params[2]");
}

/* A structure of 24 bytes behind a word: all of it arrives, by pointer as by argument. */
static void test_structures(void **state)
{
	static const char text[] =
		".version 3.2\n.target sm_35\n.address_size 64\n"
		".visible .entry take(.param .u64 out, .param .u32 n, .param .align 8 .b8 s[24])\n{\n"
		".reg .b32 %r<2>;\n.reg .b64 %rd<6>;\n"
		"ld.param.u64 %rd1, [out];\nld.param.u32 %r1, [n];\nst.global.u32 [%rd1], %r1;\n"
		"ld.param.u64 %rd2, [s];\nld.param.u64 %rd3, [s+8];\nld.param.u64 %rd4, [s+16];\n"
		"st.global.u64 [%rd1+8], %rd2;\nst.global.u64 [%rd1+16], %rd3;\n"
		"st.global.u64 [%rd1+24], %rd4;\nret;\n}\n";
	struct fixture *f = *state;
	uint64_t s[3] = { 0x1112131415161718, 0x2122232425262728, 0x3132333435363738 };
	uint32_t n = 0x41424344;
	void *out = f->a, *params[] = { &out, &n, s };
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(out), gpuemu_arg_u32(n),
		{ .type = GPUEMU_ARG_BYTES, .bytes = sizeof(s), .v.ptr = s },
	};
	struct gpuemu_function *take;
	struct gpuemu_module *module;

	OK(f->ctx, gpuemu_module_load_data(f->ctx, &module, text, strlen(text), "take.ptx"));
	OK(f->ctx, gpuemu_module_get_function(module, &take, "take"));
	for (int typed = 0; typed < 2; typed++) {
		memset(out, 0, 32);
		OK(f->ctx, typed ? gpuemu_launch(take, one, one, 0, NULL, args, 3) :
				   gpuemu_launch_params(take, one, one, 0, NULL, params));
		OK(f->ctx, gpuemu_synchronize(f->ctx));
		assert_memory_equal(out, &n, 4);
		assert_memory_equal((char *)out + 8, s, sizeof(s));
	}
}

static void test_memory_is_zeroed_and_reusable(void **state)
{
	struct fixture *f = *state;
	unsigned char *p;
	void *big;

	OK(f->ctx, gpuemu_mem_alloc_managed(f->ctx, (void **)&p, 10000));
	for (int i = 0; i < 12288; i++)
		assert_int_equal(p[i], 0);	/* rounded up to pages */
	memset(p, 0x5a, 12288);
	OK(f->ctx, gpuemu_mem_free(f->ctx, p));
	OK(f->ctx, gpuemu_mem_alloc_managed(f->ctx, &big, 5 << 20));
	assert_int_equal((uintptr_t)big % (2 << 20), 0);
	OK(f->ctx, gpuemu_mem_free(f->ctx, big));
	for (int round = 0; round < 3; round++) {
		unsigned char *q;

		OK(f->ctx, gpuemu_mem_alloc_managed(f->ctx, (void **)&q, 10000));
		assert_ptr_equal(q, p);	/* the same calls give the same addresses */
		assert_int_equal(q[0] | q[9999], 0);
		OK(f->ctx, gpuemu_mem_free(f->ctx, q));
	}
}

static void test_past_the_end_faults(void **state)
{
	struct fixture *f = *state;
	char *a, *b;

	/* As large as the alignment: the next one would begin right behind it. */
	OK(f->ctx, gpuemu_mem_alloc_managed(f->ctx, (void **)&a, 64 << 10));
	OK(f->ctx, gpuemu_mem_alloc_managed(f->ctx, (void **)&b, 64 << 10));
	OK(f->ctx, launch_poke(f, a + (64 << 10), 1));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EFAULT, "poke");
	OK(f->ctx, launch_poke(f, b + (64 << 10), 1));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EFAULT, "poke");
}

static void test_configuration_that_does_not_fit(void **state)
{
	struct fixture *f = *state;

	OK(f->ctx, gpuemu_mem_prefetch(f->ctx, f->a, N * sizeof(float), NULL));
	expect_error(f->ctx, gpuemu_configure(f->ctx, "paging.vram=4096\n"), -EBUSY,
		     "paging.vram=4096");
	/* Nothing of it is left. */
	OK(f->ctx, gpuemu_configure(f->ctx, "gpu.sms=1\n"));
	OK(f->ctx, launch_vecadd(f, NULL));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
}

static void test_two_contexts_do_not_meet(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_ctx *other = open_sim(NULL);
	float *p = floats(other);

	assert_true(p + N <= f->a || p >= f->c + N);
	p[0] = 1;
	expect_error(f->ctx, gpuemu_mem_free(f->ctx, p), -EINVAL, "no managed allocation");
	OK(f->ctx, launch_poke(f, p, 7));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EFAULT, "poke");
	assert_float_equal(p[0], 1, 0);
	gpuemu_close(other);
}

static void test_statistics(void **state)
{
	struct fixture *f = *state;
	char *json;

	OK(f->ctx, launch_vecadd(f, NULL));
	OK(f->ctx, gpuemu_statistics(f->ctx, &json));
	assert_non_null(strstr(json, "\"vecadd\""));
	assert_non_null(strstr(json, "\"far_faults\""));
	gpuemu_free(json);
	/* A new configuration starts them anew. */
	OK(f->ctx, gpuemu_configure(f->ctx, "gpu.sms=1\n"));
	OK(f->ctx, gpuemu_statistics(f->ctx, &json));
	assert_null(strstr(json, "\"vecadd\""));
	gpuemu_free(json);
	OK(f->ctx, launch_vecadd(f, NULL));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
}

static char *run_and_report(void)
{
	struct fixture f = { .ctx = open_sim("gpu.sms=3\npaging.vram=32K\n") };
	char *json;

	OK(f.ctx, gpuemu_module_load_data(f.ctx, &f.module, ptx, strlen(ptx), NULL));
	OK(f.ctx, gpuemu_module_get_function(f.module, &f.vecadd, "vecadd"));
	f.a = floats(f.ctx);
	f.b = floats(f.ctx);
	f.c = floats(f.ctx);
	for (unsigned int i = 0; i < N; i++)
		f.a[i] = f.b[i] = (float)i;
	OK(f.ctx, launch_vecadd(&f, NULL));
	OK(f.ctx, gpuemu_synchronize(f.ctx));
	check_sum(&f);
	OK(f.ctx, gpuemu_statistics(f.ctx, &json));
	gpuemu_close(f.ctx);
	return json;
}

/* VRAM is smaller than the three vectors, so this evicts. */
static void test_runs_are_identical(void **state)
{
	char *first = run_and_report(), *second = run_and_report();

	assert_string_equal(first, second);
	assert_non_null(strstr(first, "\"evicted_pages\""));
	gpuemu_free(first);
	gpuemu_free(second);
}

static void test_touch(void **state)
{
	struct fixture *f = *state;
	char *json;

	OK(f->ctx, gpuemu_touch(f->ctx, f->a, N * sizeof(float), 4096, 1, GPUEMU_TOUCH_WRITE,
				&json));
	assert_non_null(strstr(json, "\"far_fault_ns\""));
	assert_non_null(strstr(json, "\"stages_ns\""));
	assert_null(strstr(json, "\"samples\""));
	gpuemu_free(json);
	/* Without a text, and with each far fault's times. */
	OK(f->ctx, gpuemu_touch(f->ctx, f->b, 4096, 4096, 1, 0, NULL));
	OK(f->ctx, gpuemu_touch(f->ctx, f->b, 2 * 4096, 4096, 1, GPUEMU_TOUCH_SAMPLES, &json));
	assert_non_null(strstr(json, "\"faults\":1,"));
	assert_non_null(strstr(json, "\"samples\":{\"far_fault_ns\":["));
	gpuemu_free(json);
	expect_error(f->ctx, gpuemu_touch(f->ctx, f->a, 4096, 4096, 1, 4, &json), -EINVAL,
		     "flags 0x4");
	expect_error(f->ctx, gpuemu_touch(f->ctx, f->a, 4096, 0, 1, 0, &json), -EINVAL, "stride");
	assert_null(json);
	expect_error(f->ctx, gpuemu_touch(f->ctx, f->a, 4096, 4096, 0, 0, &json), -EINVAL,
		     "0 faults");
	expect_error(f->ctx, gpuemu_touch(f->ctx, f->a, 4096, 4096, 257, 0, &json), -EINVAL,
		     "257 faults");
	expect_error(f->ctx, gpuemu_touch(f->ctx, NULL, 4096, 4096, 1, 0, &json), -EINVAL,
		     "not inside a managed");
}

static void test_load_from_a_file(void **state)
{
	char path[] = "/tmp/gpuemu-test-XXXXXX";
	struct fixture *f = *state;
	struct gpuemu_module *module;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, ptx, strlen(ptx)), strlen(ptx));
	OK(f->ctx, gpuemu_module_load(f->ctx, &module, path));
	OK(f->ctx, gpuemu_module_unload(module));
	assert_int_equal(ftruncate(fd, 0), 0);
	expect_error(f->ctx, gpuemu_module_load(f->ctx, &module, path), -EINVAL, path);
	close(fd);
	unlink(path);
	expect_error(f->ctx, gpuemu_module_load(f->ctx, &module, path), -ENOENT, path);
	assert_null(module);
}

/* Several threads, one context: one call at a time is carried out. */
static void *launches(void *arg)
{
	struct fixture *f = arg;
	struct gpuemu_stream *stream;
	void *p;

	for (int i = 0; i < 5; i++) {
		if (gpuemu_stream_create(f->ctx, &stream) || launch_vecadd(f, stream) ||
		    gpuemu_stream_synchronize(f->ctx, stream) ||
		    gpuemu_mem_alloc_managed(f->ctx, &p, 4096) || gpuemu_mem_free(f->ctx, p) ||
		    gpuemu_stream_destroy(stream))
			return (void *)"failed";
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct fixture *f = *state;
	pthread_t threads[3];
	void *failed;

	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launches, f), 0);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	check_sum(f);
}

/* --- what fails --------------------------------------------------------------------- */

static void test_fault_names_kernel_and_address(void **state)
{
	struct fixture *f = *state;
	char address[32];
	uint32_t *p;

	OK(f->ctx, launch_poke(f, (void *)0x1230, 1));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EFAULT, "poke");
	assert_non_null(strstr(gpuemu_last_error(f->ctx), "0x1230"));
	assert_non_null(strstr(gpuemu_last_error(f->ctx), "line"));
	/* One byte past the end of an allocation, and memory that was freed. */
	OK(f->ctx, gpuemu_mem_alloc_managed(f->ctx, (void **)&p, 4096));
	OK(f->ctx, launch_poke(f, p + 1024, 1));
	snprintf(address, sizeof(address), "%p", (void *)(p + 1024));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EFAULT, address);
	OK(f->ctx, launch_poke(f, p, 7));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	assert_int_equal(*p, 7);
	OK(f->ctx, gpuemu_mem_free(f->ctx, p));
	OK(f->ctx, launch_poke(f, p, 7));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EFAULT, "poke");
	/* The context goes on. */
	OK(f->ctx, launch_vecadd(f, NULL));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
}

static void test_bad_launches(void **state)
{
	struct fixture *f = *state;
	struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(f->a), gpuemu_arg_ptr(f->b), gpuemu_arg_ptr(f->c),
		gpuemu_arg_u32(N), gpuemu_arg_u32(0),
	};
	const struct {
		struct gpuemu_dim3 grid, block;
		unsigned int nargs;
		const char *text;
	} bad[] = {
		{ grid, block, 3, "takes 4 arguments, 3 are given" },
		{ grid, block, 5, "takes 4 arguments, 5 are given" },
		{ { 0, 1, 1 }, block, 4, "grid (0,1,1)" },
		{ grid, { 32, 0, 1 }, 4, "block (32,0,1)" },
		{ grid, { 1025, 1, 1 }, 4, "block (1025,1,1)" },
		{ grid, { 64, 32, 1 }, 4, "2048 threads" },
		{ grid, { 1, 1, 65 }, 4, "block (1,1,65)" },
		{ { 1, 65536, 1 }, block, 4, "grid (1,65536,1)" },
	};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_error(f->ctx, gpuemu_launch(f->vecadd, bad[i].grid, bad[i].block, 0, NULL,
						   args, bad[i].nargs), -EINVAL, bad[i].text);
		assert_non_null(strstr(gpuemu_last_error(f->ctx), "vecadd"));
	}
	args[3] = gpuemu_arg_u64(N);
	expect_error(f->ctx, gpuemu_launch(f->vecadd, grid, block, 0, NULL, args, 4), -EINVAL,
		     "argument 3 (u64) has 8 bytes, its parameter 4");
	args[3] = (struct gpuemu_arg){ .type = 99 };
	expect_error(f->ctx, gpuemu_launch(f->vecadd, grid, block, 0, NULL, args, 4), -EINVAL,
		     "unknown type 99");
	args[3] = (struct gpuemu_arg){ .type = GPUEMU_ARG_BYTES, .bytes = 4 };
	expect_error(f->ctx, gpuemu_launch(f->vecadd, grid, block, 0, NULL, args, 4), -EINVAL,
		     "no bytes given");
	/* .maxntid 32 */
	expect_error(f->ctx, gpuemu_launch(f->poke, one, (struct gpuemu_dim3){ 33, 1, 1 }, 0, NULL,
					   args, 2), -EINVAL, "33 threads, 32 are possible");
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	/* What depends on the GPU comes when the work runs. */
	args[3] = gpuemu_arg_u32(N);
	OK(f->ctx, gpuemu_launch(f->vecadd, grid, block, 1 << 20, NULL, args, 4));
	expect_error(f->ctx, gpuemu_synchronize(f->ctx), -EINVAL, "shared");
}

static void test_bytes_argument(void **state)
{
	struct fixture *f = *state;
	const uint32_t n = N;
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(f->a), gpuemu_arg_ptr(f->b), gpuemu_arg_ptr(f->c),
		{ .type = GPUEMU_ARG_BYTES, .bytes = 4, .v.ptr = &n },
	};

	OK(f->ctx, gpuemu_launch(f->vecadd, grid, block, 0, NULL, args, 4));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
}

static void test_bad_memory(void **state)
{
	struct fixture *f = *state;
	char *json;
	int local;
	void *p;

	expect_error(f->ctx, gpuemu_mem_alloc_managed(f->ctx, &p, 0), -EINVAL, "0 bytes");
	expect_error(f->ctx, gpuemu_mem_alloc_managed(f->ctx, &p, SIZE_MAX), -ENOMEM,
		     "address space");
	expect_error(f->ctx, gpuemu_mem_alloc_managed(f->ctx, &p, 1ull << 46), -ENOMEM,
		     "address space");
	assert_null(p);
	expect_error(f->ctx, gpuemu_mem_free(f->ctx, &local), -EINVAL, "no managed allocation");
	expect_error(f->ctx, gpuemu_mem_free(f->ctx, f->a + 1), -EINVAL, "no managed allocation");
	expect_error(f->ctx, gpuemu_mem_free(f->ctx, NULL), -EINVAL, "no managed allocation");
	expect_error(f->ctx, gpuemu_mem_prefetch(f->ctx, (void *)0x1230, 4, NULL), -EINVAL,
		     "not inside a managed");
	/* 20000 bytes are 5 pages. */
	OK(f->ctx, gpuemu_mem_prefetch(f->ctx, f->a, 5 * 4096, NULL));
	expect_error(f->ctx, gpuemu_mem_prefetch(f->ctx, f->a, 5 * 4096 + 1, NULL), -EINVAL,
		     "not inside a managed");
	expect_error(f->ctx, gpuemu_mem_prefetch_host(f->ctx, f->a, 5 * 4096 + 1, NULL), -EINVAL,
		     "not inside a managed");
	/* There it was, and three of its pages go back. */
	OK(f->ctx, gpuemu_mem_prefetch_host(f->ctx, f->a, 2 * 4096 + 1, NULL));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	OK(f->ctx, gpuemu_statistics(f->ctx, &json));
	assert_non_null(strstr(json, "\"h2d_bytes\":20480,\"d2h_bytes\":12288,"));
	assert_non_null(strstr(json, "\"resident_pages\":2,"));
	assert_non_null(strstr(json, "\"evicted_pages\":0,"));
	gpuemu_free(json);
}

static void test_bad_ptx(void **state)
{
	static const char unsupported[] =
		".version 3.2\n.target sm_35\n.address_size 64\n"
		".visible .entry k()\n{\n	.reg .b32 %r<9>;\n"
		"	frobnicate.u32 %r1, %r2;\n	ret;\n}\n";
	struct fixture *f = *state;
	struct gpuemu_module *module;
	struct gpuemu_function *function;
	int ret;

	expect_error(f->ctx, gpuemu_module_load_data(f->ctx, &module, "hello", 5, "hello.ptx"),
		     -EINVAL, "hello.ptx:1");
	assert_null(module);
	expect_error(f->ctx, gpuemu_module_load_data(f->ctx, &module, "", 0, NULL), -EINVAL,
		     "0 bytes");
	ret = gpuemu_module_load_data(f->ctx, &module, unsupported, strlen(unsupported), "u.ptx");
	assert_true(ret == -EOPNOTSUPP || ret == -EINVAL);
	expect_error(f->ctx, ret, ret, "u.ptx:7");
	assert_non_null(strstr(gpuemu_last_error(f->ctx), "frobnicate"));
	expect_error(f->ctx, gpuemu_module_get_function(f->module, &function, "vecsub"), -ENOENT,
		     "vecsub");
	assert_non_null(strstr(gpuemu_last_error(f->ctx), "vecadd, poke"));
	assert_null(function);
}

static void test_bad_settings(void **state)
{
	static const struct {
		const char *settings;
		int error;
		const char *text;
	} bad[] = {
		{ "gpu.smz=1\n", -ENOENT, "gpu.smz" },
		{ "gpu.sms=many\n", -EINVAL, "gpu.sms" },
		{ "gpu.sms=0\n", -ERANGE, "gpu.sms" },
		{ "paging.vram=0\n", -ERANGE, "paging.vram" },
		{ "paging.evict=best\n", -EINVAL, "best" },
		{ "sm.scheduler=best\n", -EINVAL, "best" },
	};
	struct fixture *f = *state;
	struct gpuemu_ctx *ctx;

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct gpuemu_options options = {
			.size = sizeof(options), .backend = "sim", .settings = bad[i].settings,
		};

		expect_error(f->ctx, gpuemu_configure(f->ctx, bad[i].settings), bad[i].error,
			     bad[i].text);
		/* At open, every such error is -EINVAL. */
		expect_error(NULL, gpuemu_open(&ctx, &options), -EINVAL, bad[i].text);
		assert_null(ctx);
	}
	OK(f->ctx, launch_vecadd(f, NULL));
	OK(f->ctx, gpuemu_synchronize(f->ctx));
	check_sum(f);
}

static void test_bad_open(void **state)
{
	struct gpuemu_options o = { .size = sizeof(o), .backend = "cuda" };
	struct gpuemu_ctx *ctx;

	expect_error(NULL, gpuemu_open(&ctx, &o), -EINVAL,
		     "unknown backend 'cuda': there are kmod, uffd, sim");
	o.backend = "kmod";
	o.device = "/nonexistent/gpuemu";
	expect_error(NULL, gpuemu_open(&ctx, &o), -ENOENT, "/nonexistent/gpuemu: load the module");
	o.device = "/dev/null";
	expect_error(NULL, gpuemu_open(&ctx, &o), -ENOENT, "/dev/null is not a gpuemu device");
	o.backend = "sim";
	o.config = "gtx9000";
	expect_error(NULL, gpuemu_open(&ctx, &o), -EINVAL, "gtx9000");
	o.config = "/nonexistent/file";
	expect_error(NULL, gpuemu_open(&ctx, &o), -EINVAL, "/nonexistent/file");
	o.config = NULL;
	o.size = 3;
	expect_error(NULL, gpuemu_open(&ctx, &o), -EINVAL, "gpuemu_options.size is 3");
	assert_null(ctx);
	gpuemu_close(NULL);
}

static void test_environment_chooses(void **state)
{
	struct gpuemu_ctx *ctx;

	setenv("GPUEMU_BACKEND", "nothing", 1);
	expect_error(NULL, gpuemu_open(&ctx, NULL), -EINVAL, "'nothing'");
	setenv("GPUEMU_BACKEND", "sim", 1);
	OK(NULL, gpuemu_open(&ctx, NULL));
	assert_string_equal(gpuemu_backend(ctx), "sim");
	gpuemu_close(ctx);
	unsetenv("GPUEMU_BACKEND");
}

/* A configuration by name, from $GPUEMU_DATADIR before any other place. */
static void test_config_by_name(void **state)
{
	struct gpuemu_options o = { .size = sizeof(o), .backend = "sim", .config = "tiny" };
	char dir[] = "/tmp/gpuemu-test-XXXXXX", path[64];
	struct gpuemu_ctx *ctx;
	FILE *file;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/configs", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	strcat(path, "/tiny.conf");
	file = fopen(path, "w");
	fputs("gpu = { sms = 1; };\nsm = { scheduler = \"none-such\"; };\n", file);
	fclose(file);
	setenv("GPUEMU_DATADIR", dir, 1);
	/* Found and read: its scheduler is what is wrong. */
	expect_error(NULL, gpuemu_open(&ctx, &o), -EINVAL, "none-such");
	o.settings = "sm.scheduler=lrr\n";
	OK(NULL, gpuemu_open(&ctx, &o));
	gpuemu_close(ctx);
	o.config = "tinier";
	expect_error(NULL, gpuemu_open(&ctx, &o), -EINVAL, "'tinier': there are tiny");
	unsetenv("GPUEMU_DATADIR");
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(dir);
}

static void test_error_names(void **state)
{
	assert_string_equal(gpuemu_strerror(-EIO), "device lost");
	assert_string_equal(gpuemu_strerror(-EFAULT), "access outside managed memory");
	assert_string_equal(gpuemu_strerror(0), "success");
	assert_string_equal(gpuemu_strerror(-EXDEV), strerror(EXDEV));
	assert_string_equal(gpuemu_strerror(-99999), "unknown error");
	assert_string_equal(gpuemu_strerror(5), "unknown error");
}

/* An open context with work done needs no order to end. */
static void test_close_at_once(void **state)
{
	struct fixture f = { .ctx = open_sim(NULL) };
	struct gpuemu_stream *stream;

	OK(f.ctx, gpuemu_module_load_data(f.ctx, &f.module, ptx, strlen(ptx), NULL));
	OK(f.ctx, gpuemu_module_get_function(f.module, &f.poke, "poke"));
	OK(f.ctx, gpuemu_stream_create(f.ctx, &stream));
	f.a = floats(f.ctx);
	OK(f.ctx, launch_poke(&f, f.a, 1));
	OK(f.ctx, launch_poke(&f, NULL, 1));
	gpuemu_close(f.ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_vecadd),
		TEST(test_params_by_pointer),
		TEST(test_structures),
		TEST(test_memory_is_zeroed_and_reusable),
		TEST(test_past_the_end_faults),
		TEST(test_configuration_that_does_not_fit),
		TEST(test_two_contexts_do_not_meet),
		TEST(test_statistics),
		cmocka_unit_test(test_runs_are_identical),
		TEST(test_touch),
		TEST(test_load_from_a_file),
		TEST(test_threads),
		TEST(test_fault_names_kernel_and_address),
		TEST(test_bad_launches),
		TEST(test_bytes_argument),
		TEST(test_bad_memory),
		TEST(test_bad_ptx),
		TEST(test_bad_settings),
		cmocka_unit_test(test_bad_open),
		cmocka_unit_test(test_environment_chooses),
		cmocka_unit_test(test_config_by_name),
		cmocka_unit_test(test_error_names),
		cmocka_unit_test(test_close_at_once),
	};

	unsetenv("GPUEMU_BACKEND");
	unsetenv("GPUEMU_DATADIR");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
