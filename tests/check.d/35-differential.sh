# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# timeout: 2400
#
# Kernels in CUDA C, compiled by clang at -O0 to -O3, against the same source on
# the CPU: on every lane table of the host, at every limit of registers, on the cycle model.
# The same through nvcc, where it is.
. tests/lib/tap.sh

out=build/differential
mkdir -p build/check
jobs=$(nproc)
make -k -j"$jobs" differential >build/check/differential.log 2>&1 || tail -n 40 build/check/differential.log >&2

# variant NAME FILE OPTION... -- PTX-VARIANT...: a file's kernels through the runner.
variant() {
	local name=$1 file=$2 options=() texts=() v
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for v in "$@"; do
		# What did not compile now must not be judged by what once did.
		if [ ! -s "$out/$file-$v.ptx" ] || [ "tests/differential/kernels/$file.cu" -nt "$out/$file-$v.ptx" ]; then
			tap_not_ok "$file: $v compiles" "see build/check/differential.log"
		else
			texts+=("$v=$out/$file-$v.ptx")
		fi
	done
	if [ ! -s "$out/$file.so" ] || [ "tests/differential/kernels/$file.cu" -nt "$out/$file.so" ]; then
		tap_not_ok "$file: compiles for the CPU" "see build/check/differential.log"
	elif [ ${#texts[@]} -gt 0 ]; then
		tap_program "$name" 300 $out/runner "${options[@]}" "$out/$file.so" "${texts[@]}"
	fi
}

make -s differential-names >build/check/differential.names
read -r -a files <<<"$(sed -n 's/^clang //p' build/check/differential.names)"
[ ${#files[@]} -ge 15 ] || tap_not_ok 'the kernel files' "only ${#files[@]}"
for file in "${files[@]}"; do
	variant "$file" "$file" -- O0 O1 O2 O3
	variant "$file, registers" "$file" --maxregs 0,128,64,48,40,32,28,24,22,20,19,18,17,16 -- O2
	variant "$file, timed" "$file" --timed -- O0 O3
	# The engine stops if a kernel accesses scratchpad that its phases did not ask for.
	variant "$file, zorua" "$file" --timed --set sm.cta=zorua -- O0 O2
	variant "$file, zorua, slots of stalled CTAs" "$file" --timed --set gpu.sms=1 --set sm.cta=zorua \
		--set zorua.slots=vt --set zorua.ctas=fits --set sm.warps=32 -- O2
	variant "$file, timed, registers" "$file" --timed --maxregs 0,20 -- O1
done

read -r -a files <<<"$(sed -n 's/^nvcc //p' build/check/differential.names)"
if command -v "${NVCC:-nvcc}" >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
	make -k -j"$jobs" differential-nvcc >build/check/differential-nvcc.log 2>&1 ||
		tail -n 40 build/check/differential-nvcc.log >&2
	for file in "${files[@]}"; do
		variant "$file" "$file" -- nvcc nvcc-G
		variant "$file, registers" "$file" --maxregs 40,24,16 -- nvcc
		variant "$file, timed" "$file" --timed -- nvcc-G
	done
else
	tap_skip differential nvcc 'nvcc is not installed'
fi
tap_done
