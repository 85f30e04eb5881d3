# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2016
# The programs of gpgpu-sim_UVMSmart (benchmarks/Managed), all with managed memory. Rodinia's CPU versions are those of
# rodinia/ beside it.
R=$suites/rodinia/openmp
# Their sources have the sizes; three would take minutes.
mkdir -p "$work/uvmsmart"
sed 's/numVertices = 1<<20/numVertices = 1<<12/' "$S/sssp/sssp.cu" >"$work/uvmsmart/sssp.cu"

program 2DCONV '$S/2DCONV/2DConvolution.cu' '' ''
program ATAX '$S/ATAX/atax.cu' '' ''
program AddVectors '$S/AddVectors/add_vectors.cu' '' 'says "Max error: 0$"'
program FDTD-2D '$S/FDTD-2D/fdtd2d.cu' '' ''
program StreamTriad '$S/StreamTriad/stream_triad.cu' '' 'grep "Max error = 0.000000" result_stream_triad.txt'
program backprop '$S/backprop/backprop.cu' 4096 ''
program bfs '$S/bfs/bfs.cu' '$IN/graph' 'host_build $R/bfs/bfs.cpp && host_run 2 $IN/graph && same result.txt host/result.txt'
program hotspot '$S/hotspot/hotspot.cu' '64 2 4 $IN/temp64 $IN/power64 output' \
	'sed "s| / 1000.0||" $R/hotspot/hotspot_openmp.cpp >cpu.cpp && host_build cpu.cpp && host_run 64 64 4 2 $IN/temp64 $IN/power64 output &&
	inner output >inner && inner host/output >host/inner && same inner host/inner 1e-4'
program nw '$S/nw/needle.cu' '128 10' \
	'host_build -DTRACEBACK $R/nw/needle.cpp && host_run 128 10 2 && tail -n1 result.txt >t && tail -n1 host/result.txt >host/t && same t host/t'
program pathfinder '-DBENCH_PRINT $S/pathfinder/pathfinder.cu' '2000 50 10' \
	'host_build $R/pathfinder/pathfinder.cpp && host_run 2000 50 && tail -n1 out >t && tail -n1 host/out >host/t && same t host/t'
program ra '$S/ra/main.cu' '' ''
program srad_v2 '-DOUTPUT $S/srad_v2/srad.cu' '64 64 0 31 0 31 0.5 2' \
	'host_build -DOUTPUT $R/srad/srad_v2/srad.cpp && host_run 64 64 0 31 0 31 2 0.5 2 && same out host/out 1e-3 --skip "[A-Za-z]"'
program sssp '-I$S/sssp $work/uvmsmart/sssp.cu' '' ''
program stencil '-I$S/stencil $S/stencil/*.cu $S/stencil/file.cc' '$IN/grid.bin 128 32 16 10' ''
