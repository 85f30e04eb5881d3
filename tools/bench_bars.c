// SPDX-License-Identifier: GPL-2.0
/*
 * bench bars: the ratios that say how good the kernel path is. Each is measured in rounds
 * beside its yardstick, and has a bar that it must not miss. A ratio is taken within a round,
 * so load on the whole machine slows both sides. The median of the rounds counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"
#include "progress.h"
#include "yardstick.h"

#define ROUNDS		BENCH_ROUNDS
#define SAMPLES		500u
/*
 * A slice has some single faults and as many of the peer's. A neighbour's load on the
 * machine comes and goes in seconds, and a slice takes milliseconds.
 */
#define SLICES		10u
#define SLICE		(SAMPLES / SLICES)
/* A batch has 16 pages in each of 16 VA blocks. The pages are neighbours, or each is alone. */
#define SPREAD_FAULTS	256u
#define SPREAD_BLOCKS	16u
#define SPREAD_PAGES	(SPREAD_FAULTS / SPREAD_BLOCKS)
#define SPREAD_STRIDE	((1u << BLOCK_SHIFT) / SPREAD_PAGES)
#define SPREAD_BATCHES	8u
#define CLIENT_ROUNDS	(BENCH_CLIENT_ROUNDS / ROUNDS)

struct round {
	double fault, spread, h2d, d2h, cpu, clients;
	/* nanoseconds a page, which the report shows with the ratios */
	double fault_ns, uffd_ns, spread_ns, apart_ns, cpu_ns;
	double rates[CLIENT_ROUNDS][BENCH_CLIENTS];
};

static const struct bar {
	const char *key, *what;
	size_t at;
	double bar;
	bool below;
	bool equal;	/* 1, give or take; missed if three rounds of four are below */
} bars[] = {
	{ "fault", "a far fault / userfaultfd resolving a page",
	  offsetof(struct round, fault), 0.8, true },
	{ "batch", "256 far faults, 16 pages of 16 VA blocks, a page / userfaultfd",
	  offsetof(struct round, spread), 0.1, true },
	{ "h2d", "to device memory in runs of 2 MiB / memcpy", offsetof(struct round, h2d), 0.7, false },
	{ "d2h", "back in runs of 2 MiB / memcpy", offsetof(struct round, d2h), 0.7, false },
	{ "cpu_fault", "the CPU's fault on device memory / minor fault + memcpy of 4 KiB",
	  offsetof(struct round, cpu), 4, true },
	{ "clients", "far faults a second of 2, 4, 8 clients / of fewer, the least",
	  offsetof(struct round, clients), 1, false, true },
};

/* A member of the library's figures for one touch. */
static int touch(struct gpuemu_ctx *ctx, void *memory, uint64_t bytes, uint64_t stride,
		 unsigned int batch, uint64_t faults, double *p50, struct err *err)
{
	struct json_object *figures;
	char *json = NULL;
	uint64_t n;
	int ret = gpuemu_touch(ctx, memory, bytes, stride, batch, 0, &json);

	if (ret)
		return bench_failed(ctx, ret, err);
	figures = json_tokener_parse(json);
	*p50 = output_number(figures, "far_fault_ns.p50");
	n = json_object_get_uint64(output_at(figures, "far_fault_ns.count"));
	json_object_put(figures);
	gpuemu_free(json);
	return n == faults ? 0 :
	       err_set(err, -EPROTO, "%llu pages were touched, but %llu far faults happened",
		       (unsigned long long)faults, (unsigned long long)n);
}

static int single(struct gpuemu_ctx *ctx, double *ns, struct err *err)
{
	void *memory;
	int ret = gpuemu_mem_alloc_managed(ctx, &memory, SLICE * PAGE_BYTES), freed;

	if (ret)
		return bench_failed(ctx, ret, err);
	memset(memory, 0x5a, SLICE * PAGE_BYTES);
	ret = touch(ctx, memory, SLICE * PAGE_BYTES, PAGE_BYTES, 1, SLICE, ns, err);
	freed = gpuemu_mem_free(ctx, memory);
	return ret || !freed ? ret : bench_failed(ctx, freed, err);
}

/* Medians of the slices; a ratio is of two numbers of one slice. */
static int single_beside_uffd(struct gpuemu_ctx *ctx, struct round *round, struct err *err)
{
	uint64_t faults[SLICES], peers[SLICES], ratios[SLICES];
	int ret = 0;

	for (unsigned int i = 0; i < SLICES && !ret; i++) {
		double ns = 0;

		ret = single(ctx, &ns, err);
		if (!ret)
			ret = bench_yardstick("uffd_resolve", SLICE, &peers[i], err);
		faults[i] = (uint64_t)ns;
		ratios[i] = ret ? 0 : (uint64_t)(ns * 1e6 / (double)MAX(peers[i], 1u));
	}
	if (ret)
		return ret;
	round->fault_ns = (double)yardstick_permille(faults, SLICES, 500);
	round->uffd_ns = (double)MAX(yardstick_permille(peers, SLICES, 500), 1u);
	round->fault = (double)yardstick_permille(ratios, SLICES, 500) / 1e6;
	return 0;
}

/* The k-th page of batch i in each VA block: side by side, or as far apart as can be. */
static uint64_t spread_at(unsigned int i, unsigned int k, bool apart)
{
	return apart ? i * PAGE_BYTES + k * SPREAD_STRIDE : (i * SPREAD_PAGES + k) * PAGE_BYTES;
}

/*
 * One batch: all of the memory is the device's but for 16 pages of each block, which
 * the CPU takes back and writes; then the device touches all of it.
 */
static int spread_batch(struct gpuemu_ctx *ctx, uint8_t *memory, unsigned int i, bool apart,
			double *p50, struct err *err)
{
	for (unsigned int block = 0; block < SPREAD_BLOCKS; block++)
		for (unsigned int k = 0; k < SPREAD_PAGES; k++)
			memset(memory + ((uint64_t)block << BLOCK_SHIFT) + spread_at(i, k, apart),
			       0x5b, PAGE_BYTES);
	return touch(ctx, memory, (uint64_t)SPREAD_BLOCKS << BLOCK_SHIFT, PAGE_BYTES,
		     SPREAD_FAULTS, SPREAD_FAULTS, p50, err);
}

/*
 * ratio: NULL, or the ratio of a batch's page to a page of the peer, which is measured right
 * after it.
 */
static int spread_batches(struct gpuemu_ctx *ctx, uint8_t *memory, bool apart, double *ns,
			  double *ratio, struct err *err)
{
	const uint64_t bytes = (uint64_t)SPREAD_BLOCKS << BLOCK_SHIFT;
	uint64_t samples[SPREAD_BATCHES], ratios[SPREAD_BATCHES], peer = 1, written = 0;
	int ret;

	memset(memory, 0x5a, bytes);
	ret = gpuemu_mem_prefetch(ctx, memory, bytes, NULL);
	if (!ret)
		ret = gpuemu_synchronize(ctx);
	if (ret)
		return bench_failed(ctx, ret, err);
	for (unsigned int i = 0; i < SPREAD_BATCHES && !ret; i++) {
		double p50;

		ret = spread_batch(ctx, memory, i, apart, &p50, err);
		if (!ret && ratio)
			ret = bench_yardstick("uffd_resolve", SLICE, &peer, err);
		samples[i] = ret ? 0 : (uint64_t)p50;
		ratios[i] = samples[i] * 1000000 / SPREAD_FAULTS / MAX(peer, 1u);
	}
	if (ret)
		return ret;
	for (uint64_t i = 0; i < bytes; i++)
		if (memory[i] == 0x5b)
			written++;
		else if (memory[i] != 0x5a)
			return err_set(err, -EBADMSG, "byte %llu came back changed",
				       (unsigned long long)i);
	if (written != SPREAD_BATCHES * SPREAD_FAULTS * PAGE_BYTES)
		return err_set(err, -EBADMSG, "%llu bytes came back as they were written",
			       (unsigned long long)written);
	*ns = (double)yardstick_permille(samples, SPREAD_BATCHES, 500) / SPREAD_FAULTS;
	if (ratio)
		*ratio = (double)yardstick_permille(ratios, SPREAD_BATCHES, 500) / 1e6;
	return 0;
}

/* The batches' latency, a page. */
static int spread(struct gpuemu_ctx *ctx, bool apart, double *ns, double *ratio,
		  struct err *err)
{
	const uint64_t block = 1u << BLOCK_SHIFT;
	void *raw;
	int ret = gpuemu_mem_alloc_managed(ctx, &raw, (SPREAD_BLOCKS + 1) * block), freed;

	if (ret)
		return bench_failed(ctx, ret, err);
	ret = spread_batches(ctx, (uint8_t *)(((uintptr_t)raw + block - 1) & ~(block - 1)), apart,
			     ns, ratio, err);
	freed = gpuemu_mem_free(ctx, raw);
	return ret || !freed ? ret : bench_failed(ctx, freed, err);
}

/* A number from the report of another measurement. */
static int other(const struct bench_request *r, const struct bench *bench, uint64_t count,
		 struct json_object **report, struct err *err)
{
	struct bench_request request = *r;

	request.count = count;
	request.batch = bench->batch;
	*report = json_object_new_object();
	return bench->measure(&request, *report, err);
}

extern const struct bench bench_cpufault;

static int measure_round(const struct bench_request *r, struct round *round, struct err *err)
{
	struct bench_request clients = *r;
	struct json_object *report;
	double upper;
	int ret = single_beside_uffd(r->ctx, round, err);

	if (!ret)
		ret = spread(r->ctx, false, &round->spread_ns, &round->spread, err);
	if (!ret)
		ret = spread(r->ctx, true, &round->apart_ns, NULL, err);
	if (ret)
		return ret;
	ret = other(r, &bench_cpufault, SAMPLES, &report, err);
	round->cpu = output_number(report, "ratio_minor_memcpy");
	round->cpu_ns = output_number(report, "cpu_fault_ns.p50");
	json_object_put(report);
	if (ret)
		return ret;
	clients.count = 0;
	for (unsigned int i = 0; i < CLIENT_ROUNDS && !ret; i++)
		ret = bench_clients_round(&clients, round->rates[i], err);
	round->clients = ret ? 0 : bench_clients_least(round->rates, CLIENT_ROUNDS, &upper);
	return ret;
}

static double value_of(const struct round *round, size_t at)
{
	double value;

	memcpy(&value, (const char *)round + at, sizeof(value));
	return value;
}

/* The median over the rounds of a positive number. */
static double median(const struct round *rounds, size_t at)
{
	uint64_t values[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++)
		values[i] = (uint64_t)(value_of(&rounds[i], at) * 1e6);
	return (double)yardstick_permille(values, ROUNDS, 500) / 1e6;
}

/* The least ratio over all rounds of clients. */
static double clients_least(const struct round *rounds, double *upper)
{
	double rates[BENCH_CLIENT_ROUNDS][BENCH_CLIENTS];

	for (unsigned int i = 0; i < ROUNDS; i++)
		memcpy(rates[i * CLIENT_ROUNDS], rounds[i].rates, sizeof(rounds[i].rates));
	return bench_clients_least(rates, BENCH_CLIENT_ROUNDS, upper);
}

static void add_bar(struct json_object *report, const struct bar *bar, const struct round *rounds)
{
	struct json_object *row = json_object_new_object(), *all = json_object_new_array();
	double upper, ratio;

	ratio = bar->equal ? clients_least(rounds, &upper) : median(rounds, bar->at);
	for (unsigned int i = 0; i < ROUNDS; i++)
		json_object_array_add(all, output_decimal(value_of(&rounds[i], bar->at), 3));
	json_object_object_add(row, "what", json_object_new_string(bar->what));
	json_object_object_add(row, "ratio", output_decimal(ratio, 3));
	json_object_object_add(row, "rounds", all);
	json_object_object_add(row, bar->below ? "below" : "above", output_decimal(bar->bar, 1));
	if (bar->equal)
		json_object_object_add(row, "upper_quartile", output_decimal(upper, 3));
	json_object_object_add(row, "met", json_object_new_boolean(
		bar->below ? ratio < bar->bar : (bar->equal ? upper : ratio) >= bar->bar));
	json_object_object_add(report, bar->key, row);
}

static int measure(const struct bench_request *r, struct json_object *report, struct err *err)
{
	struct json_object *rows = json_object_new_object(), *ns, *migrate;
	struct round rounds[ROUNDS];
	int ret;

	json_object_object_add(report, "bars", rows);
	if (strcmp(gpuemu_backend(r->ctx), "kmod"))
		return err_set(err, -EOPNOTSUPP, "the bars are the kernel module's; "
			       "measure with --backend kmod");
	for (unsigned int i = 0; i < ROUNDS; i++) {
		progress_share((double)i / ROUNDS);
		ret = measure_round(r, &rounds[i], err);
		if (!ret)
			ret = bench_migrate_measure(r, 0, &migrate, err);
		if (ret)
			return ret;
		rounds[i].h2d = output_number(migrate, "ratio");
		rounds[i].d2h = output_number(migrate, "ratio_d2h");
		if (i + 1 < ROUNDS)
			json_object_put(migrate);
		else
			json_object_object_add(report, "migrate", migrate);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bars); i++)
		add_bar(rows, &bars[i], rounds);
	ns = json_object_new_object();
	json_object_object_add(report, "page_ns", ns);
	json_object_object_add(ns, "fault", output_decimal(
		median(rounds, offsetof(struct round, fault_ns)), 0));
	json_object_object_add(ns, "batch", output_decimal(
		median(rounds, offsetof(struct round, spread_ns)), 0));
	json_object_object_add(ns, "batch_apart", output_decimal(
		median(rounds, offsetof(struct round, apart_ns)), 0));
	json_object_object_add(ns, "cpu_fault", output_decimal(
		median(rounds, offsetof(struct round, cpu_ns)), 0));
	json_object_object_add(ns, "uffd_resolve", output_decimal(
		median(rounds, offsetof(struct round, uffd_ns)), 0));
	return 0;
}

static void text(FILE *out, struct json_object *r)
{
	char a[24], b[24], c[24], d[24], e[24];

	fprintf(out, "%-68s %6s  %-10s\n", "medians of 5 rounds", "ratio", "bar");
	for (size_t i = 0; i < ARRAY_SIZE(bars); i++) {
		char path[48];

		snprintf(path, sizeof(path), "bars.%s.ratio", bars[i].key);
		fprintf(out, "%-68s %6.2f  %s %.1f", bars[i].what, output_number(r, path),
			bars[i].below ? "below" : "above", bars[i].bar);
		snprintf(path, sizeof(path), "bars.%s.upper_quartile", bars[i].key);
		if (bars[i].equal)
			fprintf(out, " (upper quartile %.2f)", output_number(r, path));
		snprintf(path, sizeof(path), "bars.%s.met", bars[i].key);
		fprintf(out, "%s\n", json_object_get_boolean(output_at(r, path)) ? "" : "  MISSED");
	}
	fprintf(out, "a page: far fault %s, of a batch %s (each alone %s), CPU fault %s, userfaultfd %s; "
		"contents checked\n",
		output_ns(a, output_number(r, "page_ns.fault")),
		output_ns(b, output_number(r, "page_ns.batch")),
		output_ns(e, output_number(r, "page_ns.batch_apart")),
		output_ns(c, output_number(r, "page_ns.cpu_fault")),
		output_ns(d, output_number(r, "page_ns.uffd_resolve")));
}

const struct bench bench_bars = {
	.name = "bars",
	.help = "the ratios of all of them, medians of 5, with their bars",
	.batch = 256,
	.measure = measure,
	.text = text,
};
