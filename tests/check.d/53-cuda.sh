# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# CUDA programs, unmodified: each of tests/cuda verifies itself, built by gpuemu cc with each clang there is,
# and by nvcc where there is one. Then what `gpuemu exec` promises: status, output, report, options; and what
# the library shows.
. tests/lib/tap.sh

work=$PWD/build/check/cuda
rm -rf "$work"
mkdir -p "$work"
make -j"$(nproc)" programs libs >"$work/build.log" 2>&1 ||
	tap_not_ok 'the programs build' "$(tail -n 20 "$work/build.log")"
gpuemu=$PWD/build/bin/gpuemu
unset GPUEMU_BACKEND GPUEMU_DATADIR GPUEMU_LIBDIR GPUEMU_CLANG GPUEMU_CONFIG GPUEMU_SETTINGS
export GPUEMU_BACKEND=sim

run() { # PROGRAM: its own verdict, with what the program needs
	case $1 in
	*-managed) set -- --vram 2M "$1" ;;
	*-math | *-half | *-wrappers) set -- --functional "$1" ;;
	esac
	timeout 60 "$gpuemu" exec --quiet "$@" | grep -q ': passed$'
}

# The programs, as many compilers at a time as there are CPUs: COMPILER-NAME. clang-14 is Debian's default: what its
# mistakes are about, and the widest headers. functions has each function, with an answer of success and CUDA's errors.
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
functions='tests/cuda/functions/*.cu tests/cuda/functions/*.cpp'
{
	for clang in clang++-16 clang++-14; do
		for src in tests/cuda/*.cu; do
			name=$(basename "$src" .cu)
			case $clang-$name in *-16-* | *-shared | *-math | *-half | *-placed | *-as_nvcc | *-signs | *-prints | *-names | *-wide | *-news) ;; *) continue ;; esac
			echo "$clang-$name $gpuemu cc --clang=$clang $src"
		done
	done
	# Expressions at random; the seeds have what these compilers get wrong and gpuemu cc mends.
	for seed in 2 18; do
		python3 tests/cuda/expressions.py $seed >"$work/expressions$seed.cu"
		for clang in clang++-16 clang++-14; do
			echo "$clang-expressions$seed $gpuemu cc --clang=$clang -w -O2 -fwrapv -ffp-contract=off -Itests/cuda $work/expressions$seed.cu"
		done
	done
	echo "clang++-16-functions $gpuemu cc --clang=clang++-16 $functions"
	if [ -n "$nvcc" ]; then
		for name in vecadd symbols shared memory streams overlap errors cooperative pointers heap textures placed register threads groups grid rounding as_nvcc signs intrinsics prints deep names wide timer news; do
			echo "nvcc-$name $nvcc -cudart shared -arch=sm_75 tests/cuda/$name.cu"
		done
		echo "nvcc-linked $nvcc -cudart shared -arch=sm_75 -rdc=true $(echo tests/cuda/linked/*.cu)"
		echo "nvcc-per-thread $nvcc -cudart shared -arch=sm_75 --default-stream per-thread tests/cuda/streams.cu"
		echo "nvcc-per_thread $nvcc -cudart shared -arch=sm_75 --default-stream per-thread -Itests/cuda tests/cuda/apart/per_thread.cu"
		for mode in none speed balance; do
			echo "nvcc-mode-$mode $nvcc -cudart shared -arch=sm_75 -compress-mode=$mode tests/cuda/vecadd.cu"
		done
		echo "nvcc-functions $nvcc -cudart shared -arch=sm_75 -Wno-deprecated-declarations $functions"
	fi
} >"$work/programs"
# What cases further down run.
if [ -n "$nvcc" ]; then
	echo "half-by-nvcc $nvcc -cudart shared -arch=sm_80 tests/cuda/half.cu"
	echo "machine-code $nvcc -cudart shared -gencode arch=compute_75,code=sm_75 tests/cuda/vecadd.cu"
fi >"$work/others"
for o in -O0 -O2; do
	echo "debug$o $gpuemu cc -g $o $work/debug.cu"
done >>"$work/others"
printf '#include <map>\n#include <string>\n__global__ void k(int *p) { for (int i = 0; i < (int)threadIdx.x; i++) p[i] = i; }\nint main(int n, char **) { double sum = 0; std::map<std::string, int> m; for (int i = 0; i < n; i++) { m["x"] += i; sum += m["y"]; } int *p; return cudaMallocManaged(&p, 128) || (k<<<1, 32>>>(p), cudaDeviceSynchronize()) || m["x"] || sum; }\n' >"$work/debug.cu"
cat "$work/others" "$work/programs" |
	xargs -P "$(nproc)" -d '\n' -n 1 sh -c "name=\${0%% *}; \${0#* } -o '$work/'\$name >'$work/'\$name.log 2>&1"
built() { [ -x "$work/$1" ] || { cat "$work/$1.log"; return 1; }; }
while read -r program _; do
	tap_check "${program##*-}: ${program%-*} builds it" built "$program"
	tap_check "${program##*-}: it runs, built by ${program%-*}" run "$work/$program"
done <"$work/programs"
for v in 11.0 12 13; do
	tap_check "libcudart.so.$v: each function that it offers has a row there" tests/cuda/functions/untested.sh "build/lib/gpuemu/libcudart.so.$v"
done

# nvcc's options: those that clang lacks, its long names, and values as the next word. a * b + c is one instruction or two.
printf '#include "check.h"\n#include "plus.h"\nconstexpr int two() { return TWO; }\n__global__ void k(float *p) { p[0] = p[1] * p[2] + p[3]; }\nint main() { float *p, x = 1.000001f; cudaMallocManaged(&p, 16); p[1] = p[2] = x; p[3] = -1; k<<<1, 1>>>(p); cudaDeviceSynchronize(); volatile float y = x * x; volatile float fused = __builtin_fmaf(x, x, -1); printf(two() == PLUS && p[0] == (FUSED ? fused : y - 1) && y - 1 != fused ? "t: passed\\n" : "t: %%g\\n", p[0]); }\n' >"$work/options.cu"
mkdir -p "$work/plus" && echo '#define PLUS 2' >"$work/plus/plus.h"
for o in '-fmad=false -D FUSED=0' '--fmad false -DFUSED=0' '-fmad=true -DFUSED=1' '-DFUSED=1'; do
	tap_check "options of nvcc: $o" sh -c "'$gpuemu' cc -Itests/cuda $o -expt-relaxed-constexpr --expt-extended-lambda -extended-lambda --generate-line-info \
		-prec-div=true --ftz false -restrict --threads 4 --resource-usage --include-path '$work/plus' --define-macro TWO=2 -Xfatbin -compress-all \
		-Wno-deprecated-gpu-targets -diag-suppress 177 --compiler-options -Wall,-Wno-unused --disable-warnings -x cu --output-file '$work/options' '$work/options.cu' 2>&1 &&
		'$gpuemu' exec --quiet '$work/options' | grep passed"
done
tap_check 'options of nvcc: a link' sh -c "cd '$work' && '$gpuemu' cc -DFUSED=1 -DTWO=2 -Iplus -I$PWD/tests/cuda --compile -expt-relaxed-constexpr options.cu &&
	'$gpuemu' cc -expt-relaxed-constexpr -extended-lambda --library m options.o -o options-linked && '$gpuemu' exec --quiet ./options-linked | grep passed"

# -rdc=true: in one call, and as objects that are linked later; two files of one name in two folders.
mkdir -p "$work/one" "$work/two"
cp tests/cuda/linked/main.cu "$work/one/x.cu" && cp tests/cuda/linked/other.cu "$work/two/x.cu"
sed -i 's|"../check.h"|"check.h"|' "$work/one/x.cu"
for clang in clang++-16 clang++-14; do
	tap_check "-rdc=true: $clang" sh -c "'$gpuemu' cc --clang=$clang -rdc=true tests/cuda/linked/*.cu -o '$work/$clang-linked'"
	tap_check "-rdc=true: it runs, built by $clang" run "$work/$clang-linked"
done
tap_check 'cc -dc of files of one name, then a link' sh -c \
	"cd '$work/one' && '$gpuemu' cc -I$PWD/tests/cuda -dc x.cu && cd ../two && '$gpuemu' cc -dc x.cu && '$gpuemu' cc ../one/x.o x.o -o ../linked"
tap_check 'they run' run "$work/linked"
printf '__device__ int twice(int x) { return x; }\n' >"$work/again.cu"
tap_check 'a function that is defined twice: the message names it' sh -c \
	"'$gpuemu' cc -rdc=true tests/cuda/linked/*.cu '$work/again.cu' -o '$work/again' && ! '$gpuemu' exec --quiet '$work/again' >'$work/again.out' 2>&1 &&
	! grep -q passed '$work/again.out' && grep -q '_Z5twicei is defined twice' '$work/again.out'"
tap_check '__managed__ variables on uffd' sh -c "'$gpuemu' exec --quiet --backend uffd '$work/clang++-16-placed' | grep -q passed"

for clang in clang++-16 clang++-14; do
	for o in '--default-stream per-thread' -default-stream=per-thread -DCUDA_API_PER_THREAD_DEFAULT_STREAM "-D CUDA_API_PER_THREAD_DEFAULT_STREAM=1"; do
		tap_check "$clang $o: each thread has its own" sh -c "'$gpuemu' cc --clang=$clang -Itests/cuda $o tests/cuda/apart/per_thread.cu -lpthread -o '$work/per_thread' &&
			'$gpuemu' exec --quiet '$work/per_thread' | grep -q 'per_thread: passed'"
	done
done
printf '__global__ void k(__int128 *p) { p[3] = __builtin_mul_overflow(p[0], p[1], p + 2); }\nint main() {}\n' >"$work/wider.cu"
for clang in clang++-16 clang++-14; do
	tap_check "$clang: what it cannot do with __int128 is one line" sh -c "! TMPDIR='$work' '$gpuemu' cc --clang=$clang '$work/wider.cu' -o '$work/wider' 2>'$work/wider.err' &&
		[ \"\$(wc -l <'$work/wider.err')\" -eq 1 ] && grep -q '__muloti4.*: write it with' '$work/wider.err' && ! ls '$work' | grep '^wider-'"
done
tap_check 'cc --default-stream of another kind: one line' sh -c "! '$gpuemu' cc --default-stream mine tests/cuda/vecadd.cu -o '$work/mine' 2>'$work/mine.err' &&
	grep -q 'mine is none of legacy, null, per-thread' '$work/mine.err'"
tap_check 'strings in managed memory on uffd' sh -c "'$gpuemu' exec --quiet --backend uffd '$work/clang++-16-prints' | grep -q 'prints: passed'"

# The libraries and the program with ThreadSanitizer, whose own addresses managed memory has otherwise.
cat >"$work/tsan.sh" <<'END'
out=$1
mkdir -p "$out"
with="-std=gnu11 -D_GNU_SOURCE -O1 -g -fsanitize=thread -fPIC -fvisibility=hidden -Iinclude"
{
	for f in libgpuemu/*.c; do
		echo "$with -DARENA_START=0x7e9000000000ull -DARENA_END=0x7f0000000000ull -DGPUEMU_DATADIR='\".\"' -Iinclude/uapi -Idaemon -Ilibgpuemu $f -o $out/$(basename "$f" .c).gpuemu.o"
	done
	for f in cuda/cudart/*.c; do
		echo "$with -DCUDART_MAJOR=12 -Icuda/cudart -Icuda/include $f -o $out/$(basename "$f" .c).cudart.o"
	done
} | xargs -P "$(nproc)" -d '\n' -n 1 sh -c 'eval "clang-14 -Wno-everything -c $0"' &&
clang-14 -fsanitize=thread -shared "$out"/*.gpuemu.o -Wl,-soname,libgpuemu.so.0 -Wl,--start-group build/lib/rooms/*.a -Wl,--end-group \
	-lconfig -lm -lpthread -ldl -o "$out/libgpuemu.so.0" &&
clang-14 -fsanitize=thread -shared "$out"/*.cudart.o -Wl,-soname,libcudart.so.12 "$out/libgpuemu.so.0" -llz4 -lzstd -o "$out/libcudart.so.12" &&
build/bin/gpuemu cc --clang=clang++-14 -Wno-unused-command-line-argument -Xarch_host -fsanitize=thread tests/cuda/threads.cu \
	-lpthread -o "$out/threads"
END
tap_check 'threads: all builds with ThreadSanitizer' sh "$work/tsan.sh" "$work/tsan"
tap_check 'threads: no data race' sh -c \
	"LD_LIBRARY_PATH='$work/tsan' GPUEMU_SETTINGS='gpu.functional=1' setarch -R '$work/tsan/threads' >'$work/tsan.out' 2>&1
	grep -q 'threads: passed' '$work/tsan.out' && ! grep -q WARNING '$work/tsan.out' || { head -n 40 '$work/tsan.out'; exit 1; }"

# CMake's ways, with the toolchain file; a toolkit that is there is not used.
cmake -DCMAKE_TOOLCHAIN_FILE="$PWD/cuda/cmake/gpuemu-toolchain.cmake" -S tests/cuda/cmake -B "$work/cmake" >"$work/cmake.log" 2>&1
tap_check 'cmake: the project builds' sh -c "cmake --build '$work/cmake' -j$(nproc) >>'$work/cmake.log' 2>&1 || { tail -n 20 '$work/cmake.log'; exit 1; }"
for name in mixed separable runtime old; do
	tap_check "cmake: $name runs" run "$work/cmake/$name"
done

# --- the toolkit's compiler ------------------------------------------------------
if [ -n "$nvcc" ]; then
	tap_check "fp16 and bf16 have the bits of nvcc's" sh -c \
		"'$gpuemu' exec --quiet --functional '$work/half-by-nvcc' >'$work/half' && grep -q passed '$work/half' &&
		'$gpuemu' exec --quiet --functional '$work/clang++-16-half' | cmp - '$work/half'"
	tap_check 'machine code alone: an error that says how to build' sh -c \
		"'$gpuemu' exec --quiet '$work/machine-code' 2>&1 | grep -q 'build it with PTX'"
else
	tap_skip cuda 'programs that nvcc builds' 'nvcc is not installed'
fi

# --- exec ----------------------------------------------------------------------------
prog=$work/clang++-16-vecadd
tap_check "the program's output is all of stdout" sh -c "[ \"\$('$gpuemu' exec '$prog' 2>/dev/null)\" = 'vecadd: passed' ]"
tap_check 'the report is on stderr' sh -c "'$gpuemu' exec '$prog' 2>&1 >/dev/null | grep -q '^  _Z3addPKfS0_Pfi '"
tap_check 'the report in JSON has the kernels and the copies' sh -c \
	"'$gpuemu' exec --json '$work/report.json' '$prog' >/dev/null 2>&1 &&
	grep -q '\"name\": *\"_Z3addPKfS0_Pfi\"' '$work/report.json' && grep -q '\"h2d\": *2' '$work/report.json'"
tap_check 'a __device__ variable is on the device: no far fault' sh -c \
	"'$gpuemu' exec --details '$work/clang++-16-symbols' 2>&1 >/dev/null | grep -q '^  far faults 0 '"
tap_check 'two runs report the same, with variables of the program'"'"'s own memory too' sh -c \
	"for i in 1 2; do '$gpuemu' exec --json - '$work/clang++-16-placed' 2>/dev/null | grep cycles >'$work/same'\$i; done; cmp '$work/same1' '$work/same2'"
tap_check 'two runs report the same' sh -c \
	"'$gpuemu' exec --json - '$prog' 2>/dev/null | grep cycles >'$work/a'; '$gpuemu' exec --json - '$prog' 2>/dev/null | grep cycles |
	cmp - '$work/a'"
tap_check 'the exit status is the program'"'"'s' sh -c "'$gpuemu' exec --quiet sh -c 'exit 7'; [ \$? -eq 7 ]"
tap_check 'a signal is 128 and its number' sh -c "'$gpuemu' exec --quiet sh -c 'kill -9 \$\$'; [ \$? -eq 137 ]"
tap_check 'stdin is the program'"'"'s' sh -c "[ \"\$(echo hello | '$gpuemu' exec --quiet cat)\" = hello ]"
tap_check "arguments are the program's, options too" sh -c "[ \"\$('$gpuemu' exec --quiet echo --vram x)\" = '--vram x' ]"
tap_check 'two processes are two reports' sh -c \
	"'$gpuemu' exec --json - sh -c '$prog; $prog' 2>/dev/null | grep -c '\"program\": *{' | grep -qx 2"
tap_check 'options choose the GPU' sh -c \
	"'$gpuemu' exec --set gpu.sms=3 --json - '$prog' 2>/dev/null | grep -q '\"gpu.sms\": *\"\\?3'"
tap_check 'a program that gpuemu cc linked runs by itself' sh -c "'$prog' | grep -q passed"
tap_check 'no program' sh -c "'$gpuemu' exec; [ \$? -eq 2 ]"
tap_check 'a program that is not there: one line that names it' sh -c \
	"'$gpuemu' exec ./nowhere 2>'$work/nowhere'; [ \$? -eq 127 ] && [ \"\$(cat '$work/nowhere')\" = 'gpuemu exec: ./nowhere: No such file or directory' ]"
tap_check 'no source' sh -c "'$gpuemu' cc; [ \$? -eq 2 ]"
for o in -arch=foo '-arch foo' --gpu-architecture=sm_ '-arch=sm_70,sm_80'; do
	tap_check "cc $o: one line" sh -c "'$gpuemu' cc tests/cuda/vecadd.cu $o -o '$work/arch' 2>'$work/arch.err'; [ \$? -eq 2 ] && [ \"\$(wc -l <'$work/arch.err')\" -eq 1 ] &&
		grep -q 'is no architecture, as sm_70' '$work/arch.err'"
done
tap_check 'cc -arch without a value' sh -c "'$gpuemu' cc tests/cuda/vecadd.cu -arch 2>'$work/arch.err'; [ \$? -eq 2 ] && grep -q 'needs a value' '$work/arch.err'"
for o in '-arch sm_75' -arch=compute_80 --gpu-architecture=native; do
	tap_check "cc $o" sh -c "'$gpuemu' cc --ptx tests/cuda/vecadd.cu $o -o '$work/arch.ptx'"
done
tap_check 'cc -archive is not -arch: clang refuses it' sh -c "! '$gpuemu' cc -archive tests/cuda/vecadd.cu -o '$work/arch' 2>'$work/arch.err' && grep -q archive '$work/arch.err'"
tap_check 'a source that is not there: one line that names it' sh -c \
	"'$gpuemu' cc nowhere.cu 2>'$work/nowhere'; [ \$? -eq 1 ] && [ \"\$(cat '$work/nowhere')\" = 'gpuemu cc: nowhere.cu: No such file or directory' ]"
printf '__global__ void k() { nothing(); }\nint main() {}\n' >"$work/broken.cu"
mkdir "$work/tmp"
tap_check 'cc leaves no file in TMPDIR, whether it compiles or not' sh -c \
	"TMPDIR='$work/tmp' '$gpuemu' cc tests/cuda/vecadd.cu -o '$work/leaves' && ! TMPDIR='$work/tmp' '$gpuemu' cc '$work/broken.cu' -o '$work/leaves' 2>/dev/null &&
	TMPDIR='$work/tmp' '$gpuemu' cc --ptx tests/cuda/vecadd.cu -o '$work/leaves.ptx' && [ -z \"\$(ls '$work/tmp')\" ]"
tap_check 'cc -c, then a link of objects' sh -c \
	"cd '$work' && '$gpuemu' cc -c '$PWD/tests/cuda/vecadd.cu' && '$gpuemu' cc vecadd.o -o linked && '$gpuemu' exec --quiet ./linked | grep -q passed"
tap_check 'cc -g: the assembler has nothing to say' sh -c \
	"for o in -O0 -O2; do [ ! -s '$work'/debug\$o.log ] && '$gpuemu' exec --quiet '$work'/debug\$o || { head '$work'/debug\$o.log; exit 1; }; done"
# C is a C compiler's, as with nvcc: a name of C++, a function that nobody declared.
printf 'int main() { return twice(21) != 42; }\n' >"$work/x.c"
printf '#include <cuda_runtime_api.h>\nint twice(int x) { int class = x; return class * 2; }\n' >"$work/y.c"
tap_check 'cc takes C as C, with the headers' sh -c "cd '$work' && '$gpuemu' cc x.c y.c -o c-and-c && ./c-and-c"
tap_check 'cc -c of C, then a link' sh -c \
	"cd '$work' && '$gpuemu' cc -c x.c -o x.o && '$gpuemu' cc -c y.c && '$gpuemu' cc x.o y.o -o c-and-o && ./c-and-o"
# As nvcc has it: brackets of a launch with spaces in them, a macro right behind a string, cuda.h's names.
mkdir -p "$work/spaces"
printf '#define OWN 7\n#define HERE "here"\n' >"$work/spaces/own.h"
printf '#include <cuda.h>\n#include <cstdio>\n#include "own.h"\n__global__ void k(int *p) { *p = OWN; }\nint main() { int *p, v; cudaMalloc(&p, 4);\nk << < 1, (64 >> 6) >> > (p); printf("%%d %%s "HERE" %%d\\n", __LINE__, __FILE__, cudaMemcpy(&v, p, 4, cudaMemcpyDefault) == CUDA_SUCCESS); return v != OWN; }\n' >"$work/spaces/spaces.cu"
tap_check 'cc: a launch with spaces in its brackets, in its own folder, by its own name' sh -c \
	"cd '$work' && '$gpuemu' cc -w spaces/spaces.cu -o spaces/program && [ \"\$('$gpuemu' exec --quiet spaces/program)\" = '6 spaces/spaces.cu here 1' ]"
tap_check 'a call of checkCudaErrors() that fails ends the program' sh -c \
	"printf '#include <helper_cuda.h>\nint main() { checkCudaErrors(cudaSetDevice(7)); }\n' >'$work/fails.cu' &&
	'$gpuemu' cc '$work/fails.cu' -o '$work/fails' && ! '$gpuemu' exec --quiet '$work/fails' 2>'$work/fails.err' &&
	grep -q 'fails.cu:2: cudaSetDevice(7): cudaErrorInvalidDevice' '$work/fails.err'"
printf '#include <cuda_runtime_api.h>\nint main(void) { struct cudaDeviceProp p; int n; return sizeof(p) != 1032 || cudaGetDeviceCount(&n) || n != 1 || cudaGetDeviceProperties(&p, 0) || p.multiProcessorCount != 15 || !cudaGraphCreate(0); }\n' |
	sed 's/cudaGraphCreate(0)/cudaGraphCreate()/; s/^int main/cudaError_t cudaGraphCreate(void);\nint main/' >"$work/plain.c"
tap_check 'the headers are C, the structure is CUDA 12'"'"'s, and what is missing says so' sh -c \
	"gcc -Wall -Werror -Icuda/include '$work/plain.c' -Lbuild/lib/gpuemu -lcudart -Wl,-rpath-link,build/lib -o '$work/plain' &&
	'$gpuemu' exec --quiet '$work/plain' 2>&1 | grep -q 'cudaGraphCreate() is not supported'"

# --- the library's shape -----------------------------------------------------------------
for v in 11.0 12 13; do
	lib=build/lib/gpuemu/libcudart.so.$v
	tap_check "libcudart.so.$v: its soname" sh -c "readelf -d $lib | grep -q 'SONAME.*\\[libcudart.so.$v\\]'"
	tap_check "libcudart.so.$v: every symbol is of its version, and CUDA's" sh -c \
		"nm -D --defined-only $lib | awk '\$2 != \"A\" && \$3 !~ /^_*cuda[A-Za-z0-9_]*@@libcudart.so.$v\$/ { print; bad = 1 } END { exit bad }'"
	tap_check "libcudart.so.$v: what compilers and programs ask for first is there" sh -c \
		"for s in __cudaRegisterFatBinary __cudaRegisterFatBinaryEnd __cudaUnregisterFatBinary __cudaRegisterFunction __cudaRegisterVar \
			__cudaRegisterManagedVar __cudaInitModule __cudaPushCallConfiguration __cudaPopCallConfiguration __cudaGetKernel \
			__cudaLaunchKernel cudaLaunchKernel cudaMalloc cudaMemcpy cudaMemPrefetchAsync cudaGetDeviceProperties; do
			nm -D $lib | grep -q \" T \$s@@\" || { echo \$s; exit 1; }
		done"
	tap_check "libcudart.so.$v: needs libgpuemu, and of the engine nothing" sh -c \
		"readelf -d $lib | grep -q 'NEEDED.*libgpuemu.so.0' && ! nm -D $lib | grep -E ' U (gpu_|ptx_|exec_|spec_)'"
done
tap_check 'the table in docs/cuda.md has what the library has' sh -c \
	"nm -D --defined-only build/lib/gpuemu/libcudart.so.12 | sed -n 's/.* T \\(cuda[A-Za-z0-9]*\\)@.*/\\1/p' | sort -u >'$work/has'
	sed -n 's/^X(\\(.*\\))/\\1/p' cuda/cudart/missing.def | sort >'$work/missing'
	comm -23 '$work/has' '$work/missing' | while read -r f; do grep -q \"\\\`\$f\\\`\" docs/cuda.md || echo \$f; done |
	grep -v -e WithFlags -e cudaCreateChannelDesc | tee '$work/undocumented'; [ ! -s '$work/undocumented' ]"
tap_done
