// SPDX-License-Identifier: GPL-2.0
/*
 * bench clients: far faults a second of 1, 2, 4 and 8 clients at a time. Each client is a
 * process with a context of its own, on the same engine, with as many pages as the others. The
 * clock runs from the moment when all are told to begin until the last has its pages. Each
 * client has had one page before, because its first page makes the engine know it. Afterwards
 * each compares all of its pages.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "output.h"
#include "yardstick.h"

#define PAGES		1024u	/* each client's */
#define CLIENTS_MAX	(1u << (BENCH_CLIENTS - 1))
#define ROUNDS		BENCH_CLIENT_ROUNDS

struct client {
	pid_t pid;
	int to, from;
};

/* What a client sends: ready, then done, then that all was well (0). */
struct answer {
	int64_t error;
	uint64_t end;
};

static uint64_t pattern(uint64_t i, uint64_t seed)
{
	return (i + seed * 12345 + 1) * 0x9e3779b97f4a7c15ull;
}

static int say(int fd, int error, uint64_t end)
{
	const struct answer a = { error, end };

	return write(fd, &a, sizeof(a)) == sizeof(a) ? 0 : -EPIPE;
}

/* The faults of one client, between the first two words it says. It checks when all are done. */
static int do_faults(struct gpuemu_ctx *ctx, uint64_t pages, unsigned int batch, uint64_t seed,
		     int from, int to)
{
	const uint64_t n = pages * PAGE_BYTES / sizeof(uint64_t);
	uint64_t *words, end;
	char go;
	void *memory;
	int ret = gpuemu_mem_alloc_managed(ctx, &memory, (pages + 1) * PAGE_BYTES);

	if (ret)
		return ret;
	words = memory;
	for (uint64_t i = 0; i < n; i++)
		words[i] = pattern(i, seed);
	ret = gpuemu_touch(ctx, words + n, PAGE_BYTES, PAGE_BYTES, 1, 0, NULL);
	if (ret)
		return ret;
	if (say(to, 0, 0) || read(from, &go, 1) != 1)
		return -EPIPE;
	ret = gpuemu_touch(ctx, memory, pages * PAGE_BYTES, PAGE_BYTES, batch, 0, NULL);
	end = now_ns();
	if (ret)
		return ret;
	if (say(to, 0, end) || read(from, &go, 1) != 1)
		return -EPIPE;
	for (uint64_t i = 0; i < n && !ret; i++)
		if (words[i] != pattern(i, seed))
			ret = -EBADMSG;
	return ret ? ret : say(to, 0, 0);
}

static void be_client(const struct target *target, uint64_t pages, unsigned int batch,
		      uint64_t seed, int from, int to)
{
	struct gpuemu_ctx *ctx;
	struct err err = { "" };
	int ret = target_open(target, &ctx, &err);

	if (!ret) {
		ret = do_faults(ctx, pages, batch, seed, from, to);
		gpuemu_close(ctx);
	}
	if (ret)
		say(to, ret, 0);
	_exit(ret ? 1 : 0);
}

static int start(const struct bench_request *r, uint64_t pages, unsigned int number,
		 struct client *c, struct err *err)
{
	int to[2], from[2];

	if (pipe(to))
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	if (pipe(from)) {
		close(to[0]);
		close(to[1]);
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	}
	c->pid = fork();
	if (!c->pid) {
		/* The client ends with the process that measures, which a signal may end. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		be_client(r->target, pages, r->batch, number, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	c->to = to[1];
	c->from = from[0];
	return c->pid < 0 ? err_set(err, -errno, "fork: %s", strerror(errno)) : 0;
}

static int hear(const struct client *c, uint64_t *end, struct err *err)
{
	struct answer a;

	if (read(c->from, &a, sizeof(a)) != sizeof(a))
		return err_set(err, -EPIPE, "a client died");
	if (a.error)
		return err_set(err, (int)a.error, "a client: %s",
			       a.error == -EBADMSG ? "a page came back changed" :
			       gpuemu_strerror((int)a.error));
	*end = a.end > *end ? a.end : *end;
	return 0;
}

static void stop(struct client *c)
{
	close(c->to);
	close(c->from);
	if (c->pid > 0)
		waitpid(c->pid, NULL, 0);
}

/* Far faults a second of n clients. */
static int measure_clients(const struct bench_request *r, uint64_t pages, unsigned int n,
			   double *rate, struct err *err)
{
	struct client clients[CLIENTS_MAX];
	uint64_t begin, end = 0;
	unsigned int started = 0;
	int ret = 0;

	while (started < n && !ret) {
		ret = start(r, pages, started, &clients[started], err);
		started++;
	}
	for (unsigned int i = 0; i < n && !ret; i++)
		ret = hear(&clients[i], &end, err);
	begin = now_ns();
	for (unsigned int word = 0; word < 2; word++) {
		for (unsigned int i = 0; i < n && !ret; i++)
			if (write(clients[i].to, "g", 1) != 1)
				ret = err_set(err, -EPIPE, "a client died");
		for (unsigned int i = 0; i < n && !ret; i++)
			ret = hear(&clients[i], &end, err);
	}
	for (unsigned int i = 0; i < started; i++)
		stop(&clients[i]);
	*rate = end > begin ? (double)(pages * n) * 1e9 / (double)(end - begin) : 0;
	return ret;
}

int bench_clients_round(const struct bench_request *r, double rates[BENCH_CLIENTS],
			struct err *err)
{
	uint64_t pages = r->count ? r->count : PAGES;
	int ret = 0;

	for (unsigned int i = 0; i < BENCH_CLIENTS && !ret; i++)
		ret = measure_clients(r, pages, 1u << i, &rates[i], err);
	return ret;
}

double bench_clients_least(double (*rounds)[BENCH_CLIENTS], unsigned int n, double *upper)
{
	uint64_t ratios[ROUNDS], median, quartile, least = UINT64_MAX, least_quartile = UINT64_MAX;

	for (unsigned int more = 1; more < BENCH_CLIENTS; more++) {
		for (unsigned int fewer = 0; fewer < more; fewer++) {
			for (unsigned int k = 0; k < n; k++)
				ratios[k] = rounds[k][fewer] > 0 ? (uint64_t)
					(rounds[k][more] / rounds[k][fewer] * 1e6) : 0;
			median = yardstick_permille(ratios, n, 500);
			quartile = yardstick_permille(ratios, n, 750);
			least = MIN(least, median);
			least_quartile = MIN(least_quartile, quartile);
		}
	}
	*upper = (double)least_quartile / 1e6;
	return (double)least / 1e6;
}

void bench_clients_medians(double (*rounds)[BENCH_CLIENTS], unsigned int n,
			   double medians[BENCH_CLIENTS])
{
	uint64_t values[ROUNDS];

	for (unsigned int i = 0; i < BENCH_CLIENTS; i++) {
		for (unsigned int k = 0; k < n; k++)
			values[k] = (uint64_t)rounds[k][i];
		medians[i] = (double)yardstick_permille(values, n, 500);
	}
}

static int measure(const struct bench_request *r, struct json_object *report, struct err *err)
{
	struct json_object *rates = json_object_new_object();
	double rounds[ROUNDS][BENCH_CLIENTS], medians[BENCH_CLIENTS], least, upper;
	int ret = 0;

	json_object_object_add(report, "faults_per_second", rates);
	if (strcmp(gpuemu_backend(r->ctx), "kmod"))
		return err_set(err, -EOPNOTSUPP, "with backend %s each client has an engine of its "
			       "own; measure with --backend kmod", gpuemu_backend(r->ctx));
	json_object_object_add(report, "pages", json_object_new_uint64(r->count ? r->count : PAGES));
	json_object_object_add(report, "batch", json_object_new_uint64(r->batch));
	for (unsigned int k = 0; k < ROUNDS && !ret; k++)
		ret = bench_clients_round(r, rounds[k], err);
	if (ret)
		return ret;
	bench_clients_medians(rounds, ROUNDS, medians);
	for (unsigned int i = 0; i < BENCH_CLIENTS; i++) {
		char key[12];

		snprintf(key, sizeof(key), "%u", 1u << i);
		json_object_object_add(rates, key, output_decimal(medians[i], 1));
	}
	least = bench_clients_least(rounds, ROUNDS, &upper);
	json_object_object_add(report, "least_of_fewer", output_decimal(least, 3));
	json_object_object_add(report, "upper_quartile", output_decimal(upper, 3));
	return 0;
}

static void text(FILE *out, struct json_object *r)
{
	fprintf(out, "far faults a second, %s pages a client in batches of %s; medians of 15; "
		"contents checked\n", output_string(r, "pages"), output_string(r, "batch"));
	for (unsigned int n = 1; n <= CLIENTS_MAX; n *= 2) {
		char path[40];

		snprintf(path, sizeof(path), "faults_per_second.%u", n);
		fprintf(out, "  %u client%-2s %10.0f\n", n, n > 1 ? "s" : "", output_number(r, path));
	}
	fprintf(out, "  the least against fewer clients: %.2f, upper quartile %.2f\n",
		output_number(r, "least_of_fewer"), output_number(r, "upper_quartile"));
}

const struct bench bench_clients = {
	.name = "clients",
	.help = "far faults a second of 1, 2, 4 and 8 clients",
	.batch = 256,
	.measure = measure,
	.text = text,
};
