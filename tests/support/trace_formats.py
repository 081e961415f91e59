"""Readers of the exports of the timeline.  Each fails where the rules of its format are broken, and returns what the
export says of each lane, in one form for all formats:

    {"time": {category: ns}, "own": {(construct, category): ns}, "within": {construct: ns},
     "waits": {(category, context that is waited for): ns}}

`own` is the time directly in a construct ("" is none), `within` with all in it; where a format does not tell, None.
Times are whole nanoseconds.
"""
import collections
import decimal
import functools
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import uuid

import report
import tap

WAITS = ("idle", "lock_wait")
CATEGORIES = ("work", "overhead", "lock_wait", "idle", "mpi", "device", "blocked", "core_wait", "waiting_no_core", "tool",
              "gap")
FIREFOX = os.path.join(tap.DEPS, "firefox-profiler-0.10.0", "dist", "profiler-cli.js")


def _lane():
    return {figures: collections.Counter() for figures in ("time", "own", "within", "waits", "critical", "calls")}


def _load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=decimal.Decimal)


def _ns(value, to_ns):
    exact = value * to_ns
    assert exact == int(exact) >= 0, value
    return int(exact)


def plain(lanes, figures):
    """The figures of that name of all lanes, to be compared with those of another format: some have escapes
    in names."""
    found = []
    for lane in lanes:
        sums = collections.Counter()
        for key, time in lane[figures].items():
            sums[clean(key) if isinstance(key, str) else tuple(map(clean, key))] += time
        found.append(sorted(sums.items()))
    return sorted(found)


def clean(text):
    return report.unescaped(text)


# ---- CSV ----

def of_rows(rows, lane_of):
    """The lanes of the timeline in CSV: only the times of the categories."""
    lanes = {}
    for row in rows:
        lane = lanes.setdefault(lane_of(row), {"time": collections.Counter()})
        lane["time"][row["category"]] += _ns(decimal.Decimal(row["end_s"]) - decimal.Decimal(row["start_s"]), 10**9)
    return list(lanes.values())


# ---- Perfetto ----

class _Slices:
    """The slices of a thread as they come: they nest, and their times do not decrease."""

    def __init__(self):
        self.lane, self.open, self.last, self.free = _lane(), [], 0, 0
        self.call, self.calls = None, []

    def at(self, event):
        time = _ns(event["ts"], 1000)
        assert time >= self.last, ("the time decreases", event)
        assert time >= self.free, ("not in its slice", event)
        self.last = time
        return time

    def begin(self, event):
        assert not self.call, ("in a call of MPI", event)
        if event["cat"] == "mpi":
            self.call = [event["name"], self.at(event)]
            return
        self.open.append((event["name"], self.at(event)))
        assert set(event["args"]) == {"kind", "function", "file", "line"}, event

    def end(self, event):
        if self.call:
            self.calls.append((*self.call, self.at(event)))
            self.lane["calls"][self.call[0]] += 1
            self.call = None
            return
        name, since = self.open.pop()
        self.lane["within"][name] += self.at(event) - since

    def complete(self, event):
        start, length = self.at(event), _ns(event["dur"], 1000)
        assert length > 0 and event["name"] in CATEGORIES, event
        self.free = start + length
        self.lane["time"][event["name"]] += length
        self.lane["own"][self.open[-1][0] if self.open else "", event["name"]] += length
        arguments = event.get("args", {})
        self.lane["critical"]["here"] += length if arguments.get("critical") else 0
        if event["name"] in WAITS:
            self.lane["waits"][event["name"], arguments.get("wait_for", "")] += length


def _said(event, said):
    """Takes a mark, phase or counted value of the program.  Returns whether it is one."""
    if event["ph"] == "i":
        assert event["cat"] == "mark" and event["s"] == "p", event
        said["mark"].append((event["name"], _ns(event["ts"], 1000), 0))
    elif event["ph"] == "X" and event.get("cat") == "phase":
        said["phase"].append((event["name"], _ns(event["ts"], 1000), _ns(event["dur"], 1000)))
    elif event["ph"] == "C" and event["name"] != "working threads":
        name, thread = re.fullmatch(r"(.*) \(thread (\d+)\)", event["name"], re.S).groups()
        said["counter"].append((name, int(thread), _ns(event["ts"], 1000), event["args"]["value"]))
    else:
        return False
    return True


def perfetto_said(path):
    """What the program has marked and counted: {"mark": [(name, ns, 0)], "phase": [(name, ns, length)],
    "counter": [(name, thread, ns, value)]}; firefox_said() and otf2_said() return the same."""
    said = collections.defaultdict(list)
    for event in _load(path)["traceEvents"]:
        _said(event, said)
    return {kind: sorted(found) for kind, found in said.items()}


def firefox_said(path):
    profile, said = _load(path), collections.defaultdict(list)
    strings = profile["shared"]["stringArray"]
    assert {"mark", "phase", "counter"} <= {schema["name"] for schema in profile["meta"]["markerSchema"]}
    for thread in profile["threads"]:
        table, number = thread["markers"], int(thread["tid"].split(".")[-1])
        for i in range(table["length"]):
            name, data, start = strings[table["name"][i]], table["data"][i], table["startTime"][i]
            kind = data["type"]
            if kind == "counter":
                said[kind].append((name, number, _ns(start, 10**6), data["value"]))
            elif kind in ("mark", "phase"):
                assert table["phase"][i] == (kind == "phase") and (table["endTime"][i] is None) == (kind == "mark")
                length = table["endTime"][i] - start if kind == "phase" else 0
                said[kind].append((name, _ns(start, 10**6), _ns(length, 10**6)))
    return {kind: sorted(found) for kind, found in said.items()}


def otf2_said(path):
    said, kind = collections.defaultdict(list), None
    names = {int(number): int(thread) for number, thread in re.findall(
        r'LOCATION +(\d+)  Name: "thread (\d+) ', tap.must("otf2-print", "-G", path))}
    for line in tap.must("otf2-marker", path).splitlines():
        if found := re.match(r'MARKER_DEF .*Category: "(\w+)"', line):
            kind = found.group(1)
        elif found := re.match(r'MARKER +Time: (\d+), Duration (\d+), Scope: LOCATION:\d+, Text: "(.*)"', line):
            said[kind].append((found.group(3), int(found.group(1)), int(found.group(2))))
        else:
            assert not line.strip(), line
    for line in tap.must("otf2-print", path).splitlines():
        if line.startswith("METRIC"):
            place, time, name, value = re.match(
                r'METRIC +(\d+) +(\d+)  Metric: \d+, 1 Value: \("(.*)" <\d+>; UINT64; (\d+)\)', line).groups()
            said["counter"].append((name, names[int(place)], int(time), int(value)))
    return {kind: sorted(found) for kind, found in said.items()}


def perfetto(path):
    """Trace events in JSON, by the rules of the format.  Returns the lanes, the counters as {(pid, ns): threads}, and
    the critical paths as {pid: [(from, to, thread)]}."""
    trace, threads, names, counts = _load(path), {}, collections.defaultdict(dict), {}
    paths = collections.defaultdict(list)
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"} and trace["displayTimeUnit"] == "ns"
    for event in trace["traceEvents"]:
        place = event["pid"], event["tid"]
        assert all(isinstance(number, int) and number >= 0 for number in place), event
        if event["ph"] == "M":
            assert event["name"] not in names[place], event
            names[place][event["name"]], = event["args"].values()
        elif _said(event, collections.defaultdict(list)):
            pass
        elif event["ph"] == "C":
            assert event["args"]["threads"] >= 0 and event["name"] == "working threads", event
            counts[event["pid"], _ns(event["ts"], 1000)] = event["args"]["threads"]
        elif event["ph"] in "sf":
            assert event["cat"] == "mpi" and event.get("bp") == {"s": None, "f": "e"}[event["ph"]], event
        elif event.get("cat") == "critical path":
            start, length = _ns(event["ts"], 1000), _ns(event["dur"], 1000)
            assert names[place]["thread_name"] == "critical path" and length > 0
            assert not paths[event["pid"]] or paths[event["pid"]][-1][1] <= start
            paths[event["pid"]].append((start, start + length, event["name"]))
        else:
            slices = threads.setdefault(place, _Slices())
            {"B": slices.begin, "E": slices.end, "X": slices.complete}[event["ph"]](event)
    assert not any(slices.open or slices.call for slices in threads.values()), "a slice without an end"
    for place in threads:
        assert "thread_name" in names[place] and "thread_sort_index" in names[place], place
        assert any("process_name" in named and "process_sort_index" in named
                   for other, named in names.items() if other[0] == place[0]), place
    return [slices.lane for slices in threads.values()], counts, paths


def perfetto_messages(path):
    """The messages: [(function that sends, function that receives, how long under way in ns)].  Each end must lie in a
    call, and each number have both."""
    trace, threads, ends = _load(path), {}, collections.defaultdict(dict)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            assert event["ph"] not in ends[event["id"]], ("twice", event)
            ends[event["id"]][event["ph"]] = event
        elif event["ph"] in "BE":
            slices = threads.setdefault((event["pid"], event["tid"]), _Slices())
            {"B": slices.begin, "E": slices.end}[event["ph"]](event)

    def call(event):
        time = _ns(event["ts"], 1000)
        name, = [name for name, begin, end in threads[event["pid"], event["tid"]].calls if begin <= time < end]
        return name

    return [(call(both["s"]), call(both["f"]), int((both["f"]["ts"] - both["s"]["ts"]) * 1000))
            for both in ends.values()]


# ---- Firefox Profiler ----

def _table(table, **limits):
    """Checks that the columns of a table are equally long, and the references in those that are named by limits."""
    length = table["length"]
    for name, column in table.items():
        if isinstance(column, list):
            assert len(column) == length, (name, len(column), length)
    for name, limit in limits.items():
        assert all(number is None or 0 <= number < limit for number in table[name]), name
    return length


def _shared(shared, categories):
    strings = len(shared["stringArray"])
    assert len(set(shared["stringArray"])) == strings
    sources = _table(shared["sources"], filename=strings)
    _table(shared["nativeSymbols"])
    resources = _table(shared["resourceTable"], name=strings)
    functions = _table(shared["funcTable"], name=strings, source=sources)
    assert all(-1 <= resource < resources for resource in shared["funcTable"]["resource"])
    frames = _table(shared["frameTable"], func=functions, category=categories)
    stacks = _table(shared["stackTable"], frame=frames, prefix=frames)
    assert all(prefix is None or prefix < number for number, prefix in enumerate(shared["stackTable"]["prefix"]))
    return stacks, strings


def _markers(thread, strings, fields, lane):
    table, opened, last, call = thread["markers"], [], 0, None
    _table(table, name=len(strings))
    columns = [table[name] for name in ("name", "startTime", "endTime", "phase", "category", "data")]
    for name, start, end, phase, category, data in zip(*columns):
        at = _ns(end if phase == 3 else start, 10**6)
        assert at >= last, "the time of markers decreases"
        last = at
        if data["type"] in ("mark", "phase", "counter"):
            assert category == 0 and set(data) == {"type"} | ({"value"} if data["type"] == "counter" else set()), data
            continue
        if data["type"] == "mpi":  # calls do not nest, and constructs do not begin or end in them
            assert (phase, call) in ((2, None), (3, name)) and category == 0, (data, call)
            call = name if phase == 2 else None
            lane["calls"][strings[name]] += phase == 2
            continue
        for field, value in data.items():
            assert field == "type" or value < len(strings) or fields[data["type"], field] == "integer", data
        if phase == 1:
            assert data["type"] == "wait" and strings[name] == CATEGORIES[category - 1], data
            waited = strings[data["wait_for"]] if "wait_for" in data else ""
            lane["waits"][strings[name], waited] += _ns(end, 10**6) - at
        elif phase == 2:
            assert end is None and strings[data["kind"]] and call is None, data
            opened.append((name, at))
        else:
            assert phase == 3 and start is None and opened[-1][0] == name, (phase, start)
            lane["within"][strings[name]] += at - opened.pop()[1]
    assert not opened and call is None, "a marker without an end"


def firefox(path):
    """A processed profile, by the rules of its version.  A lane also has `stacks`, a function's path: ns."""
    profile, lanes = _load(path), []
    meta, shared = profile["meta"], profile["shared"]
    assert meta["preprocessedProfileVersion"] == 60
    assert [category["name"] for category in meta["categories"]] == ["other", *CATEGORIES]
    assert "grey" in [category["color"] for category in meta["categories"]]
    assert all(category["subcategories"] == ["Other"] for category in meta["categories"])
    fields = {(schema["name"], field["key"]): field["format"]
              for schema in meta["markerSchema"] for field in schema["fields"]}
    stacks, strings = _shared(shared, len(meta["categories"]))[0], shared["stringArray"]
    frames, functions = shared["frameTable"], shared["funcTable"]

    @functools.lru_cache(maxsize=None)
    def path_of(stack):
        prefix = shared["stackTable"]["prefix"][stack]
        name = strings[functions["name"][frames["func"][shared["stackTable"]["frame"][stack]]]]
        return (path_of(prefix) if prefix is not None else ()) + (name,)

    assert len({(thread["pid"], thread["tid"]) for thread in profile["threads"]}) == len(profile["threads"])
    for thread in profile["threads"]:
        assert isinstance(thread["pid"], str) and isinstance(thread["tid"], str) and thread["name"]
        samples = thread["samples"]
        _table(samples, stack=stacks)
        assert samples["weightType"] == "tracing-ms"
        times = [_ns(time, 10**6) for time in samples["time"]]
        assert all(a < b for a, b in itertools.pairwise(times)), "the time of samples decreases"
        assert _ns(thread["registerTime"], 10**6) <= times[0] and times[-1] < _ns(thread["unregisterTime"], 10**6)
        lane = {**_lane(), "own": None, "stacks": collections.Counter()}
        for stack, weight in zip(samples["stack"], samples["weight"]):
            category = CATEGORIES[frames["category"][shared["stackTable"]["frame"][stack]] - 1]
            lane["time"][category] += _ns(weight, 10**6)
            lane["stacks"][path_of(stack)] += _ns(weight, 10**6)
        _markers(thread, strings, fields, lane)
        lanes.append(lane)
    return lanes


class FirefoxProfiler:
    """The profiler's own command line, with a profile that it has loaded."""

    def __init__(self, path):
        if not shutil.which("node") or not os.path.exists(FIREFOX):
            raise tap.Skip("no node, or scripts/setup has not fetched the Firefox Profiler")
        if int(re.match(r"v(\d+)", tap.must("node", "--version")).group(1)) < 20:
            raise tap.Skip("the Firefox Profiler needs a newer node")
        self.sessions = os.path.join("/tmp", "ff-" + uuid.uuid4().hex[:12])  # a socket is there: a long path fails
        os.mkdir(self.sessions)
        # its command "load" does the same, but gives up after half a second
        self.daemon = tap.start("node", FIREFOX, "--daemon", path, "--session", "s", stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, **self._variables())
        tap.wait_until(self._ready, "the Firefox Profiler has loaded the profile", seconds=180)

    def _variables(self):
        return {"PROFILER_CLI_SESSION_DIR": self.sessions, "PROFILER_CLI_NO_SYMBOLICATE": "1"}

    def _ready(self):
        """Read in the daemon's log: a command that comes too early deletes the socket, and none can come after it."""
        assert self.daemon.poll() is None, "it has ended"
        log = pathlib.Path(self.sessions, "s.log")
        said = log.read_text(encoding="utf-8") if log.exists() else ""
        assert "Failed to load" not in said, said
        return "Profile loaded successfully" in said

    def ask(self, *arguments):
        done = tap.run("node", FIREFOX, *arguments, "--session", "s", "--json", timeout=60, **self._variables())
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.daemon.kill()
        self.daemon.wait()
        shutil.rmtree(self.sessions)


# ---- OTF2 ----

def otf2(path):
    """An archive, as otf2-print reads it."""
    if not shutil.which("otf2-print"):
        raise tap.Skip("no otf2-print")
    done = tap.run("otf2-print", path, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    lanes, opened, since = collections.defaultdict(_lane), collections.defaultdict(list), {}
    found = re.compile(r'(ENTER|LEAVE) +(\d+) +(\d+)  Region: "(.*)" <\d+>')
    attribute = re.compile(r' +ADDITIONAL ATTRIBUTES: \("wait_for" <0>; STRING; "(.*)" <\d+>\)')

    def is_construct(name):
        return name not in CATEGORIES and not name.startswith("MPI_")

    def spend(place, now):
        """The time since the last event of the location belongs to what it has open."""
        stack, last = opened[place], since.get(place, now)
        assert now >= last, "the time decreases"
        since[place] = now
        if now == last:
            return
        category = stack[-1][0] if stack[-1][0] in CATEGORIES else "work"
        constructs = [name for name, *_ in stack[1:] if is_construct(name)]
        lanes[place]["time"][category] += now - last
        lanes[place]["own"][constructs[-1] if constructs else "", category] += now - last

    place = None
    for line in done.stdout.splitlines():
        if waited := attribute.match(line):
            opened[place][-1][2] = waited.group(1)
        if not (event := found.match(line)):
            assert not line.startswith(("ENTER", "LEAVE")), line
            continue
        kind, place, now, name = event.groups()
        spend(place, int(now))
        if kind == "ENTER":
            opened[place].append([name, int(now), ""])
            lanes[place]["calls"][name] += name.startswith("MPI_")
            continue
        entered, begin, waited_for = opened[place].pop()
        assert entered == name, ("left another region than entered", line)
        if name in WAITS:
            lanes[place]["waits"][name, waited_for] += int(now) - begin
        elif is_construct(name) and opened[place]:
            lanes[place]["within"][name] += int(now) - begin
    assert not any(opened.values()), "a region without its leave"
    return list(lanes.values())


class Otf2Messages:
    """What MPI did, by otf2-print, with the rules of OTF2: messages match in order, requests are known and complete
    once, collective operations are the same on all members.  `partial`: some ranks, or a part of the run, are missing."""

    def __init__(self, path, partial=False):
        self.partial, self.sent, self.received, self.operations = partial, [], [], collections.Counter()
        self._groups, self._communicators, self._ranks, self._rank_of = {}, {}, [], {}
        self._queues = collections.defaultdict(lambda: collections.defaultdict(list))
        self._open, self._collectives, self._begun = {}, collections.defaultdict(list), {}
        self._last = collections.Counter()
        self.times = collections.defaultdict(list)  # in ns, of each kind of event
        self.bytes = collections.Counter()  # that a rank has put into messages and collective operations
        self._define(tap.run("otf2-print", "-G", path, timeout=120))
        self._read(tap.run("otf2-print", path, timeout=120))

    def _define(self, done):
        assert done.returncode == 0 and not done.stderr, done.stderr
        processes = {}
        for line in done.stdout.splitlines():
            kind, number = (line.split() + ["", ""])[:2]
            if kind == "LOCATION":
                processes[int(number)] = int(re.search(r"Group: .* <(\d+)>$", line).group(1))
            elif kind == "GROUP":
                found = re.search(r'Type: (\w+), Paradigm: MPI, Flags: NONE, \d+ Members?: ?(.*)$', line)
                member = r'"[^"]*" <(\d+)>' if found[1] == "COMM_LOCATIONS" else r"(\d+) \("
                members = re.findall("(?:^|, )" + member, found[2])
                self._groups[int(number)] = list(map(int, members))
                if found[1] == "COMM_LOCATIONS":
                    self._ranks = self._groups[int(number)]
            elif kind == "COMM":
                name, group = re.search(r'Name: "([^"]*)" <\d+>, Group: "[^"]*" <(\d+)>', line).groups()
                self._communicators[int(number)] = name, self._groups[int(group)], None
            elif kind == "INTER_COMM":
                name, one, two = re.search(
                    r'name: "([^"]*)" <\d+>, Group A: "[^"]*" <(\d+)>, Group B: "[^"]*" <(\d+)>', line).groups()
                self._communicators[int(number)] = name, self._groups[int(one)], self._groups[int(two)]
        rank_of_process = {processes[location]: rank for rank, location in enumerate(self._ranks)}
        assert all(process == rank for process, rank in rank_of_process.items()), "location groups are not ranks"
        self._rank_of = {location: rank_of_process.get(process) for location, process in processes.items()}

    def names(self):
        """Each communicator's name, and its ranks."""
        return [(name, one + (two or [])) for name, one, two in self._communicators.values()]

    def _peer(self, communicator, own, peer):
        _, one, two = self._communicators[communicator]
        assert own in one + (two or []), "not a member"
        return (two if two and own in one else one)[peer]

    def _read(self, done):
        assert done.returncode == 0 and not done.stderr, done.stderr
        for line in done.stdout.splitlines():
            event = re.match(r"(MPI_\w+|NON_BLOCKING_\w+) +(\d+) +(\d+)  ?(.*)$", line)
            if event:
                kind, place, time, rest = event[1], int(event[2]), int(event[3]), event[4]
                assert time >= self._last[place], ("the time decreases", line)
                self._last[place] = time
                self._event(kind, place, time, {name: int(number or text) for name, text, number in re.findall(
                    r'(\w+): (?:(\d+)(?: \("[^"]*" <\d+>\))?|"[^"]*" <(\d+)>)(?=, |$)', rest)}, rest)
        self._end()

    def _event(self, kind, place, time, values, rest):
        rank = self._rank_of[place]
        self.operations[kind] += 1
        self.times[kind].append(time)
        if kind in ("MPI_SEND", "MPI_ISEND"):
            communicator = values["Communicator"]
            to = self._peer(communicator, rank, values["Receiver"])
            self._queues[communicator, rank, to, values["Tag"]]["sent"].append((values["Length"], time))
            self.sent.append((rank, to, values["Length"]))
            self.bytes[rank] += values["Length"]
        if kind in ("MPI_RECV", "MPI_IRECV"):
            communicator = values["Communicator"]
            source = self._peer(communicator, rank, values["Sender"])
            self._queues[communicator, source, rank, values["Tag"]]["got"].append((values["Length"], time))
            self.received.append((source, rank, values["Length"]))
        if kind in ("MPI_ISEND", "MPI_IRECV_REQUEST", "NON_BLOCKING_COLLECTIVE_REQUEST"):
            assert (rank, values["Request"]) not in self._open, rest
            self._open[rank, values["Request"]] = kind
        ends = {"MPI_ISEND_COMPLETE": "MPI_ISEND", "MPI_IRECV": "MPI_IRECV_REQUEST",
                "NON_BLOCKING_COLLECTIVE_COMPLETE": "NON_BLOCKING_COLLECTIVE_REQUEST"}
        if kind in ends:
            assert self._open.pop((rank, values["Request"])) == ends[kind], rest
        if kind == "MPI_REQUEST_CANCELLED":
            del self._open[rank, values["Request"]]
        if kind == "MPI_COLLECTIVE_BEGIN":
            assert place not in self._begun, "two collective operations at once"
            self._begun[place] = time
        if kind == "MPI_COLLECTIVE_END":
            del self._begun[place]
        if kind in ("MPI_COLLECTIVE_END", "NON_BLOCKING_COLLECTIVE_COMPLETE"):
            operation = re.match(r"Operation: (\w+)", rest)[1]
            self._collectives[values["Communicator"], rank].append(operation)
            self.bytes[rank] += values["Sent"]

    def _end(self):
        assert not self._begun, "a collective operation has not ended"
        for queue in self._queues.values():
            sent, got = queue["sent"], queue["got"]
            if not self.partial:
                assert sorted(length for length, _ in sent) == sorted(length for length, _ in got), queue
        for number, (_, one, two) in self._communicators.items():
            if not self.partial and not two:
                assert len({tuple(sorted(self._collectives[number, rank])) for rank in one}) <= 1, number
