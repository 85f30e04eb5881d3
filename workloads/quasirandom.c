// SPDX-License-Identifier: GPL-2.0
/*
 * quasirandom: points of a Sobol sequence in three dimensions, and normal numbers of them
 * ("quasirandomGenerator" of the CUDA SDK; Bratley and Fox, ACM TOMS 14, 1988; Moro, Risk 8,
 * 1995): one launch adds up direction numbers by exclusive or, another inverts the distribution.
 */
#define QUASI_DIMENSIONS	3u
#define QUASI_BITS		31u
#define QUASI_THREADS		128u	/* of a CTA's edge; its other one is the dimensions */

#include "both.h"

/* The standard normal distribution inverted, 0 < x < 1: Moro's polynomials. */
BOTH float quasi_normal(float x)
{
	float y = x - 0.5f, z, p;

	if (y < 0.42f && y > -0.42f) {
		z = y * y;
		p = fmaf(z, fmaf(z, fmaf(z, -25.44106049637f, 41.39119773534f), -18.61500062529f),
			 2.50662823884f);
		return y * p /
		       fmaf(z, fmaf(z, fmaf(z, fmaf(z, 3.13082909833f, -21.06224101826f),
					    23.08336743743f), -8.47351093090f), 1.0f);
	}
	z = y > 0 ? 1 - x : x;
	z = both_log(-both_log(z));
	p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, 3.960315187e-7f, 2.888167364e-7f), 3.21767881768e-5f),
			 3.951896511919e-4f), 3.8405729373609e-3f);
	p = fmaf(z, fmaf(z, fmaf(z, fmaf(z, p, 2.76438810333863e-2f), 1.607979714918209e-1f),
			 9.761690190917186e-1f), 3.374754822726147e-1f);
	return y > 0 ? p : -p;
}

/* The middle of the step that the number stands for: never 0 nor 1. */
BOTH float quasi_unit(uint32_t number)
{
	return fmaf((float)(number >> 9), 1.1920929e-7f, 5.9604645e-8f);
}

#ifdef GPUEMU_DEVICE

/* directions: of each dimension a number a bit, the last one its shift. */
KERNEL quasirandom(const uint32_t *directions, float *out, uint32_t n)
{
	const uint32_t *direction = directions + threadIdx.y * (QUASI_BITS + 1);
	uint32_t step = gridDim.x * QUASI_THREADS;

	for (uint32_t i = blockIdx.x * QUASI_THREADS + threadIdx.x; i < n; i += step) {
		uint32_t number = direction[QUASI_BITS];

#pragma unroll
		for (uint32_t bit = 0; bit < QUASI_BITS; bit++)
			if (i >> bit & 1)
				number ^= direction[bit];
		out[threadIdx.y * n + i] = quasi_unit(number);
	}
}

KERNEL quasirandom_normal(const float *in, float *out, uint32_t n)
{
	uint32_t step = gridDim.x * QUASI_THREADS;

	for (uint32_t i = blockIdx.x * QUASI_THREADS + threadIdx.x; i < n; i += step)
		out[i] = quasi_normal(in[i]);
}

#else

enum { N, CTAS };

struct quasirandom {
	uint32_t *directions;
	float *points, *normals;
};

/*
 * The first dimension is van der Corput's. The others' are of the primitive polynomials x + 1
 * and x^2 + x + 1: v(i) = v(i - s) / 2^s, with those that the polynomial names. The seed's shift
 * makes another sequence that is as even.
 */
static void make(struct workload *w, uint32_t *to)
{
	uint32_t *a = to, *b = to + QUASI_BITS + 1, *c = b + QUASI_BITS + 1;

	for (unsigned int i = 0; i < QUASI_BITS; i++) {
		a[i] = 1u << (31 - i);
		b[i] = i ? b[i - 1] ^ b[i - 1] >> 1 : 1u << 31;
		c[i] = i < 1 ? 1u << 31 : i < 2 ? 3u << 30 : c[i - 1] ^ c[i - 2] ^ c[i - 2] >> 2;
	}
	for (unsigned int d = 0; d < QUASI_DIMENSIONS; d++)
		fill_words(w, d, to + d * (QUASI_BITS + 1) + QUASI_BITS, 1, 1ull << 32);
}

static int quasirandom_setup(struct workload *w)
{
	struct quasirandom *q = w->state;
	uint64_t bytes = QUASI_DIMENSIONS * w->option[N] * sizeof(float);
	int ret;

	ret = workload_alloc(w, (void **)&q->directions,
			     QUASI_DIMENSIONS * (QUASI_BITS + 1) * sizeof(uint32_t), WORKLOAD_IN,
			     "directions");
	if (!ret)
		ret = workload_alloc(w, (void **)&q->points, bytes, WORKLOAD_OUT, "points");
	if (!ret)
		ret = workload_alloc(w, (void **)&q->normals, bytes, WORKLOAD_OUT, "normals");
	if (!ret)
		make(w, q->directions);
	return ret;
}

static int quasirandom_run(struct workload *w)
{
	struct quasirandom *q = w->state;
	uint32_t n = (uint32_t)w->option[N], ctas = (uint32_t)w->option[CTAS];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "quasirandom", ((struct gpuemu_dim3){ ctas, 1, 1 }),
				   ((struct gpuemu_dim3){ QUASI_THREADS, QUASI_DIMENSIONS, 1 }),
				   gpuemu_arg_ptr(q->directions), gpuemu_arg_ptr(q->points),
				   gpuemu_arg_u32(n));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "quasirandom_normal", ctas, QUASI_THREADS,
				      gpuemu_arg_ptr(q->points), gpuemu_arg_ptr(q->normals),
				      gpuemu_arg_u32(QUASI_DIMENSIONS * n));
	return ret ? ret : workload_synchronize(w);
}

/*
 * A point differs from the one without its lowest set bit by that bit's direction. Moro's
 * polynomials are right to a few millionths, as the distribution of the C library says.
 */
static int check_points(struct workload *w, const uint32_t *directions, uint32_t *numbers,
			float *want)
{
	uint64_t n = w->option[N];

	for (unsigned int d = 0; d < QUASI_DIMENSIONS; d++) {
		const uint32_t *direction = directions + d * (QUASI_BITS + 1);

		numbers[0] = direction[QUASI_BITS];
		for (uint64_t i = 1; i < n; i++)
			numbers[i] = numbers[i & (i - 1)] ^ direction[__builtin_ctzll(i)];
		for (uint64_t i = 0; i < n; i++) {
			float point = quasi_unit(numbers[i]), normal = quasi_normal(point);

			want[d * n + i] = point;
			want[(QUASI_DIMENSIONS + d) * n + i] = normal;
			if (fabs(0.5 * erfc((double)-normal / sqrt(2)) - (double)point) > 1e-5)
				return err_set(&w->err, -EBADMSG, "%g is not the normal number of %g",
					       (double)normal, (double)point);
		}
	}
	return 0;
}

static int quasirandom_verify(struct workload *w)
{
	struct quasirandom *q = w->state;
	uint64_t n = w->option[N], all = QUASI_DIMENSIONS * n;
	uint32_t directions[QUASI_DIMENSIONS * (QUASI_BITS + 1)];
	uint32_t *numbers = check_memory(w, n, sizeof(*numbers));
	float *want = check_memory(w, 2 * all, sizeof(*want));
	int ret = numbers && want ? 0 : -ENOMEM;

	make(w, directions);
	if (!ret)
		ret = check_words(w, "directions", 0, q->directions, directions,
				  ARRAY_SIZE(directions));
	if (!ret)
		ret = check_points(w, directions, numbers, want);
	if (!ret)
		ret = check_floats(w, "points", 0, q->points, want, all);
	if (!ret)
		ret = check_floats(w, "normals", 0, q->normals, want + all, all);
	free(numbers);
	free(want);
	return ret;
}

const struct workload_ops workload_quasirandom = {
	.name = "quasirandom",
	.help = "Sobol points and normal numbers of them (CUDA SDK's quasirandomGenerator)",
	.exercises = "bit logic, loads of one word by all threads, divisions, streams of stores",
	.options = {
		[N] = { "n", 1 << 20, 1, 1u << 28, "points; 24 bytes each",
			.quick = 128 << 10, .tiny = 3001 },
		[CTAS] = { "ctas", 128, 1, 65535, "CTAs that share the points", .tiny = 5 },
	},
	.state_bytes = sizeof(struct quasirandom),
	.setup = quasirandom_setup,
	.run = quasirandom_run,
	.verify = quasirandom_verify,
};
#endif
