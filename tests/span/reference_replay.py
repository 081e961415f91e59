"""The graph log, read and replayed as doc/format.md says.

It is written independently of hpcprof-lite, so that each checks the other."""
from measurement_file import GRAPH_LOG, LAYOUTS, PROCESS, THREAD
from measurement_file import extents as extents_of

(END, TIME, CPU, MOVE, RUN, RUN_OTHER, SAMPLE, REGION, REGION_END, IMPLICIT, IMPLICIT_END, TASK, SWITCH, TASK_END,
 TASK_DROP, WAIT, WAIT_END, GROUP, GROUP_END, SCOPE, SCOPE_END, LOOP, LOOP_END, CHUNK, OFFER, TAKE, ACQUIRE, RELEASE,
 LOOP_ALONE, CREATED) = map([name for name, _ in LAYOUTS["operations"]].index, (
     "END", "TIME", "CPU", "MOVE", "RUN", "RUN_OTHER", "SAMPLE", "REGION", "REGION_END", "IMPLICIT", "IMPLICIT_END",
     "TASK", "SWITCH", "TASK_END", "TASK_DROP", "WAIT", "WAIT_END", "GROUP", "GROUP_END", "SCOPE", "SCOPE_END", "LOOP",
     "LOOP_END", "CHUNK", "OFFER", "TAKE", "ACQUIRE", "RELEASE", "LOOP_ALONE", "CREATED"))
OPERANDS = [operands for _, operands in LAYOUTS["operations"]]
BARRIER, TASKWAIT, TASKGROUP = range(3)
SERIAL, FINAL, BESIDE = 1, 2, 32


def extents(path):
    """(thread, number, bytes, live) of each extent of a log."""
    for extent in extents_of(path):
        assert extent.table == GRAPH_LOG, extent.table
        yield extent.owner, extent.first, extent.data, extent.live


def process(path):
    """Figures in the measurement of the process that the log is compared with."""
    found = {"work": 0}
    for extent in extents_of(path):
        if extent.table == PROCESS:
            record, = extent.parsed()
            found.update((name, getattr(record, name)) for name, *_ in record._fields_)
        elif extent.table == THREAD:
            found["work"] += sum(record.work for record in extent.parsed())
    return found


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def records(data):
    at = 0
    while at < len(data) and data[at] != END:
        op, operands = data[at], []
        at += 1
        for _ in range(OPERANDS[op]):
            value, at = number(data, at)
            operands.append(value)
        yield op, operands


def streams(path):
    """Each thread's records as (time, operation, operands), up to the first missing extent."""
    parts = {}
    for thread, first, data, _ in extents(path):
        assert first not in parts.setdefault(thread, {}), (thread, first)
        parts[thread][first] = data
    found = {}
    for thread, by_number in parts.items():
        stream, now, index = [], 0, 0
        while index in by_number:
            for place, (op, operands) in enumerate(records(by_number[index])):
                assert (op == TIME) == (place == 0), (thread, index, place, op)
                if op == TIME:
                    assert index == 0 or operands[0] == now, (thread, index, operands, now)
                    now = operands[0]
                elif op == MOVE:
                    now += operands[0]
                elif op in (RUN, RUN_OTHER):
                    now += operands[0] + operands[1]
                stream.append((now, op, operands))
            index += 1
        found[thread] = stream
    return found


class Task:
    def __init__(self, clock, parent=None, region=None, serial=False):
        self.clock, self.parent, self.region, self.serial = clock, parent, region, serial
        self.children, self.group, self.interval, self.entry, self.end = 0, None, 0, None, None
        self.ended = self.loop = False
        self.earlier, self.chunk = 0, 0

    def next_chunk(self):
        """The next chunk's taskwait does not wait for the children until now."""
        self.earlier, self.children, self.chunk = max(self.earlier, self.children), 0, self.chunk + 1


class Region:
    def __init__(self, creator):
        self.creator, self.start, self.intervals, self.ended = creator, creator.clock if creator else 0, {}, False

    def offer(self, interval, clock):
        self.intervals[interval] = max(self.intervals.get(interval, 0), clock)


class Group:
    def __init__(self, outer):
        self.outer, self.ends = outer, 0


class Replay:
    """Clocks, work and span of a log.  It fails if a record names a task or a region that no thread has created.
    partly: streams may have ended early; the replay stops where a record is missing."""

    def __init__(self, path, partly=False):
        self.streams, self.partly = streams(path), partly
        self.tasks, self.regions, self.joins = {}, {}, {}
        self.made = {thread: [0, 0] for thread in self.streams}  # tasks, regions
        self.runs = {thread: None for thread in self.streams}
        self.open = {thread: [] for thread in self.streams}
        self.locks = {}
        self.work = self.span = self.fragments = 0
        self.counts = [0] * len(OPERANDS)
        self.merge()

    def merge(self):
        at = {thread: 0 for thread in self.streams}
        while True:
            ready = sorted((stream[at[thread]][0], thread) for thread, stream in self.streams.items()
                           if at[thread] < len(stream))
            if not ready:
                return
            for _, thread in ready:
                _, op, operands = self.streams[thread][at[thread]]
                if self.known(op, operands):
                    self.counts[op] += 1
                    self.take(thread, op, operands)
                    at[thread] += 1
                    break
            else:
                if self.partly:
                    return
                raise AssertionError(("no thread has created it",
                                      [self.streams[thread][at[thread]] for _, thread in ready]))

    def known(self, op, operands):
        name = tuple(operands[:2])
        if op == IMPLICIT:
            return name == (0, 0) or name in self.regions
        if op in (IMPLICIT_END, TASK, SWITCH, TASK_END, TASK_DROP, WAIT, WAIT_END, OFFER):
            return name in self.tasks
        if op == TAKE:
            return name in self.tasks and tuple(operands[2:]) in self.joins
        return True

    def name(self, thread, kind):
        self.made[thread][kind] += 1
        return thread, self.made[thread][kind]

    def take(self, thread, op, operands):
        task = self.runs[thread]
        named = self.tasks.get(tuple(operands[:2])) if len(operands) >= 2 else None
        if op in (RUN, RUN_OTHER):
            work = operands[-1]
            task.clock += work
            self.span = max(self.span, task.clock)
            self.work += work
            self.fragments += 1
        elif op == REGION:
            region = self.regions[self.name(thread, 1)] = Region(task)
            self.open[thread].append(region)
        elif op == REGION_END:
            region = self.open[thread].pop()
            region.ended = True
            if region.creator:
                region.creator.clock = max([region.creator.clock, *region.intervals.values()])
            self.runs[thread] = region.creator
        elif op == IMPLICIT:
            region = self.regions.get(tuple(operands[:2]))
            self.runs[thread] = self.tasks[self.name(thread, 0)] = Task(region.start if region else 0, region=region)
        elif op == IMPLICIT_END:
            if named.region:
                named.region.offer(named.interval, named.clock)
            named.ended = True
            if task is named:
                self.runs[thread] = None
        elif op == TASK:
            beside = bool(operands[3] & BESIDE)
            child = Task((task if beside else named).clock, named, named.region, bool(operands[3] & SERIAL))
            self.tasks[self.name(thread, 0)] = child
            like = task if beside else named
            child.group, child.interval, child.of_chunk = like.group, like.interval, task.of_chunk if beside else named.chunk
        elif op == SWITCH:
            assert not named.ended, operands
            self.runs[thread] = named
        elif op == TASK_END:
            self.task_end(named)
        elif op == TASK_DROP:
            named.ended = True
        elif op == WAIT and operands[2] == BARRIER and named.region:
            named.region.offer(named.interval, named.clock)
        elif op == WAIT_END:
            self.wait_end(named, operands[2])
        elif op in (GROUP, GROUP_END):
            self.group(task, op == GROUP)
        elif op in (LOOP, LOOP_ALONE):
            task.entry = task.end = task.clock
            task.loop = True
            task.next_chunk()
        elif op == CHUNK and not task.loop:
            pass  # it names the iterations of a taskloop's task, or a single construct
        elif op in (CHUNK, LOOP_END):
            task.end = max(task.end, task.clock)
            task.clock = task.entry if op == CHUNK else task.end
            task.loop = op == CHUNK
            task.next_chunk()
        elif op in (OFFER, TAKE):
            join = tuple(operands[2:])
            if op == OFFER:
                self.joins[join] = max(self.joins.get(join, 0), named.clock)
            else:
                named.clock = max(named.clock, self.joins[join])
        elif op == ACQUIRE:
            lock = self.locks.setdefault(operands[1], {"earliest": task.clock, "held": 0, "acquired": {}})
            lock["earliest"] = min(lock["earliest"], task.clock)
            lock["acquired"][thread] = task.clock
        elif op == RELEASE:  # perhaps after the next thread's ACQUIRE
            self.locks[operands[0]]["held"] += task.clock - self.locks[operands[0]]["acquired"].pop(thread)

    @staticmethod
    def task_end(task):
        if task.serial:
            task.parent.clock = task.clock
        else:
            kept = "children" if task.of_chunk == task.parent.chunk else "earlier"
            setattr(task.parent, kept, max(getattr(task.parent, kept), task.clock))
        if task.group:
            task.group.ends = max(task.group.ends, task.clock)
        elif task.region:
            task.region.offer(task.interval, task.clock)
        task.ended = True

    @staticmethod
    def wait_end(task, kind):
        if kind == TASKWAIT:
            task.clock = max(task.clock, task.children, 0 if task.loop else task.earlier)
        elif kind == TASKGROUP and task.group:
            task.clock = max(task.clock, task.group.ends)
        elif kind == BARRIER and task.region:
            task.clock = max(task.clock, task.region.intervals.get(task.interval, 0))
            task.interval += 1

    @staticmethod
    def group(task, begins):
        if begins:
            task.group = Group(task.group)
        else:
            task.clock = max(task.clock, task.group.ends)
            task.group = task.group.outer

    def bounds(self):
        """For each lock, the bound that its holders set to the span."""
        return [lock["earliest"] + lock["held"] for lock in self.locks.values()]
