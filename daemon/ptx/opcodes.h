/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The vocabulary of opcodes.def and modifiers.def. Private to the room.
 */
#ifndef GPUEMU_PTX_OPCODES_H
#define GPUEMU_PTX_OPCODES_H

#include "ptx/ptx.h"

#define T_NONE	0u
#define T_B8	(1u << PTX_B8)
#define T_B16	(1u << PTX_B16)
#define T_B32	(1u << PTX_B32)
#define T_B64	(1u << PTX_B64)
#define T_U32	(1u << PTX_U32)
#define T_U64	(1u << PTX_U64)
#define T_S32	(1u << PTX_S32)
#define T_S64	(1u << PTX_S64)
#define T_F16	(1u << PTX_F16)
#define T_F16X2	(1u << PTX_F16X2)
#define T_BF16	(1u << PTX_BF16)
#define T_BF16X2 (1u << PTX_BF16X2)
#define T_F32	(1u << PTX_F32)
#define T_F64	(1u << PTX_F64)
#define T_PRED	(1u << PTX_PRED)
#define T_X2	(1u << PTX_U16X2 | 1u << PTX_S16X2)
#define T_BITS	(T_B16 | T_B32 | T_B64)
#define T_SINT	(1u << PTX_S16 | T_S32 | T_S64)
#define T_INT	(T_SINT | 1u << PTX_U16 | T_U32 | T_U64)
#define T_WORD	(T_U32 | T_S32 | T_U64 | T_S64)
#define T_SMALL	(1u << PTX_U8 | 1u << PTX_S8)
#define T_HALF	(T_F16 | T_F16X2 | T_BF16 | T_BF16X2)
#define T_FLOAT	(T_F32 | T_F64)
#define T_MEM	(T_BITS | T_INT | T_SMALL | T_B8 | T_F16 | T_BF16 | T_F16X2 | T_BF16X2 | T_FLOAT)
#define T_CVT	(T_INT | T_SMALL | T_F16 | T_BF16 | T_FLOAT)
#define T_MOV	(T_BITS | T_INT | T_HALF | T_FLOAT | T_PRED)
#define T_ATOM	(T_B16 | T_B32 | T_B64 | T_WORD | T_HALF | T_FLOAT)
#define T_SET	(T_INT | T_HALF | T_F32)

#define G_RND	(1ull << 0)
#define G_RNDI	(1ull << 1)
#define G_FTZ	(1ull << 2)
#define G_SAT	(1ull << 3)
#define G_APPROX (1ull << 4)
#define G_HALF	(1ull << 5)
#define G_CMP	(1ull << 6)
#define G_BOOL	(1ull << 7)
#define G_SPACE	(1ull << 8)
#define G_CACHE	(1ull << 9)
#define G_ORDER	(1ull << 10)
#define G_VEC	(1ull << 11)
#define G_ATOM	(1ull << 12)
#define G_UNI	(1ull << 13)
#define G_TO	(1ull << 14)
#define G_SYNC	(1ull << 15)
#define G_SHFL	(1ull << 16)
#define G_VOTE	(1ull << 17)
#define G_PRMT	(1ull << 18)
#define G_SHF	(1ull << 19)
#define G_WARP	(1ull << 20)
#define G_SHIFTAMT (1ull << 21)
#define G_LEVEL	(1ull << 22)
#define G_TESTP	(1ull << 23)
#define G_CC	(1ull << 24)
#define G_BAR	(1ull << 25)
#define G_BARRED (1ull << 26)	/* after bar.red */
#define G_MATCH	(1ull << 27)
#define G_REDUX	(1ull << 28)
#define G_CLAMP	(1ull << 29)
#define G_NAN	(1ull << 30)
#define G_RELU	(1ull << 31)
#define G_NOFTZ	(1ull << 32)
#define G_IDX	(1ull << 33)
#define G_ABS	(1ull << 34)	/* after .xorsign */
#define G_MASK	(1ull << 35)
#define G_SIMD	(1ull << 38)
#define G_PROXY	(1ull << 36)
#define G_SATFINITE (1ull << 37)

enum mod_field {
	F_IGNORE, F_MODS, F_RND, F_CMP, F_UCMP, F_BOOL, F_SPACE, F_VEC, F_ATOM
};

/* How the timing class follows from the type: see class_of() in insn.c. */
enum class_rule {
	R_MOVE, R_ADD, R_MINMAX, R_MUL, R_MAD, R_DIV, R_SFU, R_SHUFFLE, R_MEMORY,
	R_BARRIER, R_EXIT, R_CALL
};

#endif
