# SPDX-License-Identifier: GPL-2.0
"""inputs.py DIR: inputs for Rodinia's programs, of the shapes that its own data have, but small; always the same."""
import os
import random
import struct
import sys

top = sys.argv[1]
r = random.Random(7)


def put(name, data):
    os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
    with open(os.path.join(top, name), "w" if isinstance(data, str) else "wb") as f:
        f.write(data)


def lines(items):
    return "".join("%s\n" % i for i in items)


def graph(n, degree):
    """bfs: where each node's edges begin and how many; the source; the edges."""
    nodes, edges = [], []
    for _ in range(n):
        k = r.randint(1, degree)
        nodes.append("%d %d" % (len(edges), k))
        edges += ["%d %d" % (r.randrange(n), r.randint(1, 10)) for _ in range(k)]
    return "%d\n%s\n0\n\n%d\n%s" % (n, lines(nodes), len(edges), lines(edges))


def mesh(w, h):
    """cfd: an area and four neighbours with their normals; -1 is a wall, -2 the far field."""
    out = ["%d" % (w * h)]
    for y in range(h):
        for x in range(w):
            out.append("1.0")
            for dx, dy in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                i, j = x + dx, y + dy
                inside = 0 <= i < w and 0 <= j < h
                out.append("%d %g %g 0" % (j * w + i + 1 if inside else -2, dx, dy))
    return lines(out)


def video(w, h, frames, image):
    """An AVI of bare 8-bit frames, as heartwall's and leukocyte's."""
    def chunk(tag, data):
        return tag + struct.pack("<I", len(data)) + data + b"\0" * (len(data) & 1)
    pictures = [image(w, h, t) for t in range(frames)]
    avih = struct.pack("<14I", 40000, w * h * 25, 0, 0x10, frames, 0, 1, w * h, w, h, 0, 0, 0, 0)
    strh = b"vids" + b"\0" * 4 + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 25, 0, frames, w * h, 0, 0, 0, 0, w, h)
    strf = struct.pack("<IiiHHIIiiII", 40, w, h, 1, 8, 0, w * h, 0, 0, 256, 0) + b"".join(
        bytes((i, i, i, 0)) for i in range(256))
    strl = b"strl" + chunk(b"strh", strh) + chunk(b"strf", strf)
    hdrl = b"hdrl" + chunk(b"avih", avih) + chunk(b"LIST", strl)
    movi, index = b"movi", b""
    for p in pictures:
        index += struct.pack("<4sIII", b"00db", 0x10, len(movi), len(p))
        movi += chunk(b"00db", p)
    body = b"AVI " + chunk(b"LIST", hdrl) + chunk(b"LIST", movi) + chunk(b"idx1", index)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def blobs(w, h, t):
    """Dark rings on a bright ground, which drift."""
    image = bytearray(200 + (x * 7 + y * 13) % 16 for y in range(h) for x in range(w))
    for cy in range(60, h - 40, 80):
        for cx in range(60, w - 40, 90):
            for y in range(cy - 16, cy + 17):
                for x in range(cx - 16, cx + 17):
                    d = (x - cx - t) ** 2 + (y - cy) ** 2
                    if 100 <= d <= 196:
                        image[y * w + x] = 40
    return bytes(image)


put("graph", graph(4096, 12))
put("domain", mesh(24, 16))
put("avi", video(656, 744, 3, blobs))
put("avi-leukocyte", video(640, 480, 2, blobs))
for name, lo, hi in (("temp", 320, 340), ("power", 0, 1)):
    put("%s64" % name, lines("%f" % r.uniform(lo, hi) for _ in range(64 * 64)))
    put("%s64x8" % name, lines("%f" % r.uniform(lo, hi) for _ in range(64 * 64 * 8)))
put("kmeans", lines("%d %s" % (i, " ".join("%.4f" % (r.random() + i % 5) for _ in range(8))) for i in range(2000)))
put("mil", lines([10000] + list(range(10000))))
put("commands", "j 200 100\nk 500\n")
put("bytes", bytes(min(255, int(r.expovariate(0.03))) for _ in range(262144)))
put("dwt2d/rgb", bytes(r.randrange(256) for _ in range(3 * 64 * 64)))
put("srad/image.pgm", "P2\n64 64\n255\n" + lines(" ".join(str(r.randint(1, 254)) for _ in range(64)) for _ in range(64)))
put("cane", "".join("%-28s%5.1f %5.1f %8s\n" % ("1980 1 %2d 18 ALBERTO" % i, r.uniform(7, 63), r.uniform(0, 359),
                                               "145 950") for i in range(1000)))
put("filelist", "%s/cane\n" % top)
put("myocyte/y.txt", lines("%f" % r.uniform(0.1, 1) for _ in range(91)))
put("myocyte/params.txt", lines("%f" % r.uniform(0.1, 1) for _ in range(16)))
text = "".join(r.choice("ACGT") for _ in range(4096))
put("reference.fna", ">reference\n" + lines(text[i:i + 64] for i in range(0, 4096, 64)))
put("query.fna", "".join(">q%d\n%s\n" % (i, text[at:at + 25]) for i, at in
                         enumerate(r.randrange(4000) for _ in range(200))))
