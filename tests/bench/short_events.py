"""Programs whose events are short: what they cost plain, under tools that do nothing, and measured; and what a
single event costs the thread that executes it.

Each compiler's programs run on its own runtime.  A tool with empty callbacks shows what the runtime spends on calling a
tool at all, and one that reads the clock in them what every tool takes that has exact times.  libgomp calls no tools, so
that GCC's programs are only compared with the plain run."""
import contextlib
import math
import shutil
import subprocess
import sys

import costs
import tap
from measured import build

WAYS = ("off", "default", "online", "trace")
EMPTY_OFF, EMPTY = "empty, as off", "empty"
CLOCK_OFF, CLOCK = "clock, as off", "clock"
TOOLS = {EMPTY_OFF: (), EMPTY: ("-DGRAPH",), CLOCK_OFF: ("-DCLOCK",), CLOCK: ("-DCLOCK", "-DGRAPH")}  # empty_tool.c
START = "start and end"
GOLDEN_RATIO = (1 + math.sqrt(5)) / 2

HEADING = f"""CPU: user and system time of the process with all threads, as ratio to the plain run of the same round; least: the ratio
of the least of all rounds; ns: CPU time of an event beyond plain, and beyond empty, without start and end.  Lines of
single events: the least of all rounds, which other load on the machine hardly changes
{'program':34} {'way':14} {'CPU':>7} {'quartiles':>15} {'least':>7} {'ns':>8} {'ns':>8}  bar"""

# What keeps a core busy until the benchmark ends.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(10000))\n"


def fibonacci(n):
    before, value = 1, 0
    for _ in range(n):
        before, value = value, before + value
    return value


class Program:
    """A program of workloads.c.  amounts: its argument for clang and GCC at size 1.  event: what its events are.
    bars: way → the CPU ratios that are aimed at, for clang and GCC."""

    def __init__(self, name, what, event, amounts, bars):
        self.name, self.what, self.event, self.amounts = name, "counted_" + what, event, amounts
        self.bars = dict(zip(("off", "default"), bars))

    def amount(self, gcc, size):
        full = self.amounts[gcc]
        if self.what == "counted_fib":
            return max(round(full + math.log(size) / math.log(GOLDEN_RATIO)), 2)
        return max(round(full * size), 400 if self.what == "counted_doacross" else 2)

    def events(self, amount):
        """How many events there are, as the source of workloads.c has it."""
        if self.what == "counted_fib":
            return 2 * fibonacci(amount + 1) - 2
        parts = {"counted_doacross": 400, "counted_contended": 2, "counted_criticals": 2}.get(self.what, 1)
        return amount // parts * parts


PROGRAMS = (
    Program("tasks of 0.5 us", "tasks", "task", (2000000, 2000000), ((1.04, 1.04), (1.12, 1.12))),
    Program("fib(n)", "fib", "task of a recursive program", (30, 28), ((1.08, 1.08), (1.35, 1.35))),
    Program("contended criticals", "contended", "critical", (2000000, 2000000), ((1.15, 1.15), (1.3, 1.3))),
    Program("criticals without waiting", "criticals", "critical", (4000000, 4000000), ((1.65, 1.04), (1.9, 1.3))),
    Program("regions of 9 us", "regions", "region of 2 threads", (100000, 100000), ((1.03, 1.03), (1.06, 1.06))),
    Program("26,000 regions/s of 3 loops", "loops", "region with 3 loops", (26000, 26000), ((1.02, 1.02), (1.05, 1.05))),
    Program("doacross of 400 x 400", "doacross", "cell", (480000, 480000), ((1.02, 1.02), (1.1, 1.1))),
)


# Constructs of construct_costs.c that one thread executes.
SINGLE = {"critical": "critical", "lock": "lock", "task1": "task, team of one", "fib1": "task of a recursive program",
          "region": "region of one thread", "dynamic1": "chunk of a dynamic loop", "doacross1": "iteration of a doacross loop"}
SINGLE_COUNT, SINGLE_ROUNDS = 20000, 15  # in a run; the rounds' least is taken, and short ones are seldom disturbed


def empty_tool(*flags, name):
    return build("empty_tool.c", "gcc", "-shared", "-fPIC", "-I", tap.SOURCE, *flags, name=name, openmp=False)


def ways_of(gcc, options):
    """The plain way, and the others."""
    plain = costs.alone(gcc)
    plain.name = "plain"
    ways = [plain]
    if not gcc:
        for name, flags in TOOLS.items():
            tool = empty_tool(*flags, name=name.replace(", ", "_").replace(" ", "_") + ".so")
            ways.append(costs.Way(name, settings={**plain.settings, "OMP_TOOL_LIBRARIES": tool}))
    ways += costs.hpctoolkit(200, gcc)
    for mode in options.modes or WAYS:
        way = costs.lite(200, "default" if mode == "trace" else mode, gcc, options.launcher,
                         "states" if mode == "trace" else None)
        way.name = {"off": "-p off", "online": "-p online", "trace": "-t"}.get(mode, mode)
        way.mode = mode
        ways.append(way)
    return ways


@contextlib.contextmanager
def busy_processes(count):
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


class Results:
    """The figures of one compiler's programs: (program, way) → a text for the tables of doc/performance.md."""

    def __init__(self, table, bench, compiler, options):
        self.table, self.bench, self.compiler, self.options = table, bench, compiler, options
        self.gcc, self.ways = compiler == "gcc", ways_of(compiler == "gcc", options)
        self.program, self.single = build("workloads.c", compiler), build("construct_costs.c", compiler)
        self.starts, self.ratios, self.each = {self.ways[0].name: 0}, {}, {}

    def rounds(self, what, amount):
        return self.bench.rounds([self.program, what, str(amount)], self.ways, self.options.runs,
                                 {"OMP_NUM_THREADS": "2"})

    def start(self):
        """What starting and ending takes, which the times of events do not include."""
        done = self.rounds("counted_tasks", 0)
        for way in self.ways:
            beyond = costs.differences(done[way], done[self.ways[0]], "cpu")
            self.starts[way.name] = beyond[1]
            if way != self.ways[0]:
                self.table.line(f"{START}, {self.compiler}", way.name, "CPU beyond plain",
                                [1000 * value for value in beyond], "ms")

    def measure(self, program):
        """Measures a program and prints its lines; returns its name in the tables."""
        amount = program.amount(self.gcc, self.options.size)
        done, events = self.rounds(program.what, amount), program.events(amount)
        what = f"{program.name.replace('(n)', f'({amount})')}, {self.compiler}"
        plain = costs.quartiles([cost.cpu for cost in done[self.ways[0]]])
        self.table.keep(what, "plain", "CPU", plain, "s")
        print(f"{what:34} plain {plain[1]:.3f} s ({plain[0]:.3f} .. {plain[2]:.3f}), {events:,} times: {program.event}")
        for way in self.ways[1:]:
            self.measure_way(what, way, done, events, (program.bars.get(way.mode) or (None, None))[self.gcc])
        return what

    def measure_way(self, what, way, done, events, bar):
        runs, base = done[way], done[self.ways[0]]
        ratio = costs.ratios(runs, base, "cpu")
        least = min(cost.cpu for cost in runs) / min(cost.cpu for cost in base)
        judged = self.table.keep(what, way.name, "CPU ratio", ratio, "", bar)
        self.table.keep(what, way.name, "CPU ratio of the least", (least,) * 3, "")
        each = [self.each_event(what, way, other, done, events) for other in self.bases(way)]
        self.ratios[what, way.name] = "{1:.2f} ({0:.2f} .. {2:.2f})".format(*ratio)
        self.each[what, way.name] = ", ".join(f"{ns:,.0f}" for ns in each)
        print(f"{what:34} {way.name:14} {ratio[1]:7.3f} {ratio[0]:6.3f} ..{ratio[2]:6.3f} {least:7.3f} "
              f"{each[0]:8.0f} {f'{each[1]:.0f}' if each[1:] else '':>8}  {f'<= {bar} {judged}' if bar else ''}".rstrip(),
              flush=True)

    def bases(self, way):
        """The ways that an event of this one is compared with: plain, and the tool with the same callbacks."""
        empty = None if way.name in TOOLS else EMPTY_OFF if way.mode == "off" else EMPTY
        return [base for base in self.ways if base.name in ("plain", empty)]

    def each_event(self, what, way, base, done, events):
        """ns of an event beyond the base, without start and end."""
        start = self.starts[way.name] - self.starts[base.name]
        each = costs.quartiles([(cost.cpu - other.cpu - start) * 1e9 / events
                                for cost, other in zip(done[way], done[base])])
        self.table.keep(what, way.name, f"an event beyond {base.name}", each, "ns")
        return each[1]


    def measure_single(self, name):
        """The same for one construct in one thread."""
        what, least = f"{SINGLE[name]}, 1 thread, {self.compiler}", {}
        count = max(round(SINGLE_COUNT * self.options.size), 100)
        for _ in range(self.options.runs):
            for way in self.ways:
                self.bench.empty_out()
                line = self.bench.line([self.single, name, str(count), str(SINGLE_ROUNDS)], way)
                took = float(tap.must("env", *line, cwd=self.bench.directory))
                least[way.name] = min(took, least.get(way.name, took))
        plain = least[self.ways[0].name]
        self.table.keep(what, "plain", "an event, least", (plain,) * 3, "ns")
        print(f"{what:34} plain {plain:.1f} ns", flush=True)
        for way in self.ways[1:]:
            beyond = [least[way.name] - least[base.name] for base in self.bases(way)]
            for base, ns in zip(self.bases(way), beyond):
                self.table.keep(what, way.name, f"an event beyond {base.name}, least", (ns,) * 3, "ns")
            self.each[what, way.name] = ", ".join(f"{ns:,.0f}" for ns in beyond)
            print(f"{what:34} {way.name:14} {'':33} {beyond[0]:8.1f} {f'{beyond[1]:.1f}' if beyond[1:] else '':>8}".rstrip(),
                  flush=True)
        return what


def markdown(names, heading, columns, cells):
    """Prints a table as doc/performance.md has it."""
    print(f"\n| {heading} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for name in names:
        print(f"| {name} | {' | '.join(cells.get((name, column), '') for column in columns)} |")


def short_events(table, bench, options, wanted):
    table.begin("Short events", HEADING)
    names, singles, ratios, each, columns = [], [], {}, {}, []
    with busy_processes(options.busy):
        for compiler in ("clang", "gcc"):
            if not shutil.which(compiler):
                continue
            results = Results(table, bench, compiler, options)
            results.start()
            names += [results.measure(program) for program in PROGRAMS if wanted(f"{program.name}, {compiler}", options)]
            singles += [results.measure_single(name) for name, what in SINGLE.items()
                        if wanted(f"{what}, 1 thread, {compiler}", options)]
            ratios.update(results.ratios)
            each.update(results.each)
            columns += [way.name for way in results.ways[1:] if way.name not in columns]
    markdown(names, "CPU ratio to plain, median (quartiles)", columns, ratios)
    markdown(names + singles, "ns an event beyond plain, beyond empty", columns, each)


def clocks():
    """What this machine's clocks cost, as text."""
    program = build("construct_costs.c", "gcc")
    costs_of = {name: float(tap.must(program, name, "100000")) for name in ("rdtsc", "clock_gettime", "thread_clock")}
    return (f"rdtsc {costs_of['rdtsc']:.0f} ns, clock_gettime {costs_of['clock_gettime']:.0f} ns, "
            f"of the thread's CPU time {costs_of['thread_clock']:.0f} ns")
