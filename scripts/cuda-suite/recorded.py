# SPDX-License-Identifier: GPL-2.0
"""recorded.py A B [SHARE]: two files of record.c have the same pieces, of numbers within SHARE (0.001) of each other.

A piece is the same if it is byte for byte, or as floats, or as doubles: compilers contract and order arithmetic in
their own ways. Prints how many pieces there are and how many are the same to the bit; the last line says what differs."""
import array
import struct
import sys


def pieces(name):
    with open(name, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        n = struct.unpack_from("<Q", data, at)[0]
        yield data[at + 8:at + 8 + n]
        at += 8 + n


def near(a, b, kind, share):
    size = array.array(kind).itemsize
    x, y = (array.array(kind, p[:len(p) - len(p) % size]) for p in (a, b))
    finite = sorted(abs(v) for v in x if v == v and v and abs(v) != float("inf"))
    floor = finite[len(finite) // 2] * share if finite else 0
    wrong = 0
    for v, w, in zip(x, y):
        if v != w and not (v != v and w != w) and not abs(v - w) <= max(floor, share * max(abs(v), abs(w))):
            wrong += 1
    return wrong


one, other = (list(pieces(name)) for name in sys.argv[1:3])
share = float(sys.argv[3]) if len(sys.argv) > 3 else 1e-3
if not one or [len(p) for p in one] != [len(p) for p in other]:
    sys.exit("%d pieces, the other has %d" % (len(one), len(other)))
print("%d pieces, %d the same to the bit" % (len(one), sum(a == b for a, b in zip(one, other))))
for i, (a, b) in enumerate(zip(one, other)):
    wrong = a != b and min(near(a, b, "f", share), near(a, b, "d", share))
    if wrong:
        sys.exit("piece %d of %d bytes: %d numbers differ" % (i, len(a), wrong))
