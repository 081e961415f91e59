"""Single figures: the cost of one sample and one event, memory over time, the post-processor."""
import os
import shutil

import addresses
import costs
import tap
import workloads
from measured import build

SAMPLE_US, TASK_NS, CRITICAL_NS, SMALL_KB, REPORT_S = 10, 60, 10, 30, 0.3
TRACE, STATE_NS, TRACE_BYTES = 1.01, 20, 4

# Construct → how often, for about a tenth of a second.
EVENTS = {"task": 500000, "task1": 500000, "region": 500000, "region2": 50000, "barrier2": 100000, "critical": 2000000,
          "lock": 2000000,
          "dynamic": 1000000, "dynamic1": 1000000}
EVENT_NAMES = {"task": "task, 2 threads", "task1": "task, 1 thread", "region": "region of 1 thread",
               "region2": "region of 2 threads",
               "barrier2": "barrier, 2 threads", "critical": "critical", "lock": "lock", "dynamic": "chunk, 2 threads",
               "dynamic1": "chunk, 1 thread"}


def samples(table, bench, options):
    """The time in the handler, from samples that a program sends to itself; with delivery, from two rates."""
    program = build("self_samples.c", openmp=False)
    table.begin("One sample", "CPU time beyond that of an empty handler; cold: the program touches 4 MB before each")
    launch = [options.launcher, "-q", "--overwrite", "-o", bench.out, "-e", costs.NEVER]
    for depth in (10, 30, 200, 1000):
        for name, size in (("warm", 0), ("cold", 4000000)):
            for mode in ("off", "online") if depth == 30 else ("off",):
                found = [[float(part) / 1000 for part in tap.must(*launch, "-p", mode, "--", program, str(depth),
                                                                  "1000", "time", str(size)).split()]
                         for _ in range(options.runs)]
                _, median, most = (costs.quartiles(column) for column in zip(*found))
                table.line(f"{depth} frames, {name}", f"-p {mode}", "handler, median", median, "us")
                table.line(f"{depth} frames, {name}", f"-p {mode}", "handler, 95th percentile", most, "us",
                           SAMPLE_US if depth == 30 else None)
    work = build("workloads.c", "clang")
    slow, fast = costs.lite(200, "off", launcher=options.launcher), costs.lite(5000, "off", launcher=options.launcher)
    for name in ("deep_30", "deep_200", "contexts_1000"):
        done = bench.rounds([work, name], [slow, fast], options.runs)
        each = [(b.cpu - a.cpu) / (b.samples - a.samples) * 1e6 for a, b in zip(done[slow], done[fast])
                if b.samples > a.samples]
        table.line(f"program {name}", "200/s to 5000/s", "CPU a sample, delivered", costs.quartiles(each), "us")


def times_of_events(options, lines):
    """Yields each construct with its ns under each of the lines: words that precede its name, and settings.  All are
    run in turn."""
    for name, count in EVENTS.items():
        found = [[float(tap.must(*line, name, str(count), "3", **settings)) for line, settings in lines]
                 for _ in range(options.runs)]
        yield name, list(zip(*found))


def beyond(column, base):
    return costs.quartiles([b - a for a, b in zip(base, column)])


def events(table, bench, options):
    """The cost of one construct: on libomp beyond that under a tool with empty callbacks, on libgomp, which has none,
    beyond that alone."""
    program, own = build("construct_costs.c", "clang"), build("construct_costs.c", "gcc")
    tool = build("empty_tool.c", "gcc", "-shared", "-fPIC", "-I", tap.SOURCE, name="empty_tool.so", openmp=False)
    table.begin("One event", "all callbacks of one construct together; beyond: what a tool with empty callbacks costs is taken off")
    plain = {"LD_PRELOAD": costs.LIBOMP, "OMP_TOOL": "disabled"}
    empty = {"LD_PRELOAD": costs.LIBOMP, "OMP_TOOL_LIBRARIES": tool}
    modes = [mode for mode in ("off", "online", "log") if mode != "log" or not options.quick]
    launch = [options.launcher, "-q", "--overwrite", "-o", bench.out]
    libomp = [*launch, "--omp-runtime", costs.LIBOMP]
    lines = [([program], plain), ([program], empty), *(([*libomp, "-p", mode, "--", program], {}) for mode in modes)]
    for name, (alone, called, *columns) in times_of_events(options, lines):
        table.line(EVENT_NAMES[name], "alone", "time", costs.quartiles(alone), "ns")
        table.line(EVENT_NAMES[name], "empty callbacks", "beyond alone", beyond(called, alone), "ns")
        for mode, column in zip(modes, columns):
            table.line(EVENT_NAMES[name], f"-p {mode}", "beyond empty callbacks", beyond(column, called), "ns",
                       TASK_NS if mode == "online" and name.startswith("task") else None)
    lines = [([own], {}), *(([*launch, "-p", mode, "--", own], {}) for mode in modes)]
    for name, (alone, *columns) in times_of_events(options, lines):
        table.line(EVENT_NAMES[name] + ", gcc", "alone", "time", costs.quartiles(alone), "ns")
        for mode, column in zip(modes, columns):
            table.line(EVENT_NAMES[name] + ", gcc", f"-p {mode}", "beyond alone", beyond(column, alone), "ns",
                       CRITICAL_NS if mode == "off" and name == "critical" else None)


# States that a thread changes to in one construct (construct_costs.c), all threads together.
STATES = {"task1": 4, "region2": 9, "barrier2": 4, "critical": 3, "lock": 3}


def trace(table, bench, options):
    """What -t costs beside the same run without it, and its size."""
    table.begin("The trace", "runs with -t beside the same ones without it; a state: from its beginning to its end")
    for work in (*workloads.debian(bench.directory), *workloads.built()):
        ways = [costs.lite(200, "online", work.gcc, options.launcher, trace) for trace in (None, "samples", "states")]
        done = bench.rounds(work.command, ways, options.runs, work.settings)
        for way in ways[1:]:
            table.line(work.name, way.name, "CPU ratio", costs.ratios(done[way], done[ways[0]], "cpu"), "", TRACE)
            more = [b.bytes - a.bytes for a, b in zip(done[ways[0]], done[way])]
            each = [size / cost.samples for size, cost in zip(more, done[way]) if cost.samples]
            if "samples" in way.name and each:
                table.line(work.name, way.name, "size of a sample", costs.quartiles(each), "B", TRACE_BYTES)
            else:
                table.line(work.name, way.name, "size", costs.quartiles([size / 1000 for size in more]), "KB")
    program = build("construct_costs.c", "clang")
    launch = [options.launcher, "-q", "--overwrite", "-o", bench.out, "-e", costs.NEVER, "--omp-runtime", costs.LIBOMP]
    for name, states in STATES.items():
        columns, sizes, amount = ([], []), [], EVENTS[name]
        for _ in range(options.runs):
            for column, traced in zip(columns, ((), ("-t",))):
                column.append(float(tap.must(*launch, *traced, "--", program, name, str(amount), "1")))
            found = [os.path.join(bench.out, file) for file in os.listdir(bench.out) if file.endswith(".trace")]
            sizes.append(sum(map(os.path.getsize, found)) / amount / states)
        more = [difference / states for difference in (b - a for a, b in zip(*columns))]
        table.line(EVENT_NAMES[name], "-t", "beyond -p online, a state", costs.quartiles(more), "ns", STATE_NS)
        table.line(EVENT_NAMES[name], "-t", "size of a state", costs.quartiles(sizes), "B", TRACE_BYTES)


def memory(table, bench, options):
    """Whether memory is constant over time, and the size of a small measurement."""
    commands = workloads.scaled()
    if not shutil.which("clang"):
        return
    table.begin("Memory and files", "the mini-app, and four times as long; a small run of two threads for a second")
    plain, settings = costs.alone(), {"KMP_BLOCKTIME": "0"}  # only memory is measured: waiting threads need not spin
    for mode in ("off", "online"):
        way = costs.lite(200, mode, launcher=options.launcher)
        found = {name: bench.rounds(commands[name], [plain, way], options.runs, settings)
                 for name in ("once", "longer")}
        more = {name: costs.differences(done[way], done[plain], "rss_kib") for name, done in found.items()}
        sizes = {name: costs.quartiles([cost.bytes for cost in done[way]]) for name, done in found.items()}
        for name in ("once", "longer"):
            table.line(f"mini-app, {name}", f"200/s -p {mode}", "memory beyond alone", more[name], "KiB",
                       16 * 1024 + 2 * 256)
            table.line(f"mini-app, {name}", f"200/s -p {mode}", "directory", sizes[name], "B")
        growth = more["longer"][1] - more["once"][1]
        table.line("mini-app", f"200/s -p {mode}", "growth, 4 times as long", (growth,) * 3, "KiB", 256)
        small = bench.rounds(commands["small"], [way], options.runs)[way]
        table.line("small run", f"200/s -p {mode}", "directory",
                   costs.quartiles([cost.bytes / 1000 for cost in small]), "KB", SMALL_KB)
        table.line("small run", f"200/s -p {mode}", "files", costs.quartiles([cost.files for cost in small]), "")


def report_times(table, bench, options, what, tool, command, bar=None, stdin=None):
    """Elapsed and CPU time, and the most memory."""
    with open(stdin or os.devnull, "rb") as file:
        done = []
        for _ in range(options.runs):
            file.seek(0)
            done.append(bench.run(command, costs.Way(tool), stdin=file, keep=True))
    table.line(what, tool, "elapsed time", costs.quartiles([cost.wall for cost in done]), "s", bar)
    table.line(what, tool, "CPU time", costs.quartiles([cost.cpu for cost in done]), "s")
    table.line(what, tool, "memory", costs.quartiles([cost.rss_kib / 1024 for cost in done]), "MiB")


def reports(table, bench, options):
    """hpcprof-lite on a small run, and on 20,000 addresses; other tools that find names and lines, on the same."""
    table.begin("Reports", "of a small measurement; and of 20,000 addresses of one binary, beside other tools that find names and lines")
    way = costs.lite(200, "online", launcher=options.launcher)
    for name, command in (("small run of C++, g++", [addresses.small()]),
                          ("small run of gm", ["gm", "convert", "-size", "900x900", "gradient:red-blue", "-blur",
                                               "0x5", "out.ppm"])):
        if command[0] and shutil.which(command[0]):
            bench.run(command, way)
            report_times(table, bench, options, name, "hpcprof-lite", [tap.REPORT, bench.out], REPORT_S)
    binary, found = addresses.binary(bench.directory)
    if not binary:
        return
    listed, measurement = (os.path.join(bench.directory, name) for name in ("addresses", "of-addresses"))
    with open(listed, "w", encoding="ascii") as file:
        file.writelines(f"{address:#x}\n" for address in found)
    addresses.measurement(measurement, binary, found)
    what = f"{len(found):,} addresses, {os.path.getsize(binary) / 1e6:.1f} MB"
    report_times(table, bench, options, what, "hpcprof-lite",
                 [tap.REPORT, "--view", "topdown", "-f", "csv", measurement], REPORT_S)
    for tool, command in (("addr2line -fi", ["addr2line", "-f", "-i", "-e", binary]),
                          ("llvm-symbolizer", ["llvm-symbolizer", "--inlines", f"--obj={binary}"])):
        if shutil.which(command[0]):
            report_times(table, bench, options, what, tool, command, stdin=listed)


SECTIONS = (("samples", samples), ("events", events), ("trace", trace), ("memory", memory), ("reports", reports))
