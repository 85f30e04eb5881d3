#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares times of gpuemu's model with a real GPU's.

compare.py [--markdown] SILICON OURS DIFFERENCES

SILICON is a folder as h200/, OURS a folder with the same files of timing-sim. Of rows.txt it compares the
latency of a body (one warp, one chain) and the cycles that 32 warps take for one body each (the most chains), of
chase.txt a step. A number of ours may be apart by the tolerances below, unless its row is in DIFFERENCES with the reason
and the ratio that it has; then it may be apart from that ratio by the same tolerance. A line of DIFFERENCES that nothing needs
is an error. Prints TAP, or tables for docs/timing.md.
"""
import sys

LATENCY, THROUGHPUT, CHASE = 0.10, 0.25, 0.10


def read(folder):
    """(name, kind) -> cycles"""
    cycles = {}
    for line in open(folder + "/rows.txt", encoding="utf-8"):
        f = line.rstrip("\n").split("\t")
        if f[0] != "row":
            continue
        if f[2:4] == ["1", "1"]:
            cycles[f[1], "latency"] = float(f[4])
        elif f[3] == "32":
            # The file has the most chains last.
            cycles[f[1], "32 warps"] = float(f[4])
    for line in open(folder + "/chase.txt", encoding="utf-8"):
        f = line.rstrip("\n").split("\t")
        if f[0] == "chase" and f[3] == "128":
            where = "L1 and L2" if f[1] == "ca" else "L2 alone"
            cycles["chase over %d KiB, %s" % (int(f[2]) // 1024, where), "step"] = float(f[4])
    return cycles


def read_differences(path):
    """(name, kind) -> (ratio, reason)"""
    known = {}
    for line in open(path, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        name, kind, ratio, reason = line.rstrip("\n").split("\t")
        known[name, kind] = (float(ratio), reason)
    return known


def main():
    args = [a for a in sys.argv[1:] if a != "--markdown"]
    silicon, ours = read(args[0]), read(args[1])
    known = read_differences(args[2])
    tolerance = {"latency": LATENCY, "32 warps": THROUGHPUT, "step": CHASE}
    rows = [(k, silicon[k], ours[k]) for k in silicon if k in ours]
    bad, used, errors = 0, set(), []
    if "--markdown" in sys.argv:
        reasons = {}
        print("| body | | H200 | ours | ratio | |\n| --- | --- | ---: | ---: | ---: | --- |")
        for (name, kind), theirs, mine in rows:
            note = ""
            if (name, kind) in known:
                reason = known[name, kind][1]
                note = "[%d]" % reasons.setdefault(reason, len(reasons) + 1)
            print("| %s | %s | %.1f | %.1f | %.2f | %s |" % (name, kind, theirs, mine, mine / theirs, note))
        print()
        for reason, number in reasons.items():
            print("[%d] %s  " % (number, reason))
        return 0
    for number, ((name, kind), theirs, mine) in enumerate(rows, 1):
        ratio = mine / theirs
        limit = tolerance[kind]
        want = 1.0
        if abs(ratio - 1) > limit and (name, kind) in known:
            want = known[name, kind][0]
            used.add((name, kind))
        good = abs(ratio / want - 1) <= limit
        errors.append(abs(ratio - 1))
        bad += not good
        print("%sok %d - %s, %s: %.1f, silicon %.1f%s" % ("" if good else "not ", number, name, kind, mine, theirs,
              "" if want == 1 else " (a known difference)"))
    number = len(rows)
    for key in known:
        if key in ours and key not in used:
            bad += 1
            number += 1
            print("not ok %d - %s, %s is in the list of differences, and is none" % (number, *key))
    print("1..%d" % number)
    errors.sort()
    print("# %d numbers, %d within their tolerance, median error %.0f%%" %
          (len(rows), len(rows) - len(used), 100 * errors[len(errors) // 2]))
    return bad != 0


sys.exit(main())
