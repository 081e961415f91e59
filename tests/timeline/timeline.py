"""The timeline of -t: intervals tile each thread's life, their sums are those of the profile, states begin and end when
the program says so; pauses, limits, full disks, kills, forks and exec.

Usage: timeline.py [--long] [-k CASE]     (--long: all forms of tests/span by all compilers in all modes)"""
import glob
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file
from jobs import mpirun, need
from lanes import (CATEGORIES, WAITS, check_constructs, check_no_gaps, check_tiling, check_waits, number, Timeline,
                   traced)
from measured import Measurement, build, combinations, tap
from report import report

EXACT = 20e-6  # between a callback and the program's own reading of its clock beside it
SLEEPS = 0.02  # seconds: how much longer or shorter sleep is where samples tell it, and how late a sleeper wakes
MODES = ("online", "off", "log")
# Forms of tests/span, by program.  What a form does follows from its name.
FORMS = {
    "loop_forms": ("loop_static", "loop_guided", "loops_and_barriers", "ordered_twice", "doacross_1", "sections_two",
                   "copyprivate", "singles", "criticals", "nest_lock", "own_locks", "test_lock", "atomics",
                   "loop_tasks", "loop_regions"),
    "task_forms": ("group_task_group", "untied_children", "many_tasks", "critical_in_tasks", "taskloop_nested",
                   "taskloop_many", "across_taskwaits", "depend_tree", "detach_chain"),
    "region_forms": ("barriers_with_tasks", "nested_4", "nested_in_tasks", "regions_many", "regions_sizes", "pthreads",
                     "cancel_for", "cancel_taskgroup", "teams", "distribute_parallel", "user_recursive",
                     "exit_inside"),
}
SETTINGS = {"OMP_CANCELLATION": "true", "KMP_TEAMS_THREAD_LIMIT": "32", "OMP_WAIT_POLICY": "passive"}


def phases(compiler):
    return build("known_phases.c", compiler)


def compilers():
    return ("gcc", "clang")


def check_all(timeline, constructs=True):
    check_tiling(timeline)
    check_no_gaps(timeline)
    check_waits(timeline)
    if constructs:
        check_constructs(timeline)


# ---- sums ----

def forms_to_check(mode):
    """The source, form and compiler of each program: with --long of all, otherwise each form in one mode, by one."""
    if "--long" in sys.argv:
        return [(source, form, compiler) for source in FORMS for compiler in compilers()
                for form in tap.run(span_program(source, compiler)).stdout.split()
                if form != "wait_nowait" and "stop_" not in form]
    jobs = [(source, form) for source, forms in FORMS.items() for form in forms][MODES.index(mode)::len(MODES)]
    return [(*job, compilers()[place % 2]) for place, job in enumerate(jobs)]


def check_forms(directory, mode):
    for number_of_it, (source, form, compiler) in enumerate(forms_to_check(mode)):
        place = os.path.join(directory, str(number_of_it))
        os.mkdir(place)
        timeline = traced(place, span_program(source, compiler), form, "2", options=("-p", mode), **SETTINGS)
        try:
            check_all(timeline, mode == "online")
        except AssertionError as reason:
            raise type(reason)(source, form, compiler, mode, *reason.args) from reason


def span_program(source, compiler):
    return build(f"../span/{source}.c", compiler, name=f"{source}-{compiler}")


@tap.case
def sums_are_those_of_the_profile_with_constructs(directory):
    check_forms(directory, "online")


@tap.case
def sums_are_those_of_the_profile_without_constructs(directory):
    check_forms(directory, "off")


@tap.case
def sums_are_those_of_the_profile_with_the_log(directory):
    check_forms(directory, "log")


def check_random_program(directory, seed):
    """Threads outnumber processors: one that loses its processor while it begins or waits can be off by that time."""
    timeline = traced(directory, span_program("random_form", compilers()[seed % 2]), str(seed), "3",
                      options=("-p", "online"), **SETTINGS)
    check_tiling(timeline)
    tap.timed(not timeline.gaps(), seed, timeline.gaps()[:4])
    try:
        check_constructs(timeline)
        check_waits(timeline, slack=1e-3)
    except AssertionError as reason:
        raise tap.Off(seed, *reason.args) from reason


@tap.case
def random_programs(directory):
    for seed in range(1, 200 if "--long" in sys.argv else 9):
        place = os.path.join(directory, str(seed))
        os.mkdir(place)
        tap.again(check_random_program, place, seed)


@tap.case
def executions_are_counted(directory):
    """The trace holds as many executions of each construct as are counted without it."""
    for number_of_it, (source, form) in enumerate((("task_forms", "taskloop_many"), ("task_forms", "taskloop_nested"),
                                                   ("loop_forms", "singles"))):
        place = os.path.join(directory, str(number_of_it))
        os.mkdir(place)
        run = traced(place, span_program(source, compilers()[number_of_it % 2]), form, "2", **SETTINGS).run
        counts = [[(row["kind"], row["line"], row["thread"], row["exec_count"]) for row in run.view("regions", *part)]
                  for part in ((), ("--from", "0"))]
        assert counts[0] == counts[1], (form, *counts)


# ---- known phases ----

class Phases(Timeline):
    """A run of known_phases.c, and what it says; times count from the run's start."""

    def __init__(self, directory, compiler, *arguments, options=(), status=0):
        run = Measurement(directory, phases(compiler), *arguments, options=("-t", "-e", "task-clock@f1000", *options),
                          OMP_WAIT_POLICY="passive")
        assert run.done.returncode == status, run.done
        super().__init__(run)
        self.said = []
        for line in run.done.stdout.splitlines():
            *what, thread, begin, end = line.split()
            self.said.append((" ".join(what), str(int(thread) + 1), self.since_start(int(begin)),
                              self.since_start(int(end))))

    def since_start(self, ns):
        return (ns - start_of_run(self.run.output)) * 1e-9

    def of(self, what):
        return [(thread, begin, end) for name, thread, begin, end in self.said if name == what]

    def within(self, thread, begin, end, category):
        """Seconds of a category in a part of a lane."""
        return sum(max(0, min(end, interval.end) - max(begin, interval.start)) for interval in self.intervals
                   if interval.lane[1] == thread and interval.category == category)

    def waits(self, what, category, **wanted):
        """For each phase: how far the interval of a category in it begins or ends elsewhere; and that interval.

        The program cannot say when exactly a wait ends, only between which moments.  Its time in the tool comes first."""
        found = []
        for (thread, begin, end), (_, earliest, latest) in zip(self.of(what), self.of(what + " ends")):
            inside = [interval for interval in self.intervals
                      if interval.lane[1] == thread and interval.category == category
                      and interval.start < end and interval.end > begin
                      and all(getattr(interval, key) == value for key, value in wanted.items())]
            if not inside:  # another program delayed one of the threads
                continue
            first = max(inside, key=lambda interval: interval.length)
            late = first.start - begin - self.within(thread, begin, first.start, "tool")
            until = first.end + self.within(thread, first.end, end, "waiting_no_core")  # of the same wait
            found.append((max(late, begin - first.start, earliest - until, until - latest), first))
        tap.timed(len(found) > len(self.of(what)) / 2, "no interval", what, category, self.of(what))
        return sorted(found, key=lambda pair: pair[0])


def start_of_run(output):
    """CLOCK_REALTIME in ns at which the process began."""
    path, = glob.glob(os.path.join(output, "*.hpcrun")) + glob.glob(os.path.join(output, "*.live"))
    part = next(extent for extent in measurement_file.extents(path) if extent.table == measurement_file.PROCESS)
    return part.parsed()[0].start_ns


def compare(timeline, what, category, blamed=None, **wanted):
    """Intervals of a category are where the program says; other programs may delay some."""
    found = timeline.waits(what, category, **wanted)
    tap.timed(found[len(found) // 2][0] <= EXACT, what, found)
    blame = [timeline.path(interval.wait_for) for _, interval in found]
    tap.timed(not blamed or sum(blamed in path for path in blame) > len(found) / 2, what, blame)


def check_states(directory, compiler, mode):
    timeline = Phases(directory, compiler, "states", options=("-p", mode))
    check_all(timeline, mode == "online")
    constructs = mode != "off"
    compare(timeline, "barrier", "idle", "slow", **({"kind": "barrier"} if constructs else {}))
    compare(timeline, "lock", "lock_wait", "holder", **({"kind": "critical"} if constructs else {}))
    compare(timeline, "sleep", "blocked")
    (_, begin, end), = timeline.of("parked")
    waited = sum(timeline.within("2", begin, end, what) for what in ("idle", "waiting_no_core", "core_wait"))
    tap.timed(waited > end - begin - EXACT, "parked")
    if constructs:
        for thread, begin, end in timeline.of("task"):
            found = [interval for interval in timeline.intervals
                     if interval.kind == "task-exec" and interval.lane[1] == thread
                     and abs(interval.start - begin) <= EXACT]
            tap.timed(found, "no task begins", thread, begin)
    # contexts: samples are a millisecond apart
    contexts = [interval for interval in timeline.intervals if interval.lane[1] == "1" and
                "slow" in timeline.path(interval.context)]
    (_, begin, _), = timeline.of("parked")
    tap.timed(contexts and abs(contexts[0].start - begin) <= 0.002, "slow", begin, contexts[:1])


@tap.case
def states_begin_and_end_when_they_do(directory):
    for mode, compiler in combinations(MODES, compilers()):
        check_states(directory, compiler, mode)


@tap.case
def pauses_are_gaps(directory):
    for mode, compiler in combinations(MODES, compilers()):
        timeline = Phases(directory, compiler, "pauses", options=("-p", mode))
        check_tiling(timeline)
        expected = list(zip(timeline.of("stop"), timeline.of("start")))
        for lane, intervals in timeline.lanes.items():
            gaps = [(interval.start, interval.end) for interval in intervals if interval.category == "gap"]
            assert len(gaps) == 2, (mode, compiler, lane, gaps, expected)
            for gap, (stop, start) in zip(gaps, expected):
                tap.timed(stop[1] - EXACT <= gap[0] <= stop[2] + EXACT, gap, stop)
                tap.timed(start[1] - EXACT <= gap[1] <= start[2] + EXACT, gap, start)


@tap.case
def measuring_that_starts_later_begins_with_a_gap(directory):
    timeline = Phases(directory, "gcc", "pauses", options=("--paused",))
    check_tiling(timeline)
    _, begin, end = timeline.of("start")[0]
    for intervals in timeline.lanes.values():
        first = next(interval for interval in intervals if interval.length > EXACT)
        assert first.category == "gap", intervals[:2]
        tap.timed(begin - EXACT <= first.end <= end + EXACT, first, begin, end)


# ---- ends ----

@tap.case
def a_killed_program_keeps_its_timeline(directory):
    for (where, category), compiler, mode in combinations(
            [("work", "work"), ("idle", "idle"), ("lock", "lock_wait"), ("sleep", "blocked")], compilers(),
            ("online", "off")):
        run = Measurement(directory, phases(compiler), "killed", where,
                          options=("-t", "-e", "task-clock@f1000", "-p", mode), OMP_WAIT_POLICY="passive")
        assert run.done.returncode == -signal.SIGKILL, run.done
        timeline = Timeline(run)
        check_tiling_of_killed(timeline)
        check_no_gaps(timeline)
        last = timeline.lanes[next(lane for lane in timeline.lanes if lane[1] == "2")][-1]
        tap.timed(last.category == category, where, compiler, mode, last)
        tap.timed(category == "work" or last.length > 0.02, where, compiler, mode, last)  # of 50 ms
        ran = busy(timeline, next(lane for lane in timeline.lanes if lane[1] == "1"))
        tap.timed(0.06 <= ran < 0.14, where, compiler, mode, ran)  # 70 ms; others may delay it
        if where == "lock":  # the table is as old as its last refresh
            part = {row["thread"]: row for row in run.view("threads", "-q", "--from", "0")}
            tap.timed(abs(float(part["2"]["lockwait_s"]) - timeline.sums(last.lane)["lock_wait"]) < 1e-3, (part, last))


@tap.case
def killed_before_the_first_state_ended(directory):
    for mode in ("online", "off"):
        run = Measurement(directory, phases("gcc"), "killed", "serial", options=("-t", "-p", mode))
        assert run.done.returncode == -signal.SIGKILL, run.done
        timeline = Timeline(run)
        check_no_gaps(timeline)
        tap.timed(busy(timeline, next(iter(timeline.lanes))) > 0.06, timeline.intervals)  # until the last sample


def busy(timeline, lane):
    """Seconds in which a thread waited for nothing but a processor."""
    sums = timeline.sums(lane)
    return sum(sums[category] for category in ("work", "overhead", "core_wait", "waiting_no_core", "tool"))


def check_tiling_of_killed(timeline, programs=1):
    """As check_tiling(), but life times of killed threads are those of their last samples.  programs: that a process
    executed one after another."""
    for lane, intervals in timeline.lanes.items():
        holes = [pair for pair in zip(intervals, intervals[1:]) if pair[0].end != pair[1].start]
        assert len(holes) < programs and all(before.end <= after.start for before, after in holes), (lane, holes)


@tap.case
def forks_have_lanes_of_their_own(directory):
    for compiler in compilers():
        timeline = traced(directory, phases(compiler), "forks", OMP_WAIT_POLICY="passive")
        check_tiling(timeline)
        check_no_gaps(timeline)
        check_waits(timeline)
        assert len({process for process, _ in timeline.lanes}) == 2 and len(timeline.lanes) == 4, timeline.lanes.keys()


@tap.case
def short_threads(directory):
    timeline = traced(directory, phases("gcc"), "threads")
    check_tiling(timeline)
    check_no_gaps(timeline)
    assert len(timeline.lanes) == 101, len(timeline.lanes)


@tap.case
def a_thread_that_sleeps_at_the_end(directory):
    for mode in ("online", "off"):
        timeline = traced(directory, phases("gcc"), "asleep", options=("-p", mode))
        check_tiling(timeline)
        check_no_gaps(timeline)
        sums = timeline.sums(next(lane for lane in timeline.lanes if lane[1] == "2"))
        tap.timed(sums["blocked"] > 0.045, mode, sums)  # 50 ms, less the start of the thread


@tap.case
def sleep_that_is_not_intercepted(directory):
    for mode in ("online", "off"):
        timeline = traced(directory, phases("gcc"), "reads", options=("-p", mode))
        check_tiling(timeline)
        lane = next(lane for lane in timeline.lanes if lane[1] == "1")
        sums = timeline.sums(lane)
        tap.timed(abs(sums["blocked"] - 0.24) < SLEEPS, mode, sums)
        slept = float(timeline.threads[lane]["blocked_s"])
        tap.timed(abs(sums["blocked"] - slept) < SLEEPS, mode, sums, slept)


@tap.case
def ends_and_exec(directory):
    for how, status in (("abort", -signal.SIGABRT), ("_exit", 3), ("exec", 0), ("failed exec", 0)):
        for mode in ("online", "off"):
            timeline = traced(directory, phases("clang"), "ends", how, options=("-p", mode, "-e", "task-clock@f1000"),
                              status=status, OMP_WAIT_POLICY="passive")
            check_tiling_of_killed(timeline, 2 if how == "exec" else 1)
            if how in ("_exit", "failed exec"):
                check_tiling(timeline)
            if (how, mode) == ("failed exec", "online"):  # constructs are not followed after it
                assert timeline.gaps() and "of the trace" in timeline.run.done.stderr, timeline.run.done
                continue
            if how in ("_exit", "failed exec"):
                check_waits(timeline)
            check_no_gaps(timeline)
            ran = sum(busy(timeline, lane) for lane in timeline.lanes)
            # all threads of the program; warm_up() alone is 15 ms, and what follows the last sample is missing after an abort
            expected = {"failed exec": 0.05, "abort": 0}.get(how, 0.015)
            tap.timed(ran > expected, how, mode, ran)


@tap.case
def jumps_out_of_sleep(directory):
    timeline = Phases(directory, "gcc", "jumps")
    check_all(timeline)
    off = sorted(abs(timeline.within(thread, begin, end, "blocked") - (end - begin))
                 for thread, begin, end in timeline.of("sleep"))
    tap.timed(off[2] <= 2 * EXACT, "sleep", off)  # the median; at both ends


@tap.case
def handlers_that_sleep(directory):
    timeline = traced(directory, phases("gcc"), "handlers")
    check_tiling(timeline)
    check_no_gaps(timeline)  # damage would be one


# ---- limits ----

def trace_bytes(output):
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(output, "*.trace")))


def events(output):
    """How many state changes and samples a trace holds, by a decoder of its own."""
    count = 0
    for path in glob.glob(os.path.join(output, "*.trace")):
        for extent in measurement_file.extents(path):
            count += sum(1 for _ in operations(extent.data))
    return count


def operations(data):
    """The first bytes of the operations of an extent."""
    numbers = {32: 2, 33: 0, 34: 0, 35: 2, 36: 1, 37: 1, 38: 5, 42: 6}
    at = 0
    while at < len(data):
        form, rest = data[at] & 3, data[at] >> 2
        left = (1, 1, 2)[form] + (rest == 63) if form < 3 else numbers.get(rest, 2 + bin(rest & 28).count("1"))
        at += 1
        yield form, rest
        for _ in range(left):
            while data[at] & 128:
                at += 1
            at += 1


@tap.case
def many_state_changes(directory):
    rounds = 2000000 if "--long" in sys.argv else 10000
    for compiler in compilers():
        run = Measurement(directory, phases(compiler), "many", str(rounds), options=("-t", "-e", "task-clock@f1000"),
                          timeout=300)
        assert run.done.returncode == 0 and "of the trace not kept" not in run.done.stderr, run.done
        count, size = events(run.output), trace_bytes(run.output)
        print(f"# {compiler}: {count} events, {size / count:.2f} bytes each")
        assert count > 2 * rounds and size <= 4 * count, (count, size)
        timeline = Timeline(run)
        check_all(timeline)
        # far more states than samples: those tell how much was what, in a run with enough of them
        for lane, row in timeline.threads.items() if "--long" in sys.argv else ():
            sums = timeline.sums(lane)
            for category in ("work", "overhead"):
                off = abs(sums[category] - float(row[category + "_s"]))
                # the samples of `threads` tell it with the same error
                tap.timed(off <= 0.3 * float(row["wall_s"]), compiler, lane, category, sums, row)


@tap.case
def beyond_the_limit_is_a_gap(directory):
    for keep, compiler, mode in combinations(("first", "last"), compilers(), ("online", "off")):
        run = Measurement(directory, phases(compiler), "many", "100000",
                          options=("-t", "--trace-limit", "64K", "--trace-keep", keep, "-p", mode))
        assert run.done.returncode == 0, run.done
        timeline = Timeline(run)
        check_tiling(timeline)
        assert "trace" in run.done.stderr, run.done.stderr
        for lane, row in timeline.threads.items():
            sums = timeline.sums(lane)
            assert sums["idle"] <= float(row["idle_s"]) + WAITS, (keep, lane, sums, row)
        assert timeline.gaps(), (keep, compiler, mode)
        said = report("--view", "summary", "--legend", run.output)
        assert "trace" in said.stdout + said.stderr, said


@tap.case
def killed_beyond_the_limit(directory):
    """A thread that has dropped a part of another one's trace was recorded until the end."""
    for compiler, mode in combinations(compilers(), ("online", "off")):
        run = Measurement(directory, phases(compiler), "killed", "limit",
                          options=("-t", "--trace-limit", "512K", "--trace-keep", "last", "-p", mode))
        assert run.done.returncode == -signal.SIGKILL, run.done
        timeline = Timeline(run)
        check_tiling_of_killed(timeline)
        path, = glob.glob(os.path.join(run.output, "*.trace"))
        numbers = sorted(extent.first for extent in measurement_file.extents(path) if extent.owner == 2)
        assert numbers == [0, 1], (compiler, mode, numbers)
        said = report("--view", "summary", "--legend", run.output)
        assert "of the trace not kept" in said.stdout, said
        end = max(interval.end for interval in timeline.intervals)
        for lane, intervals in timeline.lanes.items():
            known = [interval for interval in intervals if interval.category != "gap"]
            tap.timed(known[-1].end > end - 0.02, (compiler, mode, lane, end, intervals[-2:]))


@tap.case
def a_full_disk(directory):
    with tap.small_disk(directory, "300k") as small:
        run = Measurement(small, phases("gcc"), "many", "300000", options=("-t",))
        assert run.done.returncode == 0 and run.done.stdout == "300000\n", run.done
        assert "trace" in run.done.stderr, run.done.stderr
        timeline = Timeline(run)
        check_tiling(timeline)
        assert timeline.gaps()


@tap.case
def other_ways_to_measure(directory):
    for options in (("-e", "wall"), ("--work", "user"), ("-e", "wall", "-p", "off")):
        timeline = traced(directory, phases("clang"), "states", options=options, OMP_WAIT_POLICY="passive")
        check_tiling(timeline)
        check_no_gaps(timeline)
        check_waits(timeline)


@tap.case
def threads_that_wait_for_a_processor(directory):
    tap.need_program("taskset")
    for mode in ("online", "off"):
        timeline = traced(directory, phases("gcc"), "states", options=("-p", mode, "-e", "task-clock@f1000"),
                          prefix=("taskset", "-c", "0"), OMP_WAIT_POLICY="passive")
        check_tiling(timeline)
        found = sum(timeline.sums(lane)["core_wait"] for lane in timeline.lanes)
        expected = sum(number(row["core_wait_s"]) for row in timeline.threads.values())
        # samples tell where in busy time; how much of it was in waits is estimated
        tap.timed(0.01 < found and abs(found - expected) <= 0.2 * expected + 0.01, mode, found, expected)


@tap.case
def samples_alone(directory):
    timeline = Timeline(Measurement(directory, phases("gcc"), "states", OMP_WAIT_POLICY="passive",
                                    options=("--trace=samples", "-e", "task-clock@f1000")))
    check_tiling(timeline)
    work = timeline.sums(next(lane for lane in timeline.lanes if lane[1] == "1"))["work"]
    expected = float(next(row for row in timeline.threads.values() if row["thread"] == "1")["work_s"])
    tap.timed(abs(work - expected) < 0.05 * expected, work, expected)  # a sample at each end, of some hundreds


class Kept(Measurement):
    """A measurement that is already there."""

    def __init__(self, output):  # pylint: disable=super-init-not-called
        self.output = output


@tap.case
def ranks_of_mpi(directory):
    need("openmpi")
    made, output = os.path.join(directory, "mpi"), os.path.join(directory, "job")
    tap.must("mpicc.openmpi", "-O1", "-g", "-fopenmp", "-I", tap.SUPPORT, os.path.join(tap.TESTS, "cli", "mpi.c"), "-o",
             made)
    done = mpirun("openmpi", 2, tap.LAUNCHER, "-t", "-o", output, made, cwd=directory)
    assert done.returncode == 0, done
    timeline = Timeline(Kept(output))
    assert {row["rank"] for row in timeline.threads.values()} == {"0", "1"}, timeline.threads
    lines = report("--view", "timeline", output).stdout.splitlines()
    lanes = [line.split()[0] for line in lines if re.match(r"[01]\.\d ", line)]
    assert len(lanes) == len(timeline.lanes) and lanes == sorted(lanes), lanes
    ranks = [row["rank"] for row in timeline.run.threads()]
    assert ranks == sorted(ranks), ranks
    assert set(timeline.lanes) == set(timeline.threads), timeline.threads  # threads of MPI have no lanes
    check_tiling(timeline)
    check_no_gaps(timeline)
    check_waits(timeline)
    # the trace tells the same as the tables, also of samples in MPI, and of waits that the end of the process ends
    whole, part = (timeline.run.view("threads", *options) for options in ((), ("--from", "0")))
    for row, other in zip(whole, part):
        for column, slack_s in (("work_s", 1e-9), ("mpi_s", 1e-6), ("waiting_no_core_s", 5e-5)):
            assert abs(float(row[column]) - float(other[column])) <= slack_s, (column, row, other)


@tap.case
def a_sound_log_tells_the_critical_path(directory):
    """That of its process only: the shell has none.  A damaged one is not used."""
    timeline = traced(directory, "sh", "-c", phases("gcc") + " states; :", options=("-p", "log"),
                      OMPI_COMM_WORLD_RANK="0")
    told = {lane[0]: {interval.critical for interval in timeline.intervals
                      if interval.lane[0] == lane[0]} for lane in timeline.lanes}
    assert sorted(map(sorted, told.values())) == [[""], ["0", "1"]], told
    # both processes have the rank
    text = report("--view", "timeline", "--per-thread", timeline.run.output).stdout
    for process, thread in timeline.lanes:
        assert f"\n0/{process}.{thread} " in text and f"\n  rank 0/{process} " in text, text
    assert ": sh -c " in text and ": " + phases("gcc") + " states" in text, text
    log, = glob.glob(os.path.join(timeline.run.output, "*.graph"))
    with open(log, "r+b") as file:
        file.seek(os.path.getsize(log) // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 255]))
    done = report("--view", "timeline", "-f", "csv", timeline.run.output)
    assert done.returncode == 1 and "its critical path is not shown" in done.stderr, done
    assert all(line.endswith(",") for line in done.stdout.splitlines()[1:]), done.stdout[:500]


tap.main()
