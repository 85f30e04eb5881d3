// SPDX-License-Identifier: GPL-2.0
/*
 * Whole kernels as clang writes them at -O0 to -O3 (data/kernels.cu), run
 * against a reference on the CPU, with each build of the lanes.
 */
#include "exec_runner.h"

#include <math.h>

/* lanes: of run_tables(), -1: what exec chooses. whole: without exec_step(). */
static const struct {
	const char *file;
	int lanes;
	bool whole;
} variants[] = {
	{ "kernels_O0.ptx", -1, false }, { "kernels_O1.ptx", -1, false },
	{ "kernels_O2.ptx", -1, false }, { "kernels_O3.ptx", -1, false },
	{ "kernels_O2.ptx", 0, false }, { "kernels_O0.ptx", -1, true },
	{ "kernels_O2.ptx", 0, true }, { "kernels_O2.ptx", 1, true }, { "kernels_O2.ptx", 2, true },
	{ "kernels_O3.ptx", -1, true },
};

static char *texts[ARRAY_SIZE(variants)];

static int load_texts(void **state)
{
	char path[512], *slash;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		snprintf(path, sizeof(path), "%s", __FILE__);
		slash = strrchr(path, '/');
		assert_non_null(slash);
		snprintf(slash, path + sizeof(path) - slash, "/data/%s", variants[i].file);
		texts[i] = read_text(path);
		if (!texts[i])
			fail_msg("cannot read %s", path);
	}
	return 0;
}

static int free_texts(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variants); i++)
		free(texts[i]);
	return 0;
}

static void load_variant(struct run *run, const char *kernel, size_t i)
{
	const struct lane_table *tables[3];
	int n = run_tables(tables), lanes = variants[i].lanes;

	/* A processor without the last ones runs what it has once more. */
	run_load_with(run, texts[i], kernel, lanes < 0 ? NULL : tables[MIN(lanes, n - 1)]);
	run->whole = variants[i].whole;
}

/* The body runs once a variant, with `run` loaded. */
#define EACH_VARIANT(run, kernel) \
	for (size_t variant_ = 0; variant_ < ARRAY_SIZE(variants) && \
	     (load_variant(run, kernel, variant_), 1); variant_++, run_free(run))

/* A fixed sequence; the tests need numbers, not luck. */
static uint64_t next_random(uint64_t *s)
{
	*s = *s * 6364136223846793005ull + 1442695040888963407ull;
	return *s >> 33 ^ *s << 20;
}

static void vecadd(void **state)
{
	enum { N = 1000 };
	static float a[N], b[N], c[1024];
	struct run run;
	int i;

	for (i = 0; i < N; i++) {
		a[i] = i * 0.37f;
		b[i] = 1e6f / (i + 1);
	}
	EACH_VARIANT(&run, "vecadd") {
		memset(c, 0, sizeof(c));
		run_ptr(&run, a);
		run_ptr(&run, b);
		run_ptr(&run, c);
		run_u32(&run, N);
		assert_int_equal(run_grid(&run, 8, 1, 128, 1), 0);
		for (i = 0; i < N; i++)
			assert_true(c[i] == a[i] + b[i]);
		for (; i < 1024; i++)
			assert_true(c[i] == 0);
	}
}

static float reference_reduce(const float *in, uint32_t n, uint32_t cta, uint32_t block,
			      uint32_t ctas)
{
	float s[256] = { 0 };
	uint32_t t, i, k;

	for (t = 0; t < block; t++) {
		for (i = cta * block + t; i < n; i += block * ctas)
			s[t] += in[i];
	}
	for (k = block / 2; k; k >>= 1) {
		for (t = 0; t < k; t++)
			s[t] += s[t + k];
	}
	return s[0];
}

static void reduce(void **state)
{
	enum { N = 5000 };
	static float in[N], out[4];
	struct run run;
	int i;

	for (i = 0; i < N; i++)
		in[i] = sinf(i) * 100;
	EACH_VARIANT(&run, "reduce") {
		run_ptr(&run, in);
		run_ptr(&run, out);
		run_u32(&run, N);
		assert_int_equal(run_grid(&run, 4, 1, 256, 1), 0);
		for (i = 0; i < 4; i++)
			assert_true(out[i] == reference_reduce(in, N, i, 256, 4));
	}
}

static void gather(void **state)
{
	enum { N = 300, PER = 7, TAB = 100000 };
	static uint32_t idx[N * PER];
	static float tab[TAB], out[N];
	uint64_t seed = 1;
	struct run run;
	int i, k;

	for (i = 0; i < N * PER; i++)
		idx[i] = next_random(&seed) % TAB;
	for (i = 0; i < TAB; i++)
		tab[i] = i * 0.001f;
	EACH_VARIANT(&run, "gather") {
		run_ptr(&run, idx);
		run_ptr(&run, tab);
		run_ptr(&run, out);
		run_u32(&run, N);
		run_u32(&run, PER);
		assert_int_equal(run_grid(&run, 5, 1, 64, 1), 0);
		for (i = 0; i < N; i++) {
			float sum = 0;

			for (k = 0; k < PER; k++)
				sum += tab[idx[i * PER + k]];
			assert_true(out[i] == sum);
		}
	}
}

static void scan(void **state)
{
	enum { N = 700 };
	static int in[N], out[N];
	struct run run;
	int i, sum;

	for (i = 0; i < N; i++)
		in[i] = i * 7919 % 1000 - 300;
	EACH_VARIANT(&run, "scan") {
		run_ptr(&run, in);
		run_ptr(&run, out);
		run_u32(&run, N);
		assert_int_equal(run_grid(&run, 3, 1, 256, 1), 0);
		for (i = sum = 0; i < N; i++) {
			sum = (i % 256 ? sum : 0) + in[i];
			assert_int_equal(out[i], sum);
		}
	}
}

static void histogram(void **state)
{
	enum { N = 5000 };
	static uint32_t in[N], bins[256], expected[256];
	uint64_t seed = 2;
	struct run run;
	int i;

	for (i = 0; i < N; i++) {
		in[i] = next_random(&seed) % 1000 * (i % 3);
		expected[in[i] & 255]++;
	}
	EACH_VARIANT(&run, "histogram") {
		memset(bins, 0, sizeof(bins));
		run_ptr(&run, in);
		run_ptr(&run, bins);
		run_u32(&run, N);
		assert_int_equal(run_grid(&run, 3, 1, 256, 1), 0);
		assert_memory_equal(bins, expected, sizeof(bins));
	}
}

static void matmul(void **state)
{
	enum { N = 48 };
	static float a[N * N], b[N * N], c[N * N];
	struct run run;
	int i, x, y, k;

	for (i = 0; i < N * N; i++) {
		a[i] = cosf(i);
		b[i] = sinf(i * 3);
	}
	EACH_VARIANT(&run, "matmul") {
		run_ptr(&run, a);
		run_ptr(&run, b);
		run_ptr(&run, c);
		run_u32(&run, N);
		assert_int_equal(run_grid(&run, 3, 3, 16, 16), 0);
		for (y = 0; y < N; y++) {
			for (x = 0; x < N; x++) {
				float sum = 0;

				for (k = 0; k < N; k++)
					sum = fmaf(a[y * N + k], b[k * N + x], sum);
				assert_true(c[y * N + x] == sum);
			}
		}
	}
}

static void transpose(void **state)
{
	enum { W = 64, H = 96 };
	static float in[W * H], out[W * H];
	struct run run;
	int i, x, y;

	for (i = 0; i < W * H; i++)
		in[i] = i;
	EACH_VARIANT(&run, "transpose") {
		memset(out, 0, sizeof(out));
		run_ptr(&run, in);
		run_ptr(&run, out);
		run_u32(&run, W);
		run_u32(&run, H);
		assert_int_equal(run_grid(&run, W / 32, H / 32, 32, 8), 0);
		for (y = 0; y < H; y++) {
			for (x = 0; x < W; x++)
				assert_true(out[x * H + y] == in[y * W + x]);
		}
	}
}

static int escape_time(float cx, float cy, int most)
{
	volatile float zx = 0, zy = 0, a, b, t;
	int n;

	for (n = 0; n < most; n++) {
		a = zx * zx;
		b = zy * zy;
		t = zx * zy;
		if (a + b > 4.0f)
			break;
		zx = a - b;
		zx = zx + cx;
		zy = t + t;
		zy = zy + cy;
	}
	return n;
}

static void mandel(void **state)
{
	enum { W = 96, H = 40, MOST = 200 };
	static int out[W * H];
	struct run run;
	int x, y;

	EACH_VARIANT(&run, "mandel") {
		run_ptr(&run, out);
		run_u32(&run, W);
		run_f32(&run, -2.0f);
		run_f32(&run, -1.2f);
		run_f32(&run, 0.03f);
		run_f32(&run, 0.06f);
		run_u32(&run, MOST);
		assert_int_equal(run_grid(&run, 2, H, W / 2, 1), 0);
		for (y = 0; y < H; y++) {
			for (x = 0; x < W; x++) {
				volatile float px = 0.03f * x, py = 0.06f * y;

				assert_int_equal(out[y * W + x],
						 escape_time(-2.0f + px, -1.2f + py, MOST));
			}
		}
	}
}

static uint32_t reference_maze(uint32_t v, uint32_t i)
{
	uint32_t steps = 0, round, k;

	for (round = 0; round < 200 && v != 1; round++) {
		bool odd = false;

		if (v & 1 && v % 3 == 0) {
			v /= 3;
			if (v % 5 == 2)
				continue;
			steps += 7;
		} else if (v & 1) {
			v = 3 * v + 1;
		} else {
			v >>= 1;
			for (k = 0; k < (v & 3) && k != (i & 3); k++)
				steps += 2;
		}
		switch (v & 7) {
		case 0:
			steps++;
			break;
		case 1:
			steps += 3;
			v += 2;
			break;
		case 3:
			steps = (steps ^ v) & 0xff;
			break;
		case 4:
			odd = i & 1;
			break;
		case 5:
			v ^= 4;
			break;
		case 6:
			steps++;
			continue;
		}
		steps += odd ? 5 : 1;
	}
	return steps * 65536 + (v & 0xffff);
}

static void maze(void **state)
{
	enum { N = 500 };
	static uint32_t in[N], out[N];
	struct run run;
	int i;

	for (i = 0; i < N; i++)
		in[i] = i * 2654435761u >> 12;
	EACH_VARIANT(&run, "maze") {
		memset(out, 0, sizeof(out));
		run_ptr(&run, in);
		run_ptr(&run, out);
		run_u32(&run, N);
		assert_int_equal(run_grid(&run, 4, 1, 128, 1), 0);
		for (i = 0; i < N; i++)
			assert_int_equal(out[i], reference_maze(in[i], i));
		if (!run.whole)
			assert_in_range(run.max_depth, 4, STACK_ENTRIES - 1);
	}
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static void local_sort(void **state)
{
	enum { N = 96 };
	static int in[N * 8], out[N * 8];
	int sorted[8], i, k;
	uint64_t seed = 3;
	struct run run;

	for (i = 0; i < N * 8; i++)
		in[i] = (int)next_random(&seed) % 1000;
	EACH_VARIANT(&run, "local_sort") {
		run_ptr(&run, in);
		run_ptr(&run, out);
		assert_int_equal(run_grid(&run, 2, 1, N / 2, 1), 0);
		for (i = 0; i < N; i++) {
			memcpy(sorted, in + i * 8, sizeof(sorted));
			qsort(sorted, 8, sizeof(int), compare_ints);
			for (k = 0; k < 8; k++)
				assert_int_equal(out[i * 8 + k], sorted[(k + i) & 7]);
		}
	}
}

struct item {
	signed char c;
	short s;
	int i;
	long long l;
	float f;
	double d;
	unsigned char b[5];
};

static void widths(void **state)
{
	enum { N = 64 };
	static struct item in[N], out[N];
	struct item p = { -3, 7, 1 << 30, 0x123456789abcdefll, 1.5f, -2.25, { 1, 2, 3, 4, 255 } };
	struct run run;
	int i, k;

	for (i = 0; i < N; i++) {
		in[i] = (struct item){ i * 5, i * -911, -i * 30000000, ~(int64_t)(1ull << i),
				       i * 0.1f, i * 1e100, { i, 2 * i, 3 * i, 4 * i, 5 * i } };
	}
	EACH_VARIANT(&run, "widths") {
		memset(out, 0, sizeof(out));
		memcpy(run.params, &p, sizeof(p));
		run.param_bytes = sizeof(p);
		run_ptr(&run, in);
		run_ptr(&run, out);
		assert_int_equal(run_grid(&run, 1, 1, N, 1), 0);
		for (i = 0; i < N; i++) {
			unsigned char b[5];

			memcpy(b, in[i].b, 5);
			for (k = 0; k < 5; k++)
				b[k] = b[(k + 1) % 5] + p.b[k];
			assert_int_equal(out[i].c, (signed char)(in[i].c + p.c));
			assert_int_equal(out[i].s, (short)(in[i].s * p.s));
			assert_int_equal((uint32_t)out[i].i, (uint32_t)in[i].i - (uint32_t)p.i);
			assert_true(out[i].l == (in[i].l ^ p.l));
			assert_true(out[i].f == in[i].f * p.f);
			assert_true(out[i].d == in[i].d + p.d);
			assert_memory_equal(out[i].b, b, 5);
		}
	}
}

static void check_arithmetic(const int64_t *in, const double *din, const int64_t *out,
			     const double *dout)
{
	int64_t a = in[0], b = in[1];
	uint64_t ua = a, ub = b;
	double x = din[0], y = din[1];
	double results[4] = {
		x / y, (double)a - (double)ub, (float)x,
		sqrt(fabs(x)) + (float)(int)b,
	};
	int k;

	assert_true(out[0] == (int64_t)(ua * ub));
	assert_true(out[1] == (b ? a / (b == -1 ? 1 : b) : 0));
	assert_true(out[2] == (int64_t)(b ? ua % ub : 0));
	assert_true(out[3] == a >> (b & 63));
	assert_true(out[4] == (int64_t)(ua >> (b & 63)));
	assert_true(out[5] == (a < b ? a : b));
	if (((int)b | 1) != -1)
		assert_true(out[6] == (int)a / ((int)b | 1));
	assert_true(out[7] == (int)((unsigned int)(short)a * (unsigned short)b));
	assert_true(out[8] == __builtin_popcountll(a) + __builtin_clz((uint32_t)b | 1));
	assert_true(out[9] == (signed char)a - (unsigned char)b);
	assert_true(out[10] == (x < y ? -1 : x == y));
	assert_true(out[11] == (ua > ub));
	for (k = 0; k < 4; k++)
		assert_true(dout[k] == results[k] || (isnan(dout[k]) && isnan(results[k])));
}

static void arithmetic(void **state)
{
	enum { N = 256 };
	static const int64_t edges[] = { 0, 1, -1, INT64_MIN, INT64_MAX, INT32_MIN, 1ll << 32, 63 };
	static const double dedges[] = { 0, -0.0, 1, INFINITY, -INFINITY, 1e300, 1e-310, NAN };
	static int64_t in[2 * N], out[12 * N];
	static double din[2 * N], dout[4 * N];
	uint64_t seed = 4;
	struct run run;
	int i;

	for (i = 0; i < N; i++) {
		in[2 * i] = i < 64 ? edges[i % 8] : (int64_t)next_random(&seed) >> i % 61;
		in[2 * i + 1] = i < 64 ? edges[i / 8] : (int64_t)next_random(&seed) >> i % 53;
		din[2 * i] = i < 64 ? dedges[i % 8] : (int64_t)next_random(&seed) * 1e-9;
		din[2 * i + 1] = i < 64 ? dedges[i / 8] : (int64_t)next_random(&seed) * 1e-5;
	}
	EACH_VARIANT(&run, "arithmetic") {
		run_ptr(&run, in);
		run_ptr(&run, din);
		run_ptr(&run, out);
		run_ptr(&run, dout);
		assert_int_equal(run_grid(&run, 4, 1, N / 4, 1), 0);
		for (i = 0; i < N; i++)
			check_arithmetic(in + 2 * i, din + 2 * i, out + 12 * i, dout + 4 * i);
	}
}

static void generic(void **state)
{
	enum { N = 64 };
	static uint32_t mem[N], out[2 * N];
	struct run run;
	uint32_t t;

	EACH_VARIANT(&run, "generic") {
		for (t = 0; t < N; t++)
			mem[t] = t * 11;
		run_ptr(&run, mem);
		run_ptr(&run, out);
		assert_int_equal(run_grid(&run, 1, 1, N, 1), 0);
		for (t = 0; t < N; t++) {
			uint32_t from = (t + 63) & 63;
			uint32_t s = from % 3 == 0 ? from : t * 3;
			uint32_t l = t % 3 == 1 ? t : t * 5;

			assert_int_equal(out[t], t % 3 == 0 ? ((t + 1) & 63) * 3 :
					 t % 3 == 1 ? t * 5 : t * 11);
			assert_int_equal(mem[t], t % 3 == 2 ? t : t * 11);
			assert_int_equal(out[N + t], s + l);
		}
	}
}

static void exits(void **state)
{
	enum { N = 96 };
	static uint32_t out[N];
	struct run run;
	uint32_t i, k, v, expected;

	EACH_VARIANT(&run, "exits") {
		memset(out, 0xff, sizeof(out));
		run_ptr(&run, out);
		run_u32(&run, 60);
		assert_int_equal(run_grid(&run, 1, 1, N, 1), 0);
		for (i = 0; i < N; i++) {
			expected = UINT32_MAX;
			for (k = v = 0; k < 40; k++) {
				if (k == (i & 31)) {
					expected = v + 1000;
					break;
				}
				if ((i ^ k) % 7 == 3)
					v += k;
				if (v > 60)
					break;
			}
			assert_int_equal(out[i], expected);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vecadd),
		cmocka_unit_test(reduce),
		cmocka_unit_test(gather),
		cmocka_unit_test(scan),
		cmocka_unit_test(histogram),
		cmocka_unit_test(matmul),
		cmocka_unit_test(transpose),
		cmocka_unit_test(mandel),
		cmocka_unit_test(maze),
		cmocka_unit_test(local_sort),
		cmocka_unit_test(widths),
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(generic),
		cmocka_unit_test(exits),
	};

	return cmocka_run_group_tests(tests, load_texts, free_texts);
}
