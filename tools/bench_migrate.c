// SPDX-License-Identifier: GPL-2.0
/*
 * bench migrate: how fast 2 MiB pieces go to device memory, asked for by
 * prefetch hints, against memcpy of as large pieces. The clock stands around
 * the hints and one synchronize, so what it costs a program to ask is included.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "output.h"
#include "yardstick.h"

#define PIECE		(1ull << BLOCK_SHIFT)
#define PIECES		16u
#define COPIES		64u	/* of the yardstick, whose median counts */

/* MB/s (10^6 bytes) */
static double rate(uint64_t bytes, uint64_t ns)
{
	return ns ? (double)bytes * 1000.0 / (double)ns : 0;
}

static int prefetch(struct gpuemu_ctx *ctx, const uint8_t *memory, uint64_t first,
		    uint64_t pieces, uint64_t *ns, struct err *err)
{
	uint64_t begin = now_ns();
	int ret = 0;

	for (uint64_t i = first; i < first + pieces && !ret; i++)
		ret = gpuemu_mem_prefetch(ctx, memory + i * PIECE, PIECE, NULL);
	if (!ret)
		ret = gpuemu_synchronize(ctx);
	*ns = now_ns() - begin;
	return ret ? bench_failed(ctx, ret, err) : 0;
}

struct moved {
	uint64_t h2d_bytes, evicted_pages;
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
	m->evicted_pages = json_object_get_uint64(output_at(o, "paging.evicted_pages"));
	json_object_put(o);
	gpuemu_free(statistics);
	return 0;
}

/* -EOPNOTSUPP unless every byte went over and none had to make room. */
static int check_moved(const struct moved *before, const struct moved *after,
		       uint64_t bytes, struct err *err)
{
	uint64_t evicted = after->evicted_pages - before->evicted_pages;
	uint64_t moved = after->h2d_bytes - before->h2d_bytes;

	if (evicted)
		return err_set(err, -EOPNOTSUPP, "the pieces do not fit device memory "
			       "(%llu pages were evicted); --count fewer",
			       (unsigned long long)evicted);
	if (moved != bytes)
		return err_set(err, -EOPNOTSUPP, "%llu of %llu bytes were migrated",
			       (unsigned long long)moved, (unsigned long long)bytes);
	return 0;
}

/* The first piece of memory is the warm-up; the others are measured and checked. */
static int migrate_from(struct gpuemu_ctx *ctx, uint8_t *start, uint64_t pieces,
			uint64_t *ns, struct err *err)
{
	uint64_t words = pieces * PIECE / sizeof(uint64_t), warm_ns, *memory;
	struct moved before, after;
	int ret;

	memset(start, 0x11, PIECE);
	memory = (uint64_t *)(start + PIECE);
	for (uint64_t i = 0; i < words; i++)
		memory[i] = i * 0x9e3779b97f4a7c15ull;
	ret = prefetch(ctx, start, 0, 1, &warm_ns, err);
	if (!ret)
		ret = count_moved(ctx, &before, err);
	if (!ret)
		ret = prefetch(ctx, start, 1, pieces, ns, err);
	if (!ret)
		ret = count_moved(ctx, &after, err);
	if (!ret)
		ret = check_moved(&before, &after, pieces * PIECE, err);
	for (uint64_t i = 0; i < words && !ret; i++)
		if (memory[i] != i * 0x9e3779b97f4a7c15ull)
			ret = err_set(err, -EBADMSG, "byte %llu came back changed",
				      (unsigned long long)(i * sizeof(uint64_t)));
	return ret;
}

static int migrate(struct gpuemu_ctx *ctx, uint64_t pieces, uint64_t *ns,
		   struct err *err)
{
	void *raw;
	int ret, freed;

	/* One piece more is the warm-up, and one for the alignment. */
	ret = gpuemu_mem_alloc_managed(ctx, &raw, (pieces + 2) * PIECE);
	if (ret)
		return bench_failed(ctx, ret, err);
	ret = migrate_from(ctx, (uint8_t *)(((uintptr_t)raw + PIECE - 1) & ~(PIECE - 1)),
			   pieces, ns, err);
	freed = gpuemu_mem_free(ctx, raw);
	return ret || !freed ? ret : bench_failed(ctx, freed, err);
}

int bench_migrate_measure(const struct bench_request *r, uint64_t pieces,
			  struct json_object **figures, struct err *err)
{
	uint64_t samples[COPIES], ns = 0;
	bool fewer = !pieces;
	double moved, copied;
	int ret;

	pieces = pieces ? pieces : PIECES;
	if (!r->measured)
		return err_set(err, -EOPNOTSUPP,
			       "backend %s moves no bytes; measure with --backend kmod or uffd",
			       gpuemu_backend(r->ctx));
	ret = migrate(r->ctx, pieces, &ns, err);
	/* Unless a number was asked for: as many as device memory takes. */
	while (ret == -EOPNOTSUPP && fewer && pieces > 1) {
		pieces /= 2;
		ret = migrate(r->ctx, pieces, &ns, err);
	}
	if (!ret)
		ret = yardstick_memcpy(samples, COPIES, PIECE, err);
	if (ret)
		return ret;
	moved = rate(pieces * PIECE, ns);
	copied = rate(PIECE, yardstick_permille(samples, COPIES, 500));
	*figures = json_object_new_object();
	json_object_object_add(*figures, "piece_bytes", json_object_new_uint64(PIECE));
	json_object_object_add(*figures, "pieces", json_object_new_uint64(pieces));
	json_object_object_add(*figures, "h2d_mbps", output_decimal(moved, 1));
	json_object_object_add(*figures, "memcpy_mbps", output_decimal(copied, 1));
	json_object_object_add(*figures, "ratio",
			       output_decimal(copied > 0 ? moved / copied : 0, 3));
	return 0;
}

void bench_migrate_text(FILE *out, struct json_object *m)
{
	fprintf(out, "migration in pieces of 2 MiB (%s): %.0f MB/s, memcpy %.0f MB/s, ratio %.2f; "
		"contents checked\n",
		output_string(m, "pieces"), output_number(m, "h2d_mbps"),
		output_number(m, "memcpy_mbps"), output_number(m, "ratio"));
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
	.help = "2 MiB migrations to device memory, beside memcpy",
	.batch = 1,
	.measure = measure,
	.text = text,
};
