// SPDX-License-Identifier: GPL-2.0
/*
 * blackscholes: prices of European call and put options (Black and Scholes, J. Political
 * Economy 81, 1973; in the CUDA SDK). As there, logarithm, exponential, square root and
 * divisions are the special function unit's, so that an option is some ninety instructions, a
 * tenth of them special, on five streams: memory binds before arithmetic does.
 */
#define BLACKSCHOLES_BLOCK	128

#include "both.h"

/* CUDA's __expf(), then the cumulative normal distribution (Abramowitz and Stegun, 26.2.17). */
BOTH float fast_exp(float x)
{
	return both_ex2(x * 1.4426950f);
}

BOTH float bs_normal(float d)
{
	float k = 1 / fmaf(0.2316419f, both_abs(d), 1.0f);
	float p = fmaf(k, fmaf(k, fmaf(k, fmaf(k, 1.330274429f, -1.821255978f), 1.781477937f),
			       -0.356563782f), 0.31938153f);
	float e = 0.39894228f * fast_exp(-0.5f * d * d), above = e * (k * p);
	float below = fmaf(-e, k * p, 1.0f);

	return d > 0 ? below : above;
}

BOTH void bs_price(float price, float strike, float years, float rate, float volatility,
		   float *call, float *put)
{
	float root = both_sqrt(years);
	float drift = fmaf(0.5f * volatility, volatility, rate);
	float log = both_lg2(price / strike) * 0.69314718f;
	float d1 = fmaf(drift, years, log) / (volatility * root);
	float d2 = fmaf(volatility, -root, d1);
	float n1 = bs_normal(d1), n2 = bs_normal(d2);
	float later = strike * fast_exp(-rate * years);

	*call = fmaf(price, n1, -(later * n2));
	*put = fmaf(later, 1 - n2, -(price * (1 - n1)));
}

#ifdef GPUEMU_DEVICE

KERNEL blackscholes(const float *price, const float *strike, const float *years,
		    float *call, float *put, float rate, float volatility, int n)
{
	int step = (int)(gridDim.x * blockDim.x);

	for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += step)
		bs_price(price[i], strike[i], years[i], rate, volatility, &call[i], &put[i]);
}

#else

enum { OPTIONS, CTAS, ROUNDS };
enum { PRICE, STRIKE, YEARS, INPUTS };

#define BS_RATE		0.02f
#define BS_VOLATILITY	0.30f

static const struct {
	const char *name;
	float low, high;
} bs_inputs[INPUTS] = { { "price", 5, 30 }, { "strike", 1, 100 }, { "years", 0.25f, 10 } };

struct blackscholes {
	float *in[INPUTS], *call, *put;
};

static int blackscholes_setup(struct workload *w)
{
	struct blackscholes *b = w->state;
	uint64_t n = w->option[OPTIONS];
	int ret = 0;

	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = workload_alloc(w, (void **)&b->in[i], n * sizeof(float), WORKLOAD_IN,
				     bs_inputs[i].name);
	if (!ret)
		ret = workload_alloc(w, (void **)&b->call, n * sizeof(float), WORKLOAD_OUT, "call");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->put, n * sizeof(float), WORKLOAD_OUT, "put");
	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		fill_floats(w, i, b->in[i], n, bs_inputs[i].low, bs_inputs[i].high);
	return ret;
}

static int blackscholes_run(struct workload *w)
{
	struct blackscholes *b = w->state;
	int ret = 0;

	for (uint64_t i = 0; i < w->option[ROUNDS] && !ret; i++)
		ret = WORKLOAD_LAUNCH(w, "blackscholes", (uint32_t)w->option[CTAS],
				      BLACKSCHOLES_BLOCK, gpuemu_arg_ptr(b->in[PRICE]),
				      gpuemu_arg_ptr(b->in[STRIKE]), gpuemu_arg_ptr(b->in[YEARS]),
				      gpuemu_arg_ptr(b->call), gpuemu_arg_ptr(b->put),
				      gpuemu_arg_f32(BS_RATE), gpuemu_arg_f32(BS_VOLATILITY),
				      gpuemu_arg_s32((int32_t)w->option[OPTIONS]));
	return ret ? ret : workload_synchronize(w);
}

static double normal(double d)
{
	return 0.5 * erfc(-d / sqrt(2));
}

/*
 * Bit for bit against the same arithmetic, and that against the C library's functions: a
 * price is right to a thousandth.
 */
static int compare(struct workload *w, float *call, float *put)
{
	struct blackscholes *b = w->state;
	uint64_t n = w->option[OPTIONS];
	int ret;

	for (uint64_t i = 0; i < n; i++) {
		double s = b->in[PRICE][i], x = b->in[STRIKE][i], t = b->in[YEARS][i];
		double v = (double)BS_VOLATILITY * sqrt(t);
		double d = (log(s / x) + (double)BS_RATE * t) / v + v / 2;
		double want = s * normal(d) - x * exp(-(double)BS_RATE * t) * normal(d - v);

		bs_price(b->in[PRICE][i], b->in[STRIKE][i], b->in[YEARS][i], BS_RATE,
			 BS_VOLATILITY, &call[i], &put[i]);
		if (fabs((double)call[i] - want) > 1e-3)
			return err_set(&w->err, -EBADMSG, "call[%" PRIu64 "]: the reference says %g, "
				       "the C library %g", i, (double)call[i], want);
	}
	ret = check_floats(w, "call", 0, b->call, call, n);
	return ret ? ret : check_floats(w, "put", 0, b->put, put, n);
}

static int blackscholes_verify(struct workload *w)
{
	struct blackscholes *b = w->state;
	uint64_t n = w->option[OPTIONS];
	float *want;
	int ret = 0;

	for (unsigned int i = 0; i < INPUTS && !ret; i++)
		ret = fill_check(w, bs_inputs[i].name, i, b->in[i], n, bs_inputs[i].low,
				 bs_inputs[i].high);
	if (ret)
		return ret;
	want = check_memory(w, 2 * n, sizeof(float));
	if (!want)
		return -ENOMEM;
	ret = compare(w, want, want + n);
	free(want);
	return ret;
}

const struct workload_ops workload_blackscholes = {
	.name = "blackscholes",
	.help = "prices of European options (CUDA SDK's BlackScholes)",
	.exercises = "special functions, divisions, streams of five arrays",
	.options = {
		[OPTIONS] = { "options", 1 << 20, 1, 1u << 28, "20 bytes each",
			      .quick = 128 << 10, .tiny = 5003 },
		[CTAS] = { "ctas", 480, 1, 65535, "CTAs of 128 threads that share the options",
			   .tiny = 17 },
		[ROUNDS] = { "rounds", 1, 1, 1u << 20, "launches, all the same" },
	},
	.state_bytes = sizeof(struct blackscholes),
	.setup = blackscholes_setup,
	.run = blackscholes_run,
	.verify = blackscholes_verify,
};
#endif
