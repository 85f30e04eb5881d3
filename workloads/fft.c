// SPDX-License-Identifier: GPL-2.0
/*
 * fft: batches of 512-point Fourier transforms in radix 8 (Cooley and Tukey, Math. Computation
 * 19, 1965; Volkov and Kazian, 2008, whose kernel SHOC has): 64 threads a CTA, eight complex
 * points each in registers, two exchanges through shared memory.
 */
#define FFT_POINTS	512
#define FFT_THREADS	64
#define FFT_STRIDE	72	/* of a subproblem in shared memory: banks differ */

#include "both.h"

struct complex {
	float re, im;
};

BOTH struct complex cadd(struct complex a, struct complex b)
{
	return (struct complex){ a.re + b.re, a.im + b.im };
}

BOTH struct complex csub(struct complex a, struct complex b)
{
	return (struct complex){ a.re - b.re, a.im - b.im };
}

BOTH struct complex ctimes(struct complex a, struct complex b)
{
	return (struct complex){ fmaf(a.re, b.re, -(a.im * b.im)),
				 fmaf(a.re, b.im, a.im * b.re) };
}

/* Times -i. */
BOTH struct complex cturn(struct complex a)
{
	return (struct complex){ a.im, -a.re };
}

/* The transform of four points: x[0] + x[2], ... */
BOTH void fft4(struct complex *a, struct complex *b, struct complex *c, struct complex *d)
{
	struct complex s = cadd(*a, *c), t = csub(*a, *c), u = cadd(*b, *d);
	struct complex v = cturn(csub(*b, *d));

	*a = cadd(s, u);
	*b = cadd(t, v);
	*c = csub(s, u);
	*d = csub(t, v);
}

/* The transform of eight points in place: the even ones, the odd ones turned, both together. */
BOTH void fft8(struct complex x[8])
{
	const float r = 0.70710678f;
	struct complex e[4] = { x[0], x[2], x[4], x[6] }, o[4] = { x[1], x[3], x[5], x[7] };

	fft4(&e[0], &e[1], &e[2], &e[3]);
	fft4(&o[0], &o[1], &o[2], &o[3]);
	/* Times 1 - i, -i and -1 - i; the root of a half follows with the sum. */
	o[1] = (struct complex){ o[1].re + o[1].im, o[1].im - o[1].re };
	o[2] = cturn(o[2]);
	o[3] = (struct complex){ o[3].im - o[3].re, -(o[3].re + o[3].im) };
#ifdef GPUEMU_DEVICE
#pragma unroll
#endif
	for (int k = 0; k < 4; k += 2) {
		x[k] = cadd(e[k], o[k]);
		x[k + 4] = csub(e[k], o[k]);
		x[k + 1].re = fmaf(r, o[k + 1].re, e[k + 1].re);
		x[k + 1].im = fmaf(r, o[k + 1].im, e[k + 1].im);
		x[k + 5].re = fmaf(-r, o[k + 1].re, e[k + 1].re);
		x[k + 5].im = fmaf(-r, o[k + 1].im, e[k + 1].im);
	}
}

#ifdef GPUEMU_DEVICE

/*
 * Each thread leaves x[k] at to + k * step, and takes x[k] from `from` + k * stride: first real
 * parts, then imaginary ones, so that half of the memory does.
 */
INLINE void exchange(float *shared, struct complex x[8], uint32_t to, uint32_t step,
		     uint32_t from, uint32_t stride)
{
#pragma unroll
	for (uint32_t k = 0; k < 8; k++)
		shared[to + k * step] = x[k].re;
	__syncthreads();
#pragma unroll
	for (uint32_t k = 0; k < 8; k++)
		x[k].re = shared[from + k * stride];
	__syncthreads();
#pragma unroll
	for (uint32_t k = 0; k < 8; k++)
		shared[to + k * step] = x[k].im;
	__syncthreads();
#pragma unroll
	for (uint32_t k = 0; k < 8; k++)
		x[k].im = shared[from + k * stride];
	__syncthreads();
}

/* Times the roots of unity that lie between this pass and the next: root[k * at]. */
INLINE void turn(struct complex x[8], const struct complex *root, uint32_t at)
{
#pragma unroll
	for (uint32_t k = 1; k < 8; k++)
		x[k] = ctimes(x[k], root[k * at]);
}

KERNEL fft(struct complex *data, const struct complex *root)
{
	__shared__ float shared[8 * FFT_STRIDE];
	uint32_t t = threadIdx.x, high = t / 8, low = t % 8;
	struct complex *mine = data + blockIdx.x * FFT_POINTS + t;
	struct complex x[8];

#pragma unroll
	for (int k = 0; k < 8; k++)
		x[k] = mine[k * FFT_THREADS];
	fft8(x);
	turn(x, root, t);
	/* Thread (high, low) goes on with subproblem `high` of 64 points, from `low` on. */
	exchange(shared, x, t, FFT_STRIDE, high * FFT_STRIDE + low, 8);
	fft8(x);
	turn(x, root, 8 * low);
	/* And thread (m, k) with subproblem k's subproblem m of 8 points. */
	exchange(shared, x, high * 9 + low, FFT_STRIDE, high * FFT_STRIDE + low * 9, 1);
	fft8(x);
#pragma unroll
	for (int k = 0; k < 8; k++)
		mine[k * FFT_THREADS] = x[k];
}

#else

enum { BATCHES };

struct fft {
	struct complex *data, *root;
};

/* The n-th power of the 512th root of unity, clockwise. */
static struct complex root_of_unity(unsigned int n)
{
	double a = -2 * M_PI * n / FFT_POINTS;

	return (struct complex){ (float)cos(a), (float)sin(a) };
}

static int fft_setup(struct workload *w)
{
	struct fft *f = w->state;
	uint64_t n = w->option[BATCHES] * FFT_POINTS;
	int ret;

	ret = workload_alloc(w, (void **)&f->data, n * sizeof(*f->data), WORKLOAD_INOUT, "data");
	if (!ret)
		ret = workload_alloc(w, (void **)&f->root, FFT_POINTS * sizeof(*f->root),
				     WORKLOAD_IN, "roots");
	if (ret)
		return ret;
	fill_floats(w, 0, &f->data->re, 2 * n, -1, 1);
	for (unsigned int i = 0; i < FFT_POINTS; i++)
		f->root[i] = root_of_unity(i);
	return 0;
}

static int fft_run(struct workload *w)
{
	struct fft *f = w->state;
	int ret;

	ret = WORKLOAD_LAUNCH(w, "fft", (uint32_t)w->option[BATCHES], FFT_THREADS,
			      gpuemu_arg_ptr(f->data), gpuemu_arg_ptr(f->root));
	return ret ? ret : workload_synchronize(w);
}

/*
 * n points, a stride apart, by recursion: eight transforms of an eighth each. The kernel does the
 * same butterflies, level by level.
 */
static void transform(struct complex *to, const struct complex *x, unsigned int n,
		      unsigned int stride)
{
	struct complex sub[8][FFT_POINTS / 8], out[FFT_POINTS / 8];

	for (unsigned int i = 0; i < n / 8; i++) {
		struct complex y[8];

		for (unsigned int k = 0; k < 8; k++)
			y[k] = x[i + k * (n / 8)];
		fft8(y);
		for (unsigned int k = 0; k < 8; k++)
			sub[k][i] = k && n > 8 ? ctimes(y[k], root_of_unity(i * k * stride)) : y[k];
	}
	for (unsigned int k = 0; k < 8; k++) {
		if (n > 8)
			transform(out, sub[k], n / 8, stride * 8);
		else
			out[0] = sub[k][0];
		for (unsigned int i = 0; i < n / 8; i++)
			to[k + 8 * i] = out[i];
	}
}

/* By the definition, in doubles: 512 points to a ten-thousandth. */
static int check_definition(struct workload *w, const struct complex *x, const struct complex *got)
{
	for (unsigned int k = 0; k < FFT_POINTS; k += 7) {
		double re = 0, im = 0;

		for (unsigned int i = 0; i < FFT_POINTS; i++) {
			double a = -2 * M_PI * (i * k % FFT_POINTS) / FFT_POINTS;

			re += (double)x[i].re * cos(a) - (double)x[i].im * sin(a);
			im += (double)x[i].re * sin(a) + (double)x[i].im * cos(a);
		}
		if (fabs(re - (double)got[k].re) > 1e-4 || fabs(im - (double)got[k].im) > 1e-4)
			return err_set(&w->err, -EBADMSG, "frequency %u is %g + %g i, by the definition "
				       "%g + %g i", k, (double)got[k].re, (double)got[k].im, re, im);
	}
	return 0;
}

static int fft_verify(struct workload *w)
{
	struct fft *f = w->state;
	uint64_t n = w->option[BATCHES] * FFT_POINTS;
	struct complex *in = check_memory(w, 2 * n, sizeof(*in)), *want = in + n;
	struct complex root[FFT_POINTS];
	int ret;

	if (!in)
		return -ENOMEM;
	for (unsigned int i = 0; i < FFT_POINTS; i++)
		root[i] = root_of_unity(i);
	ret = check_floats(w, "roots", 0, &f->root->re, &root->re, 2 * FFT_POINTS);
	fill_floats(w, 0, &in->re, 2 * n, -1, 1);
	for (uint64_t i = 0; i < n && !ret; i += FFT_POINTS)
		transform(want + i, in + i, FFT_POINTS, 1);
	if (!ret)
		ret = check_floats(w, "data", 0, &f->data->re, &want->re, 2 * n);
	if (!ret)
		ret = check_definition(w, in, want);
	free(in);
	return ret;
}

const struct workload_ops workload_fft = {
	.name = "fft",
	.help = "512-point Fourier transforms in radix 8 (SHOC)",
	.exercises = "registers, exchanges through shared memory, small CTAs with many barriers",
	.options = {
		[BATCHES] = { "batches", 4096, 1, 1u << 20, "transforms; 4 KiB each",
			      .quick = 512, .tiny = 13 },
	},
	.state_bytes = sizeof(struct fft),
	.setup = fft_setup,
	.run = fft_run,
	.verify = fft_verify,
};
#endif
