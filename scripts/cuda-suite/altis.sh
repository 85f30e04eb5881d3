# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2016
# Altis' programs: size class 1, one pass. Few of them check their results.
C=$S/src/cuda O=$S/src/common
shared="-I$O -I$C/common"
main='$C/common/main.cu $O/ResultDatabase.cpp $O/OptionParser.cpp $O/Option.cpp $O/ProgressBar.cpp'
# NAME SOURCES CHECK [ARGUMENTS]
altis() {
	program "$1" "$shared $2 $main" "-s 1 -n 1 ${4:-}" "$3"
}

altis busspeeddownload '$C/level0/busspeeddownload/BusSpeedDownload.cu' ''
altis busspeedreadback '$C/level0/busspeedreadback/BusSpeedReadback.cu' ''
altis devicememory '$C/level0/devicememory/DeviceMemory.cu' ''
altis maxflops '$C/level0/maxflops/MaxFlops.cu' ''
altis bfs '$C/level1/bfs/bfs.cu' '' '-i $S/data/bfs/bfs_1024'
altis gemm '$C/level1/gemm/Gemm.cu' ''
# It counts the places of its table that its updates left changed, adding up over its two ways, and says nothing of how
# many those should be.
changed() {
	python3 -c 'n = 1 << 14
t, r = list(range(n)), 1
for i in range(4 * n):
    r = (r << 1 & (1 << 64) - 1) ^ (7 if r >> 63 else 0)
    t[r & n - 1] ^= r
print(sum(t[i] != i for i in range(n)))'
}
altis gups '$C/level1/gups/gups.cu' 'n=$(changed) && says "CAS.*Found $n errors" && says "XOR.*Found $((2 * n)) errors"' '--shifts 14 --verbose'
altis pathfinder '$C/level1/pathfinder/pathfinder.cu' '' '--rows 128 --cols 64 --pyramidHeight 4 --instances 2'
altis sort '$C/level1/sort/Sort.cu $C/level1/sort/sort_kernel.cu' 'says "[Pp]assed|PASS" && ! says "[Ff]ailed|FAIL"'
altis cfd '$C/level2/cfd/euler3d.cu' '' '-i $IN/domain'
altis cfd_double '$C/level2/cfd/euler3d_double.cu' '' '-i $IN/domain'
# It writes behind a copy of its file's name, which the heap forgives where the name is short.
mkdir -p "$work/run/altis/dwt2d" && ln -sfn "$IN/rgb64.bmp" "$work/run/altis/dwt2d/rgb.bmp"
altis dwt2d '-I$C/level2/dwt2d/data -I$C/level2/dwt2d $C/level2/dwt2d/*.cu $C/level2/dwt2d/dwt_cuda/*.cu $C/level2/dwt2d/data/bmp.cpp' '' '-i rgb.bmp --pixWidth 64 --pixHeight 64'
altis fdtd2d '$C/level2/fdtd2d/fdtd2d.cu' 'says "Beyond Error Threshold.*: 0$"' --compare
# With --verify it copies its centers from a null pointer: a second variable of that name, in an inner block, has them.
mkdir -p "$work/altis-kmeans"
cp "$C"/level2/kmeans/*.{cu,h} "$work/altis-kmeans" 2>/dev/null && sed -i 's/\tpt<R> \*h_Centers = (pt<R>\*)malloc/\th_Centers = (pt<R>*)malloc/' "$work/altis-kmeans/kmeansraw.h"
altis kmeans '-I$C/level2/kmeans $work/altis-kmeans/*.cu' '' '-i $C/level2/kmeans/inputs/random-n2048-d16-c16.txt --rank 16 --centers 16 --steps 5 --seed 7 --verify'
altis lavamd '-I$C/level2/lavamd -I$C/level2/lavamd/util -I$C/level2/lavamd/kernel $C/level2/lavamd/lavaMD.cu $C/level2/lavamd/kernel/kernel_gpu_cuda_wrapper.cu $C/level2/lavamd/util/timer/timer.c' '' '--boxes1d 2'
altis mandelbrot '$C/level2/mandelbrot/mandelbrot.cu' '' '--imageSize 128 --iterations 64'
altis nw '$C/level2/nw/needle.cu' '' '--dimensions 128'
altis particlefilter_naive '$C/level2/particlefilter/ex_particle_CUDA_naive_seq.cu' '' '--dimx 32 --dimy 32 --framecount 5 --np 500'
altis particlefilter_float '$C/level2/particlefilter/ex_particle_CUDA_float_seq.cu' '' '--dimx 32 --dimy 32 --framecount 5 --np 500'
altis raytracing '$C/level2/raytracing/raytracing_cuda/raytracing.cu' '' '--X 64 --Y 48 --samples 2'
altis srad '-rdc=true $C/level2/srad/srad.cu' '' '--imageSize 64 --speckleSize 32 --iterations 2'
altis where '$C/level2/where/where.cu' '' '--length 4096 --coverage 50'
altis yolo '-I$C/level2/yolo/include $C/level2/yolo/src/*.cu $C/level2/yolo/src/*.c' ''
