#!/usr/bin/env python3
"""hpcprof-lite on directories that somebody has made to do harm: with 1 GB of address space and a minute it reports
what is sound, exits 1, and says what is wrong in few lines."""
import glob
import os
import resource
import shutil
import socket
import struct
import subprocess
import sys
import threading
import zlib

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from tap import GOLDEN, REPORT, Skip, case, compile_c, environment, main

VIEWS = ("summary", "topdown", "bottomup", "flat", "threads", "efficiency", "parallelism", "critical-path", "whatif",
         "speedup")
GB = 1 << 30
PROCESS, STRINGS, METRICS, MODULES, THREAD, NODES, VALUES = 1, 2, 3, 4, 6, 7, 8  # common/format.h
LIVE = 1


def bounded():
    """In the child: no run needs more than this."""
    resource.setrlimit(resource.RLIMIT_AS, (GB, GB))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def report(*arguments, status=1, lines=40):
    """Runs the report; checks that it ends as it should and says little."""
    done = subprocess.run([REPORT, *arguments], env=environment(LC_ALL="C.UTF-8"), timeout=300, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=bounded)
    said = done.stderr.decode().splitlines()
    assert done.returncode == status, (arguments, done.returncode, said)
    assert all(line.startswith("hpcprof-lite: ") for line in said), said
    assert bool(said) == bool(status) and len(said) <= lines, (len(said), said[:5])
    assert not any("not enough memory" in line for line in said), said
    return done.stdout, said


def golden(directory, name="basic", as_name="sound.hpcrun"):
    """Puts a sound measurement into a directory."""
    os.makedirs(directory, exist_ok=True)
    where = os.path.join(GOLDEN, name)
    for file in glob.glob(os.path.join(where, "*.hpcrun")):
        shutil.copy(file, os.path.join(directory, as_name))
    return report("-q", "--view", "topdown", "-f", "csv", where, status=0)[0]


def chunk(table, record_size, records, owner=0):
    """A chunk in live form."""
    return struct.pack("<8sHHIIIIIQI20x", b"hpcrlite", 1, table, LIVE, owner, 0, len(records) // record_size, record_size,
                       len(records), 0) + records


def node(kind, what, offset, parent, value=0):
    return struct.pack("<IIII", kind << 24 | what, offset, parent, value)


def measurement(path, trees, module="/nowhere/app"):
    """Writes a measurement of one metric, a sample in each value record 1; trees: nodes of each thread."""
    strings = b"\0samples\0" + module.encode() + b"\0"
    with open(path, "wb") as file:
        file.write(chunk(STRINGS, 1, strings))
        file.write(chunk(METRICS, 24, struct.pack("<IIIIQ", 1, 0, 0, 0, 1) + struct.pack("<IIIIQ", 0, 0, 1, 0, 1)))
        file.write(chunk(MODULES, 56, bytes(56) + struct.pack("<QQQIII20x", 0, 0, 0, 9, 1, 0)))
        for number, nodes in enumerate(trees, 1):
            file.write(chunk(THREAD, 16, struct.pack("<IIII", number, number, 0, 0)))
            file.write(chunk(NODES, 16, b"".join(nodes), number))
            file.write(chunk(VALUES, 16, struct.pack("<QQQQ", 0, 0, 1, 1000), number))


@case
def what_is_no_regular_file_is_never_waited_for(directory):
    whole = golden(directory)
    os.mkfifo(os.path.join(directory, "a.hpcrun"))
    os.mkdir(os.path.join(directory, "b.hpcrun"))
    os.symlink("/dev/zero", os.path.join(directory, "c.hpcrun"))
    os.symlink("nowhere", os.path.join(directory, "d.hpcrun"))
    os.symlink("e.hpcrun", os.path.join(directory, "e.hpcrun"))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.join(directory, "f.hpcrun"))
        out, said = report("-q", "--view", "topdown", "-f", "csv", directory)
    assert out == whole and len(said) == 6, said
    for name in "abcdef":
        assert sum(f"/{name}.hpcrun: " in line for line in said) == 1, (name, said)


@case
def unreadable_files_are_named(directory):
    if os.geteuid() == 0:
        raise Skip("root reads all files")
    whole = golden(directory)
    path = os.path.join(directory, "a.hpcrun")
    shutil.copy(os.path.join(directory, "sound.hpcrun"), path)
    os.chmod(path, 0)
    out, said = report("-q", "--view", "topdown", "-f", "csv", directory)
    assert out == whole and len(said) == 1 and "a.hpcrun: Permission denied" in said[0], said


@case
def a_log_that_is_no_regular_file_is_never_waited_for(directory):
    golden(directory, "units", "a.hpcrun")
    os.mkfifo(os.path.join(directory, "a.graph"))
    _, said = report("-q", "--view", "speedup", directory)
    assert len(said) == 1 and "a.graph: not a regular file" in said[0], said


@case
def ten_thousand_files_are_not_ten_thousand_lines(directory):
    whole = golden(directory)
    for number in range(10000):
        with open(os.path.join(directory, f"{number}.hpcrun"), "wb"):
            pass
    out, said = report("-q", "--view", "topdown", "-f", "csv", directory)
    assert out == whole and len(said) < 30, said
    assert said[-1].endswith(f"and {10000 - len(said) + 1} more problems in {10000 - len(said) + 1} more files"), said


@case
def nothing_usable_is_no_report(directory):
    for number in range(100):
        with open(os.path.join(directory, f"{number}.hpcrun"), "wb") as file:
            file.write(b"hpcrlite" * number)
    for view in VIEWS:
        assert report("-q", "--view", view, directory, lines=200)[0] == b""


@case
def trees_may_be_deep(directory):
    depth = 1000000
    path = os.path.join(directory, "a.hpcrun")
    measurement(path, [[node(1, 0, 0, 0)] + [node(2, 1, i, i - 1, i == depth - 1) for i in range(1, depth)]])
    for view in ("summary", "topdown", "bottomup", "flat"):
        for form in ("text", "csv"):
            out, _ = report("-q", "--view", view, "-f", form, directory)
            assert len(out) < 200 << 20, (view, form, len(out))


@case
def files_may_shrink_and_grow_meanwhile(directory):
    golden(directory, "recorded", "x")
    source = os.path.join(GOLDEN, "recorded")
    files = {name: open(os.path.join(source, name), "rb").read() for name in os.listdir(source) if name.endswith((".hpcrun", ".graph"))}
    ended = threading.Event()

    def change():
        size = 0
        while not ended.is_set():
            for name, data in files.items():
                size = (size * 7 + 131) % (2 * len(data))
                with open(os.path.join(directory, name), "wb") as file:
                    file.write(data[:size])
                os.truncate(os.path.join(directory, name), size // 3 if size % 2 else 5 * size)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for number in range(60):
            done = subprocess.run([REPORT, "-q", "--view", VIEWS[number % 10], directory], check=False, timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=bounded)
            assert done.returncode in (0, 1) and (done.returncode == 0 or done.stderr), done
    finally:
        ended.set()
        changer.join()


@case
def regions_and_tasks_may_nest_without_end(directory):
    kinds = (2, 3, 4, 2, 10, 9, 5, 6, 2)
    for number, step in enumerate((1, 0)):  # a chain; and all side by side, each kind below one chain
        nodes = [node(1, 0, 0, 0)]
        for i in range(1, 300000):
            above = i - 1 if step or i % 9 else i // 9
            nodes.append(node(kinds[i % 9], 1, i % 5000, above, i % 2))
        out = os.path.join(directory, str(number))
        os.mkdir(out)
        measurement(os.path.join(out, "a.hpcrun"), [nodes])
        for view in ("summary", "topdown", "bottomup", "flat"):
            report("-q", "--view", view, "--lines" if view in ("topdown", "flat") else "-q", out)


def measured(directory, program):
    """A measurement of a program's main(): its directory."""
    out = os.path.join(directory, "measured")
    os.mkdir(out)
    symbols = subprocess.run(["nm", program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    address = next(int(line.split()[0], 16) for line in symbols if line.endswith(" T main"))
    measurement(os.path.join(out, "a.hpcrun"), [[node(1, 0, 0, 0), node(2, 1, address, 0, 1)]], program)
    assert b"  main" in report("--view", "topdown", out)[0]
    return out


def sections(path, name, data, directory):
    """Adds or replaces a section of a program."""
    file = os.path.join(directory, "section")
    with open(file, "wb") as out:
        out.write(data)
    subprocess.run(["objcopy", "--remove-section", name, "--add-section", f"{name}={file}", path], check=True)


@case
def debug_files_of_any_kind_are_survived(directory):
    program = compile_c(directory, "app", "int main(void) { return 0; }")
    subprocess.run(["objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", program], check=True)
    out = measured(directory, program)
    huge, pipe = os.path.join(directory, "huge.debug"), os.path.join(directory, "pipe.debug")
    with open(huge, "wb") as file:
        file.truncate(1 << 42)
    os.mkfifo(pipe)
    names = [b"huge.debug", b"pipe.debug", b"../../../../../../dev/zero", b"..", b"/dev/zero", b"", b"x" * 5000,
             b"measured", b"app"]
    for name in names:
        for padding in (b"\0" * (4 - len(name) % 4), b""):
            sections(program, ".gnu_debuglink", name + padding + struct.pack("<I", zlib.crc32(b"")), directory)
            _, said = report("--view", "topdown", out)
            assert not any("/dev/zero" in line for line in said), said


@case
def modules_of_any_kind_are_survived(directory):
    program = compile_c(directory, "app", "int main(void) { return 0; }")
    with open(program, "rb") as file:
        image = bytearray(file.read())
    out = measured(directory, program)
    headers = struct.unpack_from("<Q", image, 40)[0]
    count = struct.unpack_from("<H", image, 60)[0]
    lies = (0, 1, 0x7fffffffffffffff, 1 << 40, len(image), 0xffffffffffffffff)
    for lie in lies:
        for field in (24, 32):  # every section's offset, or size
            changed = bytearray(image)
            for section in range(1, count):
                struct.pack_into("<Q", changed, headers + 64 * section + field, lie)
            with open(program, "wb") as file:
                file.write(changed)
            report("--view", "topdown", out)
    os.truncate(program, 1 << 42)  # full of holes
    report("--view", "topdown", out)
    for replacement in (lambda: os.mkdir(program), lambda: os.mkfifo(program), lambda: os.symlink("app", program),
                        lambda: os.symlink("/dev/zero", program)):
        os.rmdir(program) if os.path.isdir(program) and not os.path.islink(program) else os.unlink(program)
        replacement()
        _, said = report("--view", "topdown", out)
        assert any(program in line for line in said), said


@case
def compressed_sections_may_lie(directory):
    program = compile_c(directory, "app", "int main(void) { return 0; }", "-gz=zlib")
    with open(program, "rb") as file:
        image = bytearray(file.read())
    out = measured(directory, program)
    headers = struct.unpack_from("<Q", image, 40)[0]
    packed = 0
    for size in (0, 1, 1 << 20, 1 << 33, 1 << 62, 0xffffffffffffffff):
        for kind in (1, 2, 77):  # zlib, zstd, unknown
            changed = bytearray(image)
            for section in range(struct.unpack_from("<H", image, 60)[0]):
                flags, _, offset = struct.unpack_from("<QQQ", image, headers + 64 * section + 8)
                if flags & 0x800:
                    struct.pack_into("<I", changed, offset, kind)
                    struct.pack_into("<Q", changed, offset + 8, size)
                    packed += 1
            with open(program, "wb") as file:
                file.write(changed)
            report("--view", "topdown", out)
    if not packed:
        raise Skip("this compiler does not compress debug sections")


main()
