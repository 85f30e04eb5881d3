// SPDX-License-Identifier: GPL-2.0
/*
 * bench throughput: how many far faults a second are served when the fault buffer is never
 * empty, batch after batch. The clock measures all of them, the caller's way to the engine
 * included. Every page is read back and compared.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"
#include "yardstick.h"

#define COUNT	8192u

static uint64_t pattern(uint64_t i)
{
	return (i + 1) * 0x9e3779b97f4a7c15ull;
}

/* The CPU owns the pages, so that each fault moves one. */
static int touch_all(const struct bench_request *r, uint64_t *words, uint64_t pages,
		     uint64_t *ns, struct err *err)
{
	const uint64_t n = pages * PAGE_BYTES / sizeof(*words);
	struct json_object *figures;
	char *json = NULL;
	uint64_t begin, faults;
	int ret;

	for (uint64_t i = 0; i < n; i++)
		words[i] = pattern(i);
	begin = now_ns();
	ret = gpuemu_touch(r->ctx, words, pages * PAGE_BYTES, PAGE_BYTES, r->batch, 0, &json);
	*ns = now_ns() - begin;
	if (ret)
		return bench_failed(r->ctx, ret, err);
	figures = json_tokener_parse(json);
	faults = json_object_get_uint64(output_at(figures, "far_fault_ns.count"));
	json_object_put(figures);
	gpuemu_free(json);
	if (faults != pages)
		return err_set(err, -EPROTO, "%llu pages were touched, but %llu far faults happened",
			       (unsigned long long)pages, (unsigned long long)faults);
	for (uint64_t i = 0; i < n; i++)
		if (words[i] != pattern(i))
			return err_set(err, -EBADMSG, "byte %llu came back changed",
				       (unsigned long long)(i * sizeof(*words)));
	return 0;
}

/*
 * Adds yardsticks_per_second.uffd_resolve and the ratio to it, if this machine has
 * userfaultfd.
 */
static void add_yardstick(struct json_object *report, double rate)
{
	struct json_object *object = json_object_new_object();
	struct err why = { "" };
	uint64_t ns;

	if (bench_uffd_resolve(&ns, &why)) {
		json_object_object_add(object, "uffd_resolve", json_object_new_string(why.text));
		json_object_object_add(report, "yardsticks_missing", object);
		return;
	}
	json_object_object_add(object, "uffd_resolve",
			       output_decimal(ns ? 1e9 / (double)ns : 0, 1));
	json_object_object_add(report, "yardsticks_per_second", object);
	json_object_object_add(report, "ratio_uffd", output_decimal(rate * (double)ns / 1e9, 3));
}

static int measure(const struct bench_request *r, struct json_object *report, struct err *err)
{
	uint64_t pages = r->count ? r->count : COUNT, ns = 0, samples[64];
	struct json_object *figures;
	double rate, copied;
	void *memory;
	int ret;

	if (!r->measured)
		return err_set(err, -EOPNOTSUPP, "backend %s moves no bytes; measure with "
			       "--backend kmod or uffd", gpuemu_backend(r->ctx));
	ret = gpuemu_mem_alloc_managed(r->ctx, &memory, pages * PAGE_BYTES);
	if (ret)
		return bench_failed(r->ctx, ret, err);
	ret = touch_all(r, memory, pages, &ns, err);
	if (!ret && gpuemu_mem_free(r->ctx, memory))
		ret = bench_failed(r->ctx, -EINVAL, err);
	if (!ret)
		ret = yardstick_memcpy(samples, 64, 1u << BLOCK_SHIFT, err);
	if (ret)
		return ret;
	rate = ns ? (double)pages * 1e9 / (double)ns : 0;
	copied = (double)yardstick_permille(samples, 64, 500);
	copied = copied > 0 ? (double)(1u << BLOCK_SHIFT) * 1000.0 / copied : 0;
	figures = json_object_new_object();
	json_object_object_add(figures, "faults", json_object_new_uint64(pages));
	json_object_object_add(figures, "batch", json_object_new_uint64(r->batch));
	json_object_object_add(figures, "faults_per_second", output_decimal(rate, 1));
	json_object_object_add(figures, "h2d_mbps",
			       output_decimal(rate * (double)PAGE_BYTES / 1e6, 1));
	json_object_object_add(figures, "memcpy_mbps", output_decimal(copied, 1));
	json_object_object_add(report, "throughput", figures);
	add_yardstick(report, rate);
	return 0;
}

static void text(FILE *out, struct json_object *r)
{
	struct json_object *t = output_at(r, "throughput");

	fprintf(out, "far faults, %s in batches of %s: %.0f a second, %.0f MB/s "
		"(memcpy of 2 MiB %.0f MB/s); contents checked\n",
		output_string(t, "faults"), output_string(t, "batch"),
		output_number(t, "faults_per_second"), output_number(t, "h2d_mbps"),
		output_number(t, "memcpy_mbps"));
	if (output_has(r, "ratio_uffd"))
		fprintf(out, "userfaultfd resolves one after another: %.0f a second; ratio %.2f\n",
			output_number(r, "yardsticks_per_second.uffd_resolve"),
			output_number(r, "ratio_uffd"));
	else
		fprintf(out, "userfaultfd: not here: %s\n",
			output_string(r, "yardsticks_missing.uffd_resolve"));
}

const struct bench bench_throughput = {
	.name = "throughput",
	.help = "far faults a second, batch after batch, beside userfaultfd and memcpy",
	.batch = 256,
	.measure = measure,
	.text = text,
};
