"""Readers of the exports of profiles.  Each checks the rules of its format and returns the stacks with own values:
(names from the root on) → metric → value, times in nanoseconds."""
import collections
import decimal
import gzip
import json
import re


def _stacks():
    return collections.defaultdict(collections.Counter)


def total(stacks, metric):
    return sum(values[metric] for values in stacks.values())


def below(stacks, path, metric):
    """The inclusive value of a path."""
    return sum(values[metric] for stack, values in stacks.items() if stack[:len(path)] == path)


# ---- folded ----

def folded(path, metric="work"):
    stacks = _stacks()
    with open(path, encoding="utf-8") as file:
        for line in file:
            names, value = re.fullmatch(r"(.+) (\d+)\n", line).groups()
            assert int(value) and not re.search(r"[\x00-\x1f\x7f]", names), line
            assert all(names.split(";")), line
            stacks[tuple(names.split(";"))][metric] += int(value)
    return stacks


# ---- speedscope: https://www.speedscope.app/file-format-schema.json ----

def speedscope(path):
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(found) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
    assert found["profiles"] and isinstance(found["name"], str) and set(found["shared"]) == {"frames"}
    frames = found["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str) and frame["name"]
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 0), int)
    stacks = _stacks()
    for profile in found["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "events"}
        assert profile["type"] == "evented" and profile["unit"] in ("none", "nanoseconds")
        at, opened = profile["startValue"], []
        for event in profile["events"]:
            assert set(event) == {"type", "frame", "at"} and event["at"] >= at
            if event["at"] > at:
                stacks[tuple(frames[number]["name"] for number in opened)][profile["name"]] += event["at"] - at
            at = event["at"]
            if event["type"] == "O":
                opened.append(event["frame"])
            else:
                assert event["type"] == "C" and opened.pop() == event["frame"]
        assert not opened and at <= profile["endValue"], profile["name"]
        assert at == profile["endValue"] or not profile["events"]
    return stacks, frames


# ---- pprof: https://github.com/google/pprof/blob/main/proto/profile.proto ----

class Message:
    """A message of Protocol Buffers: the values of each field."""

    def __init__(self, data):
        self.fields, at = collections.defaultdict(list), 0
        while at < len(data):
            tag, at = self._varint(data, at)
            value, at = self._varint(data, at)
            assert tag & 7 in (0, 2), tag
            if tag & 7 == 2:
                assert at + value <= len(data)
                value, at = data[at:at + value], at + value
            self.fields[tag >> 3].append(value)

    @staticmethod
    def _varint(data, at):
        value = shift = 0
        while True:
            value |= (data[at] & 0x7f) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 0x80:
                return value, at

    def number(self, field):
        return self.fields[field][-1] if self.fields[field] else 0

    def packed(self, field):
        values, at = [], 0
        for data in self.fields[field]:
            while at < len(data):
                value, at = self._varint(data, at)
                values.append(value)
        return values

    def messages(self, field):
        return map(Message, self.fields[field])


def pprof(path):
    """The stacks, with functions of inlined calls; and (name, file, line) → metric → own value."""
    with gzip.open(path) as file:
        found = Message(file.read())
    strings = [text.decode("utf-8") for text in found.fields[6]]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    types = [(strings[kind.number(1)], strings[kind.number(2)]) for kind in found.messages(1)]
    assert all(unit for _, unit in types) and strings[found.number(14)] in dict(types), types
    functions = {function.number(1): (strings[function.number(2)], strings[function.number(4)])
                 for function in found.messages(5)}
    mappings = {mapping.number(1): strings[mapping.number(5)] for mapping in found.messages(3)}
    locations = {}
    for location in found.messages(4):
        assert location.number(1) not in locations and location.number(2) in (0, *mappings)
        locations[location.number(1)] = [(*functions[line.number(1)], line.number(2)) for line in location.messages(4)]
    assert all(name and number for number, (name, _) in functions.items()) and all(locations.values())
    stacks, lines = _stacks(), _stacks()
    for sample in found.messages(2):
        path = [line for number in sample.packed(1) for line in locations[number]]
        values = sample.packed(2)
        assert len(values) == len(types) and any(values) and path
        for (name, _), value in zip(types, values):
            stacks[tuple(line[0] for line in reversed(path))][name] += value
            lines[path[0]][name] += value
    return stacks, lines, locations


# ---- callgrind: https://valgrind.org/docs/manual/cl-format.html ----

def callgrind(path):
    """Function → event → own cost, function → event → inclusive cost, and (file, line) → event → own cost."""
    with open(path, encoding="utf-8") as file:
        head, _, body = file.read().partition("\n\n")
    assert "positions: line" in head.splitlines()
    events = re.search(r"^events: (.+)$", head, re.M)[1].split()
    full = dict(re.findall(r"^event: (\w+) : (.+?)(?: \(ns\))?$", head, re.M))
    assert set(full) == set(events) and all(re.fullmatch(r"[A-Za-z]\w*", name) for name in events), head
    summary = dict(zip((full[name] for name in events), map(int, re.search(r"^summary: (.+)$", head, re.M)[1].split())))
    names, own, inclusive, lines = {"ob": {}, "f": {}, "fn": {}}, _stacks(), _stacks(), _stacks()
    present, calls, callers = {}, False, set()
    for line in body.splitlines():
        field = re.fullmatch(r"(ob|fl|fi|fe|fn|cob|cfi|cfn)=\((\d+)\)(?: (.*))?", line)
        if field:
            kind = {"ob": "ob", "cob": "ob", "fn": "fn", "cfn": "fn"}.get(field[1], "f")
            if field[3] is not None:
                assert field[2] not in names[kind] and field[3], line
                names[kind][field[2]] = field[3]
            present["fl" if field[1] in ("fi", "fe") else field[1]] = names[kind][field[2]]
            if field[1] == "fn":
                assert not calls
        elif line.startswith("calls="):
            assert "cfn" in present
            calls = True
            callers.add(present["fn"].removesuffix("'2"))
        else:
            numbers = list(map(int, line.split()))
            assert len(numbers) == len(events) + 1, line
            for event, value in zip(events, numbers[1:]):
                inclusive[present["fn"]][full[event]] += value
                if not calls:
                    own[present["fn"]][full[event]] += value
                    lines[(present["fl"], numbers[0])][full[event]] += value
            calls = False
    assert {name: total(own, name) for name in summary} == summary
    assert callers <= {name.removesuffix("'2") for name in own}  # callgrind_annotate warns of files without own costs
    return own, inclusive, lines


# ---- hatchet ----

def hatchet(path):
    """As hatchet.GraphFrame.from_literal reads it: nodes with equal numbers, or equal frames without, are one node."""
    with open(path, encoding="utf-8") as file:
        roots = json.load(file, parse_float=decimal.Decimal)
    assert len(roots) == 1 and "_hatchet_nid" not in roots[0]["metrics"]
    metrics = list(roots[0]["metrics"])
    exclusive = [name for name in metrics if "(inc)" not in name]
    assert all(isinstance(value, (int, decimal.Decimal)) for value in roots[0]["metrics"].values())
    assert sorted(metrics) == sorted(exclusive + [name + " (inc)" for name in exclusive])
    stacks, numbers, todo = _stacks(), set(), [((), roots[0])]

    def value(name, node):
        found = node["metrics"][name]
        return int(found * 10**9) if isinstance(found, decimal.Decimal) else found

    while todo:
        above, node = todo.pop()
        assert set(node) <= {"frame", "metrics", "children"} and set(node["frame"]) == {"name", "type"}
        path = above + (node["frame"]["name"],)
        children = node.get("children", [])
        if above:
            assert node["metrics"]["_hatchet_nid"] not in numbers
            numbers.add(node["metrics"]["_hatchet_nid"])
            assert set(node["metrics"]) == {*metrics, "file", "line", "module", "_hatchet_nid"}
        for name in exclusive:
            stacks[path][name] += value(name, node)
            assert value(name + " (inc)", node) == value(name, node) + sum(value(name + " (inc)", child)
                                                                           for child in children), (path, name)
        todo += [(path, child) for child in children]
    return stacks
