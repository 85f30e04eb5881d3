# SPDX-License-Identifier: GPL-2.0
"""gpuemu from Python: run a workload or any PTX, read reports as dicts, write a paging policy.

    import gpuemu
    report = gpuemu.run("bfs", "size=tiny", vram="64K", prefetch="tree")
    print(report["paging"]["far_faults"])

run() and ptx() call the `gpuemu` program; GPU is the library itself, for programs of your own.
A policy (prefetch_policy, evict_policy) is a Python object that `run` is handed: it decides in this
process, and a small shared object in the engine's policy process passes the questions on. Made for prototypes: a
decision takes a few hundred microseconds, so give `settings={"paging.decide": 2000}` where times are
measured. Everything here is the standard library's.
"""
import contextlib
import ctypes
import ctypes.util
import errno
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

PAGE = 4096
_here = pathlib.Path(__file__).resolve().parent


class Error(Exception):
    """What gpuemu said, and its exit status or error code as `code`."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


def _find(variable, name, *places):
    """A file of gpuemu's: named by the environment, of this tree, or installed."""
    if os.environ.get(variable):
        return os.environ[variable]
    for place in places:
        if (place / name).exists():
            return str(place / name)
    return None


def _program():
    found = _find("GPUEMU_PROGRAM", "gpuemu", _here.parent / "build/bin") or shutil.which("gpuemu")
    if not found:
        raise Error("no gpuemu: install it, or set GPUEMU_PROGRAM")
    return found


# --- the program ---------------------------------------------------------------------------


def _options(settings, options):
    words = []
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={value}"]
    for key, value in options.items():
        option = "--" + key.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


def _report(words, env=None):
    with tempfile.TemporaryDirectory(prefix="gpuemu-") as folder:
        report = os.path.join(folder, "report.json")
        program = _program()
        try:
            done = subprocess.run([program, *words, "--json", report], env=env, text=True,
                                  capture_output=True, check=False)
        except (OSError, ValueError) as error:
            raise Error(f"cannot run {program}: {error}") from error
        if done.returncode:
            # A log of a long run has lines of progress, too.
            said = [line for line in done.stderr.splitlines() if line.startswith("gpuemu")]
            raise Error("\n".join(said) or f"gpuemu ended with status {done.returncode}",
                        done.returncode)
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def run(workload, *words, prefetch=None, evict=None, settings=None, backend="sim", **options):
    """The report of `gpuemu run WORKLOAD WORDS... --OPTION VALUE...` as a dict.

    prefetch and evict are a policy's name, the path of its shared object, or a Python object with
    the methods of prefetch_policy or evict_policy. Options are the command line's with _ for -:
    vram="1M", functional=True. Raises Error when the run fails or does not verify.
    """
    with contextlib.ExitStack() as stack:
        env = dict(os.environ)
        served = {kind: policy for kind, policy in (("prefetch", prefetch), ("evict", evict))
                  if policy is not None and not isinstance(policy, str)}
        if served:
            shim = stack.enter_context(_Served(served, env))
            prefetch = shim if "prefetch" in served else prefetch
            evict = shim if "evict" in served else evict
        return _report(["run", workload, *map(str, words), "--backend", backend,
                        *_options(settings, {"prefetch": prefetch, "evict": evict, **options})],
                       env)


def ptx(file, *args, grid=1, block=1, settings=None, backend="sim", **options):
    """The report of one launch of a PTX file's kernel; args as --arg takes them: "u32:7"."""
    words = ["ptx", str(file), "--grid", _dim(grid), "--block", _dim(block), "--backend", backend]
    for arg in args:
        words += ["--arg", str(arg)]
    return _report(words + _options(settings, options))


def _dim(value):
    return ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)


# --- policies --------------------------------------------------------------------------------


class Fault:
    """A unique far fault of a batch."""

    __slots__ = ("addr", "cycle", "merged", "sm", "warp", "write", "resident")

    def __init__(self, words):
        self.addr, self.cycle, self.merged, self.sm, self.warp = (int(w) for w in words[:5])
        self.write, self.resident = words[5] == "1", words[6] == "1"


class _policy:
    """What policies of both kinds are told; each method may be left out."""

    def on_begin(self, frames):
        """A GPU begins, with room for so many pages and none of them there: forget what was."""

    def on_arrive(self, addr, prefetched):
        """The page is in device memory now. It may have been there already."""

    def on_touch(self, addr, write):
        """A TLB was filled with it."""

    def on_leave(self, addr):
        """It is not there any more. It may be unknown."""


class prefetch_policy(_policy):
    """Base of a prefetch policy in Python; only on_batch() has to be there."""

    def on_batch(self, faults):
        """Addresses of pages to bring beside those of `faults`, the most wanted first."""
        return []


class evict_policy(_policy):
    """Base of an eviction policy in Python; victims() has to be there.

    At least `group` pages go at a time, if so many may.
    """

    group = 1

    def victims(self, need):
        """Pages of device memory, the first to go first; an iterable, read as far as needed.

        gpuemu passes over pages that must stay, so name all pages and not only `need` of them. A
        page that goes is told by on_leave(); victims() removes nothing.
        """
        raise NotImplementedError


class _Asked:
    """One policy: a thread that answers its questions, over two named pipes."""

    def __init__(self, kind, policy, folder):
        self.policy, self.error, self.rest = policy, None, iter(())
        for name in ("ask", "answer"):
            os.mkfifo(os.path.join(folder, f"{kind}-{name}"))
        # Both ends of each, so that nobody waits for the other to open.
        self.ask = os.open(os.path.join(folder, f"{kind}-ask"), os.O_RDWR)
        self.answer = os.open(os.path.join(folder, f"{kind}-answer"), os.O_RDWR)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def end(self):
        # Behind what a process that was ended may have left of a line.
        os.write(self.ask, b"\nend\n")
        self.thread.join()
        os.close(self.ask)
        os.close(self.answer)

    def _serve(self):
        with open(self.ask, "rb", closefd=False) as questions:
            for line in questions:
                words = line.decode().split()
                if not words:
                    continue
                if words[0] == "end":
                    return
                try:
                    said = None if self.error else self._take(words)
                except Exception as error:  # the policy's own mistake, raised by _Served
                    self.error, said = error, None
                if words[0] in ("batch", "pick", "more"):
                    os.write(self.answer, (" ".join(map(str, said or [])) + "\n").encode())

    def _take(self, words):
        if words[0] == "batch":
            rest = words[2:]
            faults = [Fault(rest[i:i + 7]) for i in range(0, len(rest), 7)]
            return [int(page) for page in self.policy.on_batch(faults)][:int(words[1])]
        if words[0] == "pick":
            self.want = max(int(words[1]), getattr(self.policy, "group", 1))
            self.rest = iter(self.policy.victims(int(words[1])))
            return [self.want, *self._some()]
        if words[0] == "more":
            return self._some()
        method = getattr(self.policy, {"begin": "on_begin", "a": "on_arrive", "t": "on_touch",
                                       "l": "on_leave"}[words[0]], None)
        if method:
            method(int(words[1]), *(w == "1" for w in words[2:]))
        return []

    def _some(self):
        """The next victims: as many as are wanted, and some of them may have to stay."""
        return [int(page) for page in itertools.islice(self.rest, self.want + 32)]


class _Served:
    """Policies of a run, and the shared object that asks them."""

    def __init__(self, policies, env):
        self.policies, self.env = policies, env

    def __enter__(self):
        shim = _find("GPUEMU_PYTHON_POLICY_SO", "gpuemu-python-policy.so",
                     _here.parent / "build/lib", _here)
        if not shim:
            raise Error("no gpuemu-python-policy.so: make libs, or set GPUEMU_PYTHON_POLICY_SO")
        self.folder = tempfile.mkdtemp(prefix="gpuemu-policy-")
        self.asked = [_Asked(kind, policy, self.folder) for kind, policy in self.policies.items()]
        self.env["GPUEMU_PYTHON_POLICY"] = self.folder
        return shim

    def __exit__(self, kind, error, trace):
        for asked in self.asked:
            asked.end()
        shutil.rmtree(self.folder)
        # The policy's own mistake says more than what the run made of its silence.
        for asked in self.asked:
            if asked.error and (error is None or isinstance(error, Error)):
                raise Error(f"the policy failed: {asked.error!r}") from asked.error


# --- the library -----------------------------------------------------------------------------


def _mistake(text):
    return Error(text, -errno.EINVAL)


def _fits(value, bits):
    return isinstance(value, int) and 0 <= value < 1 << bits


class _Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]

    @classmethod
    def of(cls, what, value):
        value = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        if not 1 <= len(value) <= 3 or not all(_fits(v, 32) for v in value):
            raise _mistake(f"{what} {value}: one to three whole numbers")
        return cls(*(value + (1, 1))[:3])


class _Value(ctypes.Union):
    _fields_ = [("u", ctypes.c_uint64), ("ptr", ctypes.c_void_p)]


_BYTES = 12
_TYPES = {ctypes.c_uint8: 1, ctypes.c_uint16: 2, ctypes.c_uint32: 3, ctypes.c_uint64: 4,
          ctypes.c_int8: 5, ctypes.c_int16: 6, ctypes.c_int32: 7, ctypes.c_int64: 8,
          ctypes.c_float: 9, ctypes.c_double: 10, ctypes.c_void_p: 11}


class _Arg(ctypes.Structure):
    """struct gpuemu_arg: the library compares its size with the parameter's."""

    _fields_ = [("type", ctypes.c_int), ("bytes", ctypes.c_size_t), ("v", _Value)]

    @classmethod
    def of(cls, n, value):
        if isinstance(value, ctypes.Array):
            return cls(_TYPES[ctypes.c_void_p], 8, _Value(ptr=ctypes.addressof(value)))
        if not isinstance(value, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union,
                                  ctypes._Pointer)):
            raise _mistake(f"argument {n} is {value!r}: pass arrays of the GPU, and numbers as "
                           "ctypes objects of the parameter's type, as ctypes.c_float(2)")
        size = ctypes.sizeof(value)
        kind = _TYPES.get(type(value), _BYTES)
        if kind == _BYTES:
            return cls(kind, size, _Value(ptr=ctypes.addressof(value)))
        arg = cls(kind, size)
        ctypes.memmove(ctypes.addressof(arg.v), ctypes.addressof(value), size)
        return arg


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_char_p) for name in (
        "backend", "config", "settings", "device", "recorded")]


_library = None


def _lib():
    global _library
    if _library is None:
        path = _find("GPUEMU_LIBRARY", "libgpuemu.so.0", _here.parent / "build/lib",
                     _here.parent.parent) or ctypes.util.find_library("gpuemu")
        if not path:
            raise Error("no libgpuemu.so.0: install it, or set GPUEMU_LIBRARY")
        _library = ctypes.CDLL(path)
        for name in ("strerror", "last_error", "backend", "function_name"):
            getattr(_library, "gpuemu_" + name).restype = ctypes.c_char_p
        # Everything else returns an int and takes pointers, which c_void_p keeps whole.
    return _library


class GPU:
    """An open GPU: with GPU(backend="sim", settings={"paging.vram": "1M"}) as gpu: ..."""

    def __init__(self, backend=None, config=None, settings=None):
        text = "".join(f"{k}={v}\n" for k, v in (settings or {}).items()) or None
        options = _Options(ctypes.sizeof(_Options), *(
            s.encode() if s else None for s in (backend, config, text, None, None)))
        self._ctx = ctypes.c_void_p()
        self._check(_lib().gpuemu_open(ctypes.byref(self._ctx), ctypes.byref(options)), None)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()

    def _open(self):
        if not self._ctx:
            raise Error("the GPU is closed", -errno.ENODEV)
        return self._ctx

    def _check(self, code, ctx="own"):
        if code:
            text = _lib().gpuemu_last_error(self._ctx if ctx else None)
            raise Error((text or _lib().gpuemu_strerror(code)).decode(), code)

    def close(self):
        """Frees everything, memory included: arrays of it must not be used any more."""
        if self._ctx:
            _lib().gpuemu_close(self._ctx)
            self._ctx = ctypes.c_void_p()

    @property
    def backend(self):
        return _lib().gpuemu_backend(self._open()).decode()

    def array(self, ctype, count):
        """Managed memory as an array of ctypes numbers: array(ctypes.c_float, 1000)."""
        at = ctypes.c_void_p()
        try:
            whole = ctype * count
        except (TypeError, AttributeError, ValueError, OverflowError) as error:
            raise _mistake(f"array({ctype!r}, {count!r}): {error}; as in "
                           "array(ctypes.c_float, 1000)") from error
        self._check(_lib().gpuemu_mem_alloc_managed(
            self._open(), ctypes.byref(at), ctypes.c_size_t(ctypes.sizeof(whole))))
        return whole.from_address(at.value)

    def kernel(self, text, name=None):
        """A kernel of PTX text or of a file: call it as kernel(grid, block, *args).

        An argument is an array of the GPU or a ctypes object of the parameter's type.
        """
        if "\n" not in text:
            path = text
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
            except (OSError, ValueError) as error:
                raise Error(f"{path}: {getattr(error, 'strerror', None) or error}",
                            -(getattr(error, "errno", None) or errno.EINVAL)) from error
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        data = text.encode()
        self._check(_lib().gpuemu_module_load_data(
            self._open(), ctypes.byref(module), data, ctypes.c_size_t(len(data)), None))
        if name:
            code = _lib().gpuemu_module_get_function(module, ctypes.byref(function), name.encode())
        else:
            code = _lib().gpuemu_module_function_at(module, ctypes.byref(function), 0)
        self._check(code)

        def launch(grid, block, *args, shared=0):
            if not _fits(shared, 32):
                raise _mistake(f"shared={shared!r}: a number of bytes")
            given = (_Arg * len(args))(*(_Arg.of(n, a) for n, a in enumerate(args)))
            self._open()
            self._check(_lib().gpuemu_launch(
                function, _Dim3.of("grid", grid), _Dim3.of("block", block),
                ctypes.c_size_t(shared), None, given, ctypes.c_uint(len(args))))
            self._check(_lib().gpuemu_synchronize(self._ctx))

        return launch

    def statistics(self):
        """What the context counted so far, as gpuemu-json(7) has it."""
        text = ctypes.c_char_p()
        self._check(_lib().gpuemu_statistics(self._open(), ctypes.byref(text)))
        try:
            return json.loads(text.value)
        finally:
            _lib().gpuemu_free(text)
