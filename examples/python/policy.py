# SPDX-License-Identifier: GPL-2.0
"""A prefetch policy in Python beside two built-in ones: the rest of the 64 KiB around a far fault."""
import gpuemu

LEAF = 16 * gpuemu.PAGE


class Leaf(gpuemu.prefetch_policy):
    def on_batch(self, faults):
        leaves = dict.fromkeys(f.addr // LEAF * LEAF for f in faults if not f.resident)
        return [leaf + i * gpuemu.PAGE for leaf in leaves for i in range(16)]


for name, policy in (("none", "none"), ("sequential", "sequential"), ("mine", Leaf())):
    report = gpuemu.run("bfs", "size=tiny", prefetch=policy)
    paging = report["paging"]
    print(f"{name:12} {report['totals']['cycles']:>9} cycles {paging['far_faults']:>5} far faults "
          f"{paging['prefetched_pages']:>5} pages prefetched")
