# SPDX-License-Identifier: GPL-2.0
"""How much device memory a workload needs: its time over the share of its footprint that fits,
for two eviction policies. Draws figure.png, or the file given, with matplotlib."""
import sys

import gpuemu

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("figure.py: no matplotlib (Debian package python3-matplotlib)")

SHARES = (100, 80, 60, 40)
footprint = gpuemu.run("gather", "size=tiny")["workload"]["footprint_bytes"]
figure, axes = plt.subplots()
for evict in ("lru", "random"):
    cycles = [gpuemu.run("gather", "size=tiny", evict=evict, settings={
        "paging.vram": max(footprint * share // 100, gpuemu.PAGE)})["totals"]["cycles"]
        for share in SHARES]
    axes.plot(SHARES, [c / cycles[0] for c in cycles], marker="o", label=evict)
axes.set_xlabel("device memory, percent of the footprint")
axes.set_ylabel("time over that with room for all")
axes.invert_xaxis()
axes.legend(title="gather, --evict")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "figure.png")
