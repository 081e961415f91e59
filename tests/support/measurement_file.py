"""The chunks of measurement files and of logs of the graph, read and written as doc/format.md says.

It is written independently of hpcprof-lite, so that each checks the other."""
import ctypes
import struct
import zlib

PROCESS, STRINGS, METRICS, MODULES, THREAD, NODES, VALUES, GRAPH_LOG, USER_COUNTS = 1, 2, 3, 4, 6, 7, 8, 11, 19  # tables
LIVE, ZSTD = 1, 2  # flags
PAGE = 4096
HEAD = struct.Struct("<8sHHIIIIIQI20x")
MAGIC, VERSION = b"hpcrlite", 1


class Chunk:
    """Records of a table: of the process, or of the thread `owner`."""

    def __init__(self, table, owner, first, flags, size, data):
        self.table, self.owner, self.first, self.live = table, owner, first, bool(flags & LIVE)
        self.size, self.data = size, data

    def records(self):
        """The records one by one."""
        return [self.data[at:at + self.size] for at in range(0, len(self.data), self.size)]


def decompressed(payload, size):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(size)
    got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), payload, ctypes.c_size_t(len(payload)))
    assert got == size, (got, size)
    return out.raw


def chunks(path):
    """All chunks of a file.  A page of zeros is one that was never used."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        head = data[at:at + HEAD.size]
        if not any(head):
            at += PAGE
            continue
        magic, version, table, flags, owner, first, count, size, stored, _ = HEAD.unpack(head)
        assert magic == MAGIC and version == VERSION, (at, head)
        payload = data[at + HEAD.size:at + HEAD.size + stored]
        assert len(payload) == stored, (at, stored, len(payload))
        at += HEAD.size + stored
        if flags & ZSTD:
            payload = decompressed(payload, count * size)
        if table:
            yield Chunk(table, owner, first, flags, size, payload[:count * size])


def chunk(table, size, records, owner=0, live=False, first=0):
    """The bytes of a chunk whose records have a size, not compressed; a live chunk has no checksum."""
    def head(crc):
        return HEAD.pack(MAGIC, VERSION, table, LIVE if live else 0, owner, first, len(records) // size, size,
                         len(records), crc)
    return head(0 if live else zlib.crc32(head(0) + records)) + records
