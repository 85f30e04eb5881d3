# SPDX-License-Identifier: GPL-2.0
"""same.py A B [SHARE] [--within N] [--skip REGEX] [--binary TYPE]: two texts have the same words, numbers within
SHARE or N of each other.

Lines that match REGEX (times, banners) are left out. With --binary the files are arrays of a type of Python's array
module. The last line says what differs first."""
import array
import re
import sys


def words(name, skip):
    if options["--binary"]:
        with open(name, "rb") as f:
            data = f.read()
        items = array.array(options["--binary"])
        items.frombytes(data[:len(data) - len(data) % items.itemsize])
        return list(items)
    with open(name, errors="replace") as f:
        return [w for line in f if not (skip and re.search(skip, line)) for w in re.split(r"[\s,;:()=]+", line) if w]


def equal(a, b, share, within):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    return x != x and y != y or abs(x - y) <= max(within, share * max(abs(x), abs(y), 1e-3))


args = sys.argv[1:]
options = {"--skip": None, "--within": "0", "--binary": None}
for name in options:
    if name in args:
        at = args.index(name)
        options[name] = args[at + 1]
        del args[at:at + 2]
skip, within = options["--skip"], float(options["--within"])
one, other = (words(name, skip) for name in args[:2])
share = float(args[2]) if len(args) > 2 else 0
if not one or len(one) != len(other):
    sys.exit("%d words, the reference has %d" % (len(one), len(other)))
for i, (a, b) in enumerate(zip(one, other)):
    if not equal(a, b, share, within):
        sys.exit("word %d is %s, the reference has %s" % (i, a, b))
