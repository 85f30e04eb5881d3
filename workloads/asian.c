// SPDX-License-Identifier: GPL-2.0
/*
 * asian: the price of an option on a stock's average, by Monte Carlo (Kemna and Vorst, J. Banking
 * and Finance 14, 1990; "MC_SingleAsianOptionP" of the CUDA SDK): launches seed the generators
 * (Marsaglia's xorwow, J. Statistical Software 8, 2003), walk the paths (normal numbers by Box
 * and Muller, 1958), and sum what they pay.
 */
#define ASIAN_BLOCK	128u	/* threads of a CTA; a power of two */

#include "both.h"

struct xorwow {
	uint32_t x[5], d;
};

struct stock {
	float price, strike;
	float drift, shake;	/* of the logarithm in a step: always, and times a normal number */
};

/* Scatters the bits of a seed and a thread's number. */
BOTH uint32_t scatter(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

BOTH void xorwow_seed(struct xorwow *g, uint32_t seed, uint32_t thread)
{
	for (uint32_t i = 0; i < 5; i++)
		g->x[i] = scatter(seed + scatter(thread * 8 + i)) | 1u << i;
	g->d = scatter(thread);
}

BOTH uint32_t xorwow(struct xorwow *g)
{
	uint32_t t = g->x[0] ^ g->x[0] >> 2;

	g->x[0] = g->x[1];
	g->x[1] = g->x[2];
	g->x[2] = g->x[3];
	g->x[3] = g->x[4];
	g->x[4] = (g->x[4] ^ g->x[4] << 4) ^ (t ^ t << 1);
	g->d += 362437;
	return g->d + g->x[4];
}

/* Above 0, at most 1. */
BOTH float uniform(struct xorwow *g)
{
	return (float)((xorwow(g) >> 8) + 1) * 5.9604645e-8f;
}

/* Two normal numbers. */
BOTH void normals(struct xorwow *g, float *a, float *b)
{
	float radius = both_sqrt(-2 * both_log(uniform(g))), turns = uniform(g);

	*a = radius * both_cos_turns(turns);
	*b = radius * both_cos_turns(turns + 0.75f);
}

/* The price after a step. */
BOTH float walk(const struct stock *s, float price, float normal)
{
	return price * both_exp(fmaf(s->shake, normal, s->drift));
}

#ifdef GPUEMU_DEVICE

KERNEL asian_seed(struct xorwow *state, uint32_t seed)
{
	uint32_t i = blockIdx.x * ASIAN_BLOCK + threadIdx.x;

	xorwow_seed(&state[i], seed, i);
}

/* A thread a path of an even number of steps; those of a step are beside one another. */
KERNEL asian_paths(struct xorwow *state, float *paths, float first, float drift, float shake,
		   uint32_t steps)
{
	uint32_t i = blockIdx.x * ASIAN_BLOCK + threadIdx.x, n = gridDim.x * ASIAN_BLOCK;
	struct xorwow g = state[i];
	struct stock s = { first, 0, drift, shake };
	float price = first;

	for (uint32_t step = 0; step < steps; step += 2) {
		float a, b;

		normals(&g, &a, &b);
		price = walk(&s, price, a);
		paths[step * n + i] = price;
		price = walk(&s, price, b);
		paths[(step + 1) * n + i] = price;
	}
	state[i] = g;
}

/* Adds up the paths' payoffs, a sum a CTA. */
KERNEL asian_value(const float *paths, float *values, float strike, uint32_t steps)
{
	__shared__ float sums[ASIAN_BLOCK];
	uint32_t t = threadIdx.x, i = blockIdx.x * ASIAN_BLOCK + t, n = gridDim.x * ASIAN_BLOCK;
	float sum = 0;

	for (uint32_t step = 0; step < steps; step++)
		sum += paths[step * n + i];
	sum = sum / (float)steps - strike;
	sums[t] = sum > 0 ? sum : 0;
	for (uint32_t half = ASIAN_BLOCK / 2; half; half /= 2) {
		__syncthreads();
		if (t < half)
			sums[t] += sums[t + half];
	}
	if (t == 0)
		values[blockIdx.x] = sums[0];
}

#else

enum { CTAS, STEPS };

#define ASIAN_RATE		0.03
#define ASIAN_VOLATILITY	0.2

struct asian {
	struct xorwow *state;
	float *paths, *values;
};

static struct stock stock(const struct workload *w)
{
	double dt = 1.0 / (double)(2 * w->option[STEPS]);

	return (struct stock){
		40, 35, (float)((ASIAN_RATE - ASIAN_VOLATILITY * ASIAN_VOLATILITY / 2) * dt),
		(float)(ASIAN_VOLATILITY * sqrt(dt)),
	};
}

static int asian_setup(struct workload *w)
{
	struct asian *a = w->state;
	uint64_t n = w->option[CTAS] * ASIAN_BLOCK;
	int ret;

	ret = workload_alloc(w, (void **)&a->state, n * sizeof(*a->state), WORKLOAD_OUT, "states");
	if (!ret)
		ret = workload_alloc(w, (void **)&a->paths,
				     n * 2 * w->option[STEPS] * sizeof(float), WORKLOAD_OUT,
				     "paths");
	if (!ret)
		ret = workload_alloc(w, (void **)&a->values, w->option[CTAS] * sizeof(float),
				     WORKLOAD_OUT, "values");
	return ret;
}

static int asian_run(struct workload *w)
{
	struct asian *a = w->state;
	uint32_t ctas = (uint32_t)w->option[CTAS], steps = (uint32_t)(2 * w->option[STEPS]);
	struct stock s = stock(w);
	int ret;

	ret = WORKLOAD_LAUNCH(w, "asian_seed", ctas, ASIAN_BLOCK, gpuemu_arg_ptr(a->state),
			      gpuemu_arg_u32((uint32_t)fill_seed(w, 0)));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "asian_paths", ctas, ASIAN_BLOCK,
				      gpuemu_arg_ptr(a->state), gpuemu_arg_ptr(a->paths),
				      gpuemu_arg_f32(s.price), gpuemu_arg_f32(s.drift),
				      gpuemu_arg_f32(s.shake), gpuemu_arg_u32(steps));
	if (!ret)
		ret = WORKLOAD_LAUNCH(w, "asian_value", ctas, ASIAN_BLOCK,
				      gpuemu_arg_ptr(a->paths), gpuemu_arg_ptr(a->values),
				      gpuemu_arg_f32(s.strike), gpuemu_arg_u32(steps));
	return ret ? ret : workload_synchronize(w);
}

/* A path after the other, in the same arithmetic; *exact is the mean in doubles. */
static void simulate(const struct workload *w, struct xorwow *state, float *paths, float *paid,
		     double *exact)
{
	uint64_t n = w->option[CTAS] * ASIAN_BLOCK, steps = 2 * w->option[STEPS];
	struct stock s = stock(w);

	*exact = 0;
	for (uint64_t i = 0; i < n; i++) {
		float price = s.price, sum = 0;
		double log_price = log((double)price), average = 0;

		xorwow_seed(&state[i], (uint32_t)fill_seed(w, 0), (uint32_t)i);
		for (uint64_t step = 0; step < steps; step += 2) {
			float normal[2];

			normals(&state[i], &normal[0], &normal[1]);
			for (unsigned int k = 0; k < 2; k++) {
				price = walk(&s, price, normal[k]);
				paths[(step + k) * n + i] = price;
				sum += price;
				log_price += (double)s.drift + (double)s.shake * (double)normal[k];
				average += exp(log_price) / (double)steps;
			}
		}
		sum = sum / (float)steps - s.strike;
		paid[i] = sum > 0 ? sum : 0;
		*exact += MAX(average - (double)s.strike, 0.0) / (double)n;
	}
}

static int asian_verify(struct workload *w)
{
	struct asian *a = w->state;
	uint64_t n = w->option[CTAS] * ASIAN_BLOCK, points = n * 2 * w->option[STEPS];
	struct xorwow *state = check_memory(w, n, sizeof(*state));
	float *paths = check_memory(w, points + n, sizeof(*paths)), *paid = paths + points;
	double exact, mean = 0;
	int ret = state && paths ? 0 : -ENOMEM;

	if (!ret) {
		simulate(w, state, paths, paid, &exact);
		ret = check_words(w, "states", 0, a->state->x, state->x, 6 * n);
	}
	if (!ret)
		ret = check_floats(w, "paths", 0, a->paths, paths, points);
	for (uint64_t cta = 0; cta < w->option[CTAS] && !ret; cta++) {
		float *sums = paid + cta * ASIAN_BLOCK;

		for (unsigned int half = ASIAN_BLOCK / 2; half; half /= 2)
			for (unsigned int i = 0; i < half; i++)
				sums[i] += sums[i + half];
		ret = check_floats(w, "values", cta, a->values + cta, sums, 1);
		mean += (double)sums[0] / (double)n;
	}
	if (!ret && fabs(mean - exact) > 1e-3 * (1 + exact))
		ret = err_set(&w->err, -EBADMSG, "the paths pay %g, in doubles %g", mean, exact);
	free(state);
	free(paths);
	return ret;
}

const struct workload_ops workload_asian = {
	.name = "asian",
	.help = "the price of an Asian option by Monte Carlo (CUDA SDK's MC_SingleAsianOptionP)",
	.exercises = "generators in registers, long arithmetic, streams of stores and loads",
	.options = {
		[CTAS] = { "ctas", 256, 1, 65535, "CTAs of 128 threads, a path each",
			   .quick = 64, .tiny = 3 },
		[STEPS] = { "steps", 64, 1, 1u << 12, "pairs of steps of a path; 8 bytes a path each",
			    .quick = 32, .tiny = 9 },
	},
	.state_bytes = sizeof(struct asian),
	.setup = asian_setup,
	.run = asian_run,
	.verify = asian_verify,
};
#endif
