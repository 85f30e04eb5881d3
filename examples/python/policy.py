# SPDX-License-Identifier: GPL-2.0
"""Policies in Python beside built-in ones: a prefetch policy, then an eviction policy."""
import gpuemu

LEAF = 16 * gpuemu.PAGE


class Leaf(gpuemu.prefetch_policy):
    """The rest of the 64 KiB around a far fault."""

    def on_batch(self, faults):
        leaves = dict.fromkeys(f.addr // LEAF * LEAF for f in faults if not f.resident)
        return [leaf + i * gpuemu.PAGE for leaf in leaves for i in range(16)]


class Newest(gpuemu.evict_policy):
    """What came last goes first: a program that reads its data in rounds finds some of it again."""

    def __init__(self):
        self.pages = {}     # in the order in which they came

    def on_arrive(self, addr, prefetched):
        self.pages.setdefault(addr)

    def on_leave(self, addr):
        self.pages.pop(addr, None)

    def victims(self, need):
        return reversed(self.pages)


def show(name, report):
    paging = report["paging"]
    print(f"{name:12} {report['totals']['cycles']:>9} cycles {paging['far_faults']:>5} far faults "
          f"{paging['prefetched_pages']:>5} pages prefetched {paging['evicted_pages']:>5} evicted")


for name, policy in (("none", "none"), ("sequential", "sequential"), ("mine", Leaf())):
    show(name, gpuemu.run("bfs", "size=tiny", prefetch=policy))
for name, policy in (("lru", "lru"), ("newest", Newest())):
    show(name, gpuemu.run("gaussian", "size=tiny", vram="64K", evict=policy))
