"""The timeline of a run as the tests see it: the intervals of its lanes, and what must hold in every run."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from measured import Measurement, tap

DIGIT = 2e-9  # two roundings to the last digit shown
WAITS = 120e-6  # time in the tool is taken out of waits of each kind in pieces of 50 us and more
CATEGORIES = ("work", "overhead", "lock_wait", "idle", "blocked", "core_wait", "waiting_no_core", "mpi", "tool", "gap")


def number(text):
    return float(text) if text else 0.0


class Interval:
    """A row of the timeline."""

    def __init__(self, row):
        self.lane = (row["process"], row["thread"])
        self.start, self.end = float(row["start_s"]), float(row["end_s"])
        self.length = self.end - self.start
        self.kind, self.category, self.construct, self.name = (row["kind"], row["category"], row["construct"],
                                                               row["name"])
        self.context, self.wait_for, self.critical = row["context_id"], row["wait_for"], row["on_critical_path"]

    def __repr__(self):
        return f"[{'/'.join(self.lane)} {self.start:.9f}-{self.end:.9f} {self.kind} {self.category} {self.name}]"


class Timeline:
    """A run with -t: its lanes, the rows of the threads, and its contexts."""

    def __init__(self, run):
        self.run = run
        self.intervals = [Interval(row) for row in run.view("timeline")]
        self.threads = {(row["process"], row["thread"]): row for row in run.threads()}
        self.lanes = collections.defaultdict(list)
        for interval in self.intervals:
            self.lanes[interval.lane].append(interval)
        self._contexts = None

    def path(self, context):
        """The names of a context and of those that called it, itself first; none where the timeline names none."""
        if self._contexts is None:
            self._contexts = {row["id"]: (row["name"], row["parent_id"]) for row in self.run.view("topdown")}
        names = []
        while context in self._contexts:
            name, context = self._contexts[context]
            names.append(name)
        return names

    def sums(self, lane):
        """Seconds of each category in a lane."""
        found = dict.fromkeys(CATEGORIES, 0.0)
        for interval in self.lanes[lane]:
            found[interval.category] += interval.length
        return found

    def gaps(self):
        return [interval for interval in self.intervals if interval.category == "gap"]


def traced(directory, *command, options=(), status=0, **settings):
    run = Measurement(directory, *command, options=("-t", *options), **settings)
    assert run.done.returncode == status, run.done
    return Timeline(run)


def check_tiling(timeline):
    """The intervals of a lane follow each other, for as long as the thread lived."""
    starts = [interval.start for interval in timeline.intervals]
    assert starts == sorted(starts), "not ordered by start"
    assert set(timeline.lanes) == set(timeline.threads), (set(timeline.lanes), set(timeline.threads))
    for lane, intervals in timeline.lanes.items():
        for before, after in zip(intervals, intervals[1:]):
            assert before.end == after.start, (before, after)
        assert all(interval.end > interval.start >= 0 for interval in intervals), lane
        life = float(timeline.threads[lane]["wall_s"])
        assert abs(intervals[-1].end - intervals[0].start - life) <= DIGIT, (lane, intervals[0], intervals[-1], life)


def check_no_gaps(timeline):
    assert not timeline.gaps(), timeline.gaps()[:4]


def check_waits(timeline, slack=WAITS):
    """The waits of each thread are those of the threads view, which counts them without a trace.

    One that loses its processor while it ends can be off by that time.  How long a woken thread had no processor is an
    estimate, which both divide over its waits."""
    for lane, row in timeline.threads.items():
        sums = timeline.sums(lane)
        for category, column in (("idle", "idle_s"), ("lock_wait", "lockwait_s")):
            expected, estimated = number(row[column]), 0.25 * number(row["core_wait_s"])
            tap.timed(abs(sums[category] - expected) <= slack + estimated, lane, category, sums, row)


def check_constructs(timeline, slack=20e-6):
    """What each thread did in each construct adds up to the times that are counted without a trace.

    slack: each state begins at a multiple of 32 ticks; with 20,000 states a construct was 2 us off."""
    def place(row):
        return row["kind"], row["name"], row["file"], row["line"], row["thread"]
    places = {row["region"].lstrip("R"): place(row)[:-1] for row in timeline.run.view("regions")}
    found = collections.defaultdict(lambda: dict.fromkeys(CATEGORIES, 0.0))
    for interval in timeline.intervals:
        if interval.construct:
            at = places.get(interval.construct, ("program", interval.name, "", ""))
            found[at + interval.lane[1:]][interval.category] += interval.length
    expected = collections.defaultdict(collections.Counter)
    for row in timeline.run.view("region-tree"):
        if row["thread"] != "SUM":
            expected[place(row)].update({column: number(row[column]) for column in (
                "exec_count", "excl_s", "enter_s", "exit_barrier_s", "startup_s", "shutdown_s")})
    for at, row in expected.items():
        sums = found.pop(at, dict.fromkeys(CATEGORIES, 0.0))
        tap.timed(abs(sum(sums.values()) - row["excl_s"]) <= slack, at, row, sums)
        tap.timed(sums["lock_wait"] <= row["enter_s"] + slack, at, row, sums)
        tap.timed(sums["idle"] <= row["exit_barrier_s"] + row["startup_s"] + row["shutdown_s"] + slack, at, row, sums)
    known = {at[-1] for at in expected}
    assert not [at for at in found if at[-1] in known], found
