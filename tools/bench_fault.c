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

#include "base/array.h"
#include "bench.h"
#include "output.h"
#include "progress.h"
#include "yardstick.h"

#define COUNT		2000u	/* faults, and samples of each yardstick */
#define SLICES		10u	/* each has faults and as many samples of yardsticks */
#define SLICE_MOST	4096u	/* the library reports so many faults one by one */
#define BUCKETS		200u	/* parts of a distribution that the report shows */
#define SAMPLES_LEAST	50u	/* samples of a yardstick for each slice */
#define WARM_UP		64u	/* faults that do not count: caches, rings, page tables */

/* The contents of word `word` of page `page`, different everywhere. */
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

/* Numbers of one kind, as they are measured. */
struct numbers {
	uint64_t *v;
	size_t n, room;
};

static int add_number(struct numbers *to, uint64_t value)
{
	if (array_grow(to->v, to->room, to->n))
		return -ENOMEM;
	to->v[to->n++] = value;
	return 0;
}

static int add_numbers(struct numbers *to, struct json_object *from)
{
	int ret = 0;

	for (size_t i = 0; from && !ret && i < json_object_array_length(from); i++)
		ret = add_number(to, json_object_get_uint64(json_object_array_get_idx(from, i)));
	return ret;
}

#define STAGES_MOST	16u

/* The slices' numbers. */
struct figures {
	struct numbers far_fault, end_to_end;
	struct numbers stages[STAGES_MOST];
	char *stage_names[STAGES_MOST];
	unsigned int nstages;
	struct numbers ratios, whole_ratios;	/* a slice's fault over userfaultfd, in millionths */
	struct yardsticks *yardsticks;
};

/* Takes over what the library measured; refuses what cannot be a measurement of `count` faults. */
static int take_figures(struct figures *f, const char *json, uint64_t count, struct err *err)
{
	struct json_object *figures = json_tokener_parse(json), *stages;
	struct json_object *samples = output_at(figures, "samples");
	size_t before = f->far_fault.n;
	unsigned int i = 0;
	int ret;

	stages = output_at(samples, "stages_ns");
	if (!samples || !stages) {
		json_object_put(figures);
		return err_set(err, -EPROTO, "the library's figures have no samples");
	}
	ret = add_numbers(&f->far_fault, output_at(samples, "far_fault_ns"));
	if (!ret)
		ret = add_numbers(&f->end_to_end, output_at(samples, "end_to_end_ns"));
	json_object_object_foreach(stages, key, value) {
		if (ret || i == STAGES_MOST)
			break;
		if (i == f->nstages) {
			f->stage_names[i] = strdup(key);
			f->nstages++;
		}
		ret = add_numbers(&f->stages[i++], value);
	}
	json_object_put(figures);
	if (ret)
		return err_set(err, ret, "no memory");
	return f->far_fault.n - before == count ? 0 :
	       err_set(err, -EPROTO, "%llu pages were touched, but %llu far faults happened",
		       (unsigned long long)count, (unsigned long long)(f->far_fault.n - before));
}

static void free_figures(struct figures *f)
{
	free(f->far_fault.v);
	free(f->end_to_end.v);
	free(f->ratios.v);
	free(f->whole_ratios.v);
	for (unsigned int i = 0; i < f->nstages; i++) {
		free(f->stages[i].v);
		free(f->stage_names[i]);
	}
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
 * The next of the CPUs that may be used, in turns. A CPU is slow while another program uses the
 * other half of its core, and the yardstick may run on any CPU.
 */
static int next_cpu(const cpu_set_t *may)
{
	static int cpu = -1;

	do {
		cpu = (cpu + 1) % CPU_SETSIZE;
	} while (!CPU_ISSET(cpu, may));
	return cpu;
}

/* Runs it with this thread, and the threads that it starts, on one CPU. */
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
 * A wake-up of another CPU and one of the same CPU differ by a multiple, and the scheduler
 * chooses between them by chance. The peer is measured both ways and keeps the better one.
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

/* A slice's medians, by yardstick. */
struct yardsticks {
	struct numbers medians[ARRAY_SIZE(yardsticks)];
	struct numbers scheduled[ARRAY_SIZE(yardsticks)], one_cpu[ARRAY_SIZE(yardsticks)];
	struct err missing[ARRAY_SIZE(yardsticks)];	/* why it cannot be measured here */
};

/* Measures one slice of each. *uffd is userfaultfd's time, 0 where there is none. */
static int measure_yardsticks(struct yardsticks *y, size_t n, uint64_t *uffd, struct err *err)
{
	uint64_t *samples = calloc(n, sizeof(*samples)), median;
	int ret = samples ? 0 : -ENOMEM;

	*uffd = 0;
	for (size_t i = 0; !ret && i < ARRAY_SIZE(yardsticks); i++) {
		struct json_object *placed = json_object_new_object(), *both;

		if (!y->missing[i].text[0] &&
		    !median_of(&yardsticks[i], samples, n, &median, placed, &y->missing[i])) {
			y->missing[i].text[0] = '\0';
			ret = add_number(&y->medians[i], median);
			if (!strcmp(yardsticks[i].key, "uffd_resolve"))
				*uffd = median;
		}
		both = output_at(placed, yardsticks[i].key);
		if (both && !ret)
			ret = add_number(&y->scheduled[i], json_object_get_uint64(
					 output_at(both, "scheduled")));
		if (both && !ret)
			ret = add_number(&y->one_cpu[i], json_object_get_uint64(
					 output_at(both, "one_cpu")));
		json_object_put(placed);
	}
	free(samples);
	return ret ? err_set(err, ret, "no memory") : 0;
}

static uint64_t median_number(const struct numbers *of)
{
	return yardstick_permille(of->v, of->n, 500);
}

/*
 * Medians of the slices' medians. A yardstick that cannot be measured here is absent, and
 * the report says why.
 */
static void add_yardsticks(struct json_object *report, struct yardsticks *y)
{
	struct json_object *medians = json_object_new_object(), *missing = NULL;
	struct json_object *placements = json_object_new_object();

	json_object_object_add(report, "yardsticks_ns", medians);
	json_object_object_add(report, "placements_ns", placements);
	for (size_t i = 0; i < ARRAY_SIZE(yardsticks); i++) {
		const char *key = yardsticks[i].key;

		if (y->medians[i].n) {
			json_object_object_add(medians, key, json_object_new_uint64(
					       median_number(&y->medians[i])));
		} else {
			missing = missing ? missing : json_object_new_object();
			json_object_object_add(missing, key,
					       json_object_new_string(y->missing[i].text));
		}
		if (y->scheduled[i].n) {
			struct json_object *both = json_object_new_object();

			json_object_object_add(both, "scheduled", json_object_new_uint64(
					       median_number(&y->scheduled[i])));
			json_object_object_add(both, "one_cpu", json_object_new_uint64(
					       median_number(&y->one_cpu[i])));
			json_object_object_add(placements, key, both);
		}
	}
	if (missing)
		json_object_object_add(report, "yardsticks_missing", missing);
}

static void free_yardsticks(struct yardsticks *y)
{
	for (size_t i = 0; i < ARRAY_SIZE(yardsticks); i++) {
		free(y->medians[i].v);
		free(y->scheduled[i].v);
		free(y->one_cpu[i].v);
	}
}

/* [largest, count] of each 200th part of the sorted numbers. */
static struct json_object *buckets(const struct numbers *of)
{
	struct json_object *all = json_object_new_array();
	size_t from = 0;

	for (size_t i = 1; i <= BUCKETS; i++) {
		size_t to = of->n * i / BUCKETS;
		struct json_object *pair;

		/* Equal numbers belong to one bucket. */
		while (to > from && to < of->n && of->v[to] == of->v[to - 1])
			to++;
		if (to <= from)
			continue;
		pair = json_object_new_array();
		json_object_array_add(pair, json_object_new_uint64(of->v[to - 1]));
		json_object_array_add(pair, json_object_new_uint64(to - from));
		json_object_array_add(all, pair);
		from = to;
	}
	return all;
}

static struct json_object *percentiles(const struct numbers *of)
{
	static const struct {
		const char *key;
		unsigned int permille;
	} rows[] = { { "p50", 500 }, { "p90", 900 }, { "p99", 990 }, { "max", 1000 } };
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "count", json_object_new_uint64(of->n));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		json_object_object_add(o, rows[i].key, json_object_new_uint64(
				       yardstick_permille(of->v, of->n, rows[i].permille)));
	json_object_object_add(o, "buckets", buckets(of));
	return o;
}

static void add_figures(struct json_object *report, struct figures *f)
{
	struct json_object *stages = json_object_new_object();

	json_object_object_add(report, "far_fault_ns", percentiles(&f->far_fault));
	json_object_object_add(report, "end_to_end_ns", percentiles(&f->end_to_end));
	for (unsigned int i = 0; i < f->nstages; i++)
		json_object_object_add(stages, f->stage_names[i], json_object_new_uint64(
				       median_number(&f->stages[i])));
	json_object_object_add(report, "stages_ns", stages);
}

/* A ratio is of two numbers of one slice, so that a slow spell of the machine slows both. */
static int add_slice_ratios(struct figures *f, size_t first, uint64_t uffd)
{
	struct numbers fault = { f->far_fault.v + first, f->far_fault.n - first };
	struct numbers whole = { f->end_to_end.v + first, f->end_to_end.n - first };
	int ret;

	if (!uffd)
		return 0;
	ret = add_number(&f->ratios, median_number(&fault) * 1000000 / uffd);
	return ret ? ret : add_number(&f->whole_ratios, median_number(&whole) * 1000000 / uffd);
}

/* Measured times alone can be compared with the yardsticks, which are measured. */
static void add_ratios(struct json_object *report, const struct figures *f, unsigned int batch,
		       bool measured)
{
	double fault = output_number(report, "far_fault_ns.p50"), ratio;
	struct json_object *slices;

	if (batch > 1)
		json_object_object_add(report, "per_page_ns", output_decimal(fault / batch, 1));
	if (!measured || !f->ratios.n)
		return;
	slices = json_object_new_array();
	ratio = (double)median_number(&f->ratios) / 1e6;
	json_object_object_add(report, "ratio_uffd", output_decimal(ratio, 3));
	for (size_t i = 0; i < f->ratios.n; i++)
		json_object_array_add(slices, output_decimal((double)f->ratios.v[i] / 1e6, 3));
	json_object_object_add(report, "ratio_uffd_slices", slices);
	json_object_object_add(report, "ratio_uffd_end_to_end", output_decimal(
			       (double)median_number(&f->whole_ratios) / 1e6, 3));
	if (batch > 1)
		json_object_object_add(report, "ratio_uffd_per_page",
				       output_decimal(ratio / batch, 3));
}

/* A slice's faults: whole batches, and no more than the library reports one by one. */
static uint64_t slice_of(uint64_t left, uint64_t count, unsigned int batch)
{
	uint64_t most = MIN(MAX(count / SLICES, 1u), SLICE_MOST);

	return MIN(left, MAX(most / batch, 1u) * batch);
}

static int measure_slice(const struct bench_request *r, struct figures *f, char *memory,
			 uint64_t count, size_t samples, struct err *err)
{
	size_t first = f->far_fault.n;
	char *json = NULL;
	uint64_t uffd;
	int ret;

	ret = gpuemu_touch(r->ctx, memory, count * PAGE_BYTES, PAGE_BYTES, r->batch,
			   GPUEMU_TOUCH_SAMPLES, &json);
	if (ret)
		return bench_failed(r->ctx, ret, err);
	ret = take_figures(f, json, count, err);
	gpuemu_free(json);
	if (!ret)
		ret = measure_yardsticks(f->yardsticks, samples, &uffd, err);
	if (!ret && add_slice_ratios(f, first, uffd))
		ret = err_set(err, -ENOMEM, "no memory");
	return ret;
}

static int take_memory(const struct bench_request *r, void **memory, size_t bytes,
		       struct err *err)
{
	int ret;

	if (r->heap && !gpuemu_pageable(r->ctx))
		return err_set(err, -EOPNOTSUPP, "backend %s has no ordinary memory for kernels here "
			       "(gpuemu_pageable(3))", gpuemu_backend(r->ctx));
	if (r->heap && !strcmp(gpuemu_backend(r->ctx), "uffd"))
		return err_set(err, -EOPNOTSUPP, "backend uffd maps all of a mapping at its first "
			       "far fault, so there is nothing to measure");
	if (r->heap) {
		*memory = aligned_alloc(PAGE_BYTES, bytes);
		return *memory ? 0 : err_set(err, -ENOMEM, "no memory");
	}
	ret = gpuemu_mem_alloc_managed(r->ctx, memory, bytes);
	return ret ? bench_failed(r->ctx, ret, err) : 0;
}

static int give_memory(const struct bench_request *r, void *memory, struct err *err)
{
	int ret = 0;

	if (r->heap)
		free(memory);
	else
		ret = gpuemu_mem_free(r->ctx, memory);
	return ret ? bench_failed(r->ctx, ret, err) : 0;
}

/*
 * Measures the faults in slices. Each slice also has as many samples of the yardsticks, so
 * that load on the machine, which comes and goes, meets both.
 */
static int measure_faults(const struct bench_request *r, struct figures *f, uint64_t count,
			  struct err *err)
{
	uint64_t pages = count + WARM_UP, done = 0, slices;
	char *warm = NULL;
	void *memory;
	int ret;

	ret = take_memory(r, &memory, pages * PAGE_BYTES, err);
	if (ret)
		return ret;
	fill(memory, pages);
	ret = gpuemu_touch(r->ctx, memory, WARM_UP * PAGE_BYTES, PAGE_BYTES, r->batch, 0, &warm);
	gpuemu_free(warm);
	if (ret)
		return bench_failed(r->ctx, ret, err);
	slices = DIV_ROUND_UP(count, slice_of(count, count, r->batch));
	while (!ret && done < count) {
		uint64_t n = slice_of(count - done, count, r->batch);

		ret = measure_slice(r, f, (char *)memory + (WARM_UP + done) * PAGE_BYTES, n,
				    (size_t)MAX(COUNT / slices, SAMPLES_LEAST), err);
		done += n;
		/* Migration comes after the faults and takes as long again. */
		progress_share(0.5 * (double)done / (double)count);
	}
	if (!ret)
		ret = check(memory, pages, err);
	return ret ? ret : give_memory(r, memory, err);
}

static int measure(const struct bench_request *r, struct json_object *report,
		   struct err *err)
{
	struct yardsticks yardsticks = { 0 };
	struct figures f = { .yardsticks = &yardsticks };
	struct json_object *migrate;
	int ret;

	json_object_object_add(report, "batch", json_object_new_uint64(r->batch));
	if (r->heap)
		json_object_object_add(report, "memory", json_object_new_string("heap"));
	ret = measure_faults(r, &f, r->count ? r->count : COUNT, err);
	if (!ret) {
		add_figures(report, &f);
		add_yardsticks(report, &yardsticks);
		add_ratios(report, &f, r->batch, r->measured);
	}
	free_figures(&f);
	free_yardsticks(&yardsticks);
	if (ret || !r->measured || r->heap)
		return ret;
	ret = bench_migrate_measure(r, 0, &migrate, err);
	if (!ret)
		json_object_object_add(report, "migrate", migrate);
	if (ret != -EOPNOTSUPP)
		return ret;
	/* A yardstick that cannot be measured here is left out, with the reason. */
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

	fprintf(out, "  %-24s %10s %10s\n", "yardstick, in turns", "median", "of p50");
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

	fprintf(out, "far fault, raised to replayed, of a page%s the CPU has written: "
		"%s faults, %s at a time\n", output_has(r, "memory") ? " of the heap" : "",
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
