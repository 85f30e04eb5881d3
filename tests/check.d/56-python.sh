# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The Python module, as it lies in the tree and as it is installed: reports are dicts, a policy in
# Python decides what a built-in one does, mistakes are exceptions; the examples run. And what a
# kernel of one's own needs: the README's clang line, pkg-config without an installation.
# The interpreter is Debian's, which scripts/deps.sh gives matplotlib, whatever else PATH has.
. tests/lib/tap.sh

work=$PWD/build/check/python
rm -rf "$work"
mkdir -p "$work"
unset GPUEMU_BACKEND GPUEMU_DATADIR
make -j"$(nproc)" programs libs ptx >"$work/build.log" 2>&1 || tap_not_ok 'it builds' "$(tail -n 20 "$work/build.log")"
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1

cat >"$work/test.py" <<'PY'
import ctypes, gpuemu

# A dict like the JSON; the same run is the same.
a = gpuemu.run("bfs", "size=tiny", vram="64K")
b = gpuemu.run("bfs", "size=tiny", vram="64K")
assert a["paging"] == b["paging"] and a["workload"]["verified"], "a run repeats"
# A policy in Python that decides as sequential does brings what that brings.
class Ahead(gpuemu.prefetch_policy):
    def __init__(self):
        self.arrived = self.left = self.touched = 0
    def on_batch(self, faults):
        pages, last = [], 0
        for f in faults:
            if not f.resident:
                first, last = max(last, f.addr), f.addr + 16 * gpuemu.PAGE
                pages += range(first + gpuemu.PAGE, last + gpuemu.PAGE, gpuemu.PAGE)
        return pages
    def on_arrive(self, addr, prefetched):
        self.arrived += 1
    def on_touch(self, addr, write):
        self.touched += 1
    def on_leave(self, addr):
        self.left += 1
mine, c, built_in = Ahead(), "examples/policy", gpuemu.run("bfs", "size=tiny", vram="64K", prefetch="sequential:pages=16")
theirs = gpuemu.run("bfs", "size=tiny", vram="64K", prefetch=mine)
for key in ("far_faults", "prefetched_pages", "prefetch_used_pages", "evicted_pages"):
    assert theirs["paging"][key] == built_in["paging"][key], (key, theirs["paging"][key], built_in["paging"][key])
assert mine.arrived and mine.touched and mine.left >= theirs["paging"]["evicted_pages"], "it is told"
# An eviction policy in Python that decides as lru does evicts what that evicts, in every number.
class Lru(gpuemu.evict_policy):
    def __init__(self):
        self.pages, self.asked, self.frames = {}, 0, 0
    def on_begin(self, frames):
        self.frames = frames
    def on_arrive(self, addr, prefetched):
        self.pages.pop(addr, None)
        self.pages[addr] = True
    def on_touch(self, addr, write):
        if self.pages.pop(addr, False):
            self.pages[addr] = True
    def on_leave(self, addr):
        self.pages.pop(addr, None)
    def victims(self, need):
        self.asked += 1
        return iter(self.pages)
def counted(report):
    paging = report["paging"]
    return {k: v for k, v in paging.items() if isinstance(v, int)}, report["totals"]["cycles"]
mine = Lru()
theirs, built_in = (gpuemu.run("bfs", "size=tiny", vram="64K", evict=e) for e in (mine, "lru"))
assert counted(theirs) == counted(built_in), "lru in Python is lru"
assert theirs["paging"]["evicted_pages"] and mine.asked and mine.frames == 16, (mine.asked, mine.frames)
assert theirs["paging"]["evict"]["policy_refused"] == 0
# Both kinds at once, and pages that go in groups.
class Groups(Lru):
    group = 4
few = Groups()
both = gpuemu.run("bfs", "size=tiny", vram="64K", prefetch=Ahead(), evict=few)
assert both["workload"]["verified"] and both["paging"]["prefetched_pages"]
alone = gpuemu.run("bfs", "size=tiny", vram="64K", evict=Groups())
assert alone["paging"]["evicted_pages"] > built_in["paging"]["evicted_pages"], "groups of four go"
# Mistakes are exceptions, with the tool's sentence or the policy's own error.
for wrong in (lambda: gpuemu.run("nope"), lambda: gpuemu.run("vecadd", vram=0), lambda: gpuemu.ptx("no.ptx")):
    try:
        wrong()
        raise SystemExit("no exception")
    except gpuemu.Error as error:
        assert error.code in (1, 2), error
class Broken(gpuemu.prefetch_policy):
    def on_batch(self, faults):
        return 1 / 0
class Breaking(Lru):
    def victims(self, need):
        return 1 / 0
for wrong in ({"prefetch": Broken()}, {"evict": Breaking(), "vram": "64K"}):
    try:
        gpuemu.run("bfs", "size=tiny", **wrong)
        raise SystemExit("no exception")
    except gpuemu.Error as error:
        assert "ZeroDivisionError" in str(error), error
class Silent(Lru):
    def victims(self, need):
        return []
try:
    gpuemu.run("bfs", "size=tiny", vram="64K", evict=Silent())
    raise SystemExit("no exception")
except gpuemu.Error as error:
    assert "pick()" in str(error), error
# The library itself.
with gpuemu.GPU(backend="sim", settings={"gpu.sms": 2}) as gpu:
    assert gpu.backend == "sim"
    vecadd = gpu.kernel("build/ptx/vecadd.ptx", "vecadd")
    x, y, z = (gpu.array(ctypes.c_float, 1000) for _ in range(3))
    for i in range(1000):
        x[i], y[i] = i, 2 * i
    vecadd((4, 1, 1), 256, x, y, z, ctypes.c_uint32(1000))
    assert list(z) == [3 * i for i in range(1000)]
    assert gpu.statistics()["settings"]["gpu.sms"] == "2"
    try:
        gpu.kernel("build/ptx/vecadd.ptx", "none")
        raise SystemExit("no exception")
    except gpuemu.Error as error:
        assert "none" in str(error), error
    # A launch compares number and sizes of the arguments with the kernel's parameters.
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_uint32), ("b", ctypes.c_uint32)]
    saxpy, n = gpu.kernel("build/ptx/saxpy.ptx", "saxpy"), ctypes.c_uint32(1000)
    saxpy(4, 256, n, ctypes.c_float(2), x, y)
    assert list(y) == [4 * i for i in range(1000)]
    for wrong, says in (
            (lambda: saxpy(4, 256, n, ctypes.c_double(2), x, y), "argument 1 (f64) has 8 bytes"),
            (lambda: saxpy(4, 256, n, Pair(1, 2), x, y), "argument 1 (bytes) has 8 bytes"),
            (lambda: saxpy(4, 256, n, ctypes.c_float(2), x), "takes 4 arguments, 3 are given"),
            (lambda: saxpy(4, 256, n, ctypes.c_float(2), x, y, y), "takes 4 arguments, 5 are given"),
            (lambda: saxpy(4, 256), "takes 4 arguments, 0 are given"),
            (lambda: saxpy(4, 256, n, 2.0, x, y), "argument 1 is 2.0"),
            (lambda: saxpy((4, 1, 1, 1), 256, n, ctypes.c_float(2), x, y), "grid"),
            (lambda: saxpy(1 << 32, 256, n, ctypes.c_float(2), x, y), "grid"),
            (lambda: saxpy(4, "256", n, ctypes.c_float(2), x, y), "block"),
            (lambda: saxpy(4, 256, n, ctypes.c_float(2), x, y, shared=-1), "shared"),
            (lambda: gpu.array(float, 3), "array"),
            (lambda: gpu.array(ctypes.c_float, -1), "array"),
            (lambda: gpu.kernel("no.ptx"), "no.ptx: No such file")):
        try:
            wrong()
            raise SystemExit(f"no exception: {says}")
        except gpuemu.Error as error:
            assert says in str(error) and error.code < 0, error
    assert list(y) == [4 * i for i in range(1000)], "no wrong launch ran"
try:
    saxpy(4, 256, n, ctypes.c_float(2), n, n)
    raise SystemExit("no exception")
except gpuemu.Error as error:
    assert "closed" in str(error), error
PY
tap_check 'the module does what it says' timeout 300 /usr/bin/python3 "$work/test.py"
tap_check 'saxpy.py' sh -c "timeout 100 /usr/bin/python3 examples/python/saxpy.py | grep -q 'y\[9999\] = 19999, '"
timeout 200 /usr/bin/python3 examples/python/policy.py >"$work/policy.out" 2>"$work/policy.err"
tap_check 'policy.py: an eviction policy of its own saves far faults' sh -c "awk '{ f[\$1] = \$4 } END { exit !(f[\"lru\"] > 0 && f[\"newest\"] < f[\"lru\"]) }' $work/policy.out"
tap_check 'policy.py: a policy of its own saves far faults' sh -c "awk '{ f[\$1] = \$4; p[\$1] = \$7 } END { exit !(f[\"mine\"] < f[\"none\"] && p[\"mine\"] > 0) }' $work/policy.out"
timeout 300 /usr/bin/python3 examples/python/figure.py "$work/figure.png" >"$work/figure.out" 2>&1
tap_check 'figure.py draws a picture' sh -c "head -c 8 $work/figure.png | grep -q PNG"
mkdir "$work/without"
echo 'raise ImportError("none here")' >"$work/without/matplotlib.py"
PYTHONPATH=$work/without:$PYTHONPATH /usr/bin/python3 examples/python/figure.py "$work/none.png" 2>"$work/figure.err"
tap_check 'figure.py without matplotlib says what it needs' grep -q 'python3-matplotlib' "$work/figure.err"

# --- as it is installed ------------------------------------------------------------------
tap_check 'make install' make install DESTDIR="$work/root" pythondir=/usr/local/lib/python3/dist-packages
installed=$work/root/usr/local
cat >"$work/installed.py" <<'PY'
import gpuemu
class Next(gpuemu.prefetch_policy):
    def on_batch(self, faults):
        return [f.addr + gpuemu.PAGE for f in faults]
report = gpuemu.run("vecadd", "size=tiny", prefetch=Next())
assert report["paging"]["prefetched_pages"] > 0
with gpuemu.GPU(backend="sim") as gpu:
    gpu.kernel(__import__("sys").argv[1])
PY
tap_check 'the installed module finds program, library and policy' sh -c "cd / && PATH=$installed/bin:\$PATH PYTHONPATH=$installed/lib/python3/dist-packages /usr/bin/python3 $work/installed.py $installed/share/gpuemu/examples/saxpy.ptx"
tap_check 'the installed saxpy.py finds its PTX' sh -c "cd / && PATH=$installed/bin:\$PATH PYTHONPATH=$installed/lib/python3/dist-packages /usr/bin/python3 $installed/share/gpuemu/examples/python/saxpy.py | grep -q 'y\[9999\] = 19999, '"
for f in include/gpuemu_device.h share/gpuemu/examples/vecadd.c share/gpuemu/examples/python/figure.py share/gpuemu/examples/sweeps/hpca16-prefetch.conf share/doc/gpuemu/README.md share/doc/gpuemu/docs/design.md; do
	tap_check "installed: $f" test -s "$installed/$f"
done

# --- a kernel of one's own ---------------------------------------------------------------
# The README's line, with the installed header.
line=$(sed -n 's/^\$ \(clang-14 .* saxpy\.cu .*\)$/\1/p' README.md)
cp examples/saxpy.cu "$work"
tap_check "the README's clang line" sh -c "cd $work && CPATH=$installed/include ${line:-false}"
tap_check 'its kernel runs' build/bin/gpuemu ptx "$work/saxpy.ptx" --grid 4 --block 256 --arg u32:1K --arg f32:2 --arg randf32:1K:1 --arg randf32:1K:2 --backend sim
PKG_CONFIG_PATH=$PWD/build/lib
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
tap_check 'pkg-config without an installation' gcc -o "$work/vecadd" examples/vecadd.c $(pkg-config --cflags --libs gpuemu)
tap_check 'and its program runs' env GPUEMU_BACKEND=sim LD_LIBRARY_PATH=build/lib "$work/vecadd"
tap_done
