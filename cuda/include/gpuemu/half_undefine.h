/* SPDX-License-Identifier: GPL-2.0 */
/* What half_types.h and its like were given for one type goes before the next. */
#undef GPUEMU_N
#undef GPUEMU_H
#undef GPUEMU_H2
#undef GPUEMU_RAW
#undef GPUEMU_RAW2
#undef GPUEMU_PTX
#undef GPUEMU_TO
#undef GPUEMU_FROM
#undef GPUEMU_MAKE
#undef GPUEMU_VALUE
