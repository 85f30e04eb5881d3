// SPDX-License-Identifier: GPL-2.0
/*
 * Micro-benchmarks of the cycle model: kernels of a few instructions whose cycles
 * can be counted by hand. micro.def has them and how each number comes about.
 * Prints TAP; -v prints every value. Called by tests/check.d/47-cycles.sh.
 *
 *   micro [-v] [WORD]     those with WORD in their name
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "run.h"

struct micro {
	const char *name;
	double low, high;
	const char *setup, *body, *settings, *metric;
	unsigned int u[2], it[2];
	unsigned int grid, block;	/* 0: 1, 32 */
	unsigned int shared;		/* bytes of an array, 0: 4096 */
	size_t bytes;			/* of the buffer, 0: enough */
	struct { uint64_t stride, count; } chain;
	double scale;			/* 0: 1 */
	bool undivided;
};

static const struct micro micros[] = {
#define MICRO(name_, low_, high_, ...) { .name = name_, .low = low_, .high = high_, __VA_ARGS__ },
#include "micro.def"
#undef MICRO
};

static unsigned int cases, failed;
static bool verbose;

static void verdict(const char *name, bool ok, const char *why)
{
	cases++;
	failed += !ok;
	printf("%sok %u - %s\n", ok ? "" : "not ", cases, name);
	if (!ok || verbose)
		printf("# %s\n", why);
	fflush(stdout);
}

/* The body with its index in the place of $ and #. */
static void print_body(FILE *f, const char *body, unsigned int index)
{
	fputc('\t', f);
	for (; *body; body++) {
		if (*body == '$')
			fprintf(f, "%u", index);
		else if (*body == '#')
			fprintf(f, "%u", index % 8);
		else
			fputc(*body, f);
	}
	fputc('\n', f);
}

static char *kernel_text(const struct micro *m, unsigned int u)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, ".version 6.4\n.target sm_70\n.address_size 64\n"
		".const .align 8 .u64 ct[4];\n"
		".visible .entry micro(.param .u64 buffer, .param .u32 iterations)\n{\n"
		"\t.reg .pred %%p<8>;\n\t.reg .b16 %%h<24>;\n\t.reg .b32 %%r<32>;\n\t.reg .b64 %%rd<32>;\n"
		"\t.reg .f32 %%f<32>;\n\t.reg .f64 %%d<32>;\n");
	if (m->shared || strstr(m->body, "shared"))
		fprintf(f, "\t.shared .align 16 .b8 sh[%u];\n", m->shared ? m->shared : 4096);
	if (strstr(m->body, "local"))
		fprintf(f, "\t.local .align 16 .b8 lc[16];\n");
	fprintf(f, "\tld.param.u64 %%rd1, [buffer];\n\tld.param.u32 %%r1, [iterations];\n"
		"\tmov.u32 %%r2, 0;\n\tmov.u32 %%r3, %%tid.x;\n\t%s\nLOOP:\n", m->setup ? m->setup : "");
	for (unsigned int i = 0; i < u; i++)
		print_body(f, m->body, i);
	fprintf(f, "\tadd.u32 %%r2, %%r2, 1;\n\tsetp.lt.u32 %%p1, %%r2, %%r1;\n\t@%%p1 bra LOOP;\nOUT:\n\tret;\n}\n");
	fclose(f);
	return text;
}

/* A ring of pointers, each at the next; what is not in the ring stays 0. */
static void fill_chain(const struct run *run, unsigned int buffer, void *memory)
{
	const struct micro *m = run->user;

	(void)buffer;
	for (uint64_t i = 0; i < m->chain.count; i++) {
		uint64_t next = (uintptr_t)memory + (i + 1) % m->chain.count * m->chain.stride;

		memcpy((char *)memory + i * m->chain.stride, &next, 8);
	}
}

/* One launch's metric; -1: `why`. */
static double measure(const struct micro *m, unsigned int u, unsigned int it, char *why,
		      size_t bytes)
{
	struct run run = { .kernel = "micro", .user = m, .fill = fill_chain };
	char *text = kernel_text(m, u);
	struct outcome o;
	double value = -1;

	snprintf(run.name, sizeof(run.name), "%s", m->name);
	run.text = text;
	run.grid = (struct gpuemu_dim3){ m->grid ? m->grid : 1, 1, 1 };
	run.block = (struct gpuemu_dim3){ m->block ? m->block : 32, 1, 1 };
	run_buffer(&run, "buffer", m->bytes ? m->bytes : m->chain.count ? m->chain.count * m->chain.stride : 1 << 16, true);
	run_arg_buffer(&run, 0);
	run_arg(&run, gpuemu_arg_u32(it));
	run_setting(&run, "config", "gtx480");
	run_setting_u(&run, "paging.enabled", 0);
	run_setting_u(&run, "gpu.sms", 1);
	if (m->settings)
		strcat(run.settings, m->settings);
	run_here(&run, &o);
	if (!o.done) {
		snprintf(why, bytes, "%.200s", o.why);
	} else {
		const char *metric = m->metric ? m->metric : "kernels.0.cycles";

		value = outcome_number(&o, metric);
		if (value < 0)
			snprintf(why, bytes, "the statistics have no %s", metric);
	}
	outcome_free(&o);
	free(text);
	return value;
}

static void judge(const struct micro *m)
{
	unsigned int u[2], it[2], warps;
	char why[256];
	double v[2][2], value, noise, part;

	/* The defaults keep all code in L1I. */
	u[0] = m->u[0];
	u[1] = m->u[1];
	it[0] = m->it[0] ? m->it[0] : 16;
	it[1] = m->it[1] ? m->it[1] : 144;
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < 2; j++) {
			/* With one length or one number of iterations there is nothing to subtract. */
			v[i][j] = (j && it[1] == it[0]) || (!i && u[1] == u[0]) ? 0 :
				  measure(m, u[i], it[j], why, sizeof(why));
			if (v[i][j] < 0) {
				verdict(m->name, false, why);
				return;
			}
		}
	}
	/*
	 * Cold instructions at the end come from DRAM, whose clock is another, so each of
	 * the four runs ends a cycle or two sooner or later.
	 */
	noise = m->metric ? 1e-9 : 8;
	value = it[1] == it[0] ? v[1][0] - v[0][0] : (v[1][1] - v[1][0]) - (v[0][1] - v[0][0]);
	warps = (m->grid ? m->grid : 1) * (((m->block ? m->block : 32) + 31) / 32);
	part = m->scale ? m->scale : 1;
	part /= it[1] == it[0] ? 1 : it[1] - it[0];
	part /= u[1] == u[0] ? (it[1] == it[0] ? 1 : u[0]) : u[1] - u[0];
	if (!m->undivided)
		part /= warps;
	value *= part;
	noise *= part;
	snprintf(why, sizeof(why), "%.4f; expected %g to %g%s, noise %.4f", value, m->low, m->high,
		 m->metric ? "" : " cycles", noise);
	verdict(m->name, value >= m->low - noise && value <= m->high + noise, why);
}

/* --- the order of the schedulers ---------------------------------------------------------- */
/*
 * 8 warps with 64 independent ex2 each, 8 cycles of the one SFU each, and notes of when
 * each is done. Of the four warps of a scheduler, greedy-then-oldest lets one go on as long as
 * it can, so the first is done long before the last; in turns, all are done together. (The
 * two schedulers are not equal: the SFU is free every 8 cycles, always in the same one's turn.)
 */
static double soonest; /* first of a scheduler's warps to its last, the least of both */

static bool note_order(const struct run *run, void *const *memory, char *why, size_t bytes)
{
	const uint32_t *clock = memory[0];

	(void)run;
	soonest = 1;
	for (int s = 0; s < 2; s++) {
		double first = clock[s], last = clock[s];

		for (int w = s; w < 8; w += 2) {
			first = clock[w] < first ? clock[w] : first;
			last = clock[w] > last ? clock[w] : last;
		}
		soonest = first / last < soonest ? first / last : soonest;
	}
	snprintf(why, bytes, "%s", "");
	return true;
}

static void judge_order(const char *scheduler, double low, double high)
{
	struct run run = { .kernel = "order", .judge = note_order };
	char name[64], why[160], *text;
	struct outcome o;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry order(.param .u64 out)\n{\n"
		"\t.reg .pred %%p<4>;\n\t.reg .b32 %%r<8>;\n\t.reg .b64 %%rd<8>;\n\t.reg .f32 %%f<24>;\n"
		"\tld.param.u64 %%rd1, [out];\n\tmov.u32 %%r1, %%tid.x;\n\tmov.u32 %%r2, %%clock;\n"
		"\tcvt.rn.f32.u32 %%f1, %%r1;\n\tshr.u32 %%r3, %%r1, 5;\n\tmad.wide.u32 %%rd2, %%r3, 4, %%rd1;\n"
		"\tmov.u32 %%r6, 0;\nLOOP:\n");
	for (int i = 0; i < 8; i++)
		fprintf(f, "\tex2.approx.f32 %%f1%d, %%f1;\n", i % 8);
	fprintf(f, "\tadd.u32 %%r6, %%r6, 1;\n\tsetp.lt.u32 %%p1, %%r6, 8;\n\t@%%p1 bra LOOP;\n"
		"\tmov.u32 %%r4, %%clock;\n\tsub.u32 %%r5, %%r4, %%r2;\n\tst.global.u32 [%%rd2], %%r5;\n\tret;\n}\n");
	fclose(f);
	run.text = text;
	snprintf(name, sizeof(name), "warps, %s", scheduler);
	snprintf(run.name, sizeof(run.name), "warps %s", scheduler);
	run.grid = (struct gpuemu_dim3){ 1, 1, 1 };
	run.block = (struct gpuemu_dim3){ 256, 1, 1 };
	run_buffer(&run, "out", 32, false);
	run_arg_buffer(&run, 0);
	run_setting_u(&run, "paging.enabled", 0);
	run_setting_u(&run, "gpu.sms", 1);
	run_setting(&run, "sm.scheduler", scheduler);
	run_here(&run, &o);
	if (!o.done) {
		verdict(name, false, o.why);
	} else {
		snprintf(why, sizeof(why), "the first of a scheduler's warps is done after %.0f%% of the last one's time; expected %g to %g%%",
			 100 * soonest, low, high);
		verdict(name, 100 * soonest >= low && 100 * soonest <= high, why);
	}
	outcome_free(&o);
	free(text);
}

int main(int argc, char **argv)
{
	const char *word = "";

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else
			word = argv[i];
	}
	for (size_t i = 0; i < sizeof(micros) / sizeof(micros[0]); i++) {
		if (strstr(micros[i].name, word))
			judge(&micros[i]);
	}
	if (strstr("warps", word)) {
		judge_order("gto", 20, 70);
		judge_order("lrr", 85, 100);
	}
	printf("1..%u\n", cases);
	return failed != 0;
}
