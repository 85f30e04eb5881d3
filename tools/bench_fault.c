// SPDX-License-Identifier: GPL-2.0
/*
 * bench fault: what one far fault costs, raised to replayed, stage by stage,
 * and what the kernel's and userfaultfd's ways cost in the same run. The pages
 * are written by the CPU first, so each fault really migrates one; afterwards
 * every page is read back and compared.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"
#include "yardstick.h"

#define COUNT		2000u	/* faults, and samples of each yardstick */
#define WARM_UP		64u	/* first faults that do not count: caches, rings, page tables */

/* What word `word` of page `page` holds: differs everywhere. */
static uint64_t pattern(uint64_t page, uint64_t word)
{
	return (page << 16 | word) * 0x9e3779b97f4a7c15ull;
}

#define PAGE_WORDS	(PAGE_BYTES / sizeof(uint64_t))

static void fill(uint64_t *words, uint64_t pages)
{
	for (uint64_t p = 0; p < pages; p++)
		for (uint64_t i = 0; i < PAGE_WORDS; i++)
			words[p * PAGE_WORDS + i] = pattern(p, i);
}

static int check(const uint64_t *words, uint64_t pages, struct err *err)
{
	for (uint64_t p = 0; p < pages; p++)
		for (uint64_t i = 0; i < PAGE_WORDS; i++)
			if (words[p * PAGE_WORDS + i] != pattern(p, i))
				return err_set(err, -EBADMSG,
					       "page %llu came back changed (word %llu)",
					       (unsigned long long)p, (unsigned long long)i);
	return 0;
}

/* The library's figures for `count` far faults, as JSON text. */
static int measure_faults(struct gpuemu_ctx *ctx, uint64_t count,
			  unsigned int batch, char **json, struct err *err)
{
	uint64_t pages = count + WARM_UP;
	char *warm = NULL;
	void *memory;
	int ret;

	ret = gpuemu_mem_alloc_managed(ctx, &memory, pages * PAGE_BYTES);
	if (ret)
		return bench_failed(ctx, ret, err);
	fill(memory, pages);
	ret = gpuemu_touch(ctx, memory, WARM_UP * PAGE_BYTES, PAGE_BYTES, batch, 0, &warm);
	gpuemu_free(warm);
	if (!ret)
		ret = gpuemu_touch(ctx, (char *)memory + WARM_UP * PAGE_BYTES,
				   count * PAGE_BYTES, PAGE_BYTES, batch, 0, json);
	if (ret)
		return bench_failed(ctx, ret, err);
	ret = check(memory, pages, err);
	if (!ret) {
		ret = gpuemu_mem_free(ctx, memory);
		if (ret)
			bench_failed(ctx, ret, err);
	}
	return ret;
}

/* Passes on what the library measured; refuses what cannot be a measurement of `count` faults. */
static int add_figures(struct json_object *report, const char *json,
		       uint64_t count, struct err *err)
{
	static const char *const keys[] = { "far_fault_ns", "end_to_end_ns", "stages_ns" };
	struct json_object *figures = json_tokener_parse(json), *value;
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!figures || !json_object_object_get_ex(figures, keys[i], &value))
			ret = err_set(err, -EPROTO, "the library's figures have no %s", keys[i]);
		else
			json_object_object_add(report, keys[i], json_object_get(value));
	}
	if (!ret && json_object_get_uint64(output_at(report, "far_fault_ns.count")) != count)
		ret = err_set(err, -EPROTO, "%llu pages were touched, but %llu far faults happened",
			      (unsigned long long)count, (unsigned long long)
			      json_object_get_uint64(output_at(report, "far_fault_ns.count")));
	json_object_put(figures);
	return ret;
}

static int memcpy_4k(uint64_t *samples, size_t n, struct err *err)
{
	return yardstick_memcpy(samples, n, PAGE_BYTES, err);
}

static const struct yardstick {
	const char *key, *name;
	int (*measure)(uint64_t *samples, size_t n, struct err *err);
	bool threads;		/* two threads wake each other: where they run matters */
} yardsticks[] = {
	{ "minor_fault", "anonymous minor fault", yardstick_minor_fault, false },
	{ "uffd_resolve", "userfaultfd resolve", yardstick_uffd, true },
	{ "pipe_rtt", "pipe round trip", yardstick_pipe, true },
	{ "memcpy_4k", "memcpy of 4 KiB", memcpy_4k, false },
};

/*
 * Of those that may be used, each in its turn: a CPU that shares its core with somebody
 * else's is slower for as long as that one is busy, and what the yardstick is for runs on any.
 */
static int next_cpu(const cpu_set_t *may)
{
	static int cpu = -1;

	do {
		cpu = (cpu + 1) % CPU_SETSIZE;
	} while (!CPU_ISSET(cpu, may));
	return cpu;
}

/* With this thread, and those it starts, on one CPU. */
static int median_on_one_cpu(const struct yardstick *y, uint64_t *samples, size_t n,
			     uint64_t *median, struct err *err)
{
	cpu_set_t before, one;
	int ret;

	if (sched_getaffinity(0, sizeof(before), &before))
		return err_set(err, -errno, "sched_getaffinity: %s", strerror(errno));
	CPU_ZERO(&one);
	CPU_SET(next_cpu(&before), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return err_set(err, -errno, "pinning to a CPU: %s", strerror(errno));
	ret = y->measure(samples, n, err);
	if (!ret)
		*median = yardstick_permille(samples, n, 500);
	sched_setaffinity(0, sizeof(before), &before);
	return ret;
}

/*
 * A wake-up of another CPU and one of the same differ by a multiple, and which
 * the scheduler chooses is chance. The peer is given the better of both.
 */
static int median_of(const struct yardstick *y, uint64_t *samples, size_t n, uint64_t *median,
		     struct json_object *placements, struct err *err)
{
	struct json_object *both;
	uint64_t one_cpu = 0;
	int ret;

	ret = y->measure(samples, n, err);
	if (ret)
		return ret;
	*median = yardstick_permille(samples, n, 500);
	if (!y->threads || median_on_one_cpu(y, samples, n, &one_cpu, err))
		return 0;
	both = json_object_new_object();
	json_object_object_add(both, "scheduled", json_object_new_uint64(*median));
	json_object_object_add(both, "one_cpu", json_object_new_uint64(one_cpu));
	json_object_object_add(placements, y->key, both);
	*median = MIN(*median, one_cpu);
	return 0;
}

int bench_yardstick(const char *key, size_t n, uint64_t *ns, struct err *err)
{
	struct json_object *placements = json_object_new_object();
	uint64_t *samples = calloc(n, sizeof(*samples));
	int ret = samples ? -ENOENT : err_set(err, -ENOMEM, "no memory");

	for (size_t i = 0; samples && i < ARRAY_SIZE(yardsticks); i++)
		if (!strcmp(yardsticks[i].key, key))
			ret = median_of(&yardsticks[i], samples, n, ns, placements, err);
	json_object_put(placements);
	free(samples);
	return ret;
}

int bench_uffd_resolve(uint64_t *ns, struct err *err)
{
	return bench_yardstick("uffd_resolve", COUNT, ns, err);
}

/* Medians. One that cannot be measured here is absent, its reason under yardsticks_missing. */
static int add_yardsticks(struct json_object *report, struct err *err)
{
	struct json_object *medians = json_object_new_object(), *missing = NULL;
	struct json_object *placements = json_object_new_object();
	uint64_t *samples = calloc(COUNT, sizeof(*samples));
	struct err why = { "" };

	json_object_object_add(report, "yardsticks_ns", medians);
	json_object_object_add(report, "placements_ns", placements);
	if (!samples)
		return err_set(err, -ENOMEM, "no memory");
	for (size_t i = 0; i < ARRAY_SIZE(yardsticks); i++) {
		uint64_t median;

		if (!median_of(&yardsticks[i], samples, COUNT, &median, placements, &why)) {
			json_object_object_add(medians, yardsticks[i].key,
					       json_object_new_uint64(median));
			continue;
		}
		if (!missing) {
			missing = json_object_new_object();
			json_object_object_add(report, "yardsticks_missing", missing);
		}
		json_object_object_add(missing, yardsticks[i].key,
				       json_object_new_string(why.text));
	}
	free(samples);
	return 0;
}

/* Only of times that were measured, as the yardsticks are. */
static void add_ratios(struct json_object *report, unsigned int batch, bool measured)
{
	double fault = output_number(report, "far_fault_ns.p50");
	double uffd = output_number(report, "yardsticks_ns.uffd_resolve");

	if (batch > 1)
		json_object_object_add(report, "per_page_ns", output_decimal(fault / batch, 1));
	uffd = measured ? uffd : 0;
	if (uffd > 0) {
		double whole = output_number(report, "end_to_end_ns.p50");

		json_object_object_add(report, "ratio_uffd", output_decimal(fault / uffd, 3));
		json_object_object_add(report, "ratio_uffd_end_to_end",
				       output_decimal(whole / uffd, 3));
	}
	if (uffd > 0 && batch > 1)
		json_object_object_add(report, "ratio_uffd_per_page",
				       output_decimal(fault / batch / uffd, 3));
}

static int measure(const struct bench_request *r, struct json_object *report,
		   struct err *err)
{
	uint64_t count = r->count ? r->count : COUNT;
	struct json_object *migrate;
	char *json = NULL;
	int ret;

	json_object_object_add(report, "batch", json_object_new_uint64(r->batch));
	ret = measure_faults(r->ctx, count, r->batch, &json, err);
	if (!ret)
		ret = add_figures(report, json, count, err);
	gpuemu_free(json);
	if (!ret)
		ret = add_yardsticks(report, err);
	if (ret)
		return ret;
	add_ratios(report, r->batch, r->measured);
	if (!r->measured)
		return 0;
	ret = bench_migrate_measure(r, 0, &migrate, err);
	if (!ret)
		json_object_object_add(report, "migrate", migrate);
	if (ret != -EOPNOTSUPP)
		return ret;
	/* What cannot be had here is left out, with the reason. */
	json_object_object_add(report, "migrate_missing", json_object_new_string(err->text));
	return 0;
}

/* Where its threads ran, if it has two: " (threads on one CPU; as scheduled 39.3 us)". */
static void print_placement(FILE *out, struct json_object *r, const char *key)
{
	char path[64], a[24];
	double scheduled, one_cpu;

	snprintf(path, sizeof(path), "placements_ns.%s", key);
	r = output_at(r, path);
	if (!r)
		return;
	scheduled = output_number(r, "scheduled");
	one_cpu = output_number(r, "one_cpu");
	if (one_cpu < scheduled)
		fprintf(out, "  threads on one CPU (as scheduled %s)", output_ns(a, scheduled));
	else
		fprintf(out, "  threads as scheduled (on one CPU %s)", output_ns(a, one_cpu));
}

static void print_yardsticks(FILE *out, struct json_object *r, double fault)
{
	char path[64], a[24];

	fprintf(out, "  %-24s %10s %10s\n", "yardstick, same run", "median", "of p50");
	for (size_t i = 0; i < ARRAY_SIZE(yardsticks); i++) {
		const struct yardstick *y = &yardsticks[i];
		double ns;

		snprintf(path, sizeof(path), "yardsticks_ns.%s", y->key);
		ns = output_number(r, path);
		if (output_has(r, path)) {
			fprintf(out, "    %-22s %10s %9.0f%%", y->name, output_ns(a, ns),
				fault > 0 ? 100 * ns / fault : 0);
			print_placement(out, r, y->key);
			fputc('\n', out);
			continue;
		}
		snprintf(path, sizeof(path), "yardsticks_missing.%s", y->key);
		fprintf(out, "    %-22s not here: %s\n", y->name, output_string(r, path));
	}
}

static void print_percentiles(FILE *out, struct json_object *r, const char *name,
			      const char *key)
{
	char a[24], b[24], c[24], d[24];

	r = output_at(r, key);
	if (r)
		fprintf(out, "  %-24s %10s %10s %10s %10s\n", name,
			output_ns(a, output_number(r, "p50")),
			output_ns(b, output_number(r, "p90")),
			output_ns(c, output_number(r, "p99")),
			output_ns(d, output_number(r, "max")));
}

static void text(FILE *out, struct json_object *r)
{
	double fault = output_number(r, "far_fault_ns.p50");
	struct json_object *stages = output_at(r, "stages_ns");
	char a[24];

	fprintf(out, "far fault, raised to replayed, of a page the CPU has written: "
		"%s faults, %s at a time\n",
		output_string(r, "far_fault_ns.count"), output_string(r, "batch"));
	fprintf(out, "  backend %s, times %s, contents of every page checked\n",
		output_string(r, "backend"), output_string(r, "clock"));
	fprintf(out, "  %-24s %10s %10s %10s %10s\n", "", "p50", "p90", "p99", "max");
	print_percentiles(out, r, "far fault", "far_fault_ns");
	print_percentiles(out, r, "with the engine's calls", "end_to_end_ns");
	if (output_has(r, "per_page_ns"))
		fprintf(out, "  %-24s %10s\n", "per page of a batch",
			output_ns(a, output_number(r, "per_page_ns")));
	fprintf(out, "  %-24s %10s %10s\n", "stage", "median", "of p50");
	if (stages) {
		json_object_object_foreach(stages, key, value) {
			double ns = json_object_get_double(value);

			fprintf(out, "    %-22s %10s %9.0f%%\n", key, output_ns(a, ns),
				fault > 0 ? 100 * ns / fault : 0);
		}
	}
	print_yardsticks(out, r, fault);
	if (output_has(r, "ratio_uffd"))
		fprintf(out, "  far fault / userfaultfd: %.2f (with the engine's calls %.2f)\n",
			output_number(r, "ratio_uffd"),
			output_number(r, "ratio_uffd_end_to_end"));
	if (output_has(r, "ratio_uffd_per_page"))
		fprintf(out, "  per page of a batch / userfaultfd: %.2f\n",
			output_number(r, "ratio_uffd_per_page"));
	if (output_has(r, "migrate"))
		bench_migrate_text(out, output_at(r, "migrate"));
	if (output_has(r, "migrate_missing"))
		fprintf(out, "migration in pieces of 2 MiB: not here: %s\n",
			output_string(r, "migrate_missing"));
}

const struct bench bench_fault = {
	.name = "fault",
	.help = "a far fault's latency and stages, beside userfaultfd, minor fault, pipe, memcpy",
	.batch = 1,
	.measure = measure,
	.text = text,
};
