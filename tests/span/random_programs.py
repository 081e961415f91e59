"""Random OpenMP programs (random_program.py): counts by line, work, span and scenarios are those of a model of
OpenMP's rules (openmp_model.py), on both runtimes, online and from the graph log; and with constructs of which not all
executions are followed, but for what are estimates then.

Usage: random_programs.py [--long N] [--seeds FIRST-LAST] [--keep DIR] [-k CASE]
       --long N: N programs for each compiler instead of 20; --seeds: these
       --keep DIR: leaves the programs that fail, and their measurements, in DIR"""
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, openmp_flags, tap
from openmp_model import Model
from random_program import FUNCTIONS, Maker, Text
from report import check_spans, table

SCENARIOS = [(name, factor) for name in FUNCTIONS for factor in (2, 16)]
WHATIF = [option for name, factor in SCENARIOS for option in ("--what-if", f"{name}={factor}")]
SETTINGS = {"OMP_CANCELLATION": "true", "OMP_SCHEDULE": "dynamic,2", "OMP_MAX_ACTIVE_LEVELS": "9",
            "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "passive", "OMP_THREAD_LIMIT": "1000"}
# The standard has both; libomp 14 to 19 hangs now and then with the first one.
MUTEX = {"gcc": "mutexinoutset", "clang": "inout"}
OF_TASKS = ("taskgroup", "single", "masked", "for", "sections")  # whose tasks run beside one another
# Otherwise clang makes one call of equal ones, by which several constructs enter the runtime.
OWN_CALLS = {"gcc": (), "clang": ("-mllvm", "-enable-tail-merge=0", "-mllvm", "-simplifycfg-sink-common=false")}
# GCC gives these the line of the code before them, or that of the loop's statement.
NO_LINE = ("for", "sections", "single", "taskgroup", "barrier", "taskwait")
FIRST, COUNT = 32, 12  # seeds of a plain run, for each compiler: every statement occurs in them
# Governed: as few executions of short constructs are followed as the number of events allows.
MODES = {"online": ("-p", "online"), "log": ("-p", "log"), "governed": ("--overhead-limit", "0")}
COLUMNS = ("instances", "executions", "work", "span")
COUNTS = ("instances", "undeferred", "untied", "dependences")

Difference = namedtuple("Difference", "compiler mode view kind line column found wanted")


def program_of(seed, compiler):
    """The text of the program that a compiler gets, and its model.  libgomp often lets an undeferred task or a
    taskwait with depend continue before a detached task is fulfilled: programs for GCC have no such dependences."""
    for detach in (True, False):
        made = Maker(seed, compiler == "gcc", detach, compiler == "clang")
        text = Text(made, seed)
        model = Model(made, "mutex" if MUTEX[compiler] == "mutexinoutset" else "out")
        if not model.crowded:
            break
    return text, model


class Program:
    """A random program, built by one compiler, and how its reports differ from the model."""

    def __init__(self, seed, compiler, directory):
        self.compiler, self.directory, self.file = compiler, directory, f"random{seed}.c"
        text, self.model = program_of(seed, compiler)
        self.statements, self.differences = text.statements, []
        self.constructs = self.model.constructs()
        self.lines = {line: s.line for s in self.statements.values() for line in (s.before, s.line, s.line + 1)}
        source = os.path.join(directory, self.file)
        with open(source, "w", encoding="ascii") as file:
            file.write(str(text))
        self.binary = source[:-2]
        tap.must(compiler, "-O1", "-g", *OWN_CALLS[compiler], *openmp_flags(compiler),
                 f"-DMUTEXINOUTSET={MUTEX[compiler]}", "-I", tap.INCLUDE, source, "-o", self.binary)

    def compare(self, mode):
        """Measures the program, and compares all views with the model."""
        self.mode = mode
        try:
            run = Measurement(self.directory, self.binary, options=(*MODES[mode], "--work", "user"), **SETTINGS)
        except subprocess.TimeoutExpired:
            self.expect("program", "", 0, "end", "none in 300 s", "")
            return
        status = run.done.returncode
        self.expect("program", "", 0, "exit status", (status, run.done.stderr if status else ""), (0, ""))
        for view, compare in (("parallelism", self.parallelism), ("regions", self.regions), ("tasks", self.tasks),
                              ("whatif", self.scenarios), *[("grains", self.chunks)] * (mode == "log")):
            done = tap.run(tap.REPORT, "--view", view, "-f", "csv", *WHATIF * (view == "whatif"), run.output)
            self.expect(view, "", 0, "report", (done.returncode, done.stderr), (0, ""))
            if done.stdout and not status:
                compare(table(done.stdout))

    def expect(self, view, kind, line, column, found, wanted):
        if found != wanted:
            self.differences.append(Difference(self.compiler, self.mode, view, kind, line, column, found, wanted))

    def by_place(self, view, rows):
        """(kind, line of the directive) → row."""
        found = {}
        for row in rows:
            line = int(row["line"] or 0)
            if self.compiler == "gcc" and row["kind"] in NO_LINE:
                line = self.lines.get(line, line)
            elif line not in self.statements and line in self.lines:
                self.expect(view, row["kind"], self.lines[line], "place", line, self.lines[line])
                line = self.lines[line]
            key = row["kind"], line
            self.expect(view, *key, "file", os.path.basename(row["file"]), self.file)
            self.expect(view, *key, "rows", 1 + (key in found), 1)
            for column in {*COLUMNS, *COUNTS} & row.keys() if key in found else ():
                row[column] = str(float(row[column] or 0) + float(found[key][column] or 0))
            found[key] = row
        return found

    def parallelism(self, rows):
        try:
            check_spans(rows)
        except AssertionError as wrong:
            self.expect("parallelism", "", 0, "0 <= span <= work", str(wrong), "")
        head, *others = rows
        critical = sum(float(row["critical_path"]) for row in rows)
        self.expect("parallelism", "program", 0, "work", float(head["work"]), self.model.total())
        self.expect("parallelism", "program", 0, "span", float(head["span"]), self.model.span())
        self.expect("parallelism", "program", 0, "critical_path", critical, self.model.span())
        found = self.by_place("parallelism", others)
        for key in sorted(found.keys() | self.constructs):
            row, wanted = found.get(key), self.constructs.get(key)
            if not row or not wanted:
                self.expect("parallelism", *key, "row", row and row["executions"], wanted and wanted["executions"])
                continue
            estimated = "are estimates" in row["note"]
            assert not estimated or (self.mode == "governed" and key[0] in ("critical", "lock")), row
            for column in COLUMNS if not estimated else ("instances", "executions"):
                self.expect("parallelism", *key, column, float(row[column]), wanted[column])
            if estimated:
                continue
            bound = float(row["lock_bound"]) if row["lock_bound"] else None
            self.expect("parallelism", *key, "lock_bound", bound, wanted.get("lock_bound"))
            if key[0] == "for" and wanted["work"]:
                self.expect("parallelism", *key, "iterations", float(row["iteration_parallelism"] or 0),
                            self.model.iterations[key[1]])

    def regions(self, rows):
        found = self.by_place("regions", [row for row in rows if row["thread"] == "SUM"])
        wanted = {key: row for key, row in self.constructs.items() if row["executions"]}
        wanted.update({("task-exec", line): row for (kind, line), row in wanted.items() if kind == "task"})
        for key in sorted(found.keys() | wanted):
            row, one = found.get(key), wanted.get(key)
            if not row or not one:
                self.expect("regions", *key, "row", row and row["executions"], one and one["executions"])
                continue
            self.expect("regions", *key, "executions", float(row["executions"] or 0), one["executions"])
            if key[0] == "sections":
                self.expect("regions", *key, "section_count", row["section_count"], str(one["sections"]))
            if key[0] == "single":
                self.expect("regions", *key, "single_count", row["single_count"], str(one["executions"]))

    def tasks(self, rows):
        found = {}
        for (_, line), row in self.by_place("tasks", rows).items():
            found[line] = {name: int(float(row[name])) for name in COUNTS}
        for line in sorted(found.keys() | self.model.tasks):
            one, wanted = found.get(line), self.model.tasks.get(line)
            if not one or not wanted:
                self.expect("tasks", "task", line, "row", one and one["instances"], wanted and wanted["instances"])
                continue
            for name in COUNTS:
                self.expect("tasks", "task", line, name, one[name], wanted[name])

    def chunks(self, rows):
        """How many chunks loops had whose schedule determines it."""
        found = Counter()
        for row in rows:
            if (row["kind"], row["construct"]) == ("chunk", "for"):
                found[self.lines.get(int(row["line"] or 0))] += 1
        for line, count in self.model.chunks.items():
            self.expect("grains", "for", line, "chunks", found[line], count)

    def scenarios(self, rows):
        for (name, factor), row in zip(SCENARIOS, rows, strict=True):
            assert (row["selector"], row["factor"]) == (name, str(factor)), row
            now, wanted = self.model.span(), round(float(self.model.span({name: factor})), 4)
            low, span, high = (float(row[key]) for key in ("span_low", "span", "span_high"))
            what = f"{name}={factor}"
            if self.mode == "log":
                self.expect("whatif", "", 0, what, (low, span, high), (wanted,) * 3)
                self.expect("whatif", "", 0, what + " note", "log: exact" in row["note"], True)
            else:
                self.expect("whatif", "", 0, what, (low, span, high), (min(low, wanted),) * 2 + (float(now),))


# ---- known faults and limits ----

KNOWN = {}


def known(name, compiler=None):
    """A difference that is accepted: precisely what the function accepts.  Without the entry, programs fail until the
    fault is mended."""
    def add(accepts):
        def of_compiler(d, s, program):
            return compiler in (None, d.compiler) and accepts(d, s, program)
        KNOWN[name] = of_compiler
        return accepts
    return add


@known("GCC's code divides static loops and masked itself: they have no rows", "gcc")
def _(d, s, _):
    return d.column == "row" and d.found is None and s and (d.kind == "masked" or d.kind == "for" and s.static)


@known("GCC's static loops end with a barrier in some line near; a barrier after single nowait is its end", "gcc")
def _(d, _, program):
    """In all, there are barriers of the loops more, or barriers after single nowait less."""
    if d.kind != "barrier" or d.column not in ("row", "rows", "file", "executions", "instances"):
        return False
    counts = Counter()
    for (kind, line), row in program.constructs.items():
        s = program.statements[line]
        counts[kind if kind == "for" and s.static or kind == "single" and s.nowait else ""] += row["executions"]
    return -counts["single"] <= excess(d, program) <= counts["for"]


def excess(d, program):
    """How many more of a kind are found in a view than there are."""
    return sum(float(other.found or 0) - float(other.wanted or 0) for other in program.differences
               if (other.mode, other.view, other.kind) == (d.mode, d.view, d.kind) and
               other.column in ("row", {"tasks": "instances"}.get(d.view, "executions")))


@known("GCC: a task that does no work may have the line of the code before it", "gcc")
def _(d, s, _):
    """Its function was loaded into a register before a loop, and no context shows it."""
    return d.kind in ("task", "task-exec") and d.column == "place" and d.found == s.before


@known("GCC: a task may have the line of another construct, whose function was loaded before", "gcc")
def _(d, _, program):
    """All together are as many as there are."""
    return d.kind in ("task", "task-exec") and d.column == "row" and not excess(d, program)


@known("GCC does not announce the end of single nowait: it lasts until the next barrier", "gcc")
def _(d, s, _):
    return d.kind == "single" and d.view == "parallelism" and d.column in ("work", "span") and s.nowait and \
        d.found >= d.wanted


@known("the span of a construct contains what tasks inside wait for outside, up to its work")
def _(d, _, program):
    return d.view == "parallelism" and d.kind in OF_TASKS and d.column == "span" and \
        d.wanted < d.found <= program.constructs[d.kind, d.line]["work"]


def judge(program):
    """The differences that are not known, and which known ones occurred."""
    wrong, met = [], set()
    for d in program.differences:
        names = [name for name, accepts in KNOWN.items() if accepts(d, program.statements.get(d.line), program)]
        met.update(names)
        if not names:
            wrong.append(d)
    return wrong, met


# ---- the cases ----

def option(name, default=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def seeds():
    """Those of the command line, or as many as it names."""
    if option("--seeds"):
        first, last = map(int, option("--seeds").split("-"))
        return range(first, last + 1)
    return range(FIRST, FIRST + int(option("--long", COUNT)))


def check_seed(directory, compiler, seed):
    """Measures one program; returns what is wrong with it, as text, and the known differences."""
    place = os.path.join(directory, f"{compiler}-{seed}")
    os.mkdir(place)
    program = Program(seed, compiler, place)
    for mode in ("online", "log", "governed") if seed % 4 == 1 else ("online", "log"):
        program.compare(mode)
    wrong, met = judge(program)
    if wrong and option("--keep"):
        shutil.copytree(place, os.path.join(option("--keep"), f"{compiler}-{seed}"), dirs_exist_ok=True)
    shutil.rmtree(place)
    lines = [f"{d.mode} {d.view} {d.kind} {d.line} {d.column}: {d.found}, not {d.wanted}" for d in wrong[:12]]
    return wrong and "\n  ".join([f"seed {seed}, {compiler}: {len(wrong)} differences", *lines]), met


def check(directory, compiler):
    tap.need_program(compiler)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda seed: check_seed(directory, compiler, seed), seeds()))
    met = Counter(name for _, names in results for name in names)
    for name, count in met.most_common():
        print(f"# {compiler}: known, in {count} of {len(results)} programs: {name}", flush=True)
    wrong = [text for text, _ in results if text]
    assert not wrong, f"{len(wrong)} of {len(results)} programs differ\n" + "\n".join(wrong)
    return set(met)


# Constructs and clauses that the programs consist of.
WORDS = ("parallel num_threads", r"task if\(", "final", "untied", "mergeable", r"depend\(in:", r"depend\(out:",
         r"depend\(inout:", r"depend\(MUTEX", "taskgroup", "taskwait$", "taskwait depend", "taskyield", "grainsize",
         "num_tasks", "nogroup", r"schedule\(static\)", r"schedule\(static, ", r"schedule\(dynamic",
         r"schedule\(guided", r"schedule\(runtime", "nowait", "sections", "single", "master", "barrier",
         "omp_set_lock", "critical", "usleep", "detach", "omp_fulfill_event", "cancel taskgroup", "cancel for",
         "cancel parallel", *(rf"^{name}\(" for name in FUNCTIONS))


@tap.case
def every_statement_occurs(_):
    """In the programs of a plain run, by each compiler."""
    for compiler in MUTEX:
        text = "".join(str(program_of(seed, compiler)[0]) for seed in range(FIRST, FIRST + COUNT))
        missing = [word for word in WORDS if not re.search(word, text, re.M)]
        assert not missing, (compiler, missing)


@tap.case
def programs_by_gcc(directory):
    check(directory, "gcc")


@tap.case
def programs_by_clang(directory):
    check(directory, "clang")


if __name__ == "__main__":
    tap.main()
