// SPDX-License-Identifier: GPL-2.0
/*
 * binomial: prices of European call options on a binomial tree (Cox, Ross and Rubinstein, J.
 * Financial Economics 7, 1979; "binomialOptions" of the CUDA SDK): a CTA an option. The tree's
 * level is in global memory; a tile of 256 goes through 32 levels in shared memory at a time.
 */
#define BINOMIAL_TILE	256u	/* threads of a CTA, nodes of a tile */
#define BINOMIAL_DEEP	32u	/* levels that a tile goes through */

#include "both.h"

struct option {
	float price, strike;
	float step;		/* what a move up adds to the price's logarithm */
	float up, down;		/* probability times discount, of a level */
};

/* The option's worth at its end, after i of n moves up. */
BOTH float at_expiry(const struct option *o, uint32_t i, uint32_t n)
{
	float moves = (float)((int)(2 * i) - (int)n);
	float worth = fmaf(o->price, both_exp(o->step * moves), -o->strike);

	return worth > 0 ? worth : 0;
}

/* Floats of an option's row. */
BOTH uint32_t binomial_row(uint32_t n)
{
	return (n + BINOMIAL_TILE) / BINOMIAL_TILE * BINOMIAL_TILE;
}

BOTH float earlier(const struct option *o, float low, float high)
{
	return fmaf(o->up, high, o->down * low);
}

#ifdef GPUEMU_DEVICE

/* levels: of each option a row of whole tiles, which begins with n + 1 nodes. */
KERNEL binomial(const struct option *options, float *levels, float *call, uint32_t n)
{
	__shared__ float a[BINOMIAL_TILE], b[BINOMIAL_TILE];
	struct option o = options[blockIdx.x];
	float *level = levels + blockIdx.x * binomial_row(n);
	uint32_t t = threadIdx.x;

	for (uint32_t i = t; i <= n; i += BINOMIAL_TILE)
		level[i] = at_expiry(&o, i, n);
	/* `last` is the number of the level's last node: there are as many levels below it. */
	for (uint32_t last = n; last;) {
		uint32_t deep = min(last, BINOMIAL_DEEP), left = last - deep;

		/* A tile leaves what it can of the level `deep` below. */
		for (uint32_t first = 0; first <= left; first += BINOMIAL_TILE - BINOMIAL_DEEP) {
			uint32_t end = min(BINOMIAL_TILE - 1, last - first);

			__syncthreads();
			if (t <= end)
				a[t] = level[first + t];
			for (uint32_t k = 0; k < deep; k += 2) {
				__syncthreads();
				end--;
				if (t <= end)
					b[t] = earlier(&o, a[t], a[t + 1]);
				__syncthreads();
				if (k + 1 == deep) {
					if (t <= end)
						a[t] = b[t];
					break;
				}
				end--;
				if (t <= end)
					a[t] = earlier(&o, b[t], b[t + 1]);
			}
			__syncthreads();
			if (t < BINOMIAL_TILE - BINOMIAL_DEEP && first + t <= left)
				level[first + t] = a[t];
		}
		last = left;
	}
	if (t == 0)
		call[blockIdx.x] = a[0];
}

#else

enum { OPTIONS, STEPS };

#define BINOMIAL_RATE		0.06
#define BINOMIAL_VOLATILITY	0.10

struct binomial {
	struct option *options;
	float *levels, *call;
};

static void make(struct workload *w, struct option *to)
{
	uint64_t n = w->option[STEPS];
	struct rng rng;

	rng_seed(&rng, fill_seed(w, 0));
	for (uint64_t i = 0; i < w->option[OPTIONS]; i++) {
		double years = 0.25 + 9.75 * (double)rng_below(&rng, 1 << 16) / (1 << 16);
		double dt = years / (double)n, step = BINOMIAL_VOLATILITY * sqrt(dt);
		double grow = exp(BINOMIAL_RATE * dt), up = exp(step), down = exp(-step);
		double p = (grow - down) / (up - down);

		to[i].price = 5 + 25 * (float)rng_below(&rng, 1 << 16) / (1 << 16);
		to[i].strike = 1 + 50 * (float)rng_below(&rng, 1 << 16) / (1 << 16);
		to[i].step = (float)step;
		to[i].up = (float)(p / grow);
		to[i].down = (float)((1 - p) / grow);
	}
}

static int binomial_setup(struct workload *w)
{
	struct binomial *b = w->state;
	uint64_t n = w->option[OPTIONS];
	int ret;

	ret = workload_alloc(w, (void **)&b->options, n * sizeof(*b->options), WORKLOAD_IN,
			     "options");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->levels,
				     n * binomial_row((uint32_t)w->option[STEPS]) * sizeof(float),
				     WORKLOAD_SCRATCH, "levels");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->call, n * sizeof(float), WORKLOAD_OUT, "call");
	if (!ret)
		make(w, b->options);
	return ret;
}

static int binomial_run(struct workload *w)
{
	struct binomial *b = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "binomial", (uint32_t)w->option[OPTIONS], BINOMIAL_TILE,
			      gpuemu_arg_ptr(b->options), gpuemu_arg_ptr(b->levels),
			      gpuemu_arg_ptr(b->call), gpuemu_arg_u32((uint32_t)w->option[STEPS]));
	return ret ? ret : workload_synchronize(w);
}

/* Black and Scholes's closed form, which the tree comes near to. */
static double closed(const struct option *o, uint64_t n)
{
	double years = pow((double)o->step / BINOMIAL_VOLATILITY, 2) * (double)n;
	double root = BINOMIAL_VOLATILITY * sqrt(years);
	double d = (log((double)o->price / (double)o->strike) + BINOMIAL_RATE * years) / root +
		   root / 2;

	return (double)o->price * 0.5 * erfc(-d / sqrt(2)) -
	       (double)o->strike * exp(-BINOMIAL_RATE * years) * 0.5 * erfc(-(d - root) / sqrt(2));
}

/* A whole level at a time. */
static int check_options(struct workload *w, const struct option *options, float *level,
			 float *want)
{
	uint64_t n = w->option[STEPS];

	for (uint64_t i = 0; i < w->option[OPTIONS]; i++) {
		const struct option *o = &options[i];

		for (uint64_t k = 0; k <= n; k++)
			level[k] = at_expiry(o, (uint32_t)k, (uint32_t)n);
		for (uint64_t last = n; last; last--)
			for (uint64_t k = 0; k < last; k++)
				level[k] = earlier(o, level[k], level[k + 1]);
		want[i] = level[0];
		if (n >= 64 && fabs((double)want[i] - closed(o, n)) > 0.1)
			return err_set(&w->err, -EBADMSG, "call[%" PRIu64 "]: the tree says %g, the "
				       "closed form %g", i, (double)want[i], closed(o, n));
	}
	return 0;
}

static int binomial_verify(struct workload *w)
{
	struct binomial *b = w->state;
	uint64_t n = w->option[OPTIONS], floats = n * sizeof(struct option) / sizeof(float);
	struct option *options = check_memory(w, n, sizeof(*options));
	float *level = check_memory(w, w->option[STEPS] + 1 + n, sizeof(*level));
	float *want = level + w->option[STEPS] + 1;
	int ret = options && level ? 0 : -ENOMEM;

	if (!ret) {
		make(w, options);
		ret = check_floats(w, "options", 0, &b->options->price, &options->price, floats);
	}
	if (!ret)
		ret = check_options(w, options, level, want);
	if (!ret)
		ret = check_floats(w, "call", 0, b->call, want, n);
	free(options);
	free(level);
	return ret;
}

const struct workload_ops workload_binomial = {
	.name = "binomial",
	.help = "option prices on a binomial tree (CUDA SDK's binomialOptions)",
	.exercises = "shared memory read and written in turns, a barrier a level, few CTAs at a time",
	.options = {
		[OPTIONS] = { "options", 128, 1, 1u << 16, "a CTA each", .quick = 64, .tiny = 33 },
		[STEPS] = { "steps", 2048, 1, 1u << 14, "levels of the tree; 4 bytes each an option",
			    .quick = 512, .tiny = 37 },
	},
	.state_bytes = sizeof(struct binomial),
	.setup = binomial_setup,
	.run = binomial_run,
	.verify = binomial_verify,
};
#endif
