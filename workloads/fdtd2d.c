// SPDX-License-Identifier: GPL-2.0
/*
 * fdtd2d: electric and magnetic fields in two dimensions over time by finite differences
 * (Yee, IEEE Trans. Antennas and Propagation 14, 1966; in PolyBench/GPU). Three launches
 * a step; the field's row 0 is the source.
 */
#define FDTD_X	32
#define FDTD_Y	8

#ifdef GPUEMU_DEVICE
#include "device.h"

#define CELL(x, y)							\
	int x = (int)(blockIdx.x * FDTD_X + threadIdx.x);		\
	int y = (int)(blockIdx.y * FDTD_Y + threadIdx.y)

KERNEL fdtd_ey(const float *source, float *ey, const float *hz, int step, int rows, int cols)
{
	CELL(x, y);

	if (x >= cols || y >= rows)
		return;
	if (y == 0)
		ey[x] = source[step];
	else
		ey[y * cols + x] = fmaf(-0.5f, hz[y * cols + x] - hz[(y - 1) * cols + x],
					ey[y * cols + x]);
}

KERNEL fdtd_ex(float *ex, const float *hz, int rows, int cols)
{
	CELL(x, y);

	if (x >= cols || y >= rows || x == 0)
		return;
	ex[y * cols + x] = fmaf(-0.5f, hz[y * cols + x] - hz[y * cols + x - 1], ex[y * cols + x]);
}

KERNEL fdtd_hz(const float *ex, const float *ey, float *hz, int rows, int cols)
{
	CELL(x, y);
	int at = y * cols + x;

	if (x >= cols - 1 || y >= rows - 1)
		return;
	hz[at] = fmaf(-0.7f, (ex[at + 1] - ex[at]) + (ey[at + cols] - ey[at]), hz[at]);
}

#else
#include <errno.h>
#include <math.h>
#include <string.h>

#include "fill.h"

enum { ROWS, COLS, STEPS };
enum { SOURCE, EX, EY, HZ, FIELDS };

struct fdtd2d {
	float *field[FIELDS];
};

static const char *const fdtd_names[FIELDS] = { "source", "ex", "ey", "hz" };

static uint64_t elements(const struct workload *w, unsigned int field)
{
	return field == SOURCE ? w->option[STEPS] : w->option[ROWS] * w->option[COLS];
}

static int fdtd2d_setup(struct workload *w)
{
	struct fdtd2d *f = w->state;
	int ret = 0;

	for (unsigned int i = 0; i < FIELDS && !ret; i++)
		ret = workload_alloc(w, (void **)&f->field[i], elements(w, i) * sizeof(float),
				     i == SOURCE ? WORKLOAD_IN : WORKLOAD_INOUT, fdtd_names[i]);
	for (unsigned int i = 0; i < FIELDS && !ret; i++)
		fill_floats(w, i, f->field[i], elements(w, i), -1, 1);
	return ret;
}

static int fdtd2d_run(struct workload *w)
{
	struct fdtd2d *f = w->state;
	int32_t rows = (int32_t)w->option[ROWS], cols = (int32_t)w->option[COLS];
	struct gpuemu_dim3 block = { FDTD_X, FDTD_Y, 1 };
	struct gpuemu_dim3 grid = { DIV_ROUND_UP((uint32_t)cols, FDTD_X),
				    DIV_ROUND_UP((uint32_t)rows, FDTD_Y), 1 };
	int ret = 0;

	for (int32_t step = 0; step < (int32_t)w->option[STEPS] && !ret; step++) {
		ret = WORKLOAD_LAUNCH_GRID(w, "fdtd_ey", grid, block,
					   gpuemu_arg_ptr(f->field[SOURCE]),
					   gpuemu_arg_ptr(f->field[EY]),
					   gpuemu_arg_ptr(f->field[HZ]), gpuemu_arg_s32(step),
					   gpuemu_arg_s32(rows), gpuemu_arg_s32(cols));
		if (!ret)
			ret = WORKLOAD_LAUNCH_GRID(w, "fdtd_ex", grid, block,
						   gpuemu_arg_ptr(f->field[EX]),
						   gpuemu_arg_ptr(f->field[HZ]),
						   gpuemu_arg_s32(rows), gpuemu_arg_s32(cols));
		if (!ret)
			ret = WORKLOAD_LAUNCH_GRID(w, "fdtd_hz", grid, block,
						   gpuemu_arg_ptr(f->field[EX]),
						   gpuemu_arg_ptr(f->field[EY]),
						   gpuemu_arg_ptr(f->field[HZ]),
						   gpuemu_arg_s32(rows), gpuemu_arg_s32(cols));
	}
	return ret ? ret : workload_synchronize(w);
}

/* A step on the CPU, cell by cell: what ey and ex need of hz is of the step before. */
static void step(const struct workload *w, float source, float *ex, float *ey, float *hz)
{
	uint64_t rows = w->option[ROWS], cols = w->option[COLS];

	for (uint64_t y = 0; y < rows; y++) {
		for (uint64_t x = 0; x < cols; x++) {
			uint64_t at = y * cols + x;

			ey[at] = y ? fmaf(-0.5f, hz[at] - hz[at - cols], ey[at]) : source;
			if (x)
				ex[at] = fmaf(-0.5f, hz[at] - hz[at - 1], ex[at]);
		}
	}
	for (uint64_t y = 0; y + 1 < rows; y++) {
		for (uint64_t x = 0; x + 1 < cols; x++) {
			uint64_t at = y * cols + x;

			hz[at] = fmaf(-0.7f, (ex[at + 1] - ex[at]) + (ey[at + cols] - ey[at]),
				      hz[at]);
		}
	}
}

static int fdtd2d_verify(struct workload *w)
{
	struct fdtd2d *f = w->state;
	uint64_t cells = elements(w, HZ);
	float *want = check_memory(w, 3 * cells, sizeof(float)), *at[FIELDS];
	int ret = 0;

	if (!want)
		return -ENOMEM;
	for (unsigned int i = EX; i < FIELDS; i++) {
		at[i] = want + (i - EX) * cells;
		fill_floats(w, i, at[i], cells, -1, 1);
	}
	ret = fill_check(w, "source", SOURCE, f->field[SOURCE], elements(w, SOURCE), -1, 1);
	for (uint64_t i = 0; i < w->option[STEPS] && !ret; i++)
		step(w, f->field[SOURCE][i], at[EX], at[EY], at[HZ]);
	for (unsigned int i = EX; i < FIELDS && !ret; i++)
		ret = check_floats(w, fdtd_names[i], 0, f->field[i], at[i], cells);
	free(want);
	return ret;
}

const struct workload_ops workload_fdtd2d = {
	.name = "fdtd2d",
	.help = "electromagnetic fields in 2-D over time by finite differences (PolyBench)",
	.exercises = "streaming loads, L1D reuse between rows, three short launches a step",
	.options = {
		[ROWS] = { "rows", 1024, 1, 1u << 15, "of the fields; 12 bytes a cell",
			   .quick = 256, .tiny = 61 },
		[COLS] = { "cols", 1024, 1, 1u << 15, "of the fields", .quick = 256, .tiny = 67 },
		[STEPS] = { "steps", 3, 1, 1u << 20, "of time", .tiny = 2 },
	},
	.state_bytes = sizeof(struct fdtd2d),
	.setup = fdtd2d_setup,
	.run = fdtd2d_run,
	.verify = fdtd2d_verify,
};
#endif
