// SPDX-License-Identifier: GPL-2.0
/*
 * Texture and surface objects: linear memory, arrays of one, two and three dimensions, layers; filters,
 * address modes, normalized coordinates and reads. Each against a reference on the host.
 */
#include <math.h>

#include "check.h"

#define W	13
#define H	7
#define D	3

/* --- device ------------------------------------------------------------------------------ */

__global__ void fetch(cudaTextureObject_t t, int *out)
{
	int i = (int)threadIdx.x - 2;

	out[threadIdx.x] = tex1Dfetch<int>(t, i);
}

__global__ void sample1(cudaTextureObject_t t, float *out, float from, float step)
{
	out[threadIdx.x] = tex1D<float>(t, from + step * threadIdx.x);
}

__global__ void sample2(cudaTextureObject_t t, float *out, float from, float step)
{
	out[blockIdx.x * blockDim.x + threadIdx.x] =
		tex2D<float>(t, from + step * threadIdx.x, from + step * blockIdx.x);
}

__global__ void sample3(cudaTextureObject_t t, float *out, float step)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex3D<float>(t, step * threadIdx.x, step * blockIdx.x, step * (i % 5));
}

__global__ void layers(cudaTextureObject_t t, float *out)
{
	int i = threadIdx.x;

	out[i] = tex2DLayered<float>(t, i % W + 0.5f, i % H + 0.5f, i % 5 - 1);
}

__global__ void colours(cudaTextureObject_t t, uchar4 *raw, float4 *gathered, cudaTextureObject_t f)
{
	raw[threadIdx.x] = tex2D<uchar4>(t, threadIdx.x + 0.5f, 2.5f);
	gathered[threadIdx.x] = tex2Dgather<float4>(f, threadIdx.x + 1.0f, 2.0f, 0);
}

__global__ void fractions(cudaTextureObject_t t, float4 *out)
{
	out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 2.5f);
}

__global__ void surfaces(cudaSurfaceObject_t s, int *out)
{
	int x = threadIdx.x, y = blockIdx.x;

	surf2Dwrite(100 * y + x, s, x * 4, y);
	surf2Dwrite(-1, s, (x + 100) * 4, y, cudaBoundaryModeZero);
	out[y * blockDim.x + x] = surf2Dread<int>(s, x * 4, y) +
		surf2Dread<int>(s, -4, y, cudaBoundaryModeZero) +
		1000 * (x == 3 ? surf2Dread<int>(s, -400, y, cudaBoundaryModeClamp) == 100 * y : 0);
}

__global__ void outside(cudaSurfaceObject_t s)
{
	surf2Dwrite(1, s, 4 * W, 0);
}

/* --- host ------------------------------------------------------------------------------- */

static float texels[D * H * W];

static int place(int i, int n, cudaTextureAddressMode mode)
{
	if (mode == cudaAddressModeClamp)
		return i < 0 ? 0 : i >= n ? n - 1 : i;
	if (mode == cudaAddressModeBorder)
		return i < 0 || i >= n ? -1 : i;
	if (mode == cudaAddressModeWrap)
		return ((i % n) + n) % n;
	i = ((i % (2 * n)) + 2 * n) % (2 * n);
	return i < n ? i : 2 * n - 1 - i;
}

static float at(int x, int y, int z, const int *n, cudaTextureAddressMode mode)
{
	x = place(x, n[0], mode);
	y = place(y, n[1], mode);
	z = place(z, n[2], mode);
	return x < 0 || y < 0 || z < 0 ? 0 : texels[(z * H + y) * W + x];
}

static double part(double x)
{
	double below = x - 0.5 - floor(x - 0.5);

	return floor(below * 256 + 0.5) / 256;
}

/* Dimensions that are not there have one element, and coordinate 0.5. */
static double expected(double x, double y, double z, const int *n, const cudaTextureDesc &d)
{
	cudaTextureAddressMode mode = d.addressMode[0];
	double a = part(x), b = part(y), c = part(z), sum = 0;

	if (d.filterMode == cudaFilterModePoint)
		return at(floor(x), floor(y), floor(z), n, mode);
	for (int k = 0; k < 8; k++) {
		double weight = (k & 1 ? a : 1 - a) * (k & 2 ? b : 1 - b) * (k & 4 ? c : 1 - c);

		if (weight)
			sum += weight * at(floor(x - 0.5) + (k & 1), floor(y - 0.5) + (k >> 1 & 1),
					   floor(z - 0.5) + (k >> 2), n, mode);
	}
	return sum;
}

static bool close_to(double a, double b)
{
	return fabs(a - b) <= 1e-4 * (1 + fabs(b));
}

int main()
{
	static float host[4096];
	int *ints;
	float *out;
	float4 *out4;
	uchar4 *bytes4;
	cudaArray_t line, plane, volume, stack, coloured, cells;
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	cudaResourceDesc r = {};
	cudaTextureDesc d = {};
	cudaTextureObject_t t, u;
	cudaSurfaceObject_t s;

	for (int i = 0; i < D * H * W; i++)
		texels[i] = (i * 37 % 101) * 0.25f;
	OK(cudaMallocManaged(&ints, 4096 * sizeof(int)));
	OK(cudaMallocManaged(&out, 4096 * sizeof(float)));
	OK(cudaMallocManaged(&out4, 64 * sizeof(float4)));
	OK(cudaMallocManaged(&bytes4, 64 * sizeof(uchar4)));

	/* Linear memory; outside are zeros. */
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = ints + 64;
	r.res.linear.desc = cudaCreateChannelDesc<int>();
	r.res.linear.sizeInBytes = 20 * sizeof(int);
	d.readMode = cudaReadModeElementType;
	for (int i = 0; i < 40; i++)
		ints[60 + i] = 1000 - i;
	OK(cudaCreateTextureObject(&t, &r, &d, NULL));
	fetch<<<1, 32>>>(t, ints);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++)
		HOLDS(ints[i] == (i < 2 || i >= 22 ? 0 : 1000 - (i + 2)));
	OK(cudaDestroyTextureObject(t));

	/* Arrays, all filters and address modes, both kinds of coordinates. */
	OK(cudaMallocArray(&line, &f, W));
	OK(cudaMallocArray(&plane, &f, W, H));
	OK(cudaMemcpyToArray(line, 0, 0, texels, W * sizeof(float), cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DToArray(plane, 0, 0, texels, W * sizeof(float), W * sizeof(float), H,
			       cudaMemcpyHostToDevice));
	for (int filter = 0; filter < 2; filter++)
		for (int mode = 0; mode < 4; mode++)
			for (int norm = 0; norm < 2; norm++) {
				const int n1[3] = { W, 1, 1 }, n2[3] = { W, H, 1 };
				float from = norm ? -0.75f : -5.0f, step = norm ? 0.0625f : 0.3125f;
				double sx = norm ? W : 1, sy = norm ? H : 1;

				/* CUDA repeats places only where coordinates are normalized. */
				if (!norm && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror))
					continue;
				d.filterMode = (cudaTextureFilterMode)filter;
				d.addressMode[0] = d.addressMode[1] = d.addressMode[2] =
					(cudaTextureAddressMode)mode;
				d.normalizedCoords = norm;
				r.resType = cudaResourceTypeArray;
				r.res.array.array = line;
				OK(cudaCreateTextureObject(&t, &r, &d, NULL));
				r.res.array.array = plane;
				OK(cudaCreateTextureObject(&u, &r, &d, NULL));
				sample1<<<1, 64>>>(t, out, from, step);
				sample2<<<40, 40>>>(u, out + 64, from, step);
				OK(cudaDeviceSynchronize());
				for (int i = 0; i < 64; i++)
					HOLDS(close_to(out[i], expected((from + step * i) * sx, 0.5, 0.5,
									n1, d)));
				for (int i = 0; i < 1600; i++)
					HOLDS(close_to(out[64 + i],
						       expected((from + step * (i % 40)) * sx,
								(from + step * (i / 40)) * sy, 0.5, n2, d)));
				OK(cudaDestroyTextureObject(t));
				OK(cudaDestroyTextureObject(u));
			}

	/* Three dimensions, by cudaMemcpy3D(). */
	cudaMemcpy3DParms p = {};
	const int n3[3] = { W, H, D };

	OK(cudaMalloc3DArray(&volume, &f, make_cudaExtent(W, H, D)));
	p.srcPtr = make_cudaPitchedPtr(texels, W * sizeof(float), W, H);
	p.dstArray = volume;
	p.extent = make_cudaExtent(W, H, D);
	p.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&p));
	d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeClamp;
	d.normalizedCoords = 0;
	for (int filter = 0; filter < 2; filter++) {
		d.filterMode = (cudaTextureFilterMode)filter;
		r.res.array.array = volume;
		OK(cudaCreateTextureObject(&t, &r, &d, NULL));
		sample3<<<20, 30>>>(t, out, 0.4375f);
		OK(cudaDeviceSynchronize());
		for (int i = 0; i < 600; i++)
			HOLDS(close_to(out[i], expected(0.4375 * (i % 30), 0.4375 * (i / 30),
							0.4375 * (i % 5), n3, d)));
		OK(cudaDestroyTextureObject(t));
	}

	/* Layers, out of range they are the first and the last. */
	OK(cudaMalloc3DArray(&stack, &f, make_cudaExtent(W, H, D), cudaArrayLayered));
	p.dstArray = stack;
	OK(cudaMemcpy3D(&p));
	d.filterMode = cudaFilterModePoint;
	r.res.array.array = stack;
	OK(cudaCreateTextureObject(&t, &r, &d, NULL));
	layers<<<1, 64>>>(t, out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++) {
		int layer = i % 5 - 1;

		layer = layer < 0 ? 0 : layer > 2 ? 2 : layer;
		HOLDS(out[i] == texels[(layer * H + i % H) * W + i % W]);
	}
	OK(cudaDestroyTextureObject(t));

	/* Four channels, as they are and as fractions; four texels of one channel. */
	static uchar4 pixels[H * W];
	cudaChannelFormatDesc c = cudaCreateChannelDesc<uchar4>();

	for (int i = 0; i < H * W; i++)
		pixels[i] = make_uchar4(i, 2 * i, 255 - i, 255);
	OK(cudaMallocArray(&coloured, &c, W, H));
	OK(cudaMemcpyToArray(coloured, 0, 0, pixels, sizeof(pixels), cudaMemcpyHostToDevice));
	r.res.array.array = coloured;
	OK(cudaCreateTextureObject(&t, &r, &d, NULL));
	r.res.array.array = plane;
	OK(cudaCreateTextureObject(&u, &r, &d, NULL));
	colours<<<1, 8>>>(t, bytes4, out4, u);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 8; i++) {
		HOLDS(bytes4[i].x == 2 * W + i && bytes4[i].y == 2 * (2 * W + i) &&
		      bytes4[i].z == 255 - 2 * W - i && bytes4[i].w == 255);
		HOLDS(out4[i].x == texels[2 * W + i] && out4[i].y == texels[2 * W + i + 1] &&
		      out4[i].z == texels[W + i + 1] && out4[i].w == texels[W + i]);
	}
	OK(cudaDestroyTextureObject(t));
	d.readMode = cudaReadModeNormalizedFloat;
	r.res.array.array = coloured;
	OK(cudaCreateTextureObject(&t, &r, &d, NULL));
	fractions<<<1, 8>>>(t, out4);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 8; i++)
		HOLDS(close_to(out4[i].x, (2 * W + i) / 255.0) && out4[i].w == 1);

	/* Surfaces, read back. */
	cudaChannelFormatDesc ci = cudaCreateChannelDesc<int>();

	OK(cudaMallocArray(&cells, &ci, W, H, cudaArraySurfaceLoadStore));
	r.res.array.array = cells;
	OK(cudaCreateSurfaceObject(&s, &r));
	surfaces<<<H, W>>>(s, ints);
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpyFromArray(host, cells, 0, 0, W * H * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) {
		int value = i / W * 100 + i % W;

		HOLDS(((int *)host)[i] == value);
		HOLDS(ints[i] == value + (i % W == 3 ? 1000 : 0));
	}

	/* What CUDA refuses. */
	d.readMode = cudaReadModeElementType;
	d.filterMode = cudaFilterModeLinear;
	r.res.array.array = cells;
	IS(cudaCreateTextureObject(&t, &r, &d, NULL), cudaErrorInvalidFilterSetting);
	IS(cudaGetLastError(), cudaErrorInvalidFilterSetting);
	c.y = 7;
	IS(cudaMallocArray(&line, &c, 4, 4), cudaErrorInvalidChannelDescriptor);
	IS(cudaMemcpy2DToArray(plane, 0, 0, texels, 64, 64, H, cudaMemcpyHostToDevice),
	   cudaErrorInvalidValue);
	outside<<<1, 1>>>(s);
	IS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
	printf("textures: passed\n");
	return 0;
}
