// SPDX-License-Identifier: GPL-2.0
/*
 * What a real GPU and its driver take beside instructions: copies over the link, memory of the
 * host that a kernel reads, launches, bandwidth of DRAM and L2, atomics of all SMs, and how many
 * CTAs an SM holds. There is nothing of gpuemu in here.
 *
 *   timing-link device|clock|copy|zero|launch|ctas|bandwidth|atomics|occupancy
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "timing.h"
#include "cuda.h"

#define SAMPLES 31

static const char kernels[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry empty()\n{\n\tret;\n}\n"
	".visible .entry empty_args(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 "
	"n)\n{\n\tret;\n}\n"
	/* Runs for so many cycles; the clocks before and after. */
	".visible .entry spin(.param .u64 out, .param .u64 cycles)\n{\n\t.reg .pred %p<4>;\n\t.reg "
	".b64 %rd<12>;\n"
	"\tld.param.u64 %rd1, [out];\n\tld.param.u64 %rd2, [cycles];\n\tmov.u64 %rd3, "
	"%globaltimer;\n\tmov.u64 %rd4, %clock64;\n"
	"NEXT:\n\tmov.u64 %rd5, %clock64;\n\tsub.u64 %rd6, %rd5, %rd4;\n\tsetp.lt.u64 %p1, %rd6, "
	"%rd2;\n\t@%p1 bra NEXT;\n"
	"\tmov.u64 %rd7, %globaltimer;\n\tsub.u64 %rd7, %rd7, %rd3;\n\tst.global.u64 [%rd1], "
	"%rd6;\n\tst.global.u64 [%rd1+8], %rd7;\n\tret;\n}\n"
	/* globaltimer's steps */
	".visible .entry timer(.param .u64 out)\n{\n\t.reg .pred %p<4>;\n\t.reg .b32 "
	"%r<4>;\n\t.reg .b64 %rd<12>;\n"
	"\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, 64;\n"
	"NEXT:\n\tmov.u64 %rd3, %globaltimer;\n\tmov.u64 %rd4, %clock64;\n\tst.global.u64 [%rd1], "
	"%rd3;\n\tst.global.u64 [%rd1+8], %rd4;\n"
	"\tadd.u64 %rd1, %rd1, 16;\n\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra "
	"NEXT;\n\tret;\n}\n"
	/* Where CTAs land, and when, by clock64 and globaltimer. */
	".visible .entry where(.param .u64 out)\n{\n\t.reg .pred %p<4>;\n\t.reg .b32 "
	"%r<8>;\n\t.reg .b64 %rd<12>;\n"
	"\tld.param.u64 %rd1, [out];\n\tmov.u64 %rd3, %globaltimer;\n\tmov.u64 %rd4, "
	"%clock64;\n\tmov.u32 %r1, %smid;\n\tmov.u32 %r2, %ctaid.x;\n"
	"\tmov.u32 %r3, %tid.x;\n\tsetp.ne.u32 %p1, %r3, 0;\n\t@%p1 bra OUT;\n"
	"\tmul.wide.u32 %rd2, %r2, 24;\n\tadd.u64 %rd1, %rd1, %rd2;\n\tcvt.u64.u32 %rd5, %r1;\n"
	"\tst.global.u64 [%rd1], %rd5;\n\tst.global.u64 [%rd1+8], %rd3;\n\tst.global.u64 "
	"[%rd1+16], %rd4;\nOUT:\n\tret;\n}\n"
#define STREAM(name, body)                                                                         \
	".visible .entry " name                                                                    \
	"(.param .u64 to, .param .u64 from, .param .u64 n, .param .u32 repeat)\n{\n"               \
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<24>;\n\t.reg .b64 %rd<20>;\n"                         \
	"\tld.param.u64 %rd1, [to];\n\tld.param.u64 %rd2, [from];\n\tld.param.u64 %rd3, "          \
	"[n];\n\tld.param.u32 %r1, [repeat];\n"                                                    \
	"\tcvta.to.global.u64 %rd1, %rd1;\n\tcvta.to.global.u64 %rd2, %rd2;\n"                     \
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmov.u32 %r4, %tid.x;\n\tmad.lo.u32 " \
	"%r5, %r2, %r3, %r4;\n"                                                                    \
	"\tmov.u32 %r6, %nctaid.x;\n\tmul.lo.u32 %r6, %r6, %r3;\n\tcvt.u64.u32 %rd8, "             \
	"%r6;\n\tmov.u32 %r20, 0;\n"                                                               \
	"AGAIN:\n\tcvt.u64.u32 %rd7, %r5;\n"                                                       \
	"NEXT:\n\tsetp.ge.u64 %p1, %rd7, %rd3;\n\t@%p1 bra DONE;\n\tshl.b64 %rd9, %rd7, "          \
	"4;\n\tadd.u64 %rd10, %rd2, %rd9;\n\tadd.u64 %rd11, %rd1, %rd9;\n\t" body                  \
	"\n\tadd.u64 %rd7, %rd7, %rd8;\n\tbra NEXT;\n"                                             \
	"DONE:\n\tsub.u32 %r1, %r1, 1;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra AGAIN;\n"           \
	"\tsetp.ne.u32 %p2, %r20, 12345;\n\t@%p2 bra OUT;\n\tst.global.u32 [%rd1], "               \
	"%r20;\nOUT:\n\tret;\n}\n"
#define GET(op) op ".v4.u32 {%r10, %r11, %r12, %r13}, [%rd10];"
#define FOLD                                                                                      \
	" xor.b32 %r10, %r10, %r11; xor.b32 %r12, %r12, %r13; xor.b32 %r20, %r20, %r10; xor.b32 " \
	"%r20, %r20, %r12;"
	STREAM("read_cg", GET("ld.global.cg") FOLD) STREAM(
		"read_ca", GET("ld.global.ca") FOLD) STREAM("read_cv",
							    GET("ld.volatile.global") FOLD)
		STREAM("write", "st.global.v4.u32 [%rd11], {%r5, %r5, %r5, %r5};") STREAM(
			"copy",
			GET("ld.global.cg") " st.global.v4.u32 [%rd11], {%r10, %r11, %r12, %r13};")
/* Each thread adds `repeat` times to element thread * step & mask. */
#define ATOMIC(name, op)                                                                           \
	".visible .entry " name                                                                    \
	"(.param .u64 base, .param .u32 step, .param .u32 mask, .param .u32 repeat)\n{\n"          \
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<24>;\n\t.reg .b64 %rd<20>;\n"                         \
	"\tld.param.u64 %rd1, [base];\n\tld.param.u32 %r1, [step];\n\tld.param.u32 %r2, "          \
	"[mask];\n\tld.param.u32 %r3, [repeat];\n"                                                 \
	"\tmov.u32 %r4, %ctaid.x;\n\tmov.u32 %r5, %ntid.x;\n\tmov.u32 %r6, %tid.x;\n\tmad.lo.u32 " \
	"%r7, %r4, %r5, %r6;\n"                                                                    \
	"\tmul.lo.u32 %r8, %r7, %r1;\n\tand.b32 %r8, %r8, %r2;\n\tcvt.u64.u32 %rd2, "              \
	"%r8;\n\tadd.u64 %rd1, %rd1, %rd2;\n\tmov.u32 %r9, 1;\n"                                   \
	"NEXT:\n\t" op "\n\tsub.u32 %r3, %r3, 1;\n\tsetp.ne.u32 %p1, %r3, 0;\n\t@%p1 bra NEXT;\n"  \
	"\tsetp.ne.u32 %p2, %r9, 0x7fffffff;\n\t@%p2 bra OUT;\n\tst.global.u32 [%rd1], "           \
	"%r9;\nOUT:\n\tret;\n}\n"
			ATOMIC("atomics", "atom.global.add.u32 %r9, [%rd1], %r9;")
				ATOMIC("reductions", "red.global.add.u32 [%rd1], %r9;")
	/* As of timing.c, for memory of the host. */
	".visible .entry chase(.param .u64 out, .param .u64 start, .param .u32 steps)\n{\n"
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<12>;\n"
	"\tld.param.u64 %rd1, [out];\n\tld.param.u64 %rd2, [start];\n\tld.param.u32 %r2, [steps];\n"
	"\tmov.u64 %rd4, %globaltimer;\n\tmov.u64 %rd3, %clock64;\n"
	"CHASE:\n\tld.volatile.global.u64 %rd2, [%rd2];\n\tsub.u32 %r2, %r2, 1;\n\tsetp.ne.u32 "
	"%p1, %r2, 0;\n\t@%p1 bra CHASE;\n"
	"\tsetp.eq.u64 %p2, %rd2, 0;\n\t@%p2 bra OUT;\n\tmov.u64 %rd5, %clock64;\n\tmov.u64 %rd6, "
	"%globaltimer;\n"
	"\tsub.u64 %rd5, %rd5, %rd3;\n\tsub.u64 %rd6, %rd6, %rd4;\n\tst.global.u64 [%rd1], "
	"%rd5;\n\tst.global.u64 [%rd1+8], %rd6;\n"
	"OUT:\n\tst.global.u64 [%rd1+16], %rd2;\n\tret;\n}\n";

static void *module;
static void *events[2];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double sorted(double *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[n / 2];
}

/* us between two events around a launch */
static double launch_time(void *function, unsigned int grid, unsigned int block, void **params)
{
	float ms;

	TRY(cu.event_record(events[0], NULL));
	TRY(cu.launch(function, grid, 1, 1, block, 1, 1, 0, NULL, params, NULL));
	TRY(cu.event_record(events[1], NULL));
	TRY(cu.event_wait(events[1]));
	TRY(cu.event_time(&ms, events[0], events[1]));
	return ms * 1e3;
}

static void device(void)
{
	size_t bytes;

	TRY(cu.device_bytes(&bytes, cuda_device));
	printf("device\tbytes\t%zu\n# device attribute\tnumber of CUdevice_attribute\tvalue\n",
	       bytes);
	for (int i = 1; i < 150; i++) {
		int value;

		if (!cu.device_attribute(&value, i, cuda_device))
			printf("attribute\t%d\t%d\n", i, value);
	}
}

static void clocks(void)
{
	uint64_t out = gpu_alloc(4096), host[128], cycles;
	void *params[] = { &out, &cycles };

	printf("# clock\tcycles\tns\tMHz\n");
	for (cycles = 100000; cycles <= 200000000; cycles *= 10) {
		for (int i = 0; i < 3; i++) {
			gpu_launch(gpu_function(module, "spin"), 1, 32, 0, params);
			gpu_read(host, out, 16);
			printf("clock\t%llu\t%llu\t%.1f\n", (unsigned long long)host[0],
			       (unsigned long long)host[1],
			       1e3 * (double)host[0] / (double)host[1]);
		}
	}
	gpu_launch(gpu_function(module, "timer"), 1, 1, 0, params);
	gpu_read(host, out, 1024);
	printf("# timer\tns since the one before\tcycles since\n");
	for (int i = 1; i < 64; i++)
		printf("timer\t%llu\t%llu\n", (unsigned long long)(host[2 * i] - host[2 * i - 2]),
		       (unsigned long long)(host[2 * i + 1] - host[2 * i - 1]));
}

static void copies(void)
{
	size_t most = (size_t)256 << 20;
	uint64_t device_memory = gpu_alloc(most);
	void *pinned, *pageable = malloc(most);

	memset(pageable, 1, most);
	TRY(cu.host_alloc(&pinned, most, 0));
	memset(pinned, 1, most);
	printf("# copy\tdirection\thost memory\tbytes\tus (median, call to return)\tGB/s\tus "
	       "(min)\tus by events, asynchronous (median; pinned)\n");
	for (size_t bytes = 4; bytes <= most; bytes *= bytes < 4096 ? 32 : 2) {
		for (int kind = 0; kind < 4; kind++) {
			void *host = kind & 1 ? pageable : pinned;
			unsigned int n = bytes > (16 << 20) ? 5 : SAMPLES;
			double values[SAMPLES], times[SAMPLES], middle;

			for (unsigned int i = 0; i < n; i++) {
				double start = now();

				if (kind & 2)
					TRY(cu.to_host(host, device_memory, bytes));
				else
					TRY(cu.to_device(device_memory, host, bytes));
				/* A copy from pageable memory may return before it has ended. */
				TRY(cu.synchronize());
				values[i] = now() - start;
			}
			for (unsigned int i = 0; i < n; i++) {
				float ms;

				TRY(cu.event_record(events[0], NULL));
				if (kind & 2)
					TRY(cu.to_host_async(host, device_memory, bytes, NULL));
				else
					TRY(cu.to_device_async(device_memory, host, bytes, NULL));
				TRY(cu.event_record(events[1], NULL));
				TRY(cu.event_wait(events[1]));
				TRY(cu.event_time(&ms, events[0], events[1]));
				times[i] = ms * 1e3;
			}
			middle = sorted(values, n);
			printf("copy\t%s\t%s\t%zu\t%.2f\t%.3f\t%.2f\t%.2f\n",
			       kind & 2 ? "D2H" : "H2D", kind & 1 ? "pageable" : "pinned", bytes,
			       middle, (double)bytes / middle / 1e3, values[0], sorted(times, n));
		}
		fflush(stdout);
	}
	/* Many small ones, one after the other, without waiting. */
	for (size_t bytes = 4096; bytes <= (2 << 20); bytes *= 8) {
		for (int d = 0; d < 2; d++) {
			double start;

			TRY(cu.synchronize());
			start = now();
			for (int i = 0; i < 64; i++) {
				if (d)
					TRY(cu.to_host_async((char *)pinned + (size_t)i * bytes,
							     device_memory + (size_t)i * bytes,
							     bytes, NULL));
				else
					TRY(cu.to_device_async(device_memory + (size_t)i * bytes,
							       (char *)pinned + (size_t)i * bytes,
							       bytes, NULL));
			}
			TRY(cu.synchronize());
			double us = now() - start;

			printf("copies\t%s\t64 pinned, asynchronous\t%zu\t%.2f\t%.3f\n",
			       d ? "D2H" : "H2D", bytes, us / 64, 64.0 * (double)bytes / us / 1e3);
		}
	}
	/* Both directions at a time. */
	{
		void *streams[2];
		size_t bytes = 64 << 20;
		double start;

		TRY(cu.stream_create(&streams[0], 1));
		TRY(cu.stream_create(&streams[1], 1));
		TRY(cu.synchronize());
		start = now();
		for (int i = 0; i < 4; i++) {
			TRY(cu.to_device_async(device_memory, pinned, bytes, streams[0]));
			TRY(cu.to_host_async((char *)pinned + bytes, device_memory + bytes, bytes,
					     streams[1]));
		}
		TRY(cu.synchronize());
		double us = now() - start;

		printf("copies\tboth\tat a time, each direction\t%zu\t%.2f\t%.3f\n", bytes, us / 4,
		       4.0 * (double)bytes / us / 1e3);
	}
	TRY(cu.host_free(pinned));
	free(pageable);
	gpu_free(device_memory);
}

static void zero_copy(void)
{
	size_t bytes = (size_t)256 << 20;
	uint64_t out = gpu_alloc(4096), address, host[3], n = bytes / 16, sink = gpu_alloc(4096);
	uint32_t repeat = 1, steps = 2000;
	void *pinned;

	TRY(cu.host_alloc(&pinned, bytes, 2));
	TRY(cu.host_address(&address, pinned, 0));
	memset(pinned, 0, bytes);
	printf("# zero\twhat\tvalue\tunit\n");
	for (size_t span = 4096; span <= bytes; span *= 16) {
		uint64_t elements = span / 128, start = address;
		void *params[] = { &out, &start, &steps };

		for (uint64_t i = 0; i < elements; i++)
			*(uint64_t *)((char *)pinned + i * 128) =
				address + ((i * (4 * 0x2545f491ULL + 1) + 12345) % elements) * 128;
		for (int i = 0; i < 3; i++) {
			gpu_launch(gpu_function(module, "chase"), 1, 1, 0, params);
			gpu_read(host, out, 16);
			printf("zero\tchase over %zu bytes of the host's memory\t%.1f cycles\t%.1f "
			       "ns\n",
			       span, (double)host[0] / steps, (double)host[1] / steps);
		}
	}
	static const unsigned int grids[] = { 1, 4, 16, 66, 132, 528 };
	for (int i = 0; i < 6; i++) {
		void *params[] = { &sink, &address, &n, &repeat },
		     *back[] = { &address, &sink, &n, &repeat };
		double best = 1e30, best_write = 1e30, t;

		for (int r = 0; r < 3; r++) {
			t = launch_time(gpu_function(module, "read_cv"), grids[i], 1024, params);
			best = t < best ? t : best;
			t = launch_time(gpu_function(module, "write"), grids[i], 1024, back);
			best_write = t < best_write ? t : best_write;
		}
		printf("zero\tread by %u CTAs of 1024\t%.3f\tGB/s\n", grids[i],
		       (double)bytes / best / 1e3);
		printf("zero\twrite by %u CTAs of 1024\t%.3f\tGB/s\n", grids[i],
		       (double)bytes / best_write / 1e3);
		fflush(stdout);
	}
	TRY(cu.host_free(pinned));
}

static void launches(void)
{
	void *empty = gpu_function(module, "empty"), *args = gpu_function(module, "empty_args");
	uint64_t a = 0;
	uint32_t n = 0;
	void *params[] = { &a, &a, &a, &n };
	double values[1000];

	printf("# launch\twhat\tus (median)\tus (min)\n");
	for (int i = 0; i < 1000; i++) {
		double start = now();

		TRY(cu.launch(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		TRY(cu.synchronize());
		values[i] = now() - start;
	}
	{
		double middle = sorted(values, 1000);

		printf("launch\tempty kernel and synchronize\t%.3f\t%.3f\n", middle, values[0]);
	}
	for (int i = 0; i < 1000; i++) {
		double start = now();

		TRY(cu.launch(empty, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
		values[i] = now() - start;
		if (i % 100 == 99)
			TRY(cu.synchronize());
	}
	{
		double middle = sorted(values, 1000);

		printf("launch\tthe call alone\t%.3f\t%.3f\n", middle, values[0]);
	}
	for (int k = 0; k < 2; k++) {
		for (int r = 0; r < 5; r++) {
			double start;

			TRY(cu.synchronize());
			start = now();
			for (int i = 0; i < 2000; i++)
				TRY(cu.launch(k ? args : empty, 1, 1, 1, 32, 1, 1, 0, NULL,
					      k ? params : NULL, NULL));
			TRY(cu.synchronize());
			values[r] = (now() - start) / 2000;
		}
		{
			double middle = sorted(values, 5);

			printf("launch\tback to back, %s\t%.3f\t%.3f\n",
			       k ? "4 arguments" : "no arguments", middle, values[0]);
		}
	}
	for (int i = 0; i < 200; i++) {
		uint64_t out = gpu_alloc(4096), cycles = 50000;
		void *spin[] = { &out, &cycles };

		TRY(cu.launch(gpu_function(module, "spin"), 1, 1, 1, 32, 1, 1, 0, NULL, spin,
			      NULL));
		values[i] = launch_time(empty, 1, 32, NULL);
		gpu_free(out);
	}
	{
		double middle = sorted(values, 200);

		printf("launch\tbetween events around it, all queued behind another "
		       "kernel\t%.3f\t%.3f\n",
		       middle, values[0]);
	}
	for (int i = 0; i < 200; i++)
		values[i] = launch_time(empty, 1, 32, NULL);
	{
		double middle = sorted(values, 200);

		printf("launch\tbetween events around it\t%.3f\t%.3f\n", middle, values[0]);
	}
	for (int i = 0; i < 200; i++) {
		float ms;

		TRY(cu.event_record(events[0], NULL));
		TRY(cu.event_record(events[1], NULL));
		TRY(cu.event_wait(events[1]));
		TRY(cu.event_time(&ms, events[0], events[1]));
		values[i] = ms * 1e3;
	}
	{
		double middle = sorted(values, 200);

		printf("launch\tbetween events with nothing\t%.3f\t%.3f\n", middle, values[0]);
	}
	/* A launch between two kernels that depend on each other: gap by globaltimer. */
}

static void ctas(void)
{
	static const unsigned int blocks[] = { 32, 64, 128, 256, 512, 1024 };
	void *empty = gpu_function(module, "empty"), *where = gpu_function(module, "where");
	unsigned int count = 132 * 32;
	uint64_t out = gpu_alloc(count * 24), *host = malloc(count * 24);
	void *params[] = { &out };

	printf("# ctas\tthreads a CTA\tCTAs\tus (median by events)\tus (min)\n");
	for (int b = 0; b < 6; b++) {
		static const unsigned int grids[] = { 1,     132,   264,    1056,   4224,
						      16384, 65536, 262144, 1048576 };

		for (int g = 0; g < 9; g++) {
			double values[11];

			for (int i = 0; i < 11; i++)
				values[i] = launch_time(empty, grids[g], blocks[b], NULL);
			{
				double middle = sorted(values, 11);

				printf("ctas\t%u\t%u\t%.3f\t%.3f\n", blocks[b], grids[g], middle,
				       values[0]);
			}
		}
	}
	printf("# where\tCTA\tSM\tns since the first\tclock64 of its SM\n");
	for (int i = 0; i < 3; i++)
		gpu_launch(where, count, 128, 0, params);
	gpu_read(host, out, count * 24);
	uint64_t first = UINT64_MAX;

	for (unsigned int i = 0; i < count; i++)
		first = host[3 * i + 1] < first ? host[3 * i + 1] : first;
	for (unsigned int i = 0; i < count; i++)
		printf("where\t%u\t%llu\t%llu\t%llu\n", i, (unsigned long long)host[3 * i],
		       (unsigned long long)(host[3 * i + 1] - first),
		       (unsigned long long)host[3 * i + 2]);
	free(host);
}

static void bandwidth(void)
{
	size_t most = (size_t)4 << 30;
	uint64_t from = gpu_alloc(most), to = gpu_alloc(most);
	static const char *const names[] = { "read_cg", "read_ca", "write", "copy" };

	TRY(cu.fill(from, 1, most));
	TRY(cu.fill(to, 1, most));
	printf("# bandwidth\tkernel\tbytes\tCTAs of 1024\tGB/s (read and written)\tus\n");
	for (int k = 0; k < 4; k++) {
		for (size_t bytes = 1 << 20; bytes <= most; bytes *= 2) {
			uint32_t repeat =
				bytes < (256 << 20) ? (uint32_t)(((size_t)1 << 30) / bytes) : 1;
			uint64_t n = bytes / 16;
			void *params[] = { &to, &from, &n, &repeat };
			double values[5], t;

			for (int i = 0; i < 5; i++)
				values[i] = launch_time(gpu_function(module, names[k]), 264, 1024,
							params);
			t = sorted(values, 5);
			printf("bandwidth\t%s\t%zu\t264\t%.1f\t%.2f\n", names[k], bytes,
			       (k == 3 ? 2.0 : 1.0) * (double)bytes * repeat / t / 1e3, t);
			fflush(stdout);
		}
	}
	/* How much one SM, or a few, can take: from L2 and from DRAM. */
	static const unsigned int grids[] = { 1, 2, 4, 8, 16, 33, 66, 132, 264 };
	for (int where = 0; where < 2; where++) {
		size_t bytes = where ? (size_t)1 << 30 : 16 << 20;
		uint32_t repeat = where ? 1 : 16;
		uint64_t n = bytes / 16;
		void *params[] = { &to, &from, &n, &repeat };

		for (int g = 0; g < 9; g++) {
			double values[3], t;

			for (int i = 0; i < 3; i++)
				values[i] = launch_time(gpu_function(module, "read_cg"), grids[g],
							1024, params);
			t = sorted(values, 3);
			printf("bandwidth\t%s by some SMs\t%zu\t%u\t%.2f\t%.2f\n", "read_cg", bytes,
			       grids[g], (double)bytes * repeat / t / 1e3, t);
			fflush(stdout);
		}
	}
	double values[5];
	for (int i = 0; i < 5; i++) {
		float ms;

		TRY(cu.event_record(events[0], NULL));
		TRY(cu.device_to_device(to, from, most));
		TRY(cu.event_record(events[1], NULL));
		TRY(cu.event_wait(events[1]));
		TRY(cu.event_time(&ms, events[0], events[1]));
		values[i] = ms * 1e3;
	}
	double t = sorted(values, 5);
	printf("bandwidth\tcuMemcpyDtoD\t%zu\t0\t%.1f\t%.2f\n", most, 2.0 * (double)most / t / 1e3,
	       t);
}

static void atomics(void)
{
	static const struct {
		const char *name;
		uint32_t step, mask;
	} kinds[] = {
		{ "one word", 0, 0 },
		{ "a word a thread of 128 bytes", 4, 127 },
		{ "a word a thread of 4 KiB", 4, 4095 },
		{ "a word a thread of 1 MiB", 4, 0xfffff },
		{ "a sector a thread of 1 MiB", 32, 0xfffff },
		{ "a sector a thread of 16 MiB", 32, 0xffffff },
	};
	uint64_t base = gpu_alloc(64 << 20);

	printf("# atomics\tinstruction\twhere\tGops of lanes\tus\n");
	for (int k = 0; k < 6; k++) {
		for (int r = 0; r < 2; r++) {
			uint32_t step = kinds[k].step, mask = kinds[k].mask, repeat = 64;
			void *params[] = { &base, &step, &mask, &repeat };
			double values[5], t;

			for (int i = 0; i < 5; i++)
				values[i] = launch_time(
					gpu_function(module, r ? "reductions" : "atomics"), 264,
					512, params);
			t = sorted(values, 5);
			printf("atomics\t%s\t%s\t%.3f\t%.2f\n", r ? "red.add" : "atom.add",
			       kinds[k].name, 264.0 * 512 * repeat / t / 1e3, t);
			fflush(stdout);
		}
	}
}

/* A kernel that keeps `live` values, for occupancy by registers. */
static char *live_text(unsigned int live)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	fprintf(f,
		".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry live(.param .u64 "
		"p, .param .u32 n)\n{\n"
		"\t.reg .pred %%p<2>;\n\t.reg .b32 %%r<4>;\n\t.reg .f32 %%f<%u>;\n\t.reg .b64 "
		"%%rd<2>;\n\tld.param.u64 %%rd1, [p];\n\tld.param.u32 %%r1, [n];\n",
		live + 1);
	for (unsigned int i = 0; i < live; i++)
		fprintf(f, "\tld.global.f32 %%f%u, [%%rd1+%u];\n", i, i * 4);
	fprintf(f, "L:\n");
	for (unsigned int i = 0; i < live; i++)
		fprintf(f, "\tfma.rn.f32 %%f%u, %%f%u, %%f%u, %%f%u;\n", i, i, (i + 1) % live,
			(i + 2) % live);
	fprintf(f, "\tsub.u32 %%r1, %%r1, 1;\n\tsetp.ne.u32 %%p1, %%r1, 0;\n\t@%%p1 bra L;\n");
	for (unsigned int i = 0; i < live; i++)
		fprintf(f, "\tst.global.f32 [%%rd1+%u], %%f%u;\n", i * 4, i);
	fprintf(f, "\tret;\n}\n");
	fclose(f);
	return text;
}

static void occupancy(void)
{
	static const unsigned int blocks[] = { 32, 64, 96, 128, 192, 256, 512, 1024 };
	void *empty = gpu_function(module, "empty");

	printf("# occupancy\tregisters a thread\tdynamic shared bytes\tthreads a CTA\tCTAs an "
	       "SM\n");
	for (unsigned int live = 8; live <= 248; live += 8) {
		char *text = live_text(live);
		void *m = gpu_load(text), *function = gpu_function(m, "live");
		int regs = 0;

		TRY(cu.function_attribute(&regs, 4, function));
		for (int b = 0; b < 8; b++) {
			int fit = 0;

			TRY(cu.occupancy(&fit, function, (int)blocks[b], 0));
			printf("occupancy\t%d\t0\t%u\t%d\n", regs, blocks[b], fit);
		}
		gpu_unload(m);
		free(text);
	}
	TRY(cu.set_function(empty, 8, 227 << 10));
	for (unsigned int shared = 0; shared <= 227 << 10; shared += shared < 4096    ? 256
								     : shared < 32768 ? 1024
										      : 8192) {
		int fit = 0;

		TRY(cu.occupancy(&fit, empty, 32, shared));
		printf("occupancy\t0\t%u\t32\t%d\n", shared, fit);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} parts[] = {
		{ "device", device },	    { "clock", clocks },    { "copy", copies },
		{ "zero", zero_copy },	    { "launch", launches }, { "ctas", ctas },
		{ "bandwidth", bandwidth }, { "atomics", atomics }, { "occupancy", occupancy },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && argc > 1; i++) {
		if (strcmp(argv[1], parts[i].name))
			continue;
		gpu_open(NULL, NULL);
		module = gpu_load(kernels);
		TRY(cu.event_create(&events[0], 0));
		TRY(cu.event_create(&events[1], 0));
		parts[i].run();
		gpu_close();
		return 0;
	}
	fputs("usage: timing-link device|clock|copy|zero|launch|ctas|bandwidth|atomics|occupancy\n",
	      stderr);
	return 2;
}
