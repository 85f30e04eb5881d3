/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The largest launch of any GPU (CUDA C programming guide, technical specifications: the same
 * since compute capability 3.0).
 */
#ifndef GPUEMU_BASE_LAUNCH_H
#define GPUEMU_BASE_LAUNCH_H

#define GRID_X_MAX		0x7fffffffu	/* CTAs */
#define GRID_YZ_MAX		65535u
#define BLOCK_XY_MAX		1024u		/* threads */
#define BLOCK_Z_MAX		64u
#define BLOCK_THREADS_MAX	1024u		/* in all */

#endif
