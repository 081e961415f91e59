"""Measurements of a job as if its ranks had run on several hosts, whose clocks differ: files of one host that are
rewritten."""
import ctypes
import glob
import os
import re

import measurement_file as format_of
import tap

TICK_BITS = 12  # a shift of time-stamp counters is a multiple of 2 to that: traces leave out so many bits
SAMPLE_UNIT, STATE_UNIT = 12, 5
START = 32 << 2 | 3  # the first operation of each extent of a trace


class Clock:
    """A host: it began at offset_s on its own clock when the others began, and a second takes `rate` seconds there.
    ticks: its time-stamp counter is ahead by so much."""

    def __init__(self, offset_s=0.0, rate=1.0, ticks=0):
        self.offset_ns, self.rate, self.ticks = round(offset_s * 1e9), rate, ticks >> TICK_BITS << TICK_BITS


def _graphlog_operands():
    """The number of operands of each operation of the log."""
    with open(os.path.join(tap.SOURCE, "common", "graphlog.h"), encoding="utf-8") as file:
        return [int(count) for _, count in re.findall(r"^  O\((\w+), (\d)\)", file.read(), re.M)]


OPERANDS = _graphlog_operands()
END, TIME = 0, 1


def _put(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def _log(data, clock):
    """The records of an extent of a graph log, with other times."""
    out, at = bytearray(), 0
    while at < len(data) and data[at] != END:
        begin, operation, at = at, data[at], at + 1
        for number in range(OPERANDS[operation]):
            operand, at = format_of.leb128(data, at)
            if operation == TIME and not number:
                out += bytes([TIME]) + _put(operand + clock.ticks)
        if operation != TIME:
            out += data[begin:at]
    return bytes(out)


def _trace(data, clock):
    """The operations of an extent of a trace: only the first one has a time of its own."""
    if not data or data[0] != START:
        return data
    states, at = format_of.leb128(data, 1)
    samples, at = format_of.leb128(data, at)
    return (bytes([START]) + _put(states and states + (clock.ticks >> STATE_UNIT)) +
            _put(samples + (clock.ticks >> SAMPLE_UNIT)) + data[at:])


CONTRIBUTIONS = format_of.TABLES["contributions"]
SCALED = format_of.PROCESS, format_of.THREAD, format_of.DIRECTIVES, CONTRIBUTIONS


def _scale(record, rate, timed):
    """All times, which the host's own clock has measured; timed: work is time."""
    for name, *_ in record._fields_:
        value = getattr(record, name)
        is_time = name.endswith("_ns") or (timed and name in ("work", "span", "burdened", "lock_bound"))
        if is_time and isinstance(value, int) and 0 < value < 2 ** 62:
            setattr(record, name, round(value * rate))
        if timed and name == "amount":
            setattr(record, name, int(value * rate))  # all together are no more than the span


def _measurement(part, clock, rename, timed):
    if part.table == format_of.STRINGS:
        return rename(part.data)
    if part.table not in SCALED:
        return part.data
    records = part.parsed()
    begins = records[0].start_ns if part.table == format_of.PROCESS else 0
    for record in records:
        _scale(record, clock.rate, timed)
    if part.table == format_of.PROCESS:
        record = records[0]
        record.start_ns = begins + clock.offset_ns
        record.start_ticks += clock.ticks
        record.tick_scale = round(record.tick_scale * clock.rate)
    return b"".join(map(bytes, records))


def _is_timed(path):
    """Whether work is time."""
    parts = list(format_of.extents(path))
    strings = b"".join(part.data for part in parts if part.table == format_of.STRINGS)
    unit = next(part.parsed()[0].work_unit for part in parts if part.table == format_of.PROCESS)
    return strings[unit:].startswith(b"s\0")


def rank_of(path):
    return next(part.parsed()[0].mpi_rank for part in format_of.extents(path) if part.table == format_of.PROCESS)


def host_of(path):
    """The name of the host: the file's name has it first."""
    return os.path.basename(path).rsplit("-", 2)[0]


def on_hosts(measurement, into, hosts):
    """Copies the files of a job's ranks.  hosts: [rank] (number of the host, its clock)."""
    os.makedirs(into)
    for path in glob.glob(os.path.join(measurement, "*.hpcrun")):
        number, clock = hosts[rank_of(path)]
        own, timed = host_of(path), _is_timed(path)
        name = own[:-1] + chr(ord("0") + number)

        def rename(data, own=own, name=name):
            return data.replace(own.encode() + b"\0", name.encode() + b"\0")

        for file in glob.glob(path[:-len("hpcrun")] + "*"):
            with open(os.path.join(into, name + os.path.basename(file)[len(own):]), "wb") as out:
                for part in format_of.extents(file):
                    if file.endswith(".graph"):
                        data, size = _log(part.data, clock), 1
                    elif file.endswith(".trace"):
                        data, size = _trace(part.data, clock), 1
                    else:
                        data = _measurement(part, clock, rename, timed)
                        scaled = part.table in SCALED
                        size = ctypes.sizeof(format_of.record_of(part.table)) if scaled else part.size
                    out.write(format_of.extent(part.table, size, data, part.owner, first=part.first))
    return into
