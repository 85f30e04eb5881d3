#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Makes kernels_O*.ptx and functions.ptx from their sources again. The results are kept in the tree
# so that the tests read the same text whatever compiler is installed.
cd "$(dirname "$0")" || exit 1
for level in 0 1 2 3; do
	${CLANG:-clang-14} -x cuda --cuda-device-only -nocudainc -nocudalib \
		--cuda-path=/nonexistent --cuda-gpu-arch=sm_35 -ffp-contract=off \
		-O$level -S -o kernels_O$level.ptx kernels.cu || exit 1
done
${CLANG:-clang-14} -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=/nonexistent \
	--cuda-gpu-arch=sm_70 -O1 -S -o functions.ptx functions.cu
