# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2016
# SHOC's programs: size class 1, one pass. Those that check their results print "Passed" or "PASS".
C=$S/src/cuda O=$S/src/common
mkdir -p "$work/shoc/include"
[ -f "$S/config/config.h" ] || printf '#define %s\n' HAVE_CLOCK_GETTIME HAVE_CLOCK_PROCESS_CPUTIME_ID 'restrict __restrict' >"$work/shoc/include/config.h"
shared="-I$work/shoc/include -I$S/config -I$O -I$C/common"
main='$C/common/main.cpp $O/OptionParser.cpp $O/ResultDatabase.cpp $O/Option.cpp $O/ProgressBar.cpp $O/Timer.cpp $O/CTimer.cpp $O/InvalidArgValue.cpp'
passed='says "[Pp]assed|PASS" && ! says "[Ff]ailed|FAIL"'

for p in BusSpeedDownload BusSpeedReadback MaxFlops DeviceMemory; do
	program $p "$shared \$C/level0/$p.cu $main" '-s 1 -n 1' ''
done
program BFS "$shared \$C/level1/bfs/BFS.cu \$C/level1/bfs/bfs_kernel.cu \$O/Graph.cpp $main" '-s 1 -n 1' "$passed"
program FFT "$shared \$C/level1/fft/FFT.cpp \$C/level1/fft/fftlib.cu $main" '-s 1 -n 1' "$passed"
program GEMM "$shared \$C/level1/gemm/GEMM.cpp $main" '-s 1 -n 1' ''
program MD "$shared \$C/level1/md/MD.cu $main" '-s 1 -n 1' "$passed"
# It says where it looked for a wrong key: an endless rate.
program MD5Hash "$shared \$C/level1/md5hash/MD5Hash.cu $main" '-s 1 -n 1' 'says "MD5Hash.*GHash" && ! says "e\+38|inf|ERROR"'
program NeuralNet "$shared \$C/level1/neuralnet/NeuralNet.cu $main" '-s 1 -n 1' ''
program Reduction "$shared \$C/level1/reduction/Reduction.cu $main" '-s 1 -n 1' "$passed"
program Scan "$shared \$C/level1/scan/Scan.cu $main" '-s 1 -n 1' "$passed"
program Sort "$shared \$C/level1/sort/Sort.cu \$C/level1/sort/sort_kernel.cu $main" '-s 1 -n 1' "$passed"
program Spmv "$shared -I\$O/Spmv \$C/level1/spmv/Spmv.cu $main" '-s 1 -n 1' "$passed"
program Stencil2D "$shared -I\$C/level1/stencil2d \$C/level1/stencil2d/CUDAStencil.cpp \$C/level1/stencil2d/CUDAStencilFactory.cpp \$C/level1/stencil2d/CommonCUDAStencilFactory.cpp \$C/level1/stencil2d/CUDAStencilKernel.cu \$C/level1/stencil2d/Stencil2Dmain.cpp \$O/Matrix2DStatics.cpp $main" '-s 1 -n 1 --num-iters 4' 'says "pass 0: 0 validation errors" && ! says "[1-9][0-9]* validation errors"'
program Triad "$shared \$C/level1/triad/Triad.cu $main" '-s 1 -n 1' ''
# A warp writes points where the other one still reads: this barrier keeps them apart.
qtc=$work/shoc/qtclustering
mkdir -p "$qtc" && cp "$C"/level2/qtclustering/*.{cu,cpp,h} "$qtc"
sed -i 's/^        int pnt = tmp_pnts\[tid\];/& __syncthreads();/' "$qtc/kernels_common.h"
program QTC "$shared -I\$qtc \$qtc/*.cu \$qtc/*.cpp $main" '-s 1 -n 1' ''
program S3D "$shared -I\$C/level2/s3d \$C/level2/s3d/S3D.cu $main" '-s 1 -n 1' ''
