#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs workloads on gpuemu's model and compares their cycles with a real GPU's.

whole.py [--markdown] [--most PERCENT] [--config NAME] [--set KEY=VALUE]... SILICON [WORKLOAD]...

SILICON is a file of `whole` (h200/whole-64.txt), WORKLOAD a line of it ("sgemm size=small"), all without. Silicon's cycles
are those between two events around each launch, less an empty kernel's, at 1980 MHz; ours are the kernels'. GPUEMU names the
program, build/bin/gpuemu without. --most: the exit status is 1 when one is further apart.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

MHZ = 1980


def silicon_cycles(path):
    """workload -> cycles"""
    cycles, empty = {}, 0.0
    for line in open(path, encoding="utf-8"):
        f = line.rstrip("\n").split("\t")
        if f[0] == "empty":
            empty = float(f[1])
        elif f[0] == "workload":
            cycles[f[1]] = (float(f[3]) - int(f[2]) * empty) * MHZ
    return cycles


def our_cycles(workload, args):
    with tempfile.NamedTemporaryFile() as report:
        command = [os.environ.get("GPUEMU", "build/bin/gpuemu"), "run", *workload.split(), "--config", args.config,
                   "--paging", "off", "--json", report.name]
        for setting in args.set:
            command += ["--set", setting]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit("%s: %s" % (workload, done.stderr.strip()))
        with open(report.name, encoding="utf-8") as f:
            found = json.load(f)
    found = found[0] if isinstance(found, list) else found
    return sum(k["cycles"] for k in found.get("kernels") or found["statistics"]["kernels"])


def main():
    parser = argparse.ArgumentParser(description="Workloads on the model, beside a real GPU.")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--most", type=float, default=math.inf)
    parser.add_argument("--config", default="h200")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("silicon")
    parser.add_argument("workload", nargs="*")
    args = parser.parse_args()
    theirs = silicon_cycles(args.silicon)
    ratios = []
    if args.markdown:
        print("| workload | H200, cycles | ours | ratio |\n| --- | ---: | ---: | ---: |")
    for workload in args.workload or theirs:
        mine = our_cycles(workload, args)
        ratios.append(mine / theirs[workload])
        print(("| %s | %.0f | %.0f | %.2f |" if args.markdown else "%s\t%.0f\t%.0f\t%.2f") %
              (workload, theirs[workload], mine, ratios[-1]), flush=True)
    errors = sorted(abs(r - 1) for r in ratios)
    print("\n%d workloads: error %.0f%% on average, median %.0f%%, at most %.0f%%; geometric mean of the ratios %.2f" %
          (len(ratios), 100 * sum(errors) / len(errors), 100 * errors[len(errors) // 2], 100 * errors[-1],
           math.exp(sum(math.log(r) for r in ratios) / len(ratios))))
    return 100 * errors[-1] > args.most


sys.exit(main())
