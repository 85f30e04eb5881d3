#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# compile.sh HOW SOURCE.cu OUT: a kernel file for the CPU (HOW is cpu), to PTX by
# clang at -O0 .. -O3, each for another GPU, or by nvcc (nvcc, nvcc-G: debug). A file says
# in a line `// arch: MIN[-MAX]` which GPUs its instructions need; it is compiled for none
# below or above. `// ptx: VERSION` is the least that its instructions need. Used by scripts/mk/differential.mk and fuzz.sh.
set -euo pipefail
how=$1 src=$2 out=$3
here=$(dirname "$0")

version=$(sed -n 's|^// ptx: ||p' "$src" | head -n 1)
range=$(sed -n 's|^// arch: ||p' "$src" | head -n 1)
low=${range%-*} high=${range#*-}
[ "$low" != "$range" ] || high=999
# Generated kernels compare things with themselves, and worse.
warnings=(-Wall -Werror -Wno-unknown-cuda-version -Wno-unused-function)
level=-O1
! grep -q '^// warnings: off' "$src" || { warnings=(-w) level=-O0; }

# within ARCH: ARCH, moved into the file's range
within() {
	local arch=$1
	[ -z "$low" ] || [ "$arch" -ge "$low" ] || arch=$low
	[ -z "$high" ] || [ "$arch" -le "$high" ] || arch=$high
	echo "$arch"
}

# A true i1 is -1 as a signed number, but LLVM before 20 converts 1 for `sitofp i1` (pull request
# 110866 of llvm-project), to which the optimizer turns C that converts 0 or -1. The text would not
# mean what the source does, so the i1 is widened between optimizer and code generator. The order
# of uses comes along for the rest to be what clang makes in one go; it cannot read asm's back.
widen_i1() {
	sed -E -e '/^ *uselistorder .* asm /d' \
		-e 's/^( *)(%([^ ]+)) = sitofp (<[0-9]+ x )?i1(>?) (.+) to (half|float|double|<)/'\
'\1%widened.\3 = sext \4i1\5 \6 to \4i32\5\n\1\2 = sitofp \4i32\5 %widened.\3 to \7/'
}

to_ptx() { # LEVEL ARCH PTX-VERSION
	local arch compiled
	arch=$(within "$2")
	# clang 14 knows GPUs up to sm_86: for a later one only the header of the text says so.
	compiled=$((arch > 86 ? 86 : arch))
	"${CLANG:-clang-14}" -x cuda --cuda-device-only -nocudainc -nocudalib \
		--cuda-path=/nonexistent --cuda-gpu-arch="sm_$compiled" -S "$1" \
		-emit-llvm -Xclang -emit-llvm-uselists -ffp-contract=off \
		-Xclang -target-feature -Xclang "+ptx$3" -I"$here" "${warnings[@]}" \
		-o "$out.ll" "$src"
	widen_i1 <"$out.ll" | "${CLANG:-clang-14}" -x ir -target nvptx64-nvidia-cuda -S "$1" \
		-Xclang -disable-llvm-passes -ffp-contract=off -Xclang -target-cpu -Xclang "sm_$compiled" \
		-Xclang -target-feature -Xclang "+ptx$3" -w -o "$out" -
	rm "$out.ll"
	# The instructions of asm texts are not clang's to know.
	[ -z "$version" ] || sed -i "s/^\.version.*/.version $(printf '%s\n' "$version" "$(sed -n 's/^\.version //p' "$out")" | sort -V | tail -n 1)/" "$out"
	[ "$arch" -le 86 ] || sed -i -e 's/^\.version.*/.version 8.6/' -e "s/^\.target sm_86/.target sm_$arch/" "$out"
}

case $how in
cpu)
	# The reference shall be right, and soon. What is between two fesetround() stays there.
	"${CLANG:-clang-14}" -x c++ -std=c++17 -DDIFF_CPU -shared -fPIC "$level" -ffp-contract=off \
		-frounding-math -I"$here" "${warnings[@]}" -Wno-unknown-pragmas \
		-o "$out" "$src" -lm
	;;
O0) to_ptx -O0 50 60 ;;
O1) to_ptx -O1 70 63 ;;
O2) to_ptx -O2 80 72 ;;
O3) to_ptx -O3 86 75 ;;
# nvcc 13 begins at sm_75.
nvcc) "${NVCC:-nvcc}" -ptx -fmad=false -arch="compute_$(within 90)" -I"$here" -o "$out" "$src" ;;
nvcc-G) "${NVCC:-nvcc}" -ptx -fmad=false -G -arch="compute_$(within 80)" -I"$here" -o "$out" "$src" ;;
*)
	echo "usage: compile.sh cpu|O0|O1|O2|O3|nvcc|nvcc-G SOURCE.cu OUT" >&2
	exit 2
	;;
esac
