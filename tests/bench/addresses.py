"""A binary with many functions, templates and inlined calls, and a measurement with samples all over its code."""
import os
import re
import shutil
import struct

import measurement_file as form
import tap
from measured import build

WANTED, CLASSES = 20000, 150
ROOT, FRAME, SAMPLES_ROLE, WORK_ROLE = 1, 2, 0, 1

HEAD = """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> struct Shape {
  std::vector<int> values;
  inline int area(int x) const { return x * N + static_cast<int>(values.size()); }
  inline int sum(int x) const { int s = 0; for (int v : values) s += area(v ^ x); return s; }
};
template <int N> __attribute__((noinline)) int work(int x)
{
  Shape<N> shape;
  for (int i = 0; i < x; i++)
    shape.values.push_back(shape.area(i));
  std::sort(shape.values.begin(), shape.values.end(), [](int a, int b) { return a * N < b; });
  return shape.sum(x);
}
"""


def _source(path):
    calls = "\n".join(f"  total += work<{number}>(argc + {number});" for number in range(CLASSES))
    with open(path, "w", encoding="ascii") as file:
        file.write(f"{HEAD}\nint main(int argc, char **)\n{{\n  int total = 0;\n{calls}\n  return total & 1;\n}}\n")


def binary(directory):
    """Builds the binary; returns it and WANTED addresses, evenly distributed over its code; None without g++."""
    if not shutil.which("g++"):
        return None, []
    source, program = os.path.join(directory, "shapes.cc"), os.path.join(directory, "shapes")
    _source(source)
    tap.must("g++", "-O2", "-g", "-Wl,--build-id", source, "-o", program, timeout=600)
    shown = tap.must("readelf", "-SW", program)
    start, size = (int(part, 16) for part in re.search(r" \.text\s+PROGBITS\s+(\S+) \S+ (\S+)", shown).groups())
    return program, [start + size * number // WANTED for number in range(WANTED)]


def small():
    """A small C++ program with debug data that runs for a moment; None without g++."""
    return build("template_mixers.cc", "g++", "-O2") if shutil.which("g++") else None


SECOND, PERIOD_NS = 10**9, 5 * 10**6


def _records(table, *fields):
    return b"".join(bytes(form.record_of(table)(**each)) for each in fields)


def measurement(directory, program, addresses):
    """Writes a measurement of one thread with one sample at each address, all directly below the root."""
    texts = ["", "host", program, "samples", "work", "ns", "LLVM"]
    places = [sum(len(text) + 1 for text in texts[:number]) for number in range(len(texts))]
    text = dict(zip(texts, places))
    strings = b"".join(entry.encode() + b"\0" for entry in texts)
    metrics = _records(form.METRICS, *({"name": text[name], "unit": text[unit], "role": role, "period": PERIOD_NS} for
                                       name, unit, role in (("samples", "", SAMPLES_ROLE), ("work", "ns", WORK_ROLE))))
    size = os.path.getsize(program)
    build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", tap.must("readelf", "-n", program))[1])
    module = form.record_of(form.MODULES)(end=size, path=text[program], flags=1, build_id_size=len(build_id))
    module.build_id[:len(build_id)] = build_id
    modules = _records(form.MODULES, {}) + bytes(module)
    nodes = _records(form.NODES, {"kind_what": ROOT << 24}, *(
        {"kind_what": FRAME << 24 | 1, "offset": address, "value": number}
        for number, address in enumerate(addresses, 1)))
    values = bytes(16) + struct.pack("<QQ", 1, PERIOD_NS) * len(addresses)
    process = _records(form.PROCESS, {
        "pid": 1, "parent_pid": 1, "rank": -1, "flags": 8, "start_ns": 1700000000 * SECOND, "wall_ns": SECOND,
        "cpu_ns": SECOND, "cpus": 2, "threads": 1, "threads_max": 1, "host": text["host"], "command": text[program],
        "runtime": text["LLVM"]})
    cpu_ns = len(addresses) * PERIOD_NS
    thread = _records(form.THREAD, {"index": 1, "tid": 1, "end_ns": cpu_ns, "samples": len(addresses),
                                    "cpu_ns": cpu_ns, "wall_ns": cpu_ns})
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "host-1-1.hpcrun"), "wb") as file:
        for table, owner, count, payload in ((form.PROCESS, 0, 1, process), (form.STRINGS, 0, len(strings), strings),
                                             (form.METRICS, 0, 2, metrics), (form.MODULES, 0, 2, modules),
                                             (form.THREAD, 1, 1, thread),
                                             (form.NODES, 1, len(addresses) + 1, nodes),
                                             (form.VALUES, 1, len(addresses) + 1, values)):
            file.write(form.extent(table, len(payload) // count, payload, owner))
