# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154,SC2016
# NVIDIA's samples, each folder with a .cu file: what is in it is one program, with the arguments of test_args.json. A
# sample that needs a library which is not CUDA's runtime is named with it and not built.
needs() { # FOLDER: the first such library
	grep -rhoE '#include *[<"](cublas|cufft|curand|cusolver|cusparse|npp|nvrtc|nvjpeg|nvgraph|GL/|EGL|vulkan|thrust|cub/|cuda/std|cuda/barrier|cuda/pipeline|mma\.h|cudla|nvsci|mpi|freeimage|d3d|dxgi)[^>"]*' \
		--include='*.cu' --include='*.cpp' --include='*.h' --include='*.cuh' "$1" | head -n1 | sed 's/#include *[<"]//'
}

arguments() { # NAME
	python3 -c 'import json, sys
a = json.load(open(sys.argv[1])).get(sys.argv[2], {}).get("args", "")
print(" ".join(a) if isinstance(a, list) else a)' "$S/test_args.json" "$1" 2>/dev/null
}

for d in "$S"/Samples/*/*/; do
	d=${d%/}
	name=$(basename "$d")
	case $words in '  ' | *" $suite "* | *" $name "*) ;; *) continue ;; esac
	compgen -G "$d/*.cu" >/dev/null || continue
	library=$(needs "$d")
	if [ -z "$library" ] && grep -qlE '\<cu(Init|Module|Launch|Ctx|Mem|Link)[A-Z]?[A-Za-z]*\(' "$d"/*.c*; then
		library='the driver API'
	fi
	if [ -n "$library" ]; then
		all=$((all + 1))
		row "$suite" "$name" no - - "needs $library"
		continue
	fi
	mkdir -p "$work/run/$suite/$name"
	[ -d "$d/data" ] && ln -sfn "$d/data" "$work/run/$suite/$name/data"
	# shellcheck disable=SC2034
	sample=$d
	more=
	grep -q 'CUDA_SEPARABLE_COMPILATION ON' "$d/CMakeLists.txt" 2>/dev/null && more=-rdc=true
	program "$name" "-std=c++17 $more -I\$S/Common \$(ls \$sample/*.cu \$sample/*.cpp \$sample/*.c 2>/dev/null)" "$(arguments "$name")" \
		'! says "FAILED|[Tt]est failed|MISMATCH" && { says "[Pp]assed|PASS|[Ss]uccess" || exit 3; }'
done
