// SPDX-License-Identifier: GPL-2.0
/*
 * The project's workloads on a real GPU, every result verified: how long each launch takes.
 *
 *   whole SMS FILE [FIRST]    each line of the file is as for gpuemu run; SMS 0: all SMs
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timing.h"
#include "cuda.h"
#include "whole.h"
#include "workload.h"

#define RUNS 7

static const char kernels[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry empty()\n{\n\tret;\n}\n"
	".visible .entry where(.param .u64 out)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 "
	"%rd<4>;\n\tld.param.u64 %rd1, [out];\n"
	"\tmov.u32 %r1, %smid;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.u64 %rd1, %rd1, "
	"%rd2;\n\tmov.u32 %r2, 1;\n\tst.global.u32 [%rd1], %r2;\n\tret;\n}\n"
	".visible .entry delay(.param .u64 cycles)\n{\n\t.reg .pred %p<2>;\n\t.reg .b64 "
	"%rd<6>;\n\tld.param.u64 %rd1, [cycles];\n\tmov.u64 %rd2, %clock64;\n"
	"NEXT:\n\tmov.u64 %rd3, %clock64;\n\tsub.u64 %rd4, %rd3, %rd2;\n\tsetp.lt.u64 %p1, %rd4, "
	"%rd1;\n\t@%p1 bra NEXT;\n\tret;\n}\n"
	".visible .entry flush(.param .u64 to, .param .u64 from, .param .u64 n, .param .u32 "
	"repeat)\n{\n"
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<24>;\n\t.reg .b64 %rd<20>;\n"
	"\tld.param.u64 %rd1, [to];\n\tld.param.u64 %rd2, [from];\n\tld.param.u64 %rd3, [n];\n"
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n\tmad.lo.u32 "
	"%r5, %r2, %r3, %r4;\n"
	"\tmov.u32 %r6, %nctaid.x;\n\tmul.lo.u32 %r6, %r6, %r3;\n\tcvt.u64.u32 %rd8, "
	"%r6;\n\tmov.u32 %r20, 0;\n\tcvt.u64.u32 %rd7, %r5;\n"
	"NEXT:\n\tsetp.ge.u64 %p1, %rd7, %rd3;\n\t@%p1 bra DONE;\n\tshl.b64 %rd9, %rd7, "
	"4;\n\tadd.u64 %rd10, %rd2, %rd9;\n"
	"\tld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd10];\n\tadd.u32 %r20, %r20, "
	"%r10;\n\tadd.u32 %r20, %r20, %r11;\n"
	"\tadd.u64 %rd7, %rd7, %rd8;\n\tbra NEXT;\nDONE:\n\tsetp.ne.u32 %p2, %r20, 12345;\n\t@%p2 "
	"bra OUT;\n\tst.global.u32 [%rd1], %r20;\nOUT:\n\tret;\n}\n";

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* us between events around an empty kernel: what a launch adds to every time here */
static double empty_us(void *function)
{
	double values[51];
	void *events[2];

	TRY(cu.event_create(&events[0], 0));
	TRY(cu.event_create(&events[1], 0));
	for (int i = 0; i < 51; i++) {
		float ms;

		whole_delay();
		TRY(cu.event_record(events[0], NULL));
		TRY(cu.launch(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		TRY(cu.event_record(events[1], NULL));
		TRY(cu.event_wait(events[1]));
		TRY(cu.event_time(&ms, events[0], events[1]));
		values[i] = ms * 1e3;
	}
	qsort(values, 51, sizeof(*values), by_value);
	return values[25];
}

/* Distinct SMs that a large grid uses. */
static unsigned int count_sms(void *function)
{
	static uint32_t used[1024];
	uint64_t out = gpu_alloc(sizeof(used));
	void *params[] = { &out };
	unsigned int n = 0;

	gpu_launch(function, 8192, 256, 0, params);
	gpu_read(used, out, sizeof(used));
	for (unsigned int i = 0; i < 1024; i++)
		n += used[i] != 0;
	gpu_free(out);
	return n;
}

/* "sgemm n=256 ...": RUNS times, the first one verified. */
static void measure(char *line)
{
	static double times[RUNS][WHOLE_LAUNCHES];
	char text[256], *word, *save = NULL;
	const struct workload_row *row;
	struct workload w;
	struct err err;
	unsigned int n = 0;
	double sum = 0, least = 0, first = 0;

	line[strcspn(line, "\n")] = '\0';
	snprintf(text, sizeof(text), "%s", line);
	word = strtok_r(line, " ", &save);
	row = word ? workload_find(word) : NULL;
	if (!row) {
		printf("# failed: %s: no such workload\n", text);
		return;
	}
	workload_init(&w, row->ops, 1);
	while ((word = strtok_r(NULL, " ", &save))) {
		if (workload_set(&w, word, &err)) {
			printf("# failed: %s\n", err.text);
			return;
		}
	}
	for (unsigned int r = 0; r < RUNS; r++) {
		struct workload run = w;

		if (workload_begin(&run, row, NULL) || row->ops->run(&run) ||
		    (!r && row->ops->verify(&run))) {
			printf("# failed: %s: %s\n", text, run.err.text);
			whole_reset();
			return;
		}
		workload_end(&run);
		n = whole_nlaunches;
		for (unsigned int i = 0; i < n; i++)
			times[r][i] = whole_launches[i].us;
		whole_reset();
	}
	for (unsigned int i = 0; i < n; i++) {
		const struct whole_launch *l = &whole_launches[i];
		double values[RUNS];

		for (unsigned int r = 0; r < RUNS; r++)
			values[r] = times[r][i];
		qsort(values, RUNS, sizeof(*values), by_value);
		sum += values[RUNS / 2];
		least += values[0];
		first += times[0][i];
		if (i < 24)
			printf("launch\t%s\t%u\t%s\t%ux%ux%u\t%ux%ux%u\t%.2f\t%.2f\n", text, i,
			       l->kernel, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y,
			       l->block.z, values[RUNS / 2], values[0]);
	}
	printf("workload\t%s\t%u\t%.2f\t%.2f\t%.2f\n", text, n, sum, least, first);
}

int main(int argc, char **argv)
{
	unsigned int sms = argc > 1 ? (unsigned int)atoi(argv[1]) : 0,
		     first = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;
	FILE *f = argc > 2 ? fopen(argv[2], "r") : NULL;
	char line[256];
	void *module;

	if (!f) {
		fputs("usage: whole SMS FILE [FIRST]\n", stderr);
		return 2;
	}
	gpu_open(NULL, NULL);
	if (sms)
		printf("# a green context of %u SMs\n", cuda_restrict(sms));
	module = gpu_load(kernels);
	whole_begin(gpu_function(module, "flush"), gpu_function(module, "delay"),
		    gpu_alloc(WHOLE_FLUSH + 4096));
	printf("# %u SMs were used\n", count_sms(gpu_function(module, "where")));
	printf("empty\t%.2f\n", empty_us(gpu_function(module, "empty")));
	printf("# launch\tworkload\tnumber\tkernel\tgrid\tblock\tus (median)\tus (min)\n# "
	       "workload\tworkload\tlaunches\tus (sum of medians)\tus (sum of minima)\tus (the "
	       "first run: caches of code are cold)\n");
	for (unsigned int i = 0; fgets(line, sizeof(line), f); i++) {
		if (i < first)
			continue;
		printf("# %u\n", i);
		fflush(stdout);
		/* The CPU's side of a large one may take too long. */
		alarm(8);
		measure(line);
		fflush(stdout);
	}
	return 0;
}
