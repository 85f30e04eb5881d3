# SPDX-License-Identifier: GPL-2.0
"""inputs.py DIR: inputs for Rodinia's and Parboil's programs, of the shapes that its own data have, but small; always the same."""
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


def graph(n, degree, cost):
    """bfs: where each node's edges begin and how many; the source; the edges."""
    nodes, edges = [], []
    for _ in range(n):
        k = r.randint(1, degree)
        nodes.append("%d %d" % (len(edges), k))
        edges += ["%d %d" % (r.randrange(n), r.randint(1, cost)) for _ in range(k)]
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


put("graph", graph(4096, 12, 10))
put("domain", mesh(24, 16))
put("avi", video(656, 744, 3, blobs))
put("avi-leukocyte", video(640, 480, 2, blobs))
for name, lo, hi in (("temp", 320, 340), ("power", 0, 1)):
    put("%s64" % name, lines("%f" % r.uniform(lo, hi) for _ in range(64 * 64)))
    put("%s64x8" % name, lines("%f" % r.uniform(lo, hi) for _ in range(64 * 64 * 8)))
put("kmeans.txt", lines("%d %s" % (i, " ".join("%.4f" % (r.random() + i % 5) for _ in range(8))) for i in range(2000)))
put("mil", lines([10000] + list(range(10000))))
put("commands", "j 200 100\nk 500\n")
put("bytes", bytes(min(255, int(r.expovariate(0.03))) for _ in range(262144)))
put("dwt2d/rgb", bytes(r.randrange(256) for _ in range(3 * 64 * 64)))
put("srad/image.pgm", "P2\n64 64\n255\n" + lines(" ".join(str(r.randint(1, 254)) for _ in range(64)) for _ in range(64)))
put("cane", "".join("%-28s%5.1f %5.1f %8s\n" % ("1980 1 %2d 18 ALBERTO" % i, r.uniform(7, 63), r.uniform(0, 359),
                                               "145 950") for i in range(1000)))
put("filelist", "%s/cane\n" % top)
put("myocyte/y.txt", lines("%f" % r.uniform(0.1, 1) for _ in range(91)))
put("myocyte/params.txt", lines("%f" % r.uniform(0.1, 1) for _ in range(18)))
text = "".join(r.choice("ACGT") for _ in range(4096))
put("reference.fna", ">reference\n" + lines(text[i:i + 64] for i in range(0, 4096, 64)))
put("query.fna", "".join(">q%d\n%s\n" % (i, text[at:at + 25]) for i, at in
                         enumerate(r.randrange(4000) for _ in range(200))))


# --- Parboil -----------------------------------------------------------------------------------------------------


def floats(items):
    items = list(items)
    return struct.pack("<%df" % len(items), *items)


def frame(w, h, shift):
    """sad: 16 bits a pixel, an image that moves."""
    return struct.pack("<2H", w, h) + struct.pack("<%dh" % (w * h), *(
        (x + shift) * 37 % 201 + (y + shift // 2) * 53 % 49 for y in range(h) for x in range(w)))


put("graph-ones", graph(4096, 12, 1))
put("atoms.pqr", lines("ATOM  %5d  C  UNK %5d %.3f %.3f %.3f %.4f 1.5" % (
    (i, i) + tuple(r.uniform(0, 24) for _ in range(3)) + (r.uniform(-1, 1),)) for i in range(1, 801)))
put("histo", struct.pack("<4I", 256, 256, 256, 4096) + struct.pack("<65536I", *(
    min(256 * 4096 - 1, max(0, int(r.gauss(2 ** 19, 2000)))) for _ in range(65536))))
put("lbm", ("\n".join("." * 120 for _ in range(120)) + "\n\n") * 150)
put("frame0", frame(64, 48, 0))
put("frame1", frame(64, 48, 5))
one, other = ([[r.random() for _ in range(n)] for _ in range(m)] for m, n in ((64, 128), (128, 96)))


def matrix(rows, columns, at):
    return "%d %d %s\n" % (rows, columns, " ".join("%f" % at(i, j) for j in range(columns) for i in range(rows)))


put("matrix0", matrix(128, 64, lambda i, j: one[j][i]))
put("matrix1", matrix(64, 96, lambda i, j: other[i][j]))
put("matrix1t", matrix(96, 64, lambda i, j: other[j][i]))
for i in range(4):
    put("sky%d" % i, lines("%f %f" % (r.uniform(0, 90), r.uniform(-45, 45)) for _ in range(487)))
put("mri.uks", """aquisition.numsamples=4000
aquisition.kmax=12.8 12.8 12.8
aquisition.matrixSize=16 16 16
reconstruction.matrixSize=16 16 16
gridding.matrixSize=32 32 32
gridding.oversampling=2
kernel.width=4
kernel.useLUT=1
""")
put("mri.uks.data", floats(v for _ in range(4000) for v in (
    r.uniform(-1, 1), r.uniform(-1, 1), r.uniform(-9, 9), r.uniform(-9, 9), r.uniform(-9, 9), r.random())))
put("mri-q", struct.pack("<2i", 512, 2048) + floats(r.uniform(-0.5, 0.5) for _ in range(3 * 512 + 3 * 2048 + 2 * 512)))
entries = sorted({(r.randrange(512), r.randrange(512)) for _ in range(4000)} | {(i, i) for i in range(512)})
entries = [(i, j) for i, j in entries if i >= j]
put("sparse.mtx", "%%%%MatrixMarket matrix coordinate real symmetric\n512 512 %d\n" % len(entries) + lines(
    "%d %d %f" % (i + 1, j + 1, r.uniform(-1, 1)) for i, j in entries))
put("sparse.vector", floats(r.uniform(-1, 1) for _ in range(512)))
put("grid.bin", floats(r.random() for _ in range(128 * 32 * 16)))
put("rgb64.bmp", struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + 3 * 64 * 64, 0, 0, 54, 40, 64, 64, 1, 24, 0, 3 * 64 * 64, 0, 0, 0, 0)
    + bytes(r.randrange(256) for _ in range(3 * 64 * 64)))


# --- UVMBench ----------------------------------------------------------------------------------------------------

put("points", lines("%f %f" % (r.gauss(i % 5, 0.3), r.gauss(i % 3, 0.3)) for i in range(2000)))
put("kmeans/initCoord.txt", lines("%f %f" % (i % 5, i % 3) for i in range(5)))


def digits(n):
    """MNIST's files: n images of 28 * 28 bytes, each a bar that is its label's, and the labels."""
    labels = bytes(i % 10 for i in range(n))
    images = b"".join(bytes(min(255, (200 if x // 3 == label else 0) + r.randrange(40)) for _ in range(28) for x in range(28))
                      for label in labels)
    return struct.pack(">4I", 2051, n, 28, 28) + images, struct.pack(">2I", 2049, n) + labels


for name, n in (("train", 500), ("t10k", 100)):
    images, labels = digits(n)
    for place in ("SVM", "CNN/data"):
        put("%s/%s-images.idx3-ubyte" % (place, name), images)
        put("%s/%s-labels.idx1-ubyte" % (place, name), labels)
