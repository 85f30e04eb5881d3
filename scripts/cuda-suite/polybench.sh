# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2016
# PolyBench-GPU's programs: each computes on the CPU too and counts the results that differ.
for p in "$S"/CUDA/*/*.cu "$S"/CUDA/*/*/*.cu "$S"/CUDA/*/*/*/*.cu; do
	[ -f "$p" ] || continue
	program "$(basename "$p" .cu)" "-DMINI_DATASET -DRUN_ON_CPU -DPOLYBENCH_TIME -I$S/common -I$S/CUDA/utilities -I$(dirname "$p") $p" '' \
		'says "(Threshold|Different|differ|misses).*: 0$"'
done
