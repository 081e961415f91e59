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


def _process(text, program):
    second = 1000000000
    return struct.pack("<IIiIQQQIIIIIIII", 1, 1, -1, 8, 1700000000 * second, second, second, 2, 1, 1, text["host"],
                       text[program], text["LLVM"],
                       0, 0)


def _thread(samples):
    cpu_ns = samples * 5000000
    return struct.pack("<IIII12Q", 1, 1, 0, 0, 0, cpu_ns, samples, 0, 0, 0, 0, 0, 0, 0, cpu_ns, cpu_ns)


def measurement(directory, program, addresses):
    """Writes a measurement of one thread with one sample at each address, all directly below the root."""
    texts = ["", "host", program, "samples", "work", "ns", "LLVM"]
    places = [sum(len(text) + 1 for text in texts[:number]) for number in range(len(texts))]
    text = dict(zip(texts, places))
    strings = b"".join(entry.encode() + b"\0" for entry in texts)
    metrics = b"".join(struct.pack("<IIIIQ", text[name], text[unit], role, 0, 5000000)
                       for name, unit, role in (("samples", "", SAMPLES_ROLE), ("work", "ns", WORK_ROLE)))
    size = os.path.getsize(program)
    build_id = bytes.fromhex(re.search(r"Build ID: (\w+)", tap.must("readelf", "-n", program))[1])
    modules = bytes(struct.calcsize("<QQQIII20s4x")) + struct.pack("<QQQIII20s4x", 0, size, 0, text[program], 1,
                                                                   len(build_id), build_id)
    nodes = struct.pack("<IIII", ROOT << 24, 0, 0, 0) + b"".join(struct.pack("<IIII", FRAME << 24 | 1, address, 0,
                                                                             number + 1)
                                                                for number, address in enumerate(addresses))
    values = bytes(16) + struct.pack("<QQ", 1, 5000000) * len(addresses)
    process, thread = _process(text, program), _thread(len(addresses))
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "host-1-1.hpcrun"), "wb") as file:
        for table, owner, count, payload in ((form.PROCESS, 0, 1, process), (form.STRINGS, 0, len(strings), strings),
                                             (form.METRICS, 0, 2, metrics), (form.MODULES, 0, 2, modules),
                                             (form.THREAD, 1, 1, thread),
                                             (form.NODES, 1, len(addresses) + 1, nodes),
                                             (form.VALUES, 1, len(addresses) + 1, values)):
            file.write(form.chunk(table, len(payload) // count, payload, owner))
