# SPDX-License-Identifier: GPL-2.0
"""y = a x + y on the GPU, from Python. The PTX is that of examples/saxpy.cu, or the file given."""
import ctypes
import sys

import gpuemu

N = 10000
with gpuemu.GPU(backend="sim") as gpu:
    saxpy = gpu.kernel(sys.argv[1] if len(sys.argv) > 1 else "build/ptx/saxpy.ptx", "saxpy")
    x, y = gpu.array(ctypes.c_float, N), gpu.array(ctypes.c_float, N)
    for i in range(N):
        x[i], y[i] = i, 1
    saxpy((N + 255) // 256, 256, ctypes.c_uint32(N), ctypes.c_float(2), x, y)
    print(f"y[{N - 1}] = {y[N - 1]:g}, {gpu.statistics()['paging']['far_faults']} far faults")
