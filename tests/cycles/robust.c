// SPDX-License-Identifier: GPL-2.0
/*
 * The kernels of kernels.def in every way there is to run them: what they leave in memory is the
 * same as without time, under every scheduler and configuration given, paging on and off;
 * and for each of these the statistics are the same bytes on 1 and on 3 host threads.
 * Prints TAP, a case a kernel and way. Called by tests/check.d/47-cycles.sh.
 *
 *   robust FILE.ptx SCHEDULER,... CONFIG,... [KERNEL]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"

struct kernel {
	const char *name;
	unsigned int grid, block;
	struct { char fill; unsigned int words; } buffer[3];
	unsigned int n;
};

static const struct kernel kernels[] = {
#define KERNEL(name, grid, block, fa, na, fb, nb, fc, nc, n) \
	{ #name, grid, block, { { #fa[0], na }, { #fb[0], nb }, { #fc[0], nc } }, n },
#include "kernels.def"
#undef KERNEL
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_WAYS	128
#define COUNTS		2

static const unsigned int threads[COUNTS] = { 1, 3 };

struct way {
	char name[96], settings[256];
};

/* Steele et al., SplitMix64. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void fill(const struct run *run, unsigned int buffer, void *memory)
{
	const struct kernel *k = run->user;
	unsigned int words = k->buffer[buffer].words;
	uint64_t state = buffer * 1000 + words;
	uint32_t *word = memory;

	for (unsigned int i = 0; i < words; i++) {
		uint32_t random = next_random(&state) >> 32;
		float unit = (random >> 8) * 0x1p-24f;
		double wide = random * 0x1p-32;

		switch (k->buffer[buffer].fill) {
		case 'u':
			word[i] = random;
			break;
		case 'f':
			memcpy(&word[i], &unit, 4);
			break;
		case 'd':
			memcpy(&word[i & ~1u], &wide, 8);
			break;
		case 'm':
			word[i] = ~0u;
			break;
		default:
			word[i] = 0;
		}
	}
}

static void prepare(struct run *run, const struct kernel *k, const char *ptx, const char *settings)
{
	static const char *const names[] = { "a", "b", "c" };

	memset(run, 0, sizeof(*run));
	snprintf(run->name, sizeof(run->name), "%s", k->name);
	snprintf(run->kernel, sizeof(run->kernel), "%s", k->name);
	snprintf(run->ptx, sizeof(run->ptx), "%s", ptx);
	snprintf(run->settings, sizeof(run->settings), "%s", settings);
	run->grid = (struct gpuemu_dim3){ k->grid, 1, 1 };
	run->block = (struct gpuemu_dim3){ k->block, 1, 1 };
	for (unsigned int i = 0; i < 3; i++) {
		run_buffer(run, names[i], 4ul * k->buffer[i].words, true);
		run_arg_buffer(run, i);
	}
	run_arg(run, gpuemu_arg_u32(k->n));
	run->fill = fill;
	run->user = k;
}

static unsigned int make_ways(struct way *ways, char *schedulers, char *configs)
{
	unsigned int n = 0;
	char *word, *save;

	for (word = strtok_r(schedulers, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		for (int paging = 0; paging < 2; paging++, n++) {
			snprintf(ways[n].name, sizeof(ways[n].name), "%s, paging %s", word, paging ? "on" : "off");
			/* Memory for half of it, so that pages go and come. */
			snprintf(ways[n].settings, sizeof(ways[n].settings),
				 "sm.scheduler=%s\npaging.enabled=%d\npaging.vram=131072\n", word, paging);
		}
	}
	for (word = strtok_r(configs, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		for (int paging = 0; paging < 2; paging++, n++) {
			snprintf(ways[n].name, sizeof(ways[n].name), "%s, paging %s", word, paging ? "on" : "off");
			snprintf(ways[n].settings, sizeof(ways[n].settings), "config=%s\npaging.enabled=%d\n",
				 word, paging);
		}
		if (n + 4 > MAX_WAYS)
			break;
	}
	return n;
}

int main(int argc, char **argv)
{
	static struct way ways[MAX_WAYS];
	unsigned int nways, runs_each, cases = 0, failed = 0;
	struct run *runs;
	struct outcome *outcomes;

	if (argc < 4) {
		fprintf(stderr, "usage: robust FILE.ptx SCHEDULER,... CONFIG,... [KERNEL]\n");
		return 2;
	}
	nways = make_ways(ways, argv[2], argv[3]);
	runs_each = 1 + nways * COUNTS;
	runs = calloc(runs_each, sizeof(*runs));
	outcomes = calloc(runs_each, sizeof(*outcomes));
	for (size_t k = 0; k < COUNT(kernels); k++) {
		if (argc > 4 && strcmp(argv[4], kernels[k].name))
			continue;
		prepare(&runs[0], &kernels[k], argv[1], "gpu.functional=1\n");
		for (unsigned int i = 1; i < runs_each; i++) {
			prepare(&runs[i], &kernels[k], argv[1], ways[(i - 1) / COUNTS].settings);
			run_setting_u(&runs[i], "gpu.threads", threads[(i - 1) % COUNTS]);
		}
		runs_execute(runs, outcomes, runs_each, sysconf(_SC_NPROCESSORS_ONLN), 120, false);
		for (unsigned int w = 0; w < nways; w++) {
			const struct outcome *o = &outcomes[1 + w * COUNTS];
			char why[600] = "";

			for (unsigned int t = 0; t < COUNTS && !*why; t++) {
				if (!outcomes[0].done)
					snprintf(why, sizeof(why), "without time: %s", outcomes[0].why);
				else if (!o[t].done)
					snprintf(why, sizeof(why), "%u threads: %s", threads[t], o[t].why);
				else if (o[t].digest != outcomes[0].digest)
					snprintf(why, sizeof(why), "%u threads: other results than without time", threads[t]);
				else if (strcmp(o[t].json, o[0].json))
					snprintf(why, sizeof(why), "%u threads: other statistics than on one", threads[t]);
			}
			cases++;
			failed += *why != 0;
			printf("%sok %u - %s, %s\n", *why ? "not " : "", cases, kernels[k].name, ways[w].name);
			if (*why)
				printf("# %s\n", why);
		}
		fflush(stdout);
		for (unsigned int i = 0; i < runs_each; i++)
			outcome_free(&outcomes[i]);
	}
	printf("1..%u\n", cases);
	free(runs);
	free(outcomes);
	return failed || !cases;
}
