// SPDX-License-Identifier: GPL-2.0
/* Small calls that other programs of this folder do not make: what they answer, and CUDA's errors. */
#include "check.h"

int main()
{
	unsigned long long id, other;
	enum cudaStreamCaptureStatus status;
	cudaPitchedPtr box;
	cudaStream_t stream;
	size_t pitch;
	int *a, *b, host[4] = { 1, 2, 3, 4 };

	IS(cudaMallocPitch(NULL, &pitch, 10, 10), cudaErrorInvalidValue);
	IS(cudaMallocPitch((void **)&a, NULL, 10, 10), cudaErrorInvalidValue);
	IS(cudaMalloc3D(NULL, make_cudaExtent(4, 4, 4)), cudaErrorInvalidValue);
	OK(cudaInitDevice(0, 0, 0));
	IS(cudaInitDevice(1, 0, 0), cudaErrorInvalidDevice);
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamGetId(stream, &id));
	OK(cudaStreamGetId(0, &other));
	HOLDS(id != other);
	IS(cudaStreamGetId(stream, NULL), cudaErrorInvalidValue);
	OK(cudaStreamIsCapturing(stream, &status));
	HOLDS(status == cudaStreamCaptureStatusNone);
	IS(cudaStreamIsCapturing(stream, NULL), cudaErrorInvalidValue);
#ifdef __NVCC_GPUEMU__	/* the header of CUDA 13 knows the last one, older ones do not */
	int device = 7;

	OK(cudaStreamGetDevice(stream, &device));
	HOLDS(device == 0);
	IS(cudaStreamGetDevice(stream, NULL), cudaErrorInvalidValue);
#endif
	/* Rows of 16 bytes in two slices of three: the first 8 bytes of two rows of each are set. */
	OK(cudaMalloc3D(&box, make_cudaExtent(16, 3, 2)));
	OK(cudaMemset3D(box, 1, make_cudaExtent(16, 3, 2)));
	OK(cudaMemset3DAsync(box, 2, make_cudaExtent(8, 2, 2), stream));
	OK(cudaStreamSynchronize(stream));
	for (int z = 0; z < 2; z++) {
		for (int y = 0; y < 3; y++) {
			char row[16];

			OK(cudaMemcpy(row, (char *)box.ptr + (z * 3 + y) * box.pitch, 16, cudaMemcpyDeviceToHost));
			HOLDS(row[0] == (y < 2 ? 2 : 1) && row[7] == row[0] && row[8] == 1);
		}
	}
	OK(cudaMalloc(&a, 16));
	OK(cudaMalloc(&b, 16));
	OK(cudaMemcpy(a, host, 16, cudaMemcpyHostToDevice));
	OK(cudaMemcpyPeerAsync(b, 0, a, 0, 16, stream));
	host[3] = 0;
	OK(cudaMemcpyAsync(host, b, 16, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	HOLDS(host[3] == 4);
	IS(cudaMemcpyPeerAsync(b, 1, a, 0, 16, stream), cudaErrorInvalidDevice);
	OK(cudaStreamDestroy(stream));
	printf("calls: passed\n");
	return 0;
}
