"""The extents of measurement files and of logs of the graph, read and written as doc/format.md says.

How extents are read and written here is independent of hpcprof-lite, so that each checks the other.  The layouts of
records are those of common/format.h, which a program prints (record_layouts.c); the case of tests/golden that compares
them with doc/format.md checks them."""
import ctypes
import functools
import json
import os
import zlib

import tap

LAYOUTS = json.loads(tap.must(os.path.join(tap.BUILD, "tests", "record_layouts")))
TABLES = {name: number for name, (number, _, _) in LAYOUTS["tables"].items()}
(PROCESS, STRINGS, METRICS, MODULES, THREAD, NODES, VALUES, DIRECTIVES, GRAPH_LOG, CONSTRUCTS, TASKS, INDEX,
 USER_COUNTS) = map(
    TABLES.get, ("process", "strings", "metrics", "modules", "thread", "nodes", "values", "directives", "graph log",
                 "constructs", "tasks", "index", "user counts"))
LIVE, ZSTD = 1, 2  # flags
PAGE = 4096
MAGIC, VERSION = int.from_bytes(b"hpcrlite", "little"), 1
TYPES = {"uint8_t": ctypes.c_uint8, "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32,
         "int32_t": ctypes.c_int32, "uint64_t": ctypes.c_uint64, "double": ctypes.c_double}


@functools.lru_cache(maxsize=None)
def layout(structure):
    """A record of common/format.h as a type of ctypes: layout(name)(field=value, ...), of which bytes() are the
    record."""
    described = LAYOUTS["records"][structure]

    def type_of(name, length):
        one = TYPES[name] if name in TYPES else layout(name.removeprefix("struct "))
        return one * length if length else one

    fields = [(name, type_of(kind, length)) for name, _, kind, length in described["fields"]]
    made = type(structure, (ctypes.LittleEndianStructure,), {"_fields_": fields})
    assert ctypes.sizeof(made) == described["size"], structure
    assert all(getattr(made, name).offset == offset for name, offset, _, _ in described["fields"]), structure
    return made


def record_of(table):
    """The layout of a table's records."""
    return layout(next(kind for number, kind, _ in LAYOUTS["tables"].values() if number == table)
                  .removeprefix("struct "))


def parsed(structure, data):
    """A record from its bytes: fields that these lack are 0, and what follows the known fields is ignored."""
    size = ctypes.sizeof(structure)
    return structure.from_buffer_copy(data[:size].ljust(size, b"\0"))


HEAD = layout("format_extent")
HEAD_SIZE = ctypes.sizeof(HEAD)


class Extent:
    """Records of a table: of the process, or of the thread `owner`."""

    def __init__(self, table, owner, first, flags, size, data):
        self.table, self.owner, self.first, self.live = table, owner, first, bool(flags & LIVE)
        self.size, self.data = size, data

    def records(self):
        """The records one by one."""
        return [self.data[at:at + self.size] for at in range(0, len(self.data), self.size)]

    def parsed(self):
        """The records with their fields."""
        return [parsed(record_of(self.table), record) for record in self.records()]


def decompressed(payload, size):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), payload, ctypes.c_size_t(len(payload)))
    assert got == size, (got, size)
    return out.raw


def extents(path):
    """All extents of a file.  Where none begins, the next one begins at a later page."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        head = data[at:at + HEAD_SIZE]
        if not any(head[:8]):
            at = (at // PAGE + 1) * PAGE
            continue
        head = HEAD.from_buffer_copy(head)
        assert head.magic == MAGIC and head.version == VERSION, (at, bytes(head))
        payload = data[at + HEAD_SIZE:at + HEAD_SIZE + head.stored_size]
        assert len(payload) == head.stored_size, (at, head.stored_size, len(payload))
        at += HEAD_SIZE + head.stored_size
        size = head.count * head.record_size
        if head.flags & ZSTD:
            payload = decompressed(payload, size)
        if head.table:
            yield Extent(head.table, head.owner, head.first, head.flags, head.record_size, payload[:size])


def extent(table, size, records, owner=0, live=False, first=0):
    """The bytes of an extent whose records have a size, not compressed; a live extent has no checksum."""
    head = HEAD(magic=MAGIC, version=VERSION, table=table, flags=LIVE if live else 0, owner=owner, first=first,
                count=len(records) // size, record_size=size, stored_size=len(records))
    if not live:
        head.crc = zlib.crc32(bytes(head) + records)
    return bytes(head) + records


def leb128(data, at):
    """The number at a position of a log or trace, and the position behind it."""
    value = shift = 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
