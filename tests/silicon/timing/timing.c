// SPDX-License-Identifier: GPL-2.0
/*
 * How long instructions and memory accesses take: PTX micro-benchmarks that time themselves by
 * %clock64, for a real GPU and for gpuemu's model alike. tests/silicon/README.md says what the
 * columns are and keeps what was measured.
 *
 *   timing rows [WORD]     latency and throughput of the instructions of timing.def
 *   timing chase           pointer chases over sizes, cached in L1 and in L2 alone
 *   timing each            every step of a chase by itself: near and far L2
 *   timing tlb [WORD]      chases with large strides
 *   timing many            chases of many threads of one SM: how many misses are under way
 *   timing code            straight-line code: the instruction caches
 *   timing print           the PTX of every row, for ptxas
 *
 * --config NAME, --set KEY=VALUE: the model's; --quick: fewer sizes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timing.h"

#define BODIES	   32
#define RUNS	   7
#define WARP_WORDS 8

struct row {
	const char *name;
	char kind;
	const char *setup, *body;
};

static const struct row rows[] = {
#define ROW(name_, kind_, setup_, body_) { name_, kind_, setup_, body_ },
#include "timing.def"
#undef ROW
};

static bool quick;

static void print_body(FILE *f, const char *body, unsigned int index, unsigned int chains)
{
	fputc('\t', f);
	for (; *body; body++) {
		if (*body == '#')
			fprintf(f, "%u", index % chains);
		else if (*body == '$')
			fprintf(f, "%u", index);
		else
			fputc(*body, f);
	}
	fputc('\n', f);
}

/* The kernel: each warp leaves its SM and its clocks before and after in out. */
static char *row_text(const struct row *row, unsigned int chains)
{
	const char *type = row->kind == 'd'   ? "f64"
			   : row->kind == 'x' ? "f32"
			   : row->kind == 'l' ? "u64"
					      : "u32";
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, ".version 7.0\n.target sm_80\n.address_size 64\n.const .align 8 .u64 ct[4];\n"
		   ".visible .entry row(.param .u64 out, .param .u64 buffer, .param .u32 "
		   "iterations, .param .u32 k,\n"
		   "\t.param .u32 m, .param .u32 z, .param .f32 c, .param .f64 dc)\n{\n"
		   "\t.reg .pred %%p<4>;\n\t.reg .b16 %%h<8>;\n\t.reg .b32 %%a<8>, %%i<8>, %%k, "
		   "%%m, %%z, %%lane, %%thread, %%half;\n"
		   "\t.reg .b64 %%l<8>, %%t<12>, %%b;\n\t.reg .f32 %%x<8>, %%c, %%c2;\n\t.reg .f64 "
		   "%%d<8>, %%dc;\n");
	if (strstr(row->setup, "sh;"))
		fprintf(f, "\t.shared .align 16 .b8 sh[4096];\n");
	if (strstr(row->setup, "lc;"))
		fprintf(f, "\t.local .align 16 .b8 lc[16];\n");
	fprintf(f,
		"\tld.param.u64 %%t0, [out];\n\tld.param.u64 %%b, [buffer];\n\tld.param.u32 %%i0, "
		"[iterations];\n"
		"\tld.param.u32 %%k, [k];\n\tld.param.u32 %%m, [m];\n\tld.param.u32 %%z, [z];\n"
		"\tld.param.f32 %%c, [c];\n\tadd.f32 %%c2, %%c, %%c;\n\tld.param.f64 %%dc, [dc];\n"
		"\tmov.u32 %%thread, %%tid.x;\n\tand.b32 %%lane, %%thread, 31;\n\tmul.lo.u32 "
		"%%half, %%k, 16;\n\tmov.u32 %%i1, 0;\n"
		"\tcvta.to.global.u64 %%b, %%b;\n\tcvta.to.global.u64 %%t0, %%t0;\n");
	for (unsigned int i = 0; i < chains; i++) {
		switch (row->kind) {
		case 'a':
			fprintf(f, "\tadd.u32 %%a%u, %%lane, %u;\n", i, 3 + i);
			break;
		case 'l':
			fprintf(f, "\tcvt.u64.u32 %%l%u, %%lane;\n\tadd.u64 %%l%u, %%l%u, %u;\n", i,
				i, i, 3 + i);
			break;
		case 'x':
			fprintf(f, "\tadd.f32 %%x%u, %%c, 0f3f80000%u;\n", i, i);
			break;
		case 'd':
			fprintf(f, "\tadd.f64 %%d%u, %%dc, 0d3ff000000000000%u;\n", i, i);
			break;
		}
	}
	fprintf(f,
		"\t%s\n\tbar.sync 0;\n\tmov.u64 %%t3, %%globaltimer;\n\tmov.u64 %%t4, "
		"%%clock64;\nLOOP:\n",
		row->setup);
	for (unsigned int i = 0; i < BODIES; i++)
		print_body(f, row->body, i, chains);
	fprintf(f,
		"\tadd.u32 %%i1, %%i1, 1;\n\tsetp.lt.u32 %%p2, %%i1, %%i0;\n\t@%%p2 bra LOOP;\n"
		"\tmov.u64 %%t5, %%clock64;\n\tmov.u64 %%t6, %%globaltimer;\n"
		"\tmov.u32 %%i3, %%ctaid.x;\n\tmov.u32 %%i4, %%ntid.x;\n\tmad.lo.u32 %%i3, %%i3, "
		"%%i4, %%thread;\n"
		"\tshr.u32 %%i3, %%i3, 5;\n\tmul.wide.u32 %%t7, %%i3, %d;\n\tadd.u64 %%t7, %%t7, "
		"%%t0;\n"
		"\tmov.u32 %%i5, %%smid;\n\tcvt.u64.u32 %%t8, %%i5;\n"
		"\tst.global.u64 [%%t7], %%t8;\n\tst.global.u64 [%%t7+8], %%t4;\n\tst.global.u64 "
		"[%%t7+16], %%t5;\n"
		"\tst.global.u64 [%%t7+24], %%t3;\n\tst.global.u64 [%%t7+32], %%t6;\n",
		WARP_WORDS * 8);
	/* The results are needed, as far as ptxas knows. */
	fprintf(f, "\tsetp.ne.u32 %%p3, %%i0, 0xffffffff;\n\t@%%p3 bra OUT;\n");
	for (unsigned int i = 0; i < chains; i++)
		fprintf(f, "\tst.global.%s [%%t7+%u], %%%c%u;\n", type, 40 + 8 * i, row->kind, i);
	fprintf(f, "OUT:\n\tret;\n}\n");
	fclose(f);
	return text;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* Cycles from the first warp's start to the last one's end, of the median SM; MHz besides. */
static double span(const uint64_t *out, unsigned int warps, double *mhz)
{
	double spans[1024];
	unsigned int n = 0;
	bool done[1024] = { false };

	for (unsigned int w = 0; w < warps; w++) {
		uint64_t sm = out[w * WARP_WORDS], low = UINT64_MAX, high = 0;

		if (sm >= 1024 || done[sm])
			continue;
		done[sm] = true;
		for (unsigned int v = w; v < warps; v++) {
			const uint64_t *o = out + v * WARP_WORDS;

			if (o[0] != sm)
				continue;
			low = o[1] < low ? o[1] : low;
			high = o[2] > high ? o[2] : high;
		}
		spans[n++] = (double)(high - low);
	}
	if (mhz)
		*mhz = out[4] > out[3]
			       ? 1000.0 * (double)(out[2] - out[1]) / (double)(out[4] - out[3])
			       : 0;
	return median(spans, n);
}

struct place {
	uint64_t out, buffer;
	uint64_t *host;
};

#define OUT_BYTES (2048 * 32 * WARP_WORDS * 8)

static double launch_row(void *function, const struct place *place, unsigned int warps,
			 uint32_t iterations, double *mhz)
{
	unsigned int grid = warps > 32 ? 2 * gpu_sms() : 1, block = warps > 32 ? 1024 : warps * 32;
	uint32_t k = 1, m = 1000003, z = 0;
	uint64_t out = place->out, buffer = place->buffer;
	float c = 1;
	double dc = 1;
	void *params[] = { &out, &buffer, &iterations, &k, &m, &z, &c, &dc };

	gpu_launch(function, grid, block, 0, params);
	gpu_read(place->host, out, (size_t)grid * block / 32 * WARP_WORDS * 8);
	return span(place->host, grid * block / 32, mhz);
}

/* Cycles of one body of all warps, without the loop's start and end. */
static double body_cycles(void *function, const struct place *place, unsigned int warps,
			  double *spread, double *mhz)
{
	uint32_t low = 8, high = gpu_real() ? 8 + 32 : 8 + 8;
	unsigned int runs = gpu_real() ? RUNS : 1;
	double values[RUNS];

	launch_row(function, place, warps, low, NULL);
	for (unsigned int i = 0; i < runs; i++) {
		double a = launch_row(function, place, warps, low, NULL),
		       b = launch_row(function, place, warps, high, mhz);

		values[i] = (b - a) / ((high - low) * BODIES);
	}
	double middle = median(values, runs);

	*spread = values[runs - 1] - values[0];
	return middle;
}

static void rows_measure(const char *word)
{
	static const unsigned int warps[] = { 1, 2, 4, 8, 16, 32, 64 };
	struct place place = { .out = gpu_alloc(OUT_BYTES),
			       .buffer = gpu_alloc(1 << 20),
			       .host = calloc(1, OUT_BYTES) };

	printf("# row\tname\tchains\twarps\tcycles of a body\tbodies a cycle\tspread of "
	       "runs\tMHz\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool memory = strstr(rows[i].body, "[") || strstr(rows[i].body, "bar.");

		if (word && !strstr(rows[i].name, word))
			continue;
		for (unsigned int chains = 1; chains <= (memory ? 1 : 4); chains += 3) {
			char *text = row_text(&rows[i], chains);
			void *module = gpu_load(text), *function = gpu_function(module, "row");

			for (unsigned int w = 0; w < sizeof(warps) / sizeof(warps[0]); w++) {
				double spread, mhz = 0, cycles;

				if (quick && warps[w] != 1 && warps[w] != 32)
					continue;
				/* 64 warps need two CTAs, and those go to all SMs, which would contend for memory. */
				if (warps[w] > 32 && (strstr(rows[i].body, "global") ||
						      strstr(rows[i].body, "membar.gl") ||
						      strstr(rows[i].body, "ld.u64")))
					continue;
				cycles = body_cycles(function, &place, warps[w], &spread, &mhz);
				printf("row\t%s\t%u\t%u\t%.3f\t%.4f\t%.3f\t%.0f\n", rows[i].name,
				       chains, warps[w], cycles, warps[w] / cycles, spread, mhz);
			}
			fflush(stdout);
			gpu_unload(module);
			free(text);
		}
	}
	free(place.host);
	gpu_free(place.buffer);
	gpu_free(place.out);
}

/*
 * Chases. A buffer of n elements (a power of two), element i at i * stride + (i * skew & mask),
 * holds a ring: i's successor is (5 * odd * i + c) modulo n, which visits all of them.
 */
#define CHASE_LOOP(name, op)                                                                      \
	".visible .entry " name                                                                   \
	"(.param .u64 out, .param .u64 start, .param .u32 warm, .param .u32 steps)\n{\n"          \
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<12>;\n"                         \
	"\tld.param.u64 %rd1, [out];\n\tld.param.u64 %rd2, [start];\n\tld.param.u32 %r1, "        \
	"[warm];\n\tld.param.u32 %r2, [steps];\n"                                                 \
	"\tcvta.to.global.u64 %rd1, %rd1;\n"                                                      \
	"WARM:\n\t" op                                                                            \
	" %rd2, [%rd2];\n\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra WARM;\n"  \
	"\tmov.u64 %rd4, %globaltimer;\n\tsetp.eq.u64 %p2, %rd2, 0;\n\t@%p2 bra OUT;\n\tmov.u64 " \
	"%rd3, %clock64;\n"                                                                       \
	"CHASE:\n\t" op                                                                           \
	" %rd2, [%rd2];\n\tsub.u32 %r2, %r2, 1;\n\tsetp.ne.u32 %p1, %r2, 0;\n\t@%p1 bra CHASE;\n" \
	"\tsetp.eq.u64 %p2, %rd2, 0;\n\t@%p2 bra OUT;\n\tmov.u64 %rd5, %clock64;\n\tmov.u64 "     \
	"%rd6, %globaltimer;\n"                                                                   \
	"\tst.global.u64 [%rd1+8], %rd3;\n\tst.global.u64 [%rd1+16], %rd5;\n\tst.global.u64 "     \
	"[%rd1+24], %rd4;\n\tst.global.u64 [%rd1+32], %rd6;\n"                                    \
	"OUT:\n\tst.global.u64 [%rd1], %rd2;\n\tret;\n}\n"

static const char chase_text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry ring(.param .u64 base, .param .u64 last, .param .u64 stride, .param .u64 "
	"skew, .param .u64 mask, .param .u64 factor)\n{\n"
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<20>;\n"
	"\tld.param.u64 %rd1, [base];\n\tld.param.u64 %rd2, [last];\n\tld.param.u64 %rd3, "
	"[stride];\n"
	"\tld.param.u64 %rd4, [skew];\n\tld.param.u64 %rd5, [mask];\n\tld.param.u64 %rd6, "
	"[factor];\n"
	"\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n\tmad.lo.u32 "
	"%r4, %r1, %r2, %r3;\n"
	"\tmov.u32 %r5, %nctaid.x;\n\tmul.lo.u32 %r5, %r5, %r2;\n\tcvt.u64.u32 %rd7, "
	"%r4;\n\tcvt.u64.u32 %rd8, %r5;\n"
	"NEXT:\n\tsetp.gt.u64 %p1, %rd7, %rd2;\n\t@%p1 bra OUT;\n"
	"\tmul.lo.u64 %rd9, %rd7, %rd6;\n\tadd.u64 %rd9, %rd9, 12345;\n\tand.b64 %rd9, %rd9, "
	"%rd2;\n"
	"\tmul.lo.u64 %rd10, %rd9, %rd3;\n\tmul.lo.u64 %rd11, %rd9, %rd4;\n\tand.b64 %rd11, %rd11, "
	"%rd5;\n"
	"\tadd.u64 %rd10, %rd10, %rd11;\n\tadd.u64 %rd10, %rd10, %rd1;\n"
	"\tmul.lo.u64 %rd12, %rd7, %rd3;\n\tmul.lo.u64 %rd13, %rd7, %rd4;\n\tand.b64 %rd13, %rd13, "
	"%rd5;\n"
	"\tadd.u64 %rd12, %rd12, %rd13;\n\tadd.u64 %rd12, %rd12, %rd1;\n\tst.global.u64 [%rd12], "
	"%rd10;\n"
	"\tadd.u64 %rd7, %rd7, %rd8;\n\tbra NEXT;\nOUT:\n\tret;\n}\n" CHASE_LOOP(
		"chase_ca", "ld.global.ca.u64") CHASE_LOOP("chase_cg", "ld.global.cg.u64")
		CHASE_LOOP("chase_cv", "ld.global.cv.u64")
	/* Each step's cycles by itself: the branch on the address waits for it. */
	".visible .entry each(.param .u64 out, .param .u64 start, .param .u32 warm, .param .u32 "
	"steps)\n{\n"
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<12>;\n"
	"\tld.param.u64 %rd1, [out];\n\tld.param.u64 %rd2, [start];\n\tld.param.u32 %r1, "
	"[warm];\n\tld.param.u32 %r2, [steps];\n"
	"\tcvta.to.global.u64 %rd1, %rd1;\n"
	"WARM:\n\tld.global.cg.u64 %rd2, [%rd2];\n\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, "
	"0;\n\t@%p1 bra WARM;\n"
	"\tsetp.eq.u64 %p2, %rd2, 0;\n\t@%p2 bra OUT;\n"
	"CHASE:\n\tmov.u64 %rd7, %rd2;\n\tmov.u64 %rd3, %clock64;\n\tld.global.cg.u64 %rd2, "
	"[%rd2];\n\tsetp.eq.u64 %p2, %rd2, 0;\n\t@%p2 bra OUT;\n"
	"\tmov.u64 %rd4, %clock64;\n\tsub.u64 %rd5, %rd4, %rd3;\n\tst.global.u64 [%rd1], "
	"%rd7;\n\tst.global.u64 [%rd1+8], %rd5;\n"
	"\tadd.u64 %rd1, %rd1, 16;\n\tsub.u32 %r2, %r2, 1;\n\tsetp.ne.u32 %p1, %r2, 0;\n\t@%p1 bra "
	"CHASE;\n"
	"OUT:\n\tst.global.u64 [%rd1], %rd2;\n\tret;\n}\n"
	/* Every thread its own way through the ring, from element thread * apart. */
	".visible .entry many(.param .u64 out, .param .u64 base, .param .u64 stride, .param .u64 "
	"apart, .param .u32 steps, .param .u32 lanes)\n{\n"
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<12>;\n"
	"\tld.param.u64 %rd1, [out];\n\tld.param.u64 %rd2, [base];\n\tld.param.u64 %rd3, "
	"[stride];\n\tld.param.u64 %rd4, [apart];\n"
	"\tld.param.u32 %r1, [steps];\n\tld.param.u32 %r2, [lanes];\n\tcvta.to.global.u64 %rd1, "
	"%rd1;\n"
	"\tmov.u32 %r3, %tid.x;\n\tand.b32 %r4, %r3, 31;\n\tshr.u32 %r5, %r3, 5;\n\tmul.wide.u32 "
	"%rd5, %r5, 64;\n\tadd.u64 %rd1, %rd1, %rd5;\n"
	"\tmul.wide.u32 %rd6, %r3, 1;\n\tmul.lo.u64 %rd6, %rd6, %rd4;\n\tmul.lo.u64 %rd6, %rd6, "
	"%rd3;\n\tadd.u64 %rd2, %rd2, %rd6;\n"
	"\tbar.sync 0;\n\tmov.u64 %rd8, %clock64;\n\tsetp.ge.u32 %p1, %r4, %r2;\n\t@%p1 bra END;\n"
	"CHASE:\n\tld.global.cg.u64 %rd2, [%rd2];\n\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, "
	"0;\n\t@%p1 bra CHASE;\n"
	"\tsetp.eq.u64 %p2, %rd2, 0;\n\t@%p2 bra OUT;\nEND:\n\tbar.sync 0;\n\tmov.u64 %rd9, "
	"%clock64;\n"
	"\tmov.u32 %r6, %smid;\n\tcvt.u64.u32 %rd7, %r6;\n"
	"\tst.global.u64 [%rd1], %rd7;\n\tst.global.u64 [%rd1+8], %rd8;\n\tst.global.u64 "
	"[%rd1+16], %rd9;\n"
	"OUT:\n\tst.global.u64 [%rd1+40], %rd2;\n\tret;\n}\n";

static void *chases;

static void ring(uint64_t base, uint64_t n, uint64_t stride, uint64_t skew, uint64_t mask)
{
	uint64_t last = n - 1, factor = 4ULL * 0x2545f491 + 1;
	void *params[] = { &base, &last, &stride, &skew, &mask, &factor };

	gpu_launch(gpu_function(chases, "ring"),
		   n < 256 * 1024 ? (unsigned int)((n + 255) / 256) : 1024, 256, 0, params);
}

/* Median cycles of a step; the ring has been made. Each run begins `apart` bytes behind the one before. */
static double steps(const char *kernel, uint64_t out, uint64_t start, uint64_t apart, uint32_t warm,
		    uint32_t count, double *ns)
{
	void *params[] = { &out, &start, &warm, &count };
	double cycles[RUNS], times[RUNS];
	unsigned int runs = gpu_real() ? 3 : 1;

	for (unsigned int i = 0; i < runs; i++) {
		uint64_t o[5];

		gpu_launch(gpu_function(chases, kernel), 1, 1, 0, params);
		gpu_read(o, out, sizeof(o));
		cycles[i] = (double)(o[2] - o[1]) / count;
		times[i] = (double)(o[4] - o[3]) / count;
		start += apart;
	}
	*ns = median(times, runs);
	return median(cycles, runs);
}

static uint32_t at_most(uint64_t n, uint32_t most)
{
	return n < most ? (uint32_t)n : most;
}

static void chase_measure(void)
{
	size_t most = gpu_real() ? (size_t)1 << 30 : (size_t)4 << 20;
	static const unsigned int strides[] = { 32, 64, 128 };
	uint64_t out = gpu_alloc(4096), base = gpu_alloc(most);

	if (quick)
		most = 512 << 10;

	printf("# chase\top\tbytes\tstride\tcycles of a step\tns of a step\n");
	for (size_t s = 0; s < 3; s++) {
		for (size_t bytes = 4096; bytes <= most; bytes *= 2) {
			/* Rings are powers of two long; half-way sizes by a stride of one and a half. */
			for (unsigned int half = 0; half < 2; half++) {
				uint64_t stride = half ? strides[s] * 3 / 2 : strides[s],
					 n = bytes / strides[s];
				double ns, cycles;

				if (half &&
				    (bytes * 3 / 2 > most || bytes < 65536 || strides[s] != 128))
					continue;
				if (strides[s] != 128 && bytes > (2 << 20))
					continue;
				ring(base, n, stride, 0, 0);
				uint32_t warm = at_most(2 * n, gpu_real() ? 65536 : 8192);
				uint32_t count =
					at_most(n < 2048 ? 2048 : n, gpu_real() ? 16384 : 4096);

				/* Beyond L2, runs follow different parts of the ring, and warm the TLBs alone. */
				uint64_t apart = bytes > (32 << 20) ? (n / 8 + 1) * stride : 0;

				if (apart)
					warm = 2048;
				cycles = steps("chase_ca", out, base, apart, warm, count, &ns);
				printf("chase\tca\t%zu\t%u\t%.2f\t%.2f\n",
				       half ? bytes * 3 / 2 : bytes, strides[s], cycles, ns);
				cycles = steps("chase_cg", out, base + 3 * apart, apart, warm,
					       count, &ns);
				printf("chase\tcg\t%zu\t%u\t%.2f\t%.2f\n",
				       half ? bytes * 3 / 2 : bytes, strides[s], cycles, ns);
				fflush(stdout);
			}
		}
	}
	gpu_free(base);
	gpu_free(out);
}

static void each_measure(void)
{
	static const size_t sizes[] = { 256 << 10, 8 << 20, 40 << 20, 1 << 30 };
	uint32_t count = 4096;
	uint64_t out = gpu_alloc(count * 16 + 16), base = gpu_alloc(gpu_real() ? 1 << 30 : 4 << 20);
	uint64_t *host = malloc(count * 16);

	printf("# each\tbytes\tcycles\tsteps that took so many (in groups of 4)\n");
	for (size_t i = 0; i < (gpu_real() ? 4 : 1); i++) {
		uint64_t n = 1, start = base;
		uint32_t warm;
		void *params[] = { &out, &start, &warm, &count };
		unsigned int histogram[1024] = { 0 };

		while (n * 2 * 128 <= sizes[i])
			n *= 2;
		warm = at_most(2 * n, 65536);
		ring(base, n, 128, 0, 0);
		gpu_launch(gpu_function(chases, "each"), 1, 1, 0, params);
		gpu_read(host, out, count * 16);
		for (unsigned int s = 0; s < count; s++)
			histogram[host[2 * s + 1] / 4 < 1023 ? host[2 * s + 1] / 4 : 1023]++;
		for (unsigned int b = 0; b < 1024; b++) {
			if (histogram[b])
				printf("each\t%zu\t%u\t%u\n", sizes[i], b * 4, histogram[b]);
		}
		/* Which lines are slow: bits of the address. */
		if (i < 2) {
			for (unsigned int s = 0; s < 512 && gpu_real(); s++)
				printf("line\t%zu\t0x%llx\t%llu\n", sizes[i],
				       (unsigned long long)(host[2 * s] - base),
				       (unsigned long long)host[2 * s + 1]);
		}
		fflush(stdout);
	}
	free(host);
	gpu_free(base);
	gpu_free(out);
}

static void tlb_measure(void)
{
	static const struct {
		uint64_t stride, most;
	} kinds[] = {
		{ 65536, 65536 },   { 512 << 10, 65536 }, { 2 << 20, 65536 },  { 4 << 20, 32768 },
		{ 16 << 20, 8192 }, { 32 << 20, 4096 },	  { 128 << 20, 1024 },
	};
	size_t most = gpu_real() ? (size_t)130 << 30 : (size_t)64 << 20;
	uint64_t out = gpu_alloc(4096), base = gpu_alloc(most);

	base = (base + (2 << 20) - 1) & ~(uint64_t)((2 << 20) - 1);
	printf("# tlb\top\tstride\telements\tspan MiB\tcycles of a step\tns of a step\n");
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (uint64_t n = 1;
		     n <= kinds[k].most && (n + 1) * kinds[k].stride <= most - (4 << 20); n *= 2) {
			double ns, cycles;

			/* Lines lie in different sets: each element 128 bytes further than the one before. */
			ring(base, n, kinds[k].stride, 128,
			     kinds[k].stride - 1 < 0xffff ? kinds[k].stride - 1 : 0xffff);
			cycles = steps("chase_cg", out, base, 0,
				       at_most(2 * n < 64 ? 64 : 2 * n, 131072),
				       at_most(n < 1024 ? 1024 : n, 65536), &ns);
			printf("tlb\tcg\t%llu\t%llu\t%.3f\t%.2f\t%.2f\n",
			       (unsigned long long)kinds[k].stride, (unsigned long long)n,
			       (double)n * (double)kinds[k].stride / 1048576, cycles, ns);
			fflush(stdout);
		}
	}
	gpu_free(out);
}

static void many_measure(void)
{
	static const struct {
		size_t bytes;
		const char *where;
	} places[] = { { 16 << 20, "L2" }, { 1 << 30, "DRAM" } };
	static const struct {
		unsigned int warps, lanes;
	} shapes[] = {
		{ 1, 1 },  { 1, 2 },  { 1, 4 },	  { 1, 8 },   { 1, 16 }, { 1, 32 },  { 2, 32 },
		{ 4, 32 }, { 8, 32 }, { 16, 32 }, { 32, 32 }, { 2, 1 },	 { 4, 1 },   { 8, 1 },
		{ 16, 1 }, { 32, 1 }, { 32, 2 },  { 32, 4 },  { 32, 8 }, { 32, 16 },
	};
	uint64_t out = gpu_alloc(4096), base = gpu_alloc(gpu_real() ? 1 << 30 : 16 << 20),
		 host[32 * WARP_WORDS];

	printf("# many\twhere\twarps\tlanes\tcycles of a step of all\taccesses a cycle\n");
	for (size_t p = 0; p < (gpu_real() ? 2 : 1); p++) {
		uint64_t n = places[p].bytes / 128, stride = 128;

		ring(base, n, stride, 0, 0);
		for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
			uint32_t lanes = shapes[s].lanes, count = 256;
			uint64_t apart = n / 1024 - 1;
			void *params[] = { &out, &base, &stride, &apart, &count, &lanes };
			double values[3], cycles;

			for (int i = 0; i < 3; i++) {
				gpu_launch(gpu_function(chases, "many"), 1, shapes[s].warps * 32, 0,
					   params);
				gpu_read(host, out, sizeof(host));
				values[i] = span(host, shapes[s].warps, NULL) / count;
			}
			cycles = median(values, 3);
			printf("many\t%s\t%u\t%u\t%.2f\t%.4f\n", places[p].where, shapes[s].warps,
			       lanes, cycles, shapes[s].warps * lanes / cycles);
			fflush(stdout);
		}
	}
	gpu_free(base);
	gpu_free(out);
}

/*
 * Straight-line code of n instructions that depend on nothing but the one of four before, gone
 * through LAPS times: the first time its code is nowhere but in memory.
 */
#define LAPS 4

static char *code_text(unsigned int n)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f, ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry code(.param "
		   ".u64 out, .param .f32 c)\n{\n"
		   "\t.reg .pred %%p<4>;\n\t.reg .b32 %%r<8>;\n\t.reg .f32 %%f<8>;\n\t.reg .b64 "
		   "%%rd<8>;\n"
		   "\tld.param.u64 %%rd1, [out];\n\tld.param.f32 %%f7, [c];\n\tmov.f32 %%f0, "
		   "%%f7;\n\tmov.f32 %%f1, %%f7;\n"
		   "\tmov.f32 %%f2, %%f7;\n\tmov.f32 %%f3, %%f7;\n\tmov.u32 %%r1, "
		   "0;\n\tcvta.to.global.u64 %%rd1, %%rd1;\n"
		   "\tmov.u32 %%r2, %%tid.x;\n"
		   "LAP:\n\tmov.u64 %%rd2, %%clock64;\n\tsetp.ne.u32 %%p2, %%r2, 0;\n\t@%%p2 bra "
		   "BODY;\n\tst.global.u64 [%%rd1], %%rd2;\nBODY:\n\tadd.u64 %%rd1, %%rd1, 8;\n");
	for (unsigned int i = 0; i < n; i++)
		fprintf(f, "\tfma.rn.f32 %%f%u, %%f%u, %%f7, %%f7;\n", i % 4, i % 4);
	fprintf(f,
		"\tadd.u32 %%r1, %%r1, 1;\n\tsetp.le.u32 %%p1, %%r1, %u;\n\t@%%p1 bra LAP;\n"
		"\tadd.f32 %%f0, %%f0, %%f1;\n\tadd.f32 %%f2, %%f2, %%f3;\n\tadd.f32 %%f0, %%f0, "
		"%%f2;\n\tst.global.f32 [%%rd1], %%f0;\n\tret;\n}\n",
		LAPS);
	fclose(f);
	return text;
}

static void code_measure(void)
{
	static const unsigned int warps[] = { 1, 16 };
	uint64_t out = gpu_alloc(4096), host[LAPS + 1];
	float c = 1;
	void *params[] = { &out, &c };

	printf("# code\tinstructions\twarps\tlaunch\tcycles an instruction in the first "
	       "lap\tsecond\tthird\tfourth\n");
	for (unsigned int n = 64; n <= (gpu_real() ? 65536 : 16384); n *= 2) {
		for (unsigned int w = 0; w < 2; w++) {
			char *text = code_text(n);
			void *module = gpu_load(text);

			for (unsigned int launch = 0; launch < 2; launch++) {
				gpu_launch(gpu_function(module, "code"), 1, warps[w] * 32, 0,
					   params);
				gpu_read(host, out, sizeof(host));
				printf("code\t%u\t%u\t%u", n, warps[w], launch);
				for (unsigned int l = 0; l < LAPS; l++)
					printf("\t%.3f", (double)(host[l + 1] - host[l]) / n);
				printf("\n");
			}
			fflush(stdout);
			gpu_unload(module);
			free(text);
		}
	}
	gpu_free(out);
}

static void print_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = row_text(&rows[i], 1);

		printf("//// %zu %s\n%s", i, rows[i].name, text);
		free(text);
	}
	printf("//// %zu chases\n%s", sizeof(rows) / sizeof(rows[0]), chase_text);
}

int main(int argc, char **argv)
{
	const char *what = NULL, *word = NULL, *config = "h100";
	char settings[1024] = "";

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--quick"))
			quick = true;
		else if (!strcmp(argv[i], "--config") && i + 1 < argc)
			config = argv[++i];
		else if (!strcmp(argv[i], "--set") && i + 1 < argc)
			snprintf(settings + strlen(settings), sizeof(settings) - strlen(settings),
				 "%s\n", argv[++i]);
		else if (!what)
			what = argv[i];
		else
			word = argv[i];
	}
	if (!what) {
		fputs("usage: timing rows|chase|each|tlb|many|code|print [WORD]; see the head of "
		      "timing.c\n",
		      stderr);
		return 2;
	}
	if (!strcmp(what, "print")) {
		print_rows();
		return 0;
	}
	gpu_open(config, settings);
	if (!strcmp(what, "rows")) {
		rows_measure(word);
	} else if (!strcmp(what, "code")) {
		code_measure();
	} else {
		chases = gpu_load(chase_text);
		if (!strcmp(what, "chase"))
			chase_measure();
		else if (!strcmp(what, "each"))
			each_measure();
		else if (!strcmp(what, "tlb"))
			tlb_measure();
		else if (!strcmp(what, "many"))
			many_measure();
	}
	gpu_close();
	return 0;
}
