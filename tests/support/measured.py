"""What the tests on programs share: build, measure, read the report."""
import csv
import glob
import io
import os
import sys
import time

import tap

HERE = os.path.dirname(os.path.abspath(sys.argv[0]))
os.environ["MALLOC_PERTURB_"] = "0"  # meson has libc fill what programs free, which takes them time


def build(directory, source, compiler="gcc", name=None, flags=("-O1", "-g", "-fopenmp")):
    """Compiles a program of the script's folder, or of tests/support, into directory; Skip if the compiler is not there."""
    path = next(path for path in (os.path.join(folder, source) for folder in (HERE, tap.SUPPORT)) if os.path.exists(path))
    out = os.path.join(directory, name or f"{os.path.splitext(source)[0]}-{compiler}")
    try:
        done = tap.run(compiler, *flags, "-I", tap.SUPPORT, path, "-o", out, "-lm", "-lpthread", cwd=directory)
    except FileNotFoundError as error:
        raise tap.Skip(f"no {compiler}") from error
    assert done.returncode == 0, done.stderr
    return out


class Others:
    """What other processes took of the machine meanwhile, in cores."""

    def __enter__(self):
        self.began, self.all, self.own = time.monotonic(), self._all(), self._own()
        return self

    def __exit__(self, *unused):
        elapsed = time.monotonic() - self.began
        self.cores = max(self._all() - self.all - (self._own() - self.own), 0) / elapsed

    @staticmethod
    def _all():
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, irq, softirq, steal = (int(field) for field in file.readline().split()[1:9])
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _own():
        used = os.times()
        return used.user + used.system + used.children_user + used.children_system


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

    def __init__(self, directory, *command, options=("-e", "task-clock@f1000"), prefix=(), timeout=120, launcher=None,
                 **settings):
        self.output = os.path.join(directory, "measured-" + os.path.basename(command[0]))
        self.done = tap.run(*prefix, launcher or tap.LAUNCHER, "--overwrite", "-o", self.output, *options, "--", *command, cwd=directory,
                            timeout=timeout, **settings)

    def view(self, name, *options):
        """Rows of a view as dictionaries; fails unless the report was clean."""
        done = tap.run(tap.REPORT, "--view", name, "-f", "csv", *options, self.output)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(io.StringIO(done.stdout)))

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
    """What a program printed of its own clocks: lines of `name seconds`."""
    return {name: float(value) for name, value in (line.split() for line in output.splitlines())}


def openmp_flags(compiler):
    """How a compiler builds OpenMP programs here: clang 19 comes without the library and its header."""
    if compiler != "clang-19":
        return ("-O1", "-g", "-fopenmp")
    library, headers = os.path.join(tap.DEPS, "libomp-19"), glob.glob("/usr/lib/llvm-*/lib/clang/*/include/omp.h")
    own = os.path.join(library, "include")
    found = own if os.path.exists(os.path.join(own, "omp.h")) else os.path.dirname(headers[0]) if headers else None
    if not found or not os.path.exists(os.path.join(library, "libomp.so")):
        raise tap.Skip("no OpenMP for clang-19")
    return ("-O1", "-g", "-fopenmp", "-idirafter", found, f"-L{library}", f"-Wl,-rpath,{library}")


def libomps():
    """The versions of LLVM's runtime that are here, with the library of each."""
    found = [(version, os.path.join(tap.DEPS, f"libomp-{version}", "libomp.so.5")) for version in (14, 15, 16, 19)]
    return [(version, library) for version, library in found if os.path.exists(library)]


def near(value, expected, share, what=""):
    tap.timed(abs(value - expected) <= share * expected, f"{what}: {value:.4f}, expected {expected:.4f} ± {share:.0%}")


def sums_hold(nodes):
    """Exclusive values add up to the root's inclusive ones, and every row's inclusive value to its own and its children's."""
    for column in ("work", "overhead"):
        for node in nodes:
            parts = node.value(f"{column}_excl_s") + sum(child.value(f"{column}_incl_s") for child in node.children)
            assert abs(parts - node.value(f"{column}_incl_s")) < 1e-6, (node.path(), column)
    assert sum(node.value("work_excl_s") for node in nodes) > 0


def no_runtime(nodes):
    """No frame of the OpenMP runtime or of this tool is shown, and none of the start-up code above main."""
    for node in nodes:
        linkage = node.name.endswith("@plt")  # the program's own jump to the runtime
        assert linkage or not node.name.startswith(("__kmp", "GOMP_", "gomp_")), node.path()
        if node.name.startswith(("_start", "__libc_start")):  # a sample may hit libc's start or exit, but main is not below
            assert all(child.name != "main" for child in node.children), node.path()
        assert not os.path.basename(node.module).startswith(("libomp.", "libgomp.", "libhpcrun-lite.")), node.path()
