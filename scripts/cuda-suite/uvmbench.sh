# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2016
# UVMBench's programs (UVM_benchmarks), all with managed memory. PolyBench's sizes are in its sources: they are made
# small. Rodinia's CPU versions are those of rodinia/ beside it.
U=$S/UVM_benchmarks R=$suites/rodinia/openmp
small=$work/uvmbench
# FILE FOLDER: a copy with its own folder's headers, the sizes divided.
smaller() {
	mkdir -p "$small/$2"
	sed -E 's/^(# ?define (NI|NJ|NK)) 256$/\1 32/; s/^(# ?define (N|NI|NJ|NK|NL|NM|NX|NY|M)) (512|1024|2048|4096)$/\1 256/;
		s/^#define tmax 500/#define tmax 10/' "$U/$2/$1" >"$small/$2/$1"
}

mkdir -p "$small"
ln -sfn "$S/common" "$work/common"

for p in "$U"/polybench/*/*.cu; do
	[ -f "$p" ] || continue
	name=$(basename "$(dirname "$p")")
	smaller "$(basename "$p")" "polybench/$name"
	program "$name" "-I$U/polybench/$name \$small/polybench/$name/$(basename "$p")" '' \
		'says "(Threshold|Different|differ|misses).*: 0$"'
done
program BN '-I$U/BN $U/BN/ordergraph.cu' '' ''
# Its kernel's threads read `delta` while the next one may write it already: a barrier is missing. Its steps end when none
# changes a number by 1e-4, so builds whose expf() differs in the last bit stop at other numbers.
mkdir -p "$small/SVM"
cp "$U"/SVM/*.{cu,h} "$small/SVM"
sed -i 's/^      sigma\[j\] += delta \* .*/& __syncthreads();/; s/^        sigma\[j\] += delta\[0\] \* .*/& cg::sync(grid);/' "$small/SVM/suboptimisation.cu"
program SVM '-rdc=true $small/SVM/*.cu' '5 64 93' 'twice "$sources" "$args" 0.05'
program bfs '-I$U/bfs $U/bfs/*.cu $U/bfs/*.cpp' '5 4096 16384' 'says "Output OK" && ! says "Wrong"'
mkdir -p "$work/run/$suite/kmeans/result/cuda" "$work/run/$suite/kmeans_standard/results/standard" "$work/run/$suite/CNN" && ln -sfn "$IN/CNN/data" "$work/run/$suite/CNN/data"
program kmeans '$U/kmeans/kmeans_cuda.cu' '3 $IN/points 2000' ''
program CNN '-I$U/CNN $U/CNN/*.cu' '' ''
program kmeans_standard '$U/kmeans/standard_kmeans.cu' '3 $IN/points 3 20' ''
# It compares its distances with the CPU's: two of its lines say that all are right.
mkdir -p "$small/knn"
sed -E 's/(ref_nb|query_nb) = 4096/\1 = 256/; s/iterations = 100?;/iterations = 2;/' "$U/knn/knn_cuda.cu" >"$small/knn/knn_cuda.cu"
program knn '$small/knn/knn_cuda.cu' '' '[ "$(grep -c "^1.000000, 1.000000$" out)" -eq 2 ]'
program logistic-regression '$U/logistic-regression/*.cu $U/logistic-regression/Helper.c' '' ''
program backprop '-I$U/rodinia/backprop $U/rodinia/backprop/backprop_cuda.cu $U/rodinia/backprop/*.c' 4096 ''
program dwt2d '-I$U/rodinia/dwt2d $U/rodinia/dwt2d/*.cu $U/rodinia/dwt2d/dwt_cuda/*.cu' 'rgb -d 64x64 -f -5 -l 3' ''
program gaussian '$U/rodinia/gaussian/gaussian.cu' '-s 64' ''
program hotspot '$U/rodinia/hotspot/hotspot.cu' '64 2 4 $IN/temp64 $IN/power64 output' \
	'sed "s| / 1000.0||" $R/hotspot/hotspot_openmp.cpp >cpu.cpp && host_build cpu.cpp && host_run 64 64 4 2 $IN/temp64 $IN/power64 output &&
	inner output >inner && inner host/output >host/inner && same inner host/inner 1e-4'
program hotspot3D '-I$U/rodinia/hotspot3D $U/rodinia/hotspot3D/3D.cu' '64 8 10 $IN/power64x8 $IN/temp64x8 output' \
	'says "Accuracy: [0-9.]+e-0[3-9]"'
program nn '$U/rodinia/nn/nn_cuda.cu' '$IN/filelist -r 5 -lat 30 -lng 90' \
	'awk "{ d = (substr(\$0, 29, 5) - 30) ^ 2 + (substr(\$0, 34, 5) - 90) ^ 2; print sqrt(d) }" $IN/cane | sort -n | head -n5 >five &&
	 sed -n "s/.*Distance=//p" out >found && same found five 1e-4'
program nw '-DTRACEBACK $U/rodinia/nw/needle.cu' '128 10' \
	'host_build -DTRACEBACK $R/nw/needle.cpp && host_run 128 10 2 && same result.txt host/result.txt'
program particlefilter_naive '$U/rodinia/particlefilter/ex_particle_CUDA_naive_seq.cu' '-x 32 -y 32 -z 5 -np 500' ''
# It reads a matrix that it never wrote: with this, malloc's memory is zero.
MALLOC_PERTURB_=255 program particlefilter_float '$U/rodinia/particlefilter/ex_particle_CUDA_float_seq.cu' '-x 32 -y 32 -z 5 -np 500' ''
program pathfinder '-DBENCH_PRINT $U/rodinia/pathfinder/pathfinder.cu' '2000 50 10' \
	'host_build $R/pathfinder/pathfinder.cpp && host_run 2000 50 && same out host/out 0 --skip "[A-Za-z]"'
program srad '-DOUTPUT $U/rodinia/srad/srad.cu' '64 64 0 31 0 31 0.5 2' \
	'host_build -DOUTPUT $R/srad/srad_v2/srad.cpp && host_run 64 64 0 31 0 31 2 0.5 2 && same out host/out 1e-3 --skip "[A-Za-z]"'
program streamcluster '-I$U/rodinia/streamcluster $U/rodinia/streamcluster/streamcluster_cuda_cpu.cu $U/rodinia/streamcluster/streamcluster_cuda.cu' \
	'5 10 16 1024 1024 100 none output.txt 1' \
	'host_build $R/streamcluster/streamcluster_omp.cpp -lpthread && host_run 5 10 16 1024 1024 100 none output.txt 1 && same output.txt host/output.txt 1e-3'
