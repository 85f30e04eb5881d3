/* SPDX-License-Identifier: GPL-2.0 */
/* How much a text may hold. Private to the room. */
#ifndef GPUEMU_PTX_LIMITS_H
#define GPUEMU_PTX_LIMITS_H

/*
 * A text that stays below these is parsed in seconds and in less than a GiB;
 * compilers stay orders of magnitude below.
 */
#define PTX_MAX_INSNS	(1u << 20)	/* a module; functions count in every kernel that has them */
#define PTX_MAX_NAMES	(1u << 20)	/* a module: declared, and registers used */
#define PTX_MAX_VALUES	128		/* arguments, and results, of a function */
#define PTX_MAX_PARAM	(64u << 10)	/* bytes a kernel */
#define PTX_MAX_SHARED	(1u << 20)	/* bytes a kernel */
#define PTX_MAX_LOCAL	(512u << 10)	/* bytes a thread, the hardware's limit */
#define PTX_MAX_CONST	(64u << 10)	/* bytes a module, the hardware's limit */
#define PTX_MAX_GLOBAL	(256u << 20)	/* bytes a module */

#endif
