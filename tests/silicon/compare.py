#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""compare.py DIFFERENCES SILICON OURS...: what a GPU computed against what we do.

SILICON is a directory of recorded outputs of facts, OURS are files of the same names. DIFFERENCES
has a line for each difference that is known and explained:

    KIND | ROWS | REASON

ROWS is a pattern of the rows' names (fnmatch). KIND says which results may differ:

    ulp=N       numbers that are N units in the last place apart at most, and some are
    abs=X       numbers whose difference is X at most, and of some more than half of it
    nan         a NaN instead of another NaN
    results=N   N results of all that the pattern finds, whatever they are
    ours=TEXT   the row's line is TEXT here

Every other difference is an error, and so is a line that nothing needs. Prints TAP.
"""
import fnmatch
import os
import re
import struct
import sys

EXPONENT = {"f32": (32, 8), "f64": (64, 11), "f16": (16, 5), "bf16": (16, 8)}


class Rule:
    def __init__(self, line, number):
        kind, self.rows, self.reason = (part.strip() for part in line.split("|", 2))
        self.kind, _, self.value = kind.partition("=")
        if self.kind not in ("ulp", "abs", "nan", "results", "ours") or not self.reason:
            sys.exit(f"compare.py: line {number} is no difference: {line}")
        self.number, self.seen, self.most = number, 0, 0

    def explains(self, kind, ours, silicon):
        """Is this pair of results a difference that the rule knows?"""
        if self.kind == "results":
            return True
        bits, exponent = EXPONENT[kind]
        top = (1 << bits - 1) - 1
        infinity = ((1 << exponent) - 1) << (bits - 1 - exponent)
        nans = [(v & top) > infinity for v in (ours, silicon)]
        if self.kind == "nan":
            return all(nans)
        if self.kind not in ("ulp", "abs") or any(nans):
            return False
        if self.kind == "abs":
            # Doubles hold f32 and its differences here.
            distance = abs(float32(ours) - float32(silicon))
            if distance > float(self.value):
                return False
            self.most = max(self.most, distance)
            return True
        # Infinity is the number behind the largest one.
        places = [-(v & top) if v >> bits - 1 else v for v in (ours, silicon)]
        distance = abs(places[0] - places[1])
        if distance > int(self.value):
            return False
        self.most = max(self.most, distance)
        return True

    def wrong(self):
        if not self.seen:
            return "nothing differs so"
        if self.kind == "ulp" and self.most != int(self.value):
            return f"the most is {self.most} ulp"
        if self.kind == "abs" and self.most <= float(self.value) / 2:
            return f"the most is {self.most}"
        if self.kind == "results" and self.seen != int(self.value):
            return f"there are {self.seen}"
        return None


def float32(bits):
    return struct.unpack("f", struct.pack("I", bits))[0]


def read(path):
    rows = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            if not line.startswith("#"):
                name, _, result = line.rstrip("\n").partition(": ")
                rows[name] = result
    return rows


def kind_of(name):
    """The type of the results, of which halves in pairs are two."""
    insn = name.split(" ")[0]
    types = re.findall(r"\.(f16x2|bf16x2|bf16|f16|f32|f64|[usb]\d+)(?=\.|$)", insn)
    kind = types[0] if types else "b32"
    return kind


def pieces(name, silicon, ours):
    kind, width = kind_of(name), int(re.search(r" b(\d+)", name).group(1)) // 4 if " b" in name else 8
    if kind.endswith("x2"):
        kind, width = kind[:-2], 4
    for i in range(0, len(silicon), width):
        yield i // width, kind, int(silicon[i:i + width], 16), int(ours[i:i + width], 16)


def judge(name, silicon, ours, rules):
    if silicon == ours:
        return None
    for rule in rules:
        if rule.kind == "ours" and rule.value == ours:
            rule.seen += 1
            return None
    if not re.fullmatch("[0-9a-f]*", silicon) or not re.fullmatch("[0-9a-f]*", ours) or len(silicon) != len(ours):
        return f"silicon: {silicon[:300]}\nours:    {ours[:300]}"
    unknown = []
    for i, kind, want, got in pieces(name, silicon, ours):
        if want == got:
            continue
        for rule in rules:
            if (rule.kind == "results" or kind in EXPONENT) and rule.explains(kind, got, want):
                rule.seen += 1
                break
        else:
            unknown.append(f"[{i}] silicon {want:x}, ours {got:x}")
    return ", ".join(unknown[:8]) + f": {len(unknown)} results" if unknown else None


def main():
    rules, number, failed = [], 0, 0
    with open(sys.argv[1], encoding="ascii") as file:
        for line_number, line in enumerate(file, 1):
            if line.strip() and not line.startswith("#"):
                rules.append(Rule(line, line_number))
    for path in sys.argv[3:]:
        ours, silicon = read(path), read(os.path.join(sys.argv[2], os.path.basename(path)))
        wrong = [f"{name}: only {'silicon' if name in silicon else 'we'} have it"
                 for name in silicon.keys() ^ ours.keys()]
        for name in silicon.keys() & ours.keys():
            why = judge(name, silicon[name], ours[name],
                        [rule for rule in rules if fnmatch.fnmatchcase(name, rule.rows)])
            if why:
                wrong.append(f"{name}: {why}")
        number += 1
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {number} - {os.path.basename(path)}, {len(silicon)} rows")
        for text in sorted(wrong):
            print("# " + text.replace("\n", "\n#   "))
    unneeded = [f"line {rule.number}: {rule.wrong()}" for rule in rules if rule.wrong()]
    print(f"{'not ' if unneeded else ''}ok {number + 1} - each known difference is one")
    for text in unneeded:
        print("# " + text)
    print(f"1..{number + 1}")
    return failed or unneeded


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
