/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nw's kernel, for tiles of one size. nw.c includes it once for each size, with NAME and TILE
 * (cells of a tile's edge, and threads of a CTA).
 */
/*
 * score is (rows + 1) x (cols + 1), similarity rows x cols. Row strides are chosen
 * so that an anti-diagonal of a tile lies in as many banks as it has
 * cells.
 */
KERNEL NAME(int *score, const int *similarity, uint32_t rows, uint32_t cols,
	    uint32_t diagonal, uint32_t first, int penalty)
{
	__shared__ int s[TILE + 1][TILE + 2];
	__shared__ int match[TILE][TILE];
	uint32_t tile_x = first + blockIdx.x, tile_y = diagonal - tile_x;
	uint32_t x0 = tile_x * TILE, y0 = tile_y * TILE;
	uint32_t t = threadIdx.x, x = x0 + t;
	uint64_t pitch = cols + 1;
	uint32_t high = min(rows - y0, TILE), wide = min(cols - x0, TILE);

	for (uint32_t y = 0; y < high; y++)
		if (t < wide)
			match[y][t] = similarity[(uint64_t)(y0 + y) * cols + x];
	if (t < wide)
		s[0][t + 1] = score[y0 * pitch + x + 1];
	if (t < high)
		s[t + 1][0] = score[(y0 + t + 1) * pitch + x0];
	if (t == 0)
		s[0][0] = score[y0 * pitch + x0];
	__syncthreads();

	for (uint32_t d = 0; d < 2 * TILE - 1; d++) {
		uint32_t y = d - t;

		if (t <= d && y < high && t < wide)
			s[y + 1][t + 1] = max(s[y][t] + match[y][t],
					      max(s[y + 1][t], s[y][t + 1]) - penalty);
		__syncthreads();
	}
	for (uint32_t y = 0; y < high; y++)
		if (t < wide)
			score[(y0 + y + 1) * pitch + x + 1] = s[y + 1][t + 1];
}
#undef NAME
#undef TILE
