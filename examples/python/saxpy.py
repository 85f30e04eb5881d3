# SPDX-License-Identifier: GPL-2.0
"""y = a x + y on the GPU, from Python. The PTX is that of examples/saxpy.cu, or the file given."""
import ctypes
import pathlib
import sys

import gpuemu

N = 10000


def ptx():
    """The file given, else this tree's, else the installed one."""
    if len(sys.argv) > 1:
        return sys.argv[1]
    places = ["build/ptx/saxpy.ptx", pathlib.Path(__file__).resolve().parent.parent / "saxpy.ptx",
              "/usr/local/share/gpuemu/examples/saxpy.ptx"]
    for place in places:
        if pathlib.Path(place).exists():
            return str(place)
    raise SystemExit("no saxpy.ptx: python3 saxpy.py FILE.ptx (gpuemu's README makes one)")


with gpuemu.GPU(backend="sim") as gpu:
    saxpy = gpu.kernel(ptx(), "saxpy")
    x, y = gpu.array(ctypes.c_float, N), gpu.array(ctypes.c_float, N)
    for i in range(N):
        x[i], y[i] = i, 1
    saxpy((N + 255) // 256, 256, ctypes.c_uint32(N), ctypes.c_float(2), x, y)
    print(f"y[{N - 1}] = {y[N - 1]:g}, {gpu.statistics()['paging']['far_faults']} far faults")
