// SPDX-License-Identifier: GPL-2.0
/*
 * bench migrate: the speed of 2 MiB runs to device memory and back, against memcpy of pieces of
 * the same size in between. One prefetch hint asks for all runs. The clock measures the hint
 * and one synchronize, so the cost of asking is included. The same is measured again with a
 * hint for each piece.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"
#include "yardstick.h"

#define PIECE		(1ull << BLOCK_SHIFT)
#define PIECES		28u
#define ROUNDS		5u	/* there and back; medians count */

/* MB/s (10^6 bytes) */
static double rate(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 1000.0 / (double)ns : 0;
}

/* the pieces go as one hint, or each with a hint of its own */
static int prefetch(struct gpuemu_ctx *ctx, const uint8_t *memory, uint64_t pieces, bool home,
		    bool each, uint64_t *ns, struct err *err)
{
	uint64_t hints = each ? pieces : 1, bytes = pieces * PIECE / hints;
	uint64_t begin = now_ns();
	int ret = 0;

	for (uint64_t i = 0; i < hints && !ret; i++)
		ret = home ? gpuemu_mem_prefetch_host(ctx, memory + i * bytes, bytes, NULL) :
			     gpuemu_mem_prefetch(ctx, memory + i * bytes, bytes, NULL);
	if (!ret)
		ret = gpuemu_synchronize(ctx);
	*ns = now_ns() - begin;
	return ret ? bench_failed(ctx, ret, err) : 0;
}

struct moved {
	uint64_t h2d_bytes, d2h_bytes, evicted_pages;
};

static int count_moved(struct gpuemu_ctx *ctx, struct moved *m, struct err *err)
{
	struct json_object *o;
	char *statistics;
	int ret;

	ret = gpuemu_statistics(ctx, &statistics);
	if (ret)
		return bench_failed(ctx, ret, err);
	o = json_tokener_parse(statistics);
	m->h2d_bytes = json_object_get_uint64(output_at(o, "paging.h2d_bytes"));
	m->d2h_bytes = json_object_get_uint64(output_at(o, "paging.d2h_bytes"));
	m->evicted_pages = json_object_get_uint64(output_at(o, "paging.evicted_pages"));
	json_object_put(o);
	gpuemu_free(statistics);
	return 0;
}

/* -EOPNOTSUPP unless every byte went over (and back, if asked for) without an eviction. */
static int check_moved(const struct moved *before, const struct moved *after,
		       uint64_t bytes, uint64_t back, struct err *err)
{
	uint64_t evicted = after->evicted_pages - before->evicted_pages;
	uint64_t moved = after->h2d_bytes - before->h2d_bytes;
	uint64_t home = after->d2h_bytes - before->d2h_bytes;

	if (evicted)
		return err_set(err, -EOPNOTSUPP, "the pieces do not fit device memory "
			       "(%llu pages were evicted); --count fewer",
			       (unsigned long long)evicted);
	if (moved != bytes)
		return err_set(err, -EOPNOTSUPP, "%llu of %llu bytes were migrated",
			       (unsigned long long)moved, (unsigned long long)bytes);
	if (home != back)
		return err_set(err, -EOPNOTSUPP, "%llu of %llu bytes came back",
			       (unsigned long long)home, (unsigned long long)back);
	return 0;
}

/* The times of one round: all of the pieces, and a memcpy of one. */
struct round {
	uint64_t h2d, d2h, memcpy, hinted;
};

static void write_all(uint64_t *memory, uint64_t words, uint64_t seed)
{
	for (uint64_t i = 0; i < words; i++)
		memory[i] = (i + seed) * 0x9e3779b97f4a7c15ull;
}

static int check_all(const uint64_t *memory, uint64_t words, uint64_t seed, struct err *err)
{
	for (uint64_t i = 0; i < words; i++)
		if (memory[i] != (i + seed) * 0x9e3779b97f4a7c15ull)
			return err_set(err, -EBADMSG, "byte %llu came back changed",
				       (unsigned long long)(i * sizeof(uint64_t)));
	return 0;
}

/* The CPU has mapped and written each page before it goes. */
static int go_round(struct gpuemu_ctx *ctx, uint8_t *memory, uint64_t pieces, uint64_t seed,
		    struct round *r, struct err *err)
{
	uint64_t words = pieces * PIECE / sizeof(uint64_t), *samples, ns;
	uint64_t *data = (uint64_t *)memory;
	int ret;

	write_all(data, words, seed);
	ret = prefetch(ctx, memory, pieces, false, false, &r->h2d, err);
	if (!ret)
		ret = prefetch(ctx, memory, pieces, true, false, &r->d2h, err);
	samples = calloc(pieces, sizeof(*samples));
	if (!ret && !samples)
		ret = err_set(err, -ENOMEM, "no memory");
	/* As many memcpys as pieces, so that other load on the CPU slows both alike. */
	if (!ret)
		ret = yardstick_memcpy(samples, pieces, PIECE, err);
	r->memcpy = 0;
	for (uint64_t i = 0; i < pieces && !ret; i++)
		r->memcpy += samples[i];
	free(samples);
	if (ret)
		return ret;
	ret = check_all(data, words, seed, err);
	if (!ret) {
		write_all(data, words, seed + 1);
		ret = prefetch(ctx, memory, pieces, false, true, &r->hinted, err);
	}
	if (!ret)
		ret = prefetch(ctx, memory, pieces, true, true, &ns, err);
	return ret ? ret : check_all(data, words, seed + 1, err);
}

static int go_rounds(struct gpuemu_ctx *ctx, uint8_t *memory, uint64_t pieces,
		     struct round *rounds, struct err *err)
{
	struct moved before, after;
	struct round warm;
	int ret = go_round(ctx, memory, 1, 0, &warm, err);

	if (!ret)
		ret = count_moved(ctx, &before, err);
	for (unsigned int i = 0; i < ROUNDS && !ret; i++)
		ret = go_round(ctx, memory, pieces, i, &rounds[i], err);
	if (!ret)
		ret = count_moved(ctx, &after, err);
	return ret ? ret : check_moved(&before, &after, 2 * ROUNDS * pieces * PIECE,
				       2 * ROUNDS * pieces * PIECE, err);
}

static int migrate(struct gpuemu_ctx *ctx, uint64_t pieces, struct round *rounds,
		   struct err *err)
{
	void *raw;
	int ret, freed;

	/* One more piece leaves room for the alignment. */
	ret = gpuemu_mem_alloc_managed(ctx, &raw, (pieces + 1) * PIECE);
	if (ret)
		return bench_failed(ctx, ret, err);
	ret = go_rounds(ctx, (uint8_t *)(((uintptr_t)raw + PIECE - 1) & ~(PIECE - 1)), pieces,
			rounds, err);
	freed = gpuemu_mem_free(ctx, raw);
	return ret || !freed ? ret : bench_failed(ctx, freed, err);
}

/* The median of one figure of all rounds. */
static uint64_t median(const struct round *rounds, size_t offset)
{
	uint64_t values[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++)
		memcpy(&values[i], (const char *)&rounds[i] + offset, sizeof(values[i]));
	return yardstick_permille(values, ROUNDS, 500);
}

/* The median of memcpy's time over the figure's; both are of one round. */
static double median_ratio(const struct round *rounds, size_t offset)
{
	uint64_t values[ROUNDS];

	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t ns;

		memcpy(&ns, (const char *)&rounds[i] + offset, sizeof(ns));
		values[i] = ns ? rounds[i].memcpy * 1000000 / ns : 0;
	}
	return (double)yardstick_permille(values, ROUNDS, 500) / 1e6;
}

int bench_migrate_measure(const struct bench_request *r, uint64_t pieces,
			  struct json_object **figures, struct err *err)
{
	const struct { const char *key; size_t at; } rates[] = {
		{ "h2d_mbps", offsetof(struct round, h2d) },
		{ "d2h_mbps", offsetof(struct round, d2h) },
		{ "memcpy_mbps", offsetof(struct round, memcpy) },
		{ "hinted_mbps", offsetof(struct round, hinted) },
	};
	struct round rounds[ROUNDS];
	bool fewer = !pieces;
	int ret;

	pieces = pieces ? pieces : PIECES;
	if (!r->measured)
		return err_set(err, -EOPNOTSUPP,
			       "backend %s moves no bytes; measure with --backend kmod or uffd",
			       gpuemu_backend(r->ctx));
	ret = migrate(r->ctx, pieces, rounds, err);
	/* Unless the user gave a number, as many as device memory holds. */
	while (ret == -EOPNOTSUPP && fewer && pieces > 1) {
		pieces /= 2;
		ret = migrate(r->ctx, pieces, rounds, err);
	}
	if (ret)
		return ret;
	*figures = json_object_new_object();
	json_object_object_add(*figures, "piece_bytes", json_object_new_uint64(PIECE));
	json_object_object_add(*figures, "pieces", json_object_new_uint64(pieces));
	json_object_object_add(*figures, "rounds", json_object_new_uint64(ROUNDS));
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
		json_object_object_add(*figures, rates[i].key, output_decimal(
			rate(pieces * PIECE, median(rounds, rates[i].at)), 1));
	json_object_object_add(*figures, "ratio", output_decimal(
		median_ratio(rounds, offsetof(struct round, h2d)), 3));
	json_object_object_add(*figures, "ratio_d2h", output_decimal(
		median_ratio(rounds, offsetof(struct round, d2h)), 3));
	return 0;
}

void bench_migrate_text(FILE *out, struct json_object *m)
{
	fprintf(out, "migration in pieces of 2 MiB (%s): %.0f MB/s, memcpy %.0f MB/s, ratio %.2f; "
		"back %.0f MB/s, ratio %.2f; with a hint for each %.0f MB/s; contents checked\n",
		output_string(m, "pieces"), output_number(m, "h2d_mbps"),
		output_number(m, "memcpy_mbps"), output_number(m, "ratio"),
		output_number(m, "d2h_mbps"), output_number(m, "ratio_d2h"),
		output_number(m, "hinted_mbps"));
}

static int measure(const struct bench_request *r, struct json_object *report,
		   struct err *err)
{
	struct json_object *figures;
	int ret = bench_migrate_measure(r, r->count, &figures, err);

	if (!ret)
		json_object_object_add(report, "migrate", figures);
	return ret;
}

static void text(FILE *out, struct json_object *report)
{
	bench_migrate_text(out, output_at(report, "migrate"));
}

const struct bench bench_migrate = {
	.name = "migrate",
	.help = "2 MiB migrations to device memory and back, beside memcpy",
	.batch = 1,
	.measure = measure,
	.text = text,
};
