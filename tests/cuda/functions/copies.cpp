// SPDX-License-Identifier: GPL-2.0
/* Copies and memsets, of bytes, rows and boxes. */
#include "functions.h"

#define KIND ((cudaMemcpyKind)9)

static char *a, *b;	/* 64 KiB each on the device */
static char host[4096];

static void of_bytes(void)
{
	strcpy(host, "hello");
	GIVES(cudaSuccess, cudaMemcpy(a, host, 6, cudaMemcpyHostToDevice));
	GIVES(cudaSuccess, cudaMemcpy(b, a, 6, cudaMemcpyDeviceToDevice));
	memset(host, 0, sizeof(host));
	GIVES(cudaSuccess, cudaMemcpy(host, b, 6, cudaMemcpyDefault));
	HOLDS(!strcmp(host, "hello"));
	GIVES(cudaSuccess, cudaMemcpy(host, b, 0, cudaMemcpyDefault));
	GIVES(cudaErrorInvalidValue, cudaMemcpy(NULL, host, 6, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpy(host, NULL, 6, cudaMemcpyDeviceToHost));
	GIVES(cudaErrorInvalidValue, cudaMemcpy(host + 100, host, 6, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpy(host + 100, host, 6, cudaMemcpyDeviceToHost));
	GIVES(cudaErrorInvalidValue, cudaMemcpy(a, b, (size_t)1 << 40, cudaMemcpyDeviceToDevice));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, host, 6, KIND));
	GIVES(cudaSuccess, cudaMemcpyAsync(a, host, 6, cudaMemcpyHostToDevice, 0));
	GIVES(cudaErrorInvalidValue, cudaMemcpyAsync(NULL, host, 6, cudaMemcpyHostToDevice, 0));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpyAsync(a, host, 6, KIND, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemcpyAsync(a, host, 6, cudaMemcpyHostToDevice, NO_STREAM));
	GIVES(cudaSuccess, cudaMemcpyPeer(b, 0, a, 0, 6));
	GIVES(cudaErrorInvalidDevice, cudaMemcpyPeer(b, 1, a, 0, 6));
	GIVES(cudaErrorInvalidDevice, cudaMemcpyPeer(b, 0, a, -1, 6));
	GIVES(cudaErrorInvalidValue, cudaMemcpyPeer(NULL, 0, a, 0, 6));
	GIVES(cudaSuccess, cudaMemcpyPeerAsync(b, 0, a, 0, 6, 0));
	GIVES(cudaErrorInvalidDevice, cudaMemcpyPeerAsync(b, 1, a, 0, 6, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemcpyPeerAsync(b, 0, a, 0, 6, NO_STREAM));
}

static void of_rows(void)
{
	for (int i = 0; i < 64; i++)
		host[i] = (char)i;
	GIVES(cudaSuccess, cudaMemcpy2D(a, 512, host, 16, 8, 4, cudaMemcpyHostToDevice));
	memset(host, 0, sizeof(host));
	GIVES(cudaSuccess, cudaMemcpy2DAsync(host, 8, a, 512, 8, 4, cudaMemcpyDeviceToHost, 0));
	HOLDS(host[7] == 7 && host[8] == 16 && host[31] == 55);
	GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(a, 4, host, 16, 8, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(a, 512, host, 4, 8, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidValue, cudaMemcpy2D(NULL, 512, host, 16, 8, 4, cudaMemcpyHostToDevice));
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy2D(a, 512, host, 16, 8, 4, KIND));
	GIVES(cudaErrorInvalidValue, cudaMemcpy2D(a, 512, b, 1 << 30, 8, 64, cudaMemcpyDeviceToDevice));
	GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2DAsync(a, 4, host, 16, 8, 4, cudaMemcpyHostToDevice, 0));
	GIVES(cudaErrorInvalidResourceHandle,
	      cudaMemcpy2DAsync(a, 512, host, 16, 8, 4, cudaMemcpyHostToDevice, NO_STREAM));
}

static void of_boxes(void)
{
	cudaMemcpy3DParms p, none;

	memset(&p, 0, sizeof(p));
	memset(&none, 0, sizeof(none));
	for (int i = 0; i < 64; i++)
		host[i] = (char)i;
	p.srcPtr = make_cudaPitchedPtr(host, 8, 8, 4);
	p.dstPtr = make_cudaPitchedPtr(a, 512, 8, 4);
	p.srcPos = make_cudaPos(1, 1, 1);
	p.extent = make_cudaExtent(4, 2, 1);
	p.kind = cudaMemcpyHostToDevice;
	GIVES(cudaSuccess, cudaMemcpy3D(&p));
	memset(host, 0, sizeof(host));
	GIVES(cudaSuccess, cudaMemcpy2D(host, 4, a, 512, 4, 2, cudaMemcpyDeviceToHost));
	HOLDS(host[0] == 41 && host[3] == 44 && host[4] == 49);
	GIVES(cudaSuccess, cudaMemcpy3DAsync(&p, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemcpy3DAsync(&p, NO_STREAM));
	GIVES(cudaErrorInvalidValue, cudaMemcpy3D(NULL));
	GIVES(cudaErrorInvalidValue, cudaMemcpy3DAsync(NULL, 0));
	p.kind = KIND;
	GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy3D(&p));
	p.kind = cudaMemcpyHostToDevice;
	p.extent.width = 600;
	GIVES(cudaErrorInvalidPitchValue, cudaMemcpy3D(&p));
	p.extent.width = 4;
	p.srcPtr.ptr = NULL;
	GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&p));
	p.srcPtr.ptr = host;
	p.dstArray = NO_ARRAY;
	GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&p));
	none.extent = p.extent;
	none.kind = cudaMemcpyDefault;
	GIVES(cudaErrorInvalidValue, cudaMemcpy3D(&none));
}

static void sets(void)
{
	cudaPitchedPtr box = make_cudaPitchedPtr(a, 512, 16, 3);

	GIVES(cudaSuccess, cudaMemset(a, 1, 4096));
	GIVES(cudaErrorInvalidValue, cudaMemset(NULL, 1, 10));
	GIVES(cudaErrorInvalidValue, cudaMemset(host, 1, 10));
	GIVES(cudaErrorInvalidValue, cudaMemset(a, 1, (size_t)1 << 40));
	GIVES(cudaSuccess, cudaMemsetAsync(a, 2, 8, 0));
	GIVES(cudaErrorInvalidValue, cudaMemsetAsync(host, 1, 10, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemsetAsync(a, 1, 10, NO_STREAM));
	GIVES(cudaSuccess, cudaMemset2D(a, 512, 3, 4, 2));
	GIVES(cudaSuccess, cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost));
	HOLDS(host[3] == 3 && host[4] == 2 && host[8] == 1 && host[515] == 3 && host[516] == 1);
	GIVES(cudaErrorInvalidValue, cudaMemset2D(a, 4, 3, 8, 2));
	GIVES(cudaErrorInvalidValue, cudaMemset2D(host, 512, 3, 8, 2));
	GIVES(cudaSuccess, cudaMemset2DAsync(a, 512, 3, 8, 2, 0));
	GIVES(cudaErrorInvalidValue, cudaMemset2DAsync(a, 4, 3, 8, 2, 0));
	GIVES(cudaErrorInvalidResourceHandle, cudaMemset2DAsync(a, 512, 3, 8, 2, NO_STREAM));
	/* Rows of 16 bytes in two slices of three; the first 8 bytes of two rows of each are set. */
	GIVES(cudaSuccess, cudaMemset3D(box, 1, make_cudaExtent(16, 3, 2)));
	GIVES(cudaSuccess, cudaMemset3DAsync(box, 2, make_cudaExtent(8, 2, 2), 0));
	for (int row = 0; row < 6; row++) {
		GIVES(cudaSuccess, cudaMemcpy(host, a + row * 512, 16, cudaMemcpyDeviceToHost));
		HOLDS(host[0] == (row % 3 < 2 ? 2 : 1) && host[7] == host[0] && host[8] == 1);
	}
	box.ptr = host;
	GIVES(cudaErrorInvalidValue, cudaMemset3D(box, 1, make_cudaExtent(16, 3, 2)));
	GIVES(cudaErrorInvalidValue, cudaMemset3DAsync(box, 1, make_cudaExtent(16, 3, 2), 0));
	box.ptr = a;
	GIVES(cudaErrorInvalidResourceHandle, cudaMemset3DAsync(box, 1, make_cudaExtent(16, 3, 2), NO_STREAM));
}

void copies(void)
{
	GIVES(cudaSuccess, cudaMalloc(&a, 65536));
	GIVES(cudaSuccess, cudaMalloc(&b, 65536));
	of_bytes();
	of_rows();
	of_boxes();
	sets();
	GIVES(cudaSuccess, cudaFree(a));
	GIVES(cudaSuccess, cudaFree(b));
}
