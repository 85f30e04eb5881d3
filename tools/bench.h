/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What `gpuemu bench` measures. A bench measures, checks what it moved, and
 * carries its yardsticks and ratios in its JSON; its text is printed from
 * that JSON.
 */
#ifndef GPUEMU_TOOLS_BENCH_H
#define GPUEMU_TOOLS_BENCH_H

#include <json-c/json.h>
#include <stdio.h>

#include "target.h"

/* Medians are of this many rounds. */
#define BENCH_ROUNDS	5u
/* Rounds of clients are short, and other load on the machine changes between them. */
#define BENCH_CLIENT_ROUNDS	(3 * BENCH_ROUNDS)
/* bench clients measures 1, 2, 4 and 8 of them. */
#define BENCH_CLIENTS	4u

struct bench_request {
	struct gpuemu_ctx *ctx;		/* open, nothing done on it yet */
	bool measured;			/* it moves bytes, and a clock measures its times */
	uint64_t count;			/* 0: the bench's own default */
	unsigned int batch;		/* faults at a time */
	bool heap;			/* on memory of malloc(), not of the library */
	const struct target *target;	/* the settings of ctx, to open more like it */
};

struct bench {
	const char *name, *help;
	unsigned int batch;		/* faults at a time if not given */
	/*
	 * Measures and adds its members to `report`, which has bench, host,
	 * backend and clock. -errno with err.
	 */
	int (*measure)(const struct bench_request *r, struct json_object *report,
		       struct err *err);
	void (*text)(FILE *out, struct json_object *report);
};

/* NULL past the end. */
const struct bench *bench_row(unsigned int n);

/*
 * The figures of bench migrate, which bench fault and bars print too: {"piece_bytes","pieces
 * ","rounds","h2d_mbps","d2h_mbps","memcpy_mbps","ratio","ratio_d2h","hinted_mbps"}.
 * -EOPNOTSUPP with a reason where it cannot measure them.
 */
int bench_migrate_measure(const struct bench_request *r, uint64_t pieces,
			  struct json_object **figures, struct err *err);
void bench_migrate_text(FILE *out, struct json_object *figures);

/* One round of bench clients: far faults a second of 1, 2, 4, 8 clients. -errno with err. */
int bench_clients_round(const struct bench_request *r, double rates[BENCH_CLIENTS],
			struct err *err);
/* The medians of n (at most BENCH_CLIENT_ROUNDS) rounds, for each number of clients. */
void bench_clients_medians(double (*rounds)[BENCH_CLIENTS], unsigned int n,
			   double medians[BENCH_CLIENTS]);
/*
 * The rate of more clients over that of fewer in the same round, the median of n (at most
 * BENCH_CLIENT_ROUNDS) rounds, for each two numbers of clients. Returns the least of these
 * medians: at 1 and above the rate never falls. *upper is the least of their upper
 * quartiles: below 1, three rounds of four say for some two numbers of clients that the rate
 * falls.
 */
double bench_clients_least(double (*rounds)[BENCH_CLIENTS], unsigned int n, double *upper);

/*
 * One yardstick of bench fault by its key there: the median. Its threads run where they are
 * fastest.
 */
int bench_yardstick(const char *key, size_t samples, uint64_t *ns, struct err *err);

/*
 * The median of userfaultfd's yardstick. Its threads run where they are fastest. -errno with
 * err.
 */
int bench_uffd_resolve(uint64_t *ns, struct err *err);

/* Sets err to the library's sentence for the call that returned code; returns code. */
int bench_failed(struct gpuemu_ctx *ctx, int code, struct err *err);

#endif
