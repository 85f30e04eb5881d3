// SPDX-License-Identifier: GPL-2.0
/* c[i] = a[i] + b[i] on the GPU. The PTX is that of workloads/vecadd.c, or the file given. */
#include <gpuemu.h>
#include <stdio.h>

#define N 100000
#define TRY(call) do { if (call) { puts(gpuemu_last_error(gpu)); return 1; } } while (0)

int main(int argc, char **argv)
{
	const char *ptx = argc > 1 ? argv[1] : "build/ptx/vecadd.ptx";
	struct gpuemu_dim3 grid = { (N + 255) / 256, 1, 1 }, block = { 256, 1, 1 };
	struct gpuemu_ctx *gpu = NULL;
	struct gpuemu_module *module;
	struct gpuemu_function *vecadd;
	float *p[3];

	TRY(gpuemu_open(&gpu, NULL));
	TRY(gpuemu_module_load(gpu, &module, ptx));
	TRY(gpuemu_module_get_function(module, &vecadd, "vecadd"));
	for (int i = 0; i < 3; i++)
		TRY(gpuemu_mem_alloc_managed(gpu, (void **)&p[i], N * sizeof(float)));
	for (int i = 0; i < N; i++) {
		p[0][i] = i;
		p[1][i] = 2 * i;
	}
	struct gpuemu_arg args[] = { gpuemu_arg_ptr(p[0]), gpuemu_arg_ptr(p[1]),
				     gpuemu_arg_ptr(p[2]), gpuemu_arg_u32(N) };
	TRY(gpuemu_launch(vecadd, grid, block, 0, NULL, args, 4));
	TRY(gpuemu_synchronize(gpu));
	printf("c[%d] = %g, computed by %s\n", N - 1, p[2][N - 1], gpuemu_backend(gpu));
	gpuemu_close(gpu);
	return 0;
}
