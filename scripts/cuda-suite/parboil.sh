# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034,SC2154,SC2016
# Parboil 2.5's CUDA versions, with inputs of inputs.py; each against the CPU version of its own suite.
B=$S/benchmarks K=$S/common
shared='-I$K/include $K/src/parboil_cuda.c -lm'
host_parboil() { # FOLDER FLAGS...: the CPU version that is there, of C and C++ files
	local dir=$B/$1 f

	shift
	mkdir -p host
	for f in "$K/src/parboil.c" "$dir"/*.c "$dir"/*.cc ${more:+$(eval echo "$more")}; do
		case $f in
		*\**) ;;
		*/sgemm_kernel.cc) ;; # main.cc has its text
		*.c) gcc -w -O1 -fcommon -std=gnu89 "-I$K/include" -I"$dir" "$@" -c "$f" -o "host/$(basename "$f").o" || return ;;
		*) g++ -w -fpermissive -include iostream -include malloc.h -include string.h -include math.h "-I$K/include" -I"$dir" "$@" -c "$f" -o "host/$(basename "$f").o" || return ;;
		esac
	done >host/build.log 2>&1
	g++ -w "$@" host/*.o -o host/host -lm >>host/build.log 2>&1
}
# NAME FOLDER CPU-FOLDER INPUTS ARGUMENTS COMPARISON [FLAGS [FLAGS-OF-CLANG]]
parboil() {
	local sources args="-i $4 -o result -- $5" more=

	[[ ${8:-} == *.c ]] && more=$8

	sources=$(ls "$B/$2"/*.c "$B/$2"/*.cc "$B/$2"/*.cu 2>/dev/null)
	# Some files are text of others.
	for f in $sources; do
		grep -qhF "#include \"$(basename "$f")\"" $sources && sources=${sources/"$f"/}
	done
	program "$1" "$shared -I$B/$2 ${7:-} ${8:-} $(echo $sources)" "$args" \
		"more='$more' host_parboil $3 ${7:-} && host_run $args && same result host/result $6"
}

for v in cuda cuda_base; do
	parboil bfs-$v bfs/src/$v bfs/src/base '$IN/graph-ones' '' 0
	parboil cutcp-$v cutcp/src/$v cutcp/src/base '$IN/atoms.pqr' '' '5e-3 --binary f'
	parboil histo-$v histo/src/$v histo/src/base '$IN/histo' '4' '0 --binary B'
	parboil lbm-$v lbm/src/$v lbm/src/cpu '$IN/lbm' '2' '2e-3 --within 1e-6 --binary f'
	parboil sad-$v sad/src/$v sad/src/base '$IN/frame0,$IN/frame1' '' '0 --binary B'
	# A function of it returns nothing where it should.
	parboil sgemm-$v sgemm/src/$v sgemm/src/base '$IN/matrix0,$IN/matrix1,$IN/matrix1t' '' 1e-4 "" -fno-strict-return
	# Which of two bins a pair on their border is in depends on the rounding.
	parboil tpacf-$v tpacf/src/$v tpacf/src/base '$IN/sky0,$IN/sky1,$IN/sky2,$IN/sky3' '-n 3 -p 487' '1e-3 --within 1'
done
for v in cuda cuda-base; do
	parboil mri-gridding-$v mri-gridding/src/$v mri-gridding/src/base '$IN/mri.uks' '32' '0 --binary i'
done
parboil mri-q-cuda mri-q/src/cuda mri-q/src/cpu '$IN/mri-q' '' '2e-3 --within 1e-2 --binary f'
for v in cuda cuda_base cuda_tex cuda_base_tex; do
	parboil spmv-$v spmv/src/$v spmv/src/cpu '$IN/sparse.mtx,$IN/sparse.vector' '' '1e-4 --binary f' \
		'-I$B/spmv/common_src/convert-dataset' '$B/spmv/common_src/convert-dataset/mmio.c $B/spmv/common_src/convert-dataset/convert_dataset.c'
done
for v in cuda cuda_base cuda_fermi; do
	parboil stencil-$v stencil/src/$v stencil/src/cpu '$IN/grid.bin' '128 32 16 10' '1e-4 --binary f'
done
