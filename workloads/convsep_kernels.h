/* SPDX-License-Identifier: GPL-2.0 */
/*
 * convsep's kernels, for CTAs of one shape. convsep.c includes it once for each shape, with the
 * kernels' names (ROWS, COLS, PLAIN), the threads of their CTAs along y (ROWS_Y, PLAIN_Y) and the
 * pixels of a thread (STEPS).
 */
KERNEL ROWS(const float *in, float *out, int width, int height)
{
	__shared__ float tile[ROWS_Y][(STEPS + 2) * CONVSEP_X];
	int first = (int)blockIdx.x * STEPS * CONVSEP_X + (int)threadIdx.x;
	int y = (int)(blockIdx.y * ROWS_Y + threadIdx.y);

#pragma unroll
	for (int i = -1; i <= STEPS; i++)
		tile[threadIdx.y][(i + 1) * CONVSEP_X + (int)threadIdx.x] =
			pixel(in, first + i * CONVSEP_X, y, width, height);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < STEPS; i++) {
		int x = first + i * CONVSEP_X;
		float sum = 0;

#pragma unroll
		for (int k = 0; k < CONVSEP_TAPS; k++)
			sum = fmaf(CONVSEP_TAP(k),
				   tile[threadIdx.y][(i + 1) * CONVSEP_X + (int)threadIdx.x + k -
						     CONVSEP_RADIUS], sum);
		if (x < width && y < height)
			out[y * width + x] = sum;
	}
}

/* A CTA has 16 columns; its tile is read along them. The odd pitch keeps banks apart. */
KERNEL COLS(const float *in, float *out, int width, int height)
{
	__shared__ float tile[CONVSEP_X][(STEPS + 2) * CONVSEP_Y + 1];
	int x = (int)(blockIdx.x * CONVSEP_X + threadIdx.x);
	int first = (int)blockIdx.y * STEPS * CONVSEP_Y + (int)threadIdx.y;

#pragma unroll
	for (int i = -1; i <= STEPS; i++)
		tile[threadIdx.x][(i + 1) * CONVSEP_Y + (int)threadIdx.y] =
			pixel(in, x, first + i * CONVSEP_Y, width, height);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < STEPS; i++) {
		int y = first + i * CONVSEP_Y;
		float sum = 0;

#pragma unroll
		for (int k = 0; k < CONVSEP_TAPS; k++)
			sum = fmaf(CONVSEP_TAP(k),
				   tile[threadIdx.x][(i + 1) * CONVSEP_Y + (int)threadIdx.y + k -
						     CONVSEP_RADIUS], sum);
		if (x < width && y < height)
			out[y * width + x] = sum;
	}
}

/* A pixel a thread, its neighbours dx and dy apart, clamped by zeros. */
KERNEL PLAIN(const float *in, float *out, int width, int height, int dx, int dy)
{
	int x = (int)(blockIdx.x * CONVSEP_X + threadIdx.x);
	int y = (int)(blockIdx.y * PLAIN_Y + threadIdx.y);
	float sum = 0;

	if (x >= width || y >= height)
		return;
#pragma unroll
	for (int k = 0; k < CONVSEP_TAPS; k++)
		sum = fmaf(CONVSEP_TAP(k),
			   pixel(in, x + dx * (k - CONVSEP_RADIUS), y + dy * (k - CONVSEP_RADIUS),
				 width, height), sum);
	out[y * width + x] = sum;
}
#undef ROWS
#undef COLS
#undef PLAIN
#undef ROWS_Y
#undef PLAIN_Y
#undef STEPS
