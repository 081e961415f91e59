"""What the tests on programs share: build a program, measure it, read the report, compare figures."""
import functools
import glob
import itertools
import os
import re
import signal
import sys
import threading
import time

import tap
from report import rows

_building = threading.Lock()


def source_file(name):
    """A program's source: in the directory of the script that runs, or in tests/support."""
    return next(path for path in (os.path.join(folder, name) for folder in (tap.SCRIPT, tap.SUPPORT))
                if os.path.exists(path))


def line_of(source, text):
    """The number of the first line of a program's source that has the text."""
    with open(source_file(source), encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def build(source, compiler="gcc", *flags, name=None, openmp=True):
    """Compiles a program, once for the whole script, and returns its path; Skip if the compiler is missing."""
    with _building:
        stem = os.path.splitext(source)[0]
        return _build(source, compiler, flags, name or f"{stem}-{compiler}" + "".join(flags).replace("/", ""), openmp)


def calls(compiler, flags):
    """The last call of a function is a call, as with GCC at -O1: newer clang makes a jump of it, without a frame."""
    optimized = any(flag.startswith(("-O", "-foptimize")) for flag in flags)
    return ("-fno-optimize-sibling-calls",) if compiler.startswith("clang") and not optimized else ()


@functools.lru_cache(maxsize=None)
def _build(source, compiler, flags, name, openmp):
    out = os.path.join(tap.shared_directory(), name)
    assert not os.path.exists(out), f"two programs named {name}"
    tap.need_program(compiler)
    tap.must(compiler, "-O1", "-g", *calls(compiler, flags), *(openmp_flags(compiler) if openmp else ()),
             "-I", tap.SUPPORT, "-I", tap.INCLUDE, *flags,
             source_file(source), "-o", out, "-lm", "-lpthread", "-ldl", cwd=tap.shared_directory())
    return out


def preload_library(source):
    """Compiles a library that tests preload."""
    return build(source, "gcc", "-shared", "-fPIC", name=os.path.splitext(source)[0] + ".so", openmp=False)


class Node:
    """A row of the topdown view, with its children."""

    def __init__(self, row):
        self.kind, self.name, self.module = row["kind"], row["name"], row["module"]
        self.row, self.children, self.parent = row, [], None

    def value(self, column):
        return float(self.row[column] or 0)

    def path(self):
        """Names from the top to this row, the root left out."""
        names, node = [], self
        while node and node.kind != "root":
            names.append(node.name)
            node = node.parent
        return names[::-1]


class Measurement:
    """One launch: the program's result and its report."""

    def __init__(self, directory, *command, options=("-e", "task-clock@f1000"), prefix=(), timeout=300, launcher=None,
                 **settings):
        self.output = os.path.join(directory, "measured-" + os.path.basename(command[0]))
        self.done = tap.run(*prefix, launcher or tap.LAUNCHER, "--overwrite", "-o", self.output, *options, "--", *command,
                            cwd=directory, timeout=timeout, **settings)

    def view(self, name, *options):
        """Rows of a view as dictionaries; fails unless the report was clean."""
        return rows(name, *options, self.output)

    def tree(self, *options):
        """All rows of the topdown view as nodes, the root first."""
        nodes = {}
        for row in self.view("topdown", *options):
            node = nodes[row["id"]] = Node(row)
            node.parent = nodes.get(row["parent_id"])
            if node.parent:
                node.parent.children.append(node)
        return list(nodes.values())

    def threads(self):
        return self.view("threads")


def sum_of(nodes, column, function, below=None):
    """A column of the outermost rows of a function, all or only those with `below` among their ancestors."""
    total = 0.0
    for node in nodes:
        ancestors = node.path()[:-1]
        if node.name == function and function not in ancestors and (below is None or below in ancestors):
            total += node.value(column)
    return total


def work_of(nodes, function, below=None):
    return sum_of(nodes, "work_incl_s", function, below)


def idleness_of(nodes, function, below=None):
    return sum_of(nodes, "idleness_incl_s", function, below)


def lockwait_of(nodes, function, below=None):
    return sum_of(nodes, "lockwait_incl_s", function, below)


def clocks(output):
    """What a program measured with its own clocks and printed as lines of `name seconds`."""
    return {name: float(value) for name, value in (line.split() for line in output.splitlines())}


def openmp_flags(compiler):
    """How a compiler builds OpenMP programs here: clang 19 comes without the library and its header, unless the release was
    chosen (tests/packages/device_compilers)."""
    if compiler != "clang-19" or os.environ.get("HPCRUN_LITE_TEST_LLVM"):
        return ("-fopenmp",)
    library, headers = os.path.join(tap.DEPS, "libomp-19"), glob.glob("/usr/lib/llvm-*/lib/clang/*/include/omp.h")
    own = os.path.join(library, "include")
    found = own if os.path.exists(os.path.join(own, "omp.h")) else os.path.dirname(headers[0]) if headers else None
    if not found or not os.path.exists(os.path.join(library, "libomp.so")):
        raise tap.Skip("no OpenMP for clang-19")
    return ("-fopenmp", "-idirafter", found, f"-L{library}", f"-Wl,-rpath,{library}")


def libomps(*versions):
    """The libraries of LLVM's OpenMP in build-deps: of these versions, or of all."""
    found = [os.path.join(tap.DEPS, f"libomp-{version}", "libomp.so.5") for version in versions or (14, 15, 16, 19)]
    return [library for library in found if os.path.exists(library)]


def need_libomps(*versions):
    """The same; Skip where one of these versions, or each of all, is missing."""
    found = libomps(*versions)
    if not found or len(found) < len(versions):
        raise tap.Skip(f"no libomp {' and '.join(map(str, versions))} in build-deps".replace("  ", " "))
    return found


def combinations(*lists):
    """Tuples with one value of each list: with --long all of them, otherwise the fewest in which every value occurs."""
    if "--long" in sys.argv[1:] or not all(lists):
        return list(itertools.product(*lists))
    return [tuple(values[number % len(values)] for values in lists) for number in range(max(map(len, lists)))]


def near(value, expected, share, what=""):
    """The value is expected, give or take a share of it."""
    tap.timed(abs(value - expected) <= share * expected, f"{what}: {value:.4f}, expected {expected:.4f} ± {share:.0%}")


def no_losses(run):
    """The tool reports no loss that would make idleness or lock waiting wrong; a race may lose single samples."""
    for loss in ("repaired", "not charged", "without memory", "unknown"):
        tap.timed(loss not in run.done.stderr, run.done.stderr.splitlines()[-1])


def sums_hold(nodes):
    """A row's inclusive value is its exclusive one plus the inclusive ones of its children; some work was sampled."""
    for column in ("work", "overhead"):
        for node in nodes:
            parts = node.value(f"{column}_excl_s") + sum(child.value(f"{column}_incl_s") for child in node.children)
            assert abs(parts - node.value(f"{column}_incl_s")) < 1e-6, (node.path(), column)
    assert sum(node.value("work_excl_s") for node in nodes) > 0


def no_runtime(nodes):
    """No frame of the OpenMP runtime or of the tool is shown, and no start-up code above main."""
    for node in nodes:
        linkage = node.name.endswith("@plt")  # the jump is the program's own code
        assert linkage or not node.name.startswith(("__kmp", "GOMP_", "gomp_")), node.path()
        if node.name.startswith(("_start", "__libc_start")):  # a sample may fall into libc's start or exit
            assert all(child.name != "main" for child in node.children), node.path()
        assert not os.path.basename(node.module).startswith(("libomp.", "libgomp.", "libhpcrun-lite.")), node.path()


# ---- running programs, and commands to them ----

def write(path, text):
    with open(path, "w", encoding="latin-1") as file:
        file.write(text)
    return path


def control(which, *command, **how):
    """Sends a command, up to two times more where the process got no processor in the commander's 2 s."""
    for left in (2, 1, 0):
        done = tap.run(tap.LAUNCHER, "--control", str(which), *command, **how)
        if "does not answer within" not in done.stderr or not left:
            return done
        print(tap.shown("once more, " + done.stderr), flush=True)


def control_id():
    """A number of a command, as common/control_file.h makes them."""
    number = int.from_bytes(os.urandom(4), "little") | 0xff
    return number & ~0xff | (number * 2654435769 & 0xffffffff) >> 24


def send_control_signal(pid, number, thread=None):
    """Sends SIGURG as a commander does, to the process or one of its threads: rt_sigqueueinfo, rt_tgsigqueueinfo."""
    urgent = int(signal.SIGURG)
    target = f"129, {pid}" if thread is None else f"297, {pid}, {thread}"
    tap.must(sys.executable, "-c", f"import ctypes, struct; b = ctypes.create_string_buffer(128); "
             f"struct.pack_into('iiiiiiQ', b, 0, {urgent}, 0, -1, 0, 1, 0, {0x68706374 << 32 | number}); "
             f"exit(ctypes.CDLL(None).syscall({target}, {urgent}, b) != 0)")


def cpu_of(pid):
    """The CPU time of a process in seconds."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def controlled(compiler="gcc"):
    """The program that commands are sent to."""
    return build(os.path.join(tap.TESTS, "cli", "controlled.c"), compiler, name=f"controlled-{compiler}")


class Running:
    """A program that is measured until end()."""

    def __init__(self, directory, what, *options, compiler="gcc", threads=2, prefix=(), **settings):
        self.output = os.path.join(directory, what)
        self.process = tap.start(*prefix, tap.LAUNCHER, "-o", self.output, "-e", "task-clock@f500", *options, "--",
                                 controlled(compiler), what, cwd=directory,
                                 **{"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive", **settings})
        self.pid = self.process.pid

    def wait_sampled(self, count=1):
        tap.wait_until(lambda: len(glob.glob(os.path.join(self.output, "*.live"))) >= count, "live files")
        tap.wait_until(lambda: self.status()["samples"] > 0, "samples")
        return self

    def command(self, *words):
        """The answer for the process, which must be the only one, and succeed."""
        done = control(self.output, *words)
        assert done.returncode == 0 and done.stderr == "", done
        lines = [line for line in done.stdout.splitlines() if line.startswith("process")]
        assert len(lines) == 1 and lines[0].startswith(f"process {self.pid}: "), done
        return lines[0].split(": ", 1)[1]

    def status(self):
        done = control(self.pid, "status")
        match = re.match(r"process \d+: (\w+) for ([\d.]+) s of ([\d.]+) s(?: by .*)?, level (\w+), (\d+) threads?, "
                         r"(\d+) samples, (\d+) lost\n$", done.stdout)
        if not match:
            return {"samples": 0, "error": done}
        return {"state": match[1], "since": float(match[2]), "elapsed": float(match[3]), "level": match[4],
                "threads": int(match[5]), "samples": int(match[6]), "lost": int(match[7])}

    def end(self):
        os.kill(self.pid, signal.SIGTERM)
        output, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, (self.process.returncode, errors)
        assert not glob.glob(os.path.join(self.output, "control-*")), os.listdir(self.output)
        assert not glob.glob(os.path.join(self.output, "*.flush")), os.listdir(self.output)
        return output


class Phased(Running):
    """The program `phases`, which waits after each phase."""

    def wait_done(self, phase):
        tap.wait_until(lambda: os.path.exists(os.path.join(os.path.dirname(self.output), f"done{phase}")), "a phase")

    def go(self, phase):
        write(os.path.join(os.path.dirname(self.output), f"go{phase}"), "")
