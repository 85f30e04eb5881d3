// SPDX-License-Identifier: GPL-2.0
/*
 * backprop: one training step of a neural network with one hidden layer (Rumelhart
 * et al., Nature 323, 1986), as Che et al. lay it out ("Rodinia", IISWC 2009): a
 * kernel reduces the products of a tile of inputs and weights in shared memory, the
 * CPU adds the tiles up and goes through the small output layer, and a second
 * kernel adjusts all weights between input and hidden layer.
 */
#define BP_HIDDEN	16	/* units of the hidden layer: a row of weights is 64 bytes */
#define BP_TILE		16	/* inputs of a CTA */

#ifdef GPUEMU_DEVICE
#include "device.h"

/* Row `i` of weights goes from input `i` to all hidden units; input 0 is the bias. */
KERNEL backprop_forward(const float *input, const float *weights, float *partial, uint32_t inputs)
{
	__shared__ float x[BP_TILE];
	__shared__ float product[BP_TILE][BP_HIDDEN];
	uint32_t tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * BP_TILE + ty;

	if (tx == 0)
		x[ty] = row < inputs ? input[row] : 0;
	__syncthreads();
	product[ty][tx] = row < inputs ? weights[row * BP_HIDDEN + tx] * x[ty] : 0;
	__syncthreads();
	for (uint32_t half = BP_TILE / 2; half > 0; half /= 2) {
		if (ty < half)
			product[ty][tx] += product[ty + half][tx];
		__syncthreads();
	}
	if (ty == 0)
		partial[blockIdx.x * BP_HIDDEN + tx] = product[0][tx];
}

KERNEL backprop_adjust(const float *input, float *weights, float *changes, const float *delta,
		       uint32_t inputs, float rate, float momentum)
{
	uint32_t tx = threadIdx.x, row = blockIdx.x * BP_TILE + threadIdx.y;
	uint32_t at = row * BP_HIDDEN + tx;
	float change;

	if (row >= inputs)
		return;
	change = fmaf(rate * delta[tx], input[row], momentum * changes[at]);
	weights[at] += change;
	changes[at] = change;
}

#else
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { INPUTS };

#define BP_RATE		0.3f
#define BP_MOMENTUM	0.3f
#define BP_TARGET	0.1	/* what the output should be */

struct backprop {
	float *input, *weights, *changes;	/* changes: of the step before, and of this */
	float *partial, *delta;
	float output[BP_HIDDEN + 1];		/* the output unit's weights, [0] its bias */
};

/* The bias is an input that is always 1. */
static uint64_t rows(const struct workload *w)
{
	return w->option[INPUTS] + 1;
}

/*
 * Inputs are multiples of 1/256 below 1, weights of 1/4096 below 1/2: a tile's sum of
 * products is exact in single precision, and all tiles' sum in double, in every order.
 */
static float random_input(struct rng *rng, uint64_t row)
{
	return row ? (float)rng_below(rng, 256) / 256 : 1;
}

static float random_weight(struct rng *rng)
{
	return (float)((int)rng_below(rng, 4096) - 2048) / 4096;
}

static float random_change(struct rng *rng)
{
	return random_weight(rng) / 64;
}

static void make_output(const struct workload *w, float *output)
{
	struct rng rng;

	rng_seed(&rng, ~w->seed);
	for (unsigned int i = 0; i <= BP_HIDDEN; i++)
		output[i] = random_weight(&rng);
}

static int backprop_setup(struct workload *w)
{
	struct backprop *b = w->state;
	uint64_t n = rows(w), bytes = n * BP_HIDDEN * sizeof(float);
	struct rng rng;
	int ret;

	ret = workload_alloc(w, (void **)&b->input, n * sizeof(float), WORKLOAD_IN, "input");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->weights, bytes, WORKLOAD_INOUT, "weights");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->changes, bytes, WORKLOAD_INOUT, "changes");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->partial,
				     DIV_ROUND_UP(n, BP_TILE) * BP_HIDDEN * sizeof(float),
				     WORKLOAD_SCRATCH, "partial sums");
	if (!ret)
		ret = workload_alloc(w, (void **)&b->delta, BP_HIDDEN * sizeof(float),
				     WORKLOAD_SCRATCH, "delta");
	if (ret)
		return ret;
	make_output(w, b->output);
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n; i++) {
		b->input[i] = random_input(&rng, i);
		for (uint64_t j = i * BP_HIDDEN; j < (i + 1) * BP_HIDDEN; j++) {
			b->weights[j] = random_weight(&rng);
			b->changes[j] = random_change(&rng);
		}
	}
	return 0;
}

static double squash(double x)
{
	return 1 / (1 + exp(-x));
}

/*
 * Through the output layer and back: from what reaches the hidden units to the error that is
 * theirs. The hidden layer's sums grow with the inputs, so they are scaled to a unit's range.
 */
static void output_layer(const struct workload *w, const float *output, const double *sums,
			 float *delta)
{
	double hidden[BP_HIDDEN], reach = output[0], out, error;

	for (unsigned int j = 0; j < BP_HIDDEN; j++) {
		hidden[j] = squash(sums[j] / sqrt((double)rows(w)));
		reach += (double)output[j + 1] * hidden[j];
	}
	out = squash(reach);
	error = out * (1 - out) * (BP_TARGET - out);
	for (unsigned int j = 0; j < BP_HIDDEN; j++)
		delta[j] = (float)(hidden[j] * (1 - hidden[j]) * (double)output[j + 1] * error);
}

static int backprop_run(struct workload *w)
{
	struct backprop *b = w->state;
	uint32_t n = (uint32_t)rows(w), tiles = DIV_ROUND_UP(n, BP_TILE);
	struct gpuemu_dim3 grid = { tiles, 1, 1 }, block = { BP_HIDDEN, BP_TILE, 1 };
	double sums[BP_HIDDEN] = { 0 };
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "backprop_forward", grid, block, gpuemu_arg_ptr(b->input),
				   gpuemu_arg_ptr(b->weights), gpuemu_arg_ptr(b->partial),
				   gpuemu_arg_u32(n));
	if (!ret)
		ret = workload_to_host(w, b->partial, tiles * BP_HIDDEN * sizeof(float));
	if (ret)
		return ret;
	for (uint64_t i = 0; i < (uint64_t)tiles * BP_HIDDEN; i++)
		sums[i % BP_HIDDEN] += (double)b->partial[i];
	output_layer(w, b->output, sums, b->delta);
	ret = workload_to_device(w, b->delta, BP_HIDDEN * sizeof(float));
	if (!ret)
		ret = WORKLOAD_LAUNCH_GRID(w, "backprop_adjust", grid, block,
					   gpuemu_arg_ptr(b->input), gpuemu_arg_ptr(b->weights),
					   gpuemu_arg_ptr(b->changes), gpuemu_arg_ptr(b->delta),
					   gpuemu_arg_u32(n), gpuemu_arg_f32(BP_RATE),
					   gpuemu_arg_f32(BP_MOMENTUM));
	return ret ? ret : workload_synchronize(w);
}

/*
 * The CPU's way: input after input, in double, no tiles but to have their sums. The change of
 * a weight is a product of IEEE singles, added by fmaf(), so the bits are the GPU's.
 */
static void forward(const struct workload *w, double *sums, double *tiles)
{
	struct rng rng;

	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < rows(w); i++) {
		double x = (double)random_input(&rng, i);

		for (unsigned int j = 0; j < BP_HIDDEN; j++) {
			double product = x * (double)random_weight(&rng);

			random_change(&rng);
			sums[j] += product;
			tiles[i / BP_TILE * BP_HIDDEN + j] += product;
		}
	}
}

static int check_row(struct workload *w, struct rng *rng, uint64_t i, const float *delta)
{
	struct backprop *b = w->state;
	float weights[BP_HIDDEN], changes[BP_HIDDEN], x = random_input(rng, i);
	uint64_t at = i * BP_HIDDEN;
	int ret;

	for (unsigned int j = 0; j < BP_HIDDEN; j++) {
		float weight = random_weight(rng), before = BP_MOMENTUM * random_change(rng);

		changes[j] = fmaf(BP_RATE * delta[j], x, before);
		weights[j] = weight + changes[j];
	}
	ret = check_floats(w, "input", i, b->input + i, &x, 1);
	if (!ret)
		ret = check_floats(w, "weights", at, b->weights + at, weights, BP_HIDDEN);
	return ret ? ret : check_floats(w, "changes", at, b->changes + at, changes, BP_HIDDEN);
}

static int compare(struct workload *w, double *tiles)
{
	struct backprop *b = w->state;
	uint64_t n = rows(w);
	float output[BP_HIDDEN + 1], delta[BP_HIDDEN];
	double sums[BP_HIDDEN] = { 0 };
	struct rng rng;
	int ret = 0;

	forward(w, sums, tiles);
	for (uint64_t i = 0; i < DIV_ROUND_UP(n, BP_TILE) * BP_HIDDEN && !ret; i++)
		ret = check_floats(w, "partial", i, b->partial + i, &(float){ (float)tiles[i] }, 1);
	make_output(w, output);
	output_layer(w, output, sums, delta);
	if (!ret)
		ret = check_floats(w, "delta", 0, b->delta, delta, BP_HIDDEN);
	rng_seed(&rng, w->seed);
	for (uint64_t i = 0; i < n && !ret; i++)
		ret = check_row(w, &rng, i, delta);
	return ret;
}

static int backprop_verify(struct workload *w)
{
	double *tiles = check_memory(w, DIV_ROUND_UP(rows(w), BP_TILE) * BP_HIDDEN, sizeof(double));
	int ret;

	if (!tiles)
		return -ENOMEM;
	ret = compare(w, tiles);
	free(tiles);
	return ret;
}

const struct workload_ops workload_backprop = {
	.name = "backprop",
	.help = "a training step of a neural network with a hidden layer (Rodinia)",
	.exercises = "reduction in shared memory, streaming, a CPU step between two launches",
	.options = {
		[INPUTS] = { "inputs", 256 << 10, 1, 1u << 26, "of the network; 136 bytes each",
			     .quick = 40000, .tiny = 1001 },
	},
	.state_bytes = sizeof(struct backprop),
	.setup = backprop_setup,
	.run = backprop_run,
	.verify = backprop_verify,
};
#endif
