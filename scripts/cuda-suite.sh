#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Third-party CUDA programs through gpuemu: builds each with `gpuemu cc`, runs it with `gpuemu exec`, and compares
# what it computes with the suite's own check or its own CPU version. Prints a table: built, ran, verified, why not.
#
#   scripts/cuda-suite.sh DIR [-t] [-k] [WORD...]
#
# DIR has one folder a suite, as their authors lay them out: rodinia/ (of 3.1: cuda/, openmp/, common/), polybench/
# (PolyBench-ACC: CUDA/, common/), shoc/ (src/), cuda-samples/ (Samples/, Common/). Those that are there are used. A
# word chooses a suite or a program. -t: with the cycle model (else --functional); -k: what was built stays.
# The suites are no part of this project. The tables of their programs are scripts/cuda-suite/SUITE.sh.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '4,13s/^# \{0,1\}//p' "$0"; }

mode=--functional keep=
suites=
while [ $# -gt 0 ]; do
	case $1 in
	-t) mode= ;;
	-k) keep=y ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) [ -n "$suites" ] && break; suites=$(cd "$1" && pwd) || exit 2 ;;
	esac
	shift
done
[ -n "$suites" ] || { usage >&2; exit 2; }
words=" $* "

gpuemu=${GPUEMU:-$top/build/bin/gpuemu}
limit=${LIMIT:-120}
work=$(mktemp -d "${TMPDIR:-/tmp}/cuda-suite-XXXXXX")
[ -n "$keep" ] && echo "# what is built: $work" >&2 || trap 'rm -rf "$work"' EXIT
# Programs look for ../../data and ../../../data, too, from where they run.
IN=$work/data
python3 "$top/scripts/cuda-suite/inputs.py" "$IN" && mkdir -p "$work/run" "$work/include/GL" && ln -s "$IN" "$work/run/data" || exit 1
# Headers that programs include and do not use.
: >"$work/include/GL/glew.h"
: >"$work/include/cuda_gl_interop.h"
# clang does not take gcc's omp.h.
cat >"$work/include/omp.h" <<-'END'
	#ifdef __cplusplus
	extern "C" {
	#endif
	double omp_get_wtime(void);
	int omp_get_thread_num(void), omp_get_num_threads(void), omp_get_max_threads(void), omp_get_num_procs(void);
	void omp_set_num_threads(int);
	#ifdef __cplusplus
	}
	#endif
END
# Signed numbers wrap, as programs' random numbers count on and compilers need not have it.
extra="-fwrapv -I$work/include -Wl,--as-needed $(gcc -print-file-name=libgomp.so)"
built=0 ran=0 verified=0 same=0 wrong=0 all=0

gcc -O1 -w -shared -fPIC -o "$work/record.so" "$top/scripts/cuda-suite/record.c" -ldl || exit 1
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)

# --- what a table's checks use ---------------------------------------------------

# The program's output has a line like this.
says() { grep -qE -- "$1" out; }
# The suite's CPU version, in a folder of its own, with the same arguments.
host_build() { mkdir -p host && g++ -w -O1 -fopenmp -fpermissive -o host/host "$@" -lm >host/build.log 2>&1; }
host_build_c() { mkdir -p host && gcc -w -O1 -fopenmp -fcommon -std=gnu89 -o host/host "$@" -lm >host/build.log 2>&1; }
host_run() {
	(cd host && OMP_NUM_THREADS=2 timeout "$limit" ./host "$@" >out 2>&1) || [ $? -lt 124 ] || exit 4
}
# Rodinia's CPU version of hotspot is wrong in the outer blocks, and its time step is another.
inner() { awk '$1 / 64 >= 20 && $1 / 64 < 44 && $1 % 64 >= 20 && $1 % 64 < 44' "$1"; }
# Two files have the same words; numbers may differ by this share.
same() { python3 "$top/scripts/cuda-suite/same.py" "$@"; }

# A program without a check: what it gets back from the device must be what it gets when another compiler built it
# (nvcc, or clang-14 where nvcc does not take it), and with the cycle model, which runs warps in another order. 5: as far
# as that could be run, it is.
twice() { # SOURCES-AND-FLAGS ARGUMENTS [SHARE]
	local other=nvcc same="" share=${3:-0.001} ret

	[ -s record ] || { echo 'it brings nothing back'; return 3; }
	mkdir -p other
	eval "timeout 300 ${nvcc:-false} -w -O2 -std=c++14 -cudart shared -arch=sm_75 -Xcompiler -fpermissive,-w,-fwrapv -I$work/include $1 -lgomp -o other/program" >other/build.log 2>&1 ||
		{ other=clang-14 && eval "timeout 300 '$gpuemu' cc --clang=clang++-14 -O1 -w $extra $1 -o other/program" >other/build.log 2>&1; } || other=
	if [ -n "$other" ]; then
		eval "CUDA_RECORD=other/record LD_PRELOAD=$work/record.so timeout $limit '$gpuemu' exec --quiet --backend sim --vram 2G $mode other/program $2" >other/out 2>other/err </dev/null
		[ $? -lt 124 ] && { python3 "$top/scripts/cuda-suite/recorded.py" record other/record "$share" || return 1; } && same=" by $other's build"
	fi
	if [ -n "$mode" ]; then
		eval "CUDA_RECORD=timed LD_PRELOAD=$work/record.so timeout $limit '$gpuemu' exec --quiet --backend sim --vram 2G ./program $2" >other/out 2>other/err </dev/null
		ret=$?
		[ $ret -lt 124 ] && { python3 "$top/scripts/cuda-suite/recorded.py" record timed "$share" || return 1; } && same="$same${same:+,} with the cycle model"
	fi
	[ -n "$same" ] || { echo 'neither another build nor the cycle model ended'; return 3; }
	echo "no check of its own; the same data$same"
	return 5
}

# --- one program -----------------------------------------------------------------

row() { printf '%-13s %-24s %-6s %-4s %-9s %s\n' "$@"; }

first_error() { grep -m1 -E 'error|gpuemu' "$1" | sed "s|$suites/||g; s|$work/||g" | cut -c1-150; }

# program NAME SOURCES-AND-FLAGS ARGUMENTS CHECK: words of the shell, in a folder of the program's own; S is the suite's.
program() {
	local name=$1 sources=$2 args=$3 check=$4 dir=$work/run/$suite/$1 state why=

	case $words in '  ' | *" $suite "* | *" $name "*) ;; *) return ;; esac
	mkdir -p "$dir" && cd "$dir" || exit 1
	all=$((all + 1))
	if ! eval "timeout 300 '$gpuemu' cc -O2 -w $extra $sources -o program" >build.log 2>&1; then
		row "$suite" "$name" no - - "$(first_error build.log)"
		return
	fi
	built=$((built + 1))
	eval "CUDA_RECORD=record LD_PRELOAD=$work/record.so timeout $limit '$gpuemu' exec --quiet --backend sim --vram 2G $mode ./program $args" >out 2>err </dev/null
	state=$?
	why=$(first_error err)
	if [ $state -ge 124 ] || { [ $state -ne 0 ] && ! [[ $check == *any-status* ]]; } || [[ $why == *gpuemu:* && $why != *Assertion* ]]; then
		row "$suite" "$name" yes no - "status $state: ${why:-$(tail -n1 out | cut -c1-120)}"
		return
	fi
	ran=$((ran + 1))
	check=${check#any-status}
	[ -n "${check// /}" ] || check='twice "$sources" "$args"'
	(eval "$check") >check.log 2>&1
	state=$?
	if [ $state -eq 0 ]; then
		verified=$((verified + 1))
		row "$suite" "$name" yes yes yes ''
	elif [ $state -eq 5 ]; then
		same=$((same + 1))
		row "$suite" "$name" yes yes same "$(tail -n1 check.log)"
	elif [ $state -eq 3 ]; then
		row "$suite" "$name" yes yes - "$(tail -n1 check.log | grep . || echo 'its exit status alone says that it is right')"
	elif [ $state -eq 4 ]; then
		row "$suite" "$name" yes yes - "the CPU version did not end within $limit s"
	else
		wrong=$((wrong + 1))
		row "$suite" "$name" yes yes NO "$(tail -n1 check.log | cut -c1-150)"
	fi
}

row suite program built ran verified 'why not'
for suite in rodinia polybench parboil shoc altis uvmbench uvmsmart cuda-samples; do
	S=$suites/$suite
	[ -d "$S" ] || continue
	# shellcheck source=/dev/null
	. "$top/scripts/cuda-suite/$suite.sh"
done
cd "$top" || exit 1
echo "$all programs: $built built, $ran ran, $verified verified, $same the same in other ways, $wrong wrong"
[ "$wrong" -eq 0 ]
