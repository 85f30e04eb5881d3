# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2016
# Rodinia 3.1's 28 programs. Most have a CPU version beside them; `same` compares the two outputs.
C=$S/cuda O=$S/openmp

# lavaMD's input is of the time of day.
mkdir -p "$work/lavaMD"
for half in cuda openmp; do
	sed 's/srand(time(NULL))/srand(7)/' "$S/$half/lavaMD/main.c" >"$work/lavaMD/$half.c"
done
# kmeans names its constant by a string, which CUDA 5 dropped, and takes no notice of the error: on hardware, too, its
# constant stays zero. The CPU version has what it would print in a comment.
mkdir -p "$work/kmeans"
sed 's/cudaMemcpyToSymbol("c_clusters"/cudaMemcpyToSymbol(c_clusters/' "$C/kmeans/kmeans_cuda.cu" >"$work/kmeans/kmeans_cuda.cu"
sed '/Cluster Centers Output/s|/\*||; /^\*\/$/d' "$O/kmeans/kmeans_openmp/kmeans.c" >"$work/kmeans/kmeans.c"
# leukocyte's library of matrices, which its makefile takes from its own folder.
meschach() {
	local m=$C/leukocyte/meschach_lib f

	mkdir -p "$work/meschach"
	for f in "$m"/*.c; do
		# Programs of their own.
		case $f in *tort*.c | */tut*.c | */maxint.c | *macheps.c | */extras.c) continue ;; esac
		gcc -c -w -O1 -std=gnu89 "-I$m" -o "$work/meschach/$(basename "$f" .c).o" "$f"
	done
	ar rc "$work/meschach.a" "$work"/meschach/*.o
}
case $words in '  ' | *' rodinia '* | *' leukocyte '*) meschach >"$work/meschach.log" 2>&1 ;; esac

program b+tree '-I$C/b+tree/util $C/b+tree/main.c $C/b+tree/kernel/kernel_gpu_cuda_wrapper*.cu $C/b+tree/util/*/*.c $C/b+tree/util/cuda/cuda.cu' \
	'file $IN/mil command $IN/commands' \
	'host_build_c $O/b+tree/main.c $O/b+tree/kernel/*.c $O/b+tree/util/*/*.c && host_run cores 2 file $IN/mil command $IN/commands && same output.txt host/output.txt'
program backprop '$C/backprop/*.c $C/backprop/backprop_cuda.cu' 4096 ''
program bfs '$C/bfs/bfs.cu' '$IN/graph' \
	'host_build $O/bfs/bfs.cpp && host_run 2 $IN/graph && same result.txt host/result.txt'
for p in euler3d euler3d_double pre_euler3d pre_euler3d_double; do
	program $p '-I$C/cfd $C/cfd/'$p'.cu' '$IN/domain' \
		'host_build -Dblock_length=4 $O/cfd/'"${p/euler3d/euler3d_cpu}"'.cpp && host_run $IN/domain &&
		for f in density momentum density_energy; do same $f host/$f 2e-3 || exit 1; done'
done
program dwt2d '-I$C/dwt2d $C/dwt2d/*.cu $C/dwt2d/dwt_cuda/*.cu' 'rgb -d 64x64 -f -5 -l 3' ''
program gaussian '$C/gaussian/gaussian.cu' '-s 64' ''
program heartwall '-DOUTPUT -I$C/heartwall/AVI $C/heartwall/main.cu $C/heartwall/AVI/*.c' '$IN/avi 2' \
	'host_build_c -DOUTPUT -I$O/heartwall/AVI $O/heartwall/main.c $O/heartwall/AVI/*.c && host_run $IN/avi 2 2 && same result.txt host/result.txt'
program hotspot '$C/hotspot/hotspot.cu' '64 2 4 $IN/temp64 $IN/power64 output' \
	'sed "s| / 1000.0||" $O/hotspot/hotspot_openmp.cpp >cpu.cpp && host_build cpu.cpp && host_run 64 64 4 2 $IN/temp64 $IN/power64 output &&
	inner output >inner && inner host/output >host/inner && same inner host/inner 1e-4'
program hotspot3D '$C/hotspot3D/3D.cu' '64 8 10 $IN/power64x8 $IN/temp64x8 output' \
	'says "Accuracy: [0-9.]+e-0[3-9]"'
program huffman '-DTESTING -DCACHECWLUT $C/huffman/main_test_cu.cu $C/huffman/vlc_kernel_sm64huff.cu $C/huffman/scan.cu $C/huffman/pack_kernels.cu $C/huffman/stats_logger.cpp $C/huffman/cpuencode.cpp' \
	'$IN/bytes' 'says "PASS"'
program hybridsort '-DHISTO_WG_SIZE_0=96 -DVERIFY $C/hybridsort/bucketsort.cu $C/hybridsort/mergesort.cu $C/hybridsort/main.cu' r \
	'says "PASSED"'
program kmeans '-I$C/kmeans $C/kmeans/*.c $work/kmeans/kmeans_cuda.cu' '-o -i $IN/kmeans.txt' \
	'host_build_c -I$O/kmeans/kmeans_openmp $work/kmeans/kmeans.c $O/kmeans/kmeans_openmp/[cgr]*.c $O/kmeans/kmeans_openmp/kmeans_clustering.c &&
	host_run -n 2 -i $IN/kmeans.txt && grep "^[0-9]:" out >centers && grep "^[0-9]:" host/out >host/centers && same centers host/centers --within 0.02'
program lavaMD '-DOUTPUT -I$C/lavaMD $work/lavaMD/cuda.c $C/lavaMD/kernel/kernel_gpu_cuda_wrapper.cu $C/lavaMD/util/*/*.c $C/lavaMD/util/device/device.cu' '-boxes1d 3' \
	'host_build_c -DOUTPUT -I$O/lavaMD $work/lavaMD/openmp.c $O/lavaMD/kernel/*.c $O/lavaMD/util/*/*.c && host_run -cores 2 -boxes1d 3 && same result.txt host/result.txt 1e-3'
# Its kernel writes a row of a cell's matrix while other warps read it, so that places differ by a pixel.
program leukocyte '-DOUTPUT -I$C/leukocyte/meschach_lib $C/leukocyte/CUDA/*.c $C/leukocyte/CUDA/*.cu $work/meschach.a -lm' '$IN/avi-leukocyte 1' \
	'host_build_c -DOUTPUT -I$C/leukocyte/meschach_lib $O/leukocyte/OpenMP/*.c $work/meschach.a && host_run 1 2 $IN/avi-leukocyte &&
	same result.txt host/result.txt --within 1.5'
program lud '-I$C/lud/common -I$C/lud/common $C/lud/cuda/lud.cu $C/lud/cuda/lud_kernel.cu $C/lud/common/common.c' '-s 128 -v' \
	'! says "dismatch" && says "Verify"'
program mummergpu '-include unistd.h -I$C/mummergpu/src $C/mummergpu/src/mummergpu.cu $C/mummergpu/src/mummergpu_main.cpp $C/mummergpu/src/mummergpu_gold.cpp $C/mummergpu/src/suffix-tree.cpp $C/mummergpu/src/PoolMalloc.cpp' \
	'$IN/reference.fna $IN/query.fna' ''
# From where it starts here its equations run away (derivatives of 1e30): roundings grow without end. So the 91 numbers of
# its first kernel count: they are what the kernel's code gives on the CPU with doubles.
first_kernel() {
	printf '%s\n' '#include <math.h>' '#include <stdio.h>' '#define __device__ static' '#define fp double' '#include "kernel_ecc.cu"' '#include "kernel_cam.cu"' \
		'static double y[91], f[91], p[18], com[3];' 'static void read(const char *name, double *to, int n) { FILE *in = fopen(name, "r"); float x; while (n-- && fscanf(in, "%f", &x) == 1) *to++ = x; }' \
		'int main(int, char **v) { read(v[1], y, 91); read(v[2], p, 18); kernel_ecc(0, y, f, 0, p);' \
		'for (int k = 0; k < 3; k++) kernel_cam(0, y, f, 46 + 15 * k, p, 5 * k, com, k, y[35 + k] * 1e3);' \
		'for (int i = 0; i < 91; i++) printf("%.9e\n", f[i]); }' >first.cpp
	host_build "-I$C/myocyte" first.cpp && (cd host && ./host "$IN/myocyte/y.txt" "$IN/myocyte/params.txt" >first) &&
		tail -c +9 record | head -c 364 | python3 -c 'import array, sys; print(*array.array("f", sys.stdin.buffer.read()), sep="\n")' >first && same first host/first 1e-4
}
program myocyte '-I$C/myocyte $C/myocyte/main.cu' '10 1 0' first_kernel
program nn '$C/nn/nn_cuda.cu' '$IN/filelist -r 5 -lat 30 -lng 90' \
	'awk "{ d = (substr(\$0, 29, 5) - 30) ^ 2 + (substr(\$0, 34, 5) - 90) ^ 2; print sqrt(d) }" $IN/cane | sort -n | head -n5 >five &&
	 sed -n "s/.*Distance=//p" out >found && same found five 1e-4'
program nw '-DTRACEBACK $C/nw/needle.cu' '128 10' \
	'host_build -DTRACEBACK $O/nw/needle.cpp && host_run 128 10 2 && same result.txt host/result.txt'
program particlefilter_naive '$C/particlefilter/ex_particle_CUDA_naive_seq.cu' '-x 32 -y 32 -z 5 -np 500' ''
program particlefilter_float '$C/particlefilter/ex_particle_CUDA_float_seq.cu' '-x 32 -y 32 -z 5 -np 500' ''
program pathfinder '-DBENCH_PRINT $C/pathfinder/pathfinder.cu' '2000 50 10' \
	'host_build $O/pathfinder/pathfinder.cpp && host_run 2000 50 && same out host/out 0 --skip "[A-Za-z]"'
program srad_v1 '-I$C/srad/srad_v1 $C/srad/srad_v1/main.cu' '10 0.5 64 64' \
	'host_build_c $O/srad/srad_v1/main.c && host_run 10 0.5 64 64 2 && same image_out.pgm host/image_out.pgm --within 1'
program srad_v2 '-DOUTPUT $C/srad/srad_v2/srad.cu' '64 64 0 31 0 31 0.5 2' \
	'host_build -DOUTPUT $O/srad/srad_v2/srad.cpp && host_run 64 64 0 31 0 31 2 0.5 2 && same out host/out 1e-3 --skip "[A-Za-z]"'
program streamcluster '$C/streamcluster/streamcluster_cuda_cpu.cpp $C/streamcluster/streamcluster_cuda.cu' \
	'5 10 16 1024 1024 100 none output.txt 1' \
	'host_build $O/streamcluster/streamcluster_omp.cpp -lpthread && host_run 5 10 16 1024 1024 100 none output.txt 1 && same output.txt host/output.txt 1e-3'
