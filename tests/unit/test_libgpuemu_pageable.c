// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels that are given ordinary pointers of the program (heap, stack, variables, mappings), on
 * the backends that run in its process: results, far faults, what is refused, and memory that
 * the program unmaps or protects between works.
 */
#include <json-c/json.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libgpuemu_bench.h"

#define PAGE	4096u
#define MAPPED	(64 * PAGE)

static struct fixture f;
/* In the program's image: one that it may write, one that it may not. */
static float variable[N];
static const float constant[N] = { [0] = 3, [N - 1] = 5 };

static void begin(const char *backend, const char *settings)
{
	const struct gpuemu_options o = {
		.size = sizeof(o), .backend = backend, .settings = settings,
	};

	OK(NULL, gpuemu_open(&f.ctx, &o));
	OK(f.ctx, gpuemu_module_load_data(f.ctx, &f.module, ptx, sizeof(ptx) - 1, "test.ptx"));
	OK(f.ctx, gpuemu_module_get_function(f.module, &f.vecadd, "vecadd"));
	OK(f.ctx, gpuemu_module_get_function(f.module, &f.poke, "poke"));
}

static int end(void **state)
{
	gpuemu_close(f.ctx);
	f.ctx = NULL;
	return 0;
}

static int add(const float *a, const float *b, float *c)
{
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(a), gpuemu_arg_ptr(b), gpuemu_arg_ptr(c), gpuemu_arg_u32(N),
	};
	int ret = gpuemu_launch(f.vecadd, grid, block, 0, NULL, args, 4);

	return ret ? ret : gpuemu_synchronize(f.ctx);
}

static int poke(void *at, uint32_t value)
{
	const struct gpuemu_arg args[] = { gpuemu_arg_ptr(at), gpuemu_arg_u32(value) };
	int ret = gpuemu_launch(f.poke, one, one, 0, NULL, args, 2);

	return ret ? ret : gpuemu_synchronize(f.ctx);
}

static double paging_number(const char *name)
{
	struct json_object *all, *paging, *number;
	char *text;
	double value;

	OK(f.ctx, gpuemu_statistics(f.ctx, &text));
	all = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(all, "paging", &paging));
	assert_true(json_object_object_get_ex(paging, name, &number));
	value = json_object_get_double(number);
	json_object_put(all);
	gpuemu_free(text);
	return value;
}

/* a of the heap, b of the image or the image's constants, c of the stack. */
static void add_anywhere(const float *b)
{
	float *a = malloc(N * sizeof(*a));
	float c[N];

	for (unsigned int i = 0; i < N; i++) {
		a[i] = (float)i;
		variable[i] = (float)(2 * i);
		c[i] = -1;
	}
	OK(f.ctx, add(a, b, c));
	for (unsigned int i = 0; i < N; i++)
		assert_true(c[i] == a[i] + b[i]);
	free(a);
}

static void every_kind_of_memory(const char *backend, const char *settings)
{
	begin(backend, settings);
	assert_int_equal(gpuemu_pageable(f.ctx), 1);
	add_anywhere(variable);
	add_anywhere(constant);
}

static void sim_uses_every_kind_of_memory(void **state)
{
	every_kind_of_memory("sim", NULL);
	assert_true(paging_number("far_faults") >= 3);
	assert_true(paging_number("h2d_bytes") >= 3.0 * N * sizeof(float));
}

static void without_time_too(void **state)
{
	every_kind_of_memory("sim", "gpu.functional=true\n");
}

static void with_little_device_memory_too(void **state)
{
	every_kind_of_memory("sim", "paging.vram=32K\npaging.prefetch=tree\n");
	assert_true(paging_number("evicted_pages") > 0);
}

static void without_paging_too(void **state)
{
	begin("sim", "paging.enabled=0\n");
	add_anywhere(variable);
	/* A page in "device memory" could be stored to, so what cannot be written is refused. */
	assert_true(add(constant, variable, variable) < 0);
}

static void uffd_reaches_it_across_the_link(void **state)
{
	const struct gpuemu_options o = { .size = sizeof(o), .backend = "uffd" };

	if (gpuemu_open(&f.ctx, &o))
		skip();
	end(NULL);
	every_kind_of_memory("uffd", NULL);
	assert_true(paging_number("far_faults") > 0);
	assert_true(paging_number("h2d_bytes") == 0);
}

static void *map_pages(void)
{
	return mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void read_only_memory_is_not_written(void **state)
{
	static const char *const settings[] = { NULL, "gpu.functional=true\n" };
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; i < 2; i++) {
		begin("sim", settings[i]);
		for (unsigned int again = 0; again < 2; again++) {
			assert_true(poke(page, 1) < 0);
			assert_non_null(strstr(gpuemu_last_error(f.ctx), "poke"));
		}
		end(NULL);
	}
	munmap(page, PAGE);
}

/* Read first, so that the page is on the device when the store comes. */
static void a_store_to_a_page_that_was_read_is_not_either(void **state)
{
	float *pages = map_pages();

	begin("sim", NULL);
	assert_int_equal(mprotect(pages, MAPPED, PROT_READ), 0);
	OK(f.ctx, add(pages, pages, variable));
	assert_true(poke(pages, 1) < 0);
	munmap(pages, MAPPED);
}

static void what_is_not_mapped_is_an_error(void **state)
{
	uint32_t *pages = map_pages();

	begin("sim", NULL);
	OK(f.ctx, poke(pages, 7));
	assert_int_equal(pages[0], 7);
	munmap(pages, MAPPED);
	/* Its page was on the device; the program's unmapping ends that. */
	assert_int_equal(poke(pages, 8), -EFAULT);
	assert_int_equal(poke((void *)16, 8), -EFAULT);
}

static void what_is_protected_later_is_refused_later(void **state)
{
	uint32_t *pages = map_pages();

	begin("sim", NULL);
	OK(f.ctx, poke(pages, 7));
	assert_int_equal(mprotect(pages, MAPPED, PROT_READ), 0);
	assert_true(poke(pages, 8) < 0);
	assert_int_equal(pages[0], 7);
	munmap(pages, MAPPED);
}

static void it_is_prefetched_and_advised(void **state)
{
	float *a = map_pages();
	double faults;

	begin("sim", NULL);
	OK(f.ctx, gpuemu_mem_prefetch(f.ctx, a, N * sizeof(*a), NULL));
	OK(f.ctx, gpuemu_synchronize(f.ctx));
	faults = paging_number("far_faults");
	OK(f.ctx, add(a, a, a));
	assert_true(paging_number("far_faults") == faults);
	OK(f.ctx, gpuemu_mem_prefetch_host(f.ctx, a, N * sizeof(*a), NULL));
	OK(f.ctx, gpuemu_mem_advise(f.ctx, a, N * sizeof(*a), GPUEMU_ADVISE_SET_ACCESSED_BY,
				    0));
	OK(f.ctx, add(a, a, a));
	assert_int_equal(gpuemu_mem_prefetch(f.ctx, constant, sizeof(constant), NULL), -EINVAL);
	munmap(a, MAPPED);
}

static void it_can_be_turned_off(void **state)
{
	setenv("GPUEMU_PAGEABLE", "0", 1);
	begin("sim", NULL);
	assert_int_equal(gpuemu_pageable(f.ctx), 0);
	assert_int_equal(poke(variable, 8), -EFAULT);
	assert_int_equal(gpuemu_mem_prefetch(f.ctx, variable, sizeof(variable), NULL), -EINVAL);
	unsetenv("GPUEMU_PAGEABLE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sim_uses_every_kind_of_memory, end),
		cmocka_unit_test_teardown(without_time_too, end),
		cmocka_unit_test_teardown(with_little_device_memory_too, end),
		cmocka_unit_test_teardown(without_paging_too, end),
		cmocka_unit_test_teardown(uffd_reaches_it_across_the_link, end),
		cmocka_unit_test(read_only_memory_is_not_written),
		cmocka_unit_test_teardown(a_store_to_a_page_that_was_read_is_not_either, end),
		cmocka_unit_test_teardown(what_is_not_mapped_is_an_error, end),
		cmocka_unit_test_teardown(what_is_protected_later_is_refused_later, end),
		cmocka_unit_test_teardown(it_is_prefetched_and_advised, end),
		cmocka_unit_test_teardown(it_can_be_turned_off, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
