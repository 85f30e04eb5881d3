// SPDX-License-Identifier: GPL-2.0
/*
 * nn: a convolutional network that reads handwritten digits (LeCun et al., Proc. IEEE 86, 1998;
 * the network of Simard et al., ICDAR 2003; NN in GPGPU-Sim's suite): a launch a layer, a CTA a
 * feature map of an image; the last two layers have CTAs of one thread.
 */
#define NN_IMAGE	29	/* pixels of an image's edge */
#define NN_MAP1		13	/* of a map's edge */
#define NN_MAP2		5
#define NN_MAPS1	6	/* feature maps of an image */
#define NN_MAPS2	50
#define NN_WINDOW	5	/* of a convolution; it moves by two */
#define NN_DIGITS	10
#define NN_IN3		(NN_MAPS2 * NN_MAP2 * NN_MAP2)
#define NN_PARTS1	(NN_WINDOW * NN_WINDOW)
#define NN_PARTS2	(NN_MAPS1 * NN_WINDOW * NN_WINDOW)

#include "both.h"

/* 1.7159 tanh(2 x / 3), which is at its ends beyond 40. */
BOTH float nn_activation(float x)
{
	float y = 1.3333334f * x, low = y > -40 ? y : -40, z = low < 40 ? low : 40;

	return 1.7159f * (1 - 2 / (both_exp(z) + 1));
}

#ifdef GPUEMU_DEVICE

/* Each map's bias is before its weights. */
KERNEL nn_first(const float *images, const float *weights, float *maps)
{
	const float *weight = weights + blockIdx.x * (NN_PARTS1 + 1);
	const float *image = images + blockIdx.y * NN_IMAGE * NN_IMAGE;
	uint32_t x = threadIdx.x, y = threadIdx.y;
	float sum = weight[0];

	for (uint32_t i = 0; i < NN_WINDOW; i++)
#pragma unroll
		for (uint32_t j = 0; j < NN_WINDOW; j++)
			sum = fmaf(image[(2 * y + i) * NN_IMAGE + 2 * x + j],
				   weight[1 + i * NN_WINDOW + j], sum);
	maps[((blockIdx.y * NN_MAPS1 + blockIdx.x) * NN_MAP1 + y) * NN_MAP1 + x] =
		nn_activation(sum);
}

/* All maps of the first layer go into each of the second. */
KERNEL nn_second(const float *maps, const float *weights, float *out)
{
	const float *weight = weights + blockIdx.x * (NN_PARTS2 + 1);
	uint32_t x = threadIdx.x, y = threadIdx.y;
	float sum = weight[0];

	weight++;
	for (uint32_t m = 0; m < NN_MAPS1; m++) {
		const float *map = maps + (blockIdx.y * NN_MAPS1 + m) * NN_MAP1 * NN_MAP1;

		for (uint32_t i = 0; i < NN_WINDOW; i++)
#pragma unroll
			for (uint32_t j = 0; j < NN_WINDOW; j++)
				sum = fmaf(map[(2 * y + i) * NN_MAP1 + 2 * x + j], *weight++, sum);
	}
	out[((blockIdx.y * NN_MAPS2 + blockIdx.x) * NN_MAP2 + y) * NN_MAP2 + x] =
		nn_activation(sum);
}

/* A neuron of n inputs is a CTA of one thread, as the original has it. */
KERNEL nn_full(const float *in, const float *weights, float *out, uint32_t n)
{
	const float *weight = weights + blockIdx.x * (n + 1);
	float sum = weight[0];

	for (uint32_t i = 0; i < n; i++)
		sum = fmaf(in[blockIdx.y * n + i], weight[1 + i], sum);
	out[blockIdx.y * gridDim.x + blockIdx.x] = nn_activation(sum);
}

#else

enum { IMAGES, HIDDEN };
#define NN_LAYERS	4

struct nn {
	float *images, *weights[NN_LAYERS], *out[NN_LAYERS];
};

/* Weights of a layer, biases too, and what it gives for an image. */
static uint64_t weights(const struct workload *w, unsigned int layer)
{
	const uint64_t n[NN_LAYERS] = {
		NN_MAPS1 * (NN_PARTS1 + 1), NN_MAPS2 * (NN_PARTS2 + 1),
		w->option[HIDDEN] * (NN_IN3 + 1), NN_DIGITS * (w->option[HIDDEN] + 1),
	};

	return n[layer];
}

static uint64_t values(const struct workload *w, unsigned int layer)
{
	const uint64_t n[NN_LAYERS] = {
		NN_MAPS1 * NN_MAP1 * NN_MAP1, NN_IN3, w->option[HIDDEN], NN_DIGITS,
	};

	return n[layer];
}

/* Small where many inputs come together: no neuron is at its end. */
static float most(unsigned int layer)
{
	static const float weight[NN_LAYERS] = { 0.3f, 0.1f, 0.04f, 0.15f };

	return weight[layer];
}

static int nn_setup(struct workload *w)
{
	struct nn *n = w->state;
	uint64_t pixels = w->option[IMAGES] * NN_IMAGE * NN_IMAGE;
	int ret = workload_alloc(w, (void **)&n->images, pixels * sizeof(float), WORKLOAD_IN,
				 "images");

	for (unsigned int i = 0; i < NN_LAYERS && !ret; i++) {
		ret = workload_alloc(w, (void **)&n->weights[i], weights(w, i) * sizeof(float),
				     WORKLOAD_IN, "weights");
		if (!ret)
			ret = workload_alloc(w, (void **)&n->out[i],
					     w->option[IMAGES] * values(w, i) * sizeof(float),
					     WORKLOAD_OUT, "values");
		if (!ret)
			fill_floats(w, i, n->weights[i], weights(w, i), -most(i), most(i));
	}
	if (!ret)
		fill_floats(w, NN_LAYERS, n->images, pixels, -1, 1);
	return ret;
}

static int full(struct workload *w, unsigned int layer)
{
	struct nn *n = w->state;

	return WORKLOAD_LAUNCH_GRID(w, "nn_full",
				    ((struct gpuemu_dim3){ (uint32_t)values(w, layer),
							   (uint32_t)w->option[IMAGES], 1 }),
				    ((struct gpuemu_dim3){ 1, 1, 1 }),
				    gpuemu_arg_ptr(n->out[layer - 1]),
				    gpuemu_arg_ptr(n->weights[layer]),
				    gpuemu_arg_ptr(n->out[layer]),
				    gpuemu_arg_u32((uint32_t)values(w, layer - 1)));
}

static int nn_run(struct workload *w)
{
	struct nn *n = w->state;
	uint32_t images = (uint32_t)w->option[IMAGES];
	int ret;

	ret = WORKLOAD_LAUNCH_GRID(w, "nn_first", ((struct gpuemu_dim3){ NN_MAPS1, images, 1 }),
				   ((struct gpuemu_dim3){ NN_MAP1, NN_MAP1, 1 }),
				   gpuemu_arg_ptr(n->images), gpuemu_arg_ptr(n->weights[0]),
				   gpuemu_arg_ptr(n->out[0]));
	if (!ret)
		ret = WORKLOAD_LAUNCH_GRID(w, "nn_second",
					   ((struct gpuemu_dim3){ NN_MAPS2, images, 1 }),
					   ((struct gpuemu_dim3){ NN_MAP2, NN_MAP2, 1 }),
					   gpuemu_arg_ptr(n->out[0]), gpuemu_arg_ptr(n->weights[1]),
					   gpuemu_arg_ptr(n->out[1]));
	for (unsigned int i = 2; i < NN_LAYERS && !ret; i++)
		ret = full(w, i);
	return ret ? ret : workload_synchronize(w);
}

/* A convolution of `from` maps into each of `to`, weight by weight over the whole map. */
static void convolve(const float *in, uint64_t from, uint64_t edge, const float *weight,
		     float *out, uint64_t to, uint64_t size)
{
	uint64_t parts = from * NN_PARTS1;

	for (uint64_t t = 0; t < to; t++, out += size * size) {
		for (uint64_t i = 0; i < size * size; i++)
			out[i] = weight[t * (parts + 1)];
		for (uint64_t p = 0; p < parts; p++) {
			const float *map = in + p / NN_PARTS1 * edge * edge +
					   p % NN_PARTS1 / NN_WINDOW * edge + p % NN_WINDOW;

			for (uint64_t i = 0; i < size * size; i++)
				out[i] = fmaf(map[2 * (i / size) * edge + 2 * (i % size)],
					      weight[t * (parts + 1) + 1 + p], out[i]);
		}
		for (uint64_t i = 0; i < size * size; i++)
			out[i] = nn_activation(out[i]);
	}
}

static void connect(const float *in, uint64_t from, const float *weight, float *out, uint64_t to)
{
	for (uint64_t t = 0; t < to; t++, weight += from + 1) {
		float sum = weight[0];

		for (uint64_t i = 0; i < from; i++)
			sum = fmaf(weight[1 + i], in[i], sum);
		out[t] = nn_activation(sum);
	}
}

/* An image at a time through the whole network. */
static int check_image(struct workload *w, uint64_t image, float *const *want)
{
	struct nn *n = w->state;
	int ret = 0;

	convolve(n->images + image * NN_IMAGE * NN_IMAGE, 1, NN_IMAGE, n->weights[0], want[0],
		 NN_MAPS1, NN_MAP1);
	convolve(want[0], NN_MAPS1, NN_MAP1, n->weights[1], want[1], NN_MAPS2, NN_MAP2);
	for (unsigned int i = 2; i < NN_LAYERS; i++)
		connect(want[i - 1], values(w, i - 1), n->weights[i], want[i], values(w, i));
	for (unsigned int i = 0; i < NN_LAYERS && !ret; i++)
		ret = check_floats(w, "values", image * values(w, i),
				   n->out[i] + image * values(w, i), want[i], values(w, i));
	return ret;
}

static int nn_verify(struct workload *w)
{
	struct nn *n = w->state;
	uint64_t images = w->option[IMAGES], all = 0;
	float *memory, *want[NN_LAYERS];
	int ret = fill_check(w, "images", NN_LAYERS, n->images, images * NN_IMAGE * NN_IMAGE, -1, 1);

	for (unsigned int i = 0; i < NN_LAYERS && !ret; i++) {
		ret = fill_check(w, "weights", i, n->weights[i], weights(w, i), -most(i), most(i));
		all += values(w, i);
	}
	if (fabs((double)nn_activation(0.5f) - 1.7159 * tanh(1.0 / 3)) > 1e-5)
		return err_set(&w->err, -EBADMSG, "the activation is not tanh");
	if (ret)
		return ret;
	memory = check_memory(w, all, sizeof(float));
	if (!memory)
		return -ENOMEM;
	for (unsigned int i = 0; i < NN_LAYERS; i++)
		want[i] = i ? want[i - 1] + values(w, i - 1) : memory;
	for (uint64_t i = 0; i < images && !ret; i++)
		ret = check_image(w, i, want);
	free(memory);
	return ret;
}

const struct workload_ops workload_nn = {
	.name = "nn",
	.help = "a convolutional network that reads digits (NN of GPGPU-Sim)",
	.exercises = "CTAs of 169, 25 and one thread, launches that depend on each other, L1D reuse",
	.options = {
		[IMAGES] = { "images", 64, 1, 1u << 15, "to read; 12 KiB each",
			     .quick = 8, .tiny = 1 },
		[HIDDEN] = { "hidden", 100, 1, 1u << 12, "neurons of the third layer; 5 KB each",
			     .tiny = 3 },
	},
	.state_bytes = sizeof(struct nn),
	.setup = nn_setup,
	.run = nn_run,
	.verify = nn_verify,
};
#endif
