// SPDX-License-Identifier: GPL-2.0
/*
 * bench cpufault: how long the CPU waits for a page that is in device memory. The yardstick is
 * what any page would cost: an anonymous minor fault and a copy of 4 KiB. Every page is
 * compared when it has come.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"
#include "yardstick.h"

#define COUNT	2000u

static uint64_t pattern(uint64_t page, uint64_t word)
{
	return (page << 16 | word) * 0x9e3779b97f4a7c15ull;
}

#define PAGE_WORDS	(PAGE_BYTES / sizeof(uint64_t))

/* The clock measures one load; the rest of the page is compared afterwards. */
static int take_back(const uint64_t *words, uint64_t pages, uint64_t *samples, struct err *err)
{
	for (uint64_t p = 0; p < pages; p++) {
		const volatile uint64_t *page = words + p * PAGE_WORDS;
		uint64_t begin = now_ns();

		(void)*page;
		samples[p] = now_ns() - begin;
	}
	for (uint64_t i = 0; i < pages * PAGE_WORDS; i++)
		if (words[i] != pattern(i / PAGE_WORDS, i % PAGE_WORDS))
			return err_set(err, -EBADMSG, "page %llu came back changed",
				       (unsigned long long)(i / PAGE_WORDS));
	return 0;
}

/* -EOPNOTSUPP: some were not in device memory, so the time would mean something else. */
static int check_moved(struct gpuemu_ctx *ctx, uint64_t pages, uint64_t before,
		       uint64_t *now, struct err *err)
{
	struct json_object *o;
	char *statistics;
	int ret = gpuemu_statistics(ctx, &statistics);

	if (ret)
		return bench_failed(ctx, ret, err);
	o = json_tokener_parse(statistics);
	*now = json_object_get_uint64(output_at(o, "paging.h2d_bytes"));
	json_object_put(o);
	gpuemu_free(statistics);
	if (pages && *now - before != pages * PAGE_BYTES)
		return err_set(err, -EOPNOTSUPP,
			       "%llu of %llu pages are in device memory; --count fewer",
			       (unsigned long long)((*now - before) / PAGE_BYTES),
			       (unsigned long long)pages);
	return 0;
}

static int measure_faults(struct gpuemu_ctx *ctx, uint64_t pages, uint64_t *samples,
			  struct err *err)
{
	uint64_t before = 0, after, *words;
	void *memory;
	int ret = gpuemu_mem_alloc_managed(ctx, &memory, pages * PAGE_BYTES), freed;

	if (ret)
		return bench_failed(ctx, ret, err);
	words = memory;
	for (uint64_t i = 0; i < pages * PAGE_WORDS; i++)
		words[i] = pattern(i / PAGE_WORDS, i % PAGE_WORDS);
	ret = check_moved(ctx, 0, 0, &before, err);
	if (!ret) {
		ret = gpuemu_mem_prefetch(ctx, memory, pages * PAGE_BYTES, NULL);
		if (!ret)
			ret = gpuemu_synchronize(ctx);
		if (ret)
			bench_failed(ctx, ret, err);
	}
	if (!ret)
		ret = check_moved(ctx, pages, before, &after, err);
	if (!ret)
		ret = take_back(words, pages, samples, err);
	freed = gpuemu_mem_free(ctx, memory);
	return ret || !freed ? ret : bench_failed(ctx, freed, err);
}

static int measure(const struct bench_request *r, struct json_object *report, struct err *err)
{
	uint64_t pages = r->count ? r->count : COUNT, minor, copy;
	struct json_object *figures;
	uint64_t *samples;
	double p50;
	int ret;

	if (!r->measured)
		return err_set(err, -EOPNOTSUPP, "backend %s moves no bytes; measure with "
			       "--backend kmod or uffd", gpuemu_backend(r->ctx));
	samples = calloc(pages, sizeof(*samples));
	if (!samples)
		return err_set(err, -ENOMEM, "no memory");
	ret = measure_faults(r->ctx, pages, samples, err);
	if (!ret)
		ret = bench_yardstick("minor_fault", COUNT, &minor, err);
	if (!ret)
		ret = bench_yardstick("memcpy_4k", COUNT, &copy, err);
	if (!ret) {
		p50 = (double)yardstick_permille(samples, pages, 500);
		figures = json_object_new_object();
		json_object_object_add(figures, "count", json_object_new_uint64(pages));
		json_object_object_add(figures, "p50", output_decimal(p50, 0));
		json_object_object_add(figures, "p90", json_object_new_uint64(
			yardstick_permille(samples, pages, 900)));
		json_object_object_add(figures, "p99", json_object_new_uint64(
			yardstick_permille(samples, pages, 990)));
		json_object_object_add(report, "cpu_fault_ns", figures);
		figures = json_object_new_object();
		json_object_object_add(figures, "minor_fault", json_object_new_uint64(minor));
		json_object_object_add(figures, "memcpy_4k", json_object_new_uint64(copy));
		json_object_object_add(report, "yardsticks_ns", figures);
		json_object_object_add(report, "ratio_minor_memcpy", output_decimal(
			minor + copy ? p50 / (double)(minor + copy) : 0, 3));
	}
	free(samples);
	return ret;
}

static void text(FILE *out, struct json_object *r)
{
	char a[24], b[24], c[24], d[24];

	fprintf(out, "the CPU reads a page of device memory: p50 %s, p90 %s; %s faults, contents checked\n",
		output_ns(a, output_number(r, "cpu_fault_ns.p50")),
		output_ns(b, output_number(r, "cpu_fault_ns.p90")),
		output_string(r, "cpu_fault_ns.count"));
	fprintf(out, "anonymous minor fault %s, memcpy of 4 KiB %s; ratio to both %.2f\n",
		output_ns(c, output_number(r, "yardsticks_ns.minor_fault")),
		output_ns(d, output_number(r, "yardsticks_ns.memcpy_4k")),
		output_number(r, "ratio_minor_memcpy"));
}

const struct bench bench_cpufault = {
	.name = "cpufault",
	.help = "the CPU's fault on a page of device memory, beside minor fault and memcpy",
	.batch = 1,
	.measure = measure,
	.text = text,
};
