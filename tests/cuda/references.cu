// SPDX-License-Identifier: GPL-2.0
/*
 * Texture references, as CUDA had them until 12: bound to linear memory, to rows, to an array, anew between
 * launches; read as they are and as fractions. nvcc 13 has none of them.
 */
#include "check.h"

texture<float> line;
texture<int4, cudaTextureType1D, cudaReadModeElementType> quads;
static texture<float, cudaTextureType2D> rows;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> grey;
texture<float, 3> volume;

__global__ void fetch(float *out, int4 *four)
{
	out[threadIdx.x] = tex1Dfetch(line, threadIdx.x);
	four[threadIdx.x] = tex1Dfetch(quads, threadIdx.x);
}

__global__ void sample(float *out, float *fractions)
{
	int x = threadIdx.x, y = blockIdx.x;

	out[y * blockDim.x + x] = tex2D(rows, x + 1.0f, y + 0.5f);
	fractions[y * blockDim.x + x] = tex2D(grey, x + 0.5f, y + 0.5f);
}

__global__ void middle(float *out)
{
	out[0] = tex3D(volume, 0.5f, 0.5f, 0.5f);
}

int main()
{
	const int w = 16, h = 4;
	float *out, *fractions, *memory;
	int4 *four, *out4;
	unsigned char bytes[w * h];
	float cube[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	size_t pitch, offset = 7;
	cudaArray_t array, box;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<unsigned char>(), f = cudaCreateChannelDesc<float>();

	OK(cudaMallocManaged(&out, w * h * sizeof(float)));
	OK(cudaMallocManaged(&fractions, w * h * sizeof(float)));
	OK(cudaMallocManaged(&four, 64 * sizeof(int4)));
	OK(cudaMallocManaged(&out4, 64 * sizeof(int4)));
	for (int i = 0; i < 64; i++)
		four[i] = make_int4(i, -i, 2 * i, 7);

	/* Linear memory, then other linear memory. */
	OK(cudaMallocPitch(&memory, &pitch, w * sizeof(float), h));
	for (int round = 0; round < 2; round++) {
		float host[w];

		for (int i = 0; i < w; i++)
			host[i] = i * 0.5f + round;
		OK(cudaMemcpy((char *)memory + round * pitch, host, sizeof(host), cudaMemcpyHostToDevice));
		OK(cudaBindTexture(&offset, line, (char *)memory + round * pitch, sizeof(host)));
		HOLDS(offset == 0);
		OK(cudaBindTexture(NULL, quads, four));
		fetch<<<1, 32>>>(out, out4);
		OK(cudaDeviceSynchronize());
		for (int i = 0; i < 32; i++) {
			HOLDS(out[i] == (i < w ? i * 0.5f + round : 0));
			HOLDS(out4[i].x == i && out4[i].y == -i && out4[i].z == 2 * i && out4[i].w == 7);
		}
		OK(cudaUnbindTexture(line));
	}

	/* Rows with a filter; an array of bytes read as fractions. */
	float plane[h][w];

	for (int i = 0; i < w * h; i++) {
		plane[i / w][i % w] = i;
		bytes[i] = 4 * i;
	}
	OK(cudaMemcpy2D(memory, pitch, plane, w * sizeof(float), w * sizeof(float), h,
			cudaMemcpyHostToDevice));
	rows.filterMode = cudaFilterModeLinear;
	rows.addressMode[0] = rows.addressMode[1] = cudaAddressModeClamp;
	OK(cudaBindTexture2D(NULL, rows, memory, f, w, h, pitch));
	OK(cudaMallocArray(&array, &desc, w, h));
	OK(cudaMemcpyToArray(array, 0, 0, bytes, sizeof(bytes), cudaMemcpyHostToDevice));
	OK(cudaBindTextureToArray(grey, array));
	sample<<<h, w>>>(out, fractions);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < w * h; i++) {
		HOLDS(out[i] == (i % w == w - 1 ? i : i + 0.5f));
		HOLDS(fractions[i] == 4 * i / 255.0f);
	}

	/* The middle of a cube, in normalized coordinates. */
	cudaMemcpy3DParms p = {};

	OK(cudaMalloc3DArray(&box, &f, make_cudaExtent(2, 2, 2)));
	p.srcPtr = make_cudaPitchedPtr(cube, 2 * sizeof(float), 2, 2);
	p.dstArray = box;
	p.extent = make_cudaExtent(2, 2, 2);
	p.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&p));
	volume.normalized = 1;
	volume.filterMode = cudaFilterModeLinear;
	OK(cudaBindTextureToArray(volume, box, f));
	middle<<<1, 1>>>(out);
	OK(cudaDeviceSynchronize());
	HOLDS(out[0] == 4.5f);
	printf("references: passed\n");
	return 0;
}
