# SPDX-License-Identifier: GPL-2.0
#
# CMake's CUDA language by `gpuemu cc`, without a CUDA toolkit:
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=.../gpuemu-toolchain.cmake -S . -B build && cmake --build build
#
# A project says project(x LANGUAGES CXX CUDA) as ever; find_package(CUDAToolkit) gives CUDA::cudart, and the old
# find_package(CUDA) cuda_add_executable(). CMAKE_CUDA_ARCHITECTURES means nothing.

get_filename_component(_gpuemu_here "${CMAKE_CURRENT_LIST_DIR}" ABSOLUTE)
find_program(GPUEMU gpuemu HINTS "${_gpuemu_here}/../../build/bin" "${_gpuemu_here}/../../../../bin")
if(NOT GPUEMU)
	message(FATAL_ERROR "gpuemu is not in the search path: cmake -DGPUEMU=FILE names it")
endif()
get_filename_component(_gpuemu_bin "${GPUEMU}" DIRECTORY)
find_path(GPUEMU_CUDART_DIR libcudart.so NO_DEFAULT_PATH
	HINTS "${_gpuemu_bin}/../lib/gpuemu" ENV GPUEMU_LIBDIR)
find_path(GPUEMU_CUDA_INCLUDE cuda_runtime.h NO_DEFAULT_PATH HINTS "${_gpuemu_here}/../include")

# CMake calls one program, takes it for clang, and wants a toolkit beside clang: it gets the shape of one.
set(_gpuemu_root "${CMAKE_BINARY_DIR}/gpuemu-toolkit")
set(_gpuemu_cc "${_gpuemu_root}/bin/gpuemu-cc")
set(_gpuemu_mode OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
file(MAKE_DIRECTORY "${_gpuemu_root}/bin" "${_gpuemu_root}/nvvm/libdevice")
file(WRITE "${_gpuemu_cc}" "#!/bin/sh\nexec \"${GPUEMU}\" cc \"$@\"\n")
file(WRITE "${_gpuemu_root}/bin/nvcc" "#!/bin/sh\n[ \"$1\" != --version ] || exec echo 'gpuemu cc, V12.0.0'\nexec \"${GPUEMU}\" cc \"$@\"\n")
file(CHMOD "${_gpuemu_cc}" "${_gpuemu_root}/bin/nvcc" PERMISSIONS ${_gpuemu_mode})
file(CREATE_LINK "${GPUEMU_CUDA_INCLUDE}" "${_gpuemu_root}/include" SYMBOLIC)
file(CREATE_LINK "${GPUEMU_CUDART_DIR}" "${_gpuemu_root}/lib64" SYMBOLIC)
set(CUDAToolkit_ROOT "${_gpuemu_root}")

set(CMAKE_CUDA_COMPILER "${_gpuemu_cc}")
set(CMAKE_CUDA_COMPILER_FORCED TRUE)
set(CMAKE_CUDA_HOST_COMPILER "")
set(CMAKE_CUDA_HOST_LINK_LAUNCHER "${_gpuemu_cc}")
set(CMAKE_CUDA_ARCHITECTURES OFF)
set(CMAKE_CUDA_STANDARD_DEFAULT 17)
set(CMAKE_CUDA_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_CUDA_EXTENSIONS_COMPUTED_DEFAULT ON)
set(CMAKE_CUDA_COMPILE_FEATURES cuda_std_03)
foreach(_gpuemu_std 11 14 17 20)
	set(CMAKE_CUDA${_gpuemu_std}_STANDARD_COMPILE_OPTION "-std=c++${_gpuemu_std}")
	set(CMAKE_CUDA${_gpuemu_std}_EXTENSION_COMPILE_OPTION "-std=gnu++${_gpuemu_std}")
	set(CMAKE_CUDA${_gpuemu_std}_COMPILE_FEATURES cuda_std_${_gpuemu_std})
	list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_${_gpuemu_std})
endforeach()
set(CMAKE_CUDA_COMPILE_OPTIONS_PIC -fPIC)
set(CMAKE_CUDA_COMPILE_OPTIONS_PIE -fPIE)
set(CMAKE_CUDA_SIZEOF_DATA_PTR 8)
set(CMAKE_CUDA_COMPILER_ABI ELF)
set(CMAKE_CUDA_DEPFILE_FORMAT gcc)
set(CMAKE_DEPFILE_FLAGS_CUDA "-MD -MT <DEP_TARGET> -MF <DEP_FILE>")
# Objects of gpuemu cc -rdc=true are linked when the program runs: there is no step for it.
set(CMAKE_CUDA_RESOLVE_DEVICE_SYMBOLS OFF)
set(_CMAKE_CUDA_RDC_FLAG "-rdc=true")
set(CMAKE_CUDA_IMPLICIT_LINK_LIBRARIES cudart)
set(CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES "${GPUEMU_CUDART_DIR}")
set(CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES "${GPUEMU_CUDA_INCLUDE}")
foreach(_gpuemu_kind EXE SHARED MODULE)
	set(CMAKE_${_gpuemu_kind}_LINKER_FLAGS_INIT "-L${GPUEMU_CUDART_DIR} -Wl,-rpath,${GPUEMU_CUDART_DIR}")
endforeach()
list(PREPEND CMAKE_MODULE_PATH "${_gpuemu_here}/modules")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUEMU)
