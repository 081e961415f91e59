#!/usr/bin/env python3
"""hpcprof-lite on hostile directories: within 1 GB of address space and a minute it reports what is sound, exits 1, and
names what is wrong in few lines."""
import os
import shutil
import socket
import struct
import sys
import threading
import zlib

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measurement_file import METRICS, MODULES, NODES, STRINGS, THREAD, VALUES, extent, record_of
from report import MEASUREMENTS, VIEWS, contents, golden_files
from report import report as run_report
from tap import GOLDEN, Skip, case, compile_c, main, must

GB = 1 << 30
LIMITS = {"AS": GB, "CPU": 60, "CORE": 0, "STACK": 4 << 20}  # no report needs more


def report(*arguments, status=1, lines=40):
    """Runs the report; checks its exit status and that it prints few lines."""
    done = run_report(*arguments, timeout=300, text=False, limits=LIMITS, LC_ALL="C.UTF-8")
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
    for file in golden_files(".hpcrun", name)[name]:
        shutil.copy(file, os.path.join(directory, as_name))
    return report("-q", "--view", "topdown", "-f", "csv", where, status=0)[0]


def node(kind, what, offset, parent, value=0):
    return bytes(record_of(NODES)(kind_what=kind << 24 | what, offset=offset, parent=parent, value=value))


def measurement(path, trees, module="/nowhere/app"):
    """Writes a live measurement of one metric, with a sample in each value record 1.  trees: the nodes of each
    thread."""
    def live(table, size, records, owner=0):
        file.write(extent(table, size, records, owner, live=True))

    def records(table, *fields, owner=0):
        data = b"".join(bytes(record_of(table)(**each)) for each in fields)
        live(table, len(data) // len(fields), data, owner)

    strings = b"\0samples\0" + module.encode() + b"\0"
    with open(path, "wb") as file:
        live(STRINGS, 1, strings)
        records(METRICS, {"name": 1, "period": 1}, {"role": 1, "period": 1})
        records(MODULES, {}, {"path": 9, "flags": 1})
        for number, nodes in enumerate(trees, 1):
            records(THREAD, {"index": number, "tid": number})
            live(NODES, 16, b"".join(nodes), number)
            live(VALUES, 16, struct.pack("<QQQQ", 0, 0, 1, 1000), number)


@case
def files_that_are_not_regular_are_skipped(directory):
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
def a_log_that_is_not_a_regular_file_is_skipped(directory):
    golden(directory, "units", "a.hpcrun")
    os.mkfifo(os.path.join(directory, "a.graph"))
    _, said = report("-q", "--view", "speedup", directory)
    assert len(said) == 1 and "a.graph: not a regular file" in said[0], said


@case
def ten_thousand_problems_are_summarised(directory):
    whole = golden(directory)
    for number in range(10000):
        with open(os.path.join(directory, f"{number}.hpcrun"), "wb"):
            pass
    out, said = report("-q", "--view", "topdown", "-f", "csv", directory)
    assert out == whole and len(said) < 30, said
    assert said[-1].endswith(f"and {10000 - len(said) + 1} more problems in {10000 - len(said) + 1} more files"), said


@case
def ten_thousand_killed_processes_are_summarised(directory):
    whole = golden(directory)
    for number in range(10000):
        with open(os.path.join(directory, f"host-{number}-1.live"), "wb"):
            pass
    done = run_report("--view", "topdown", "-f", "csv", directory, text=False, limits=LIMITS, LC_ALL="C.UTF-8")
    said = done.stderr.decode().splitlines()
    assert done.stdout == whole and len(said) < 30, (len(said), said[:3])
    assert sum("nothing was measured" in line for line in said) == 16, said
    assert any("and 9984 more processes that were killed" in line for line in said), said


@case
def without_sound_files_there_is_no_report(directory):
    for number in range(100):
        with open(os.path.join(directory, f"{number}.hpcrun"), "wb") as file:
            file.write(b"hpcrlite" * number)
    for view in VIEWS:
        assert report("-q", "--view", view, directory, lines=200)[0] == b""


@case
def trees_may_be_deep(directory):
    depth = 100000  # recursion would overflow the stack
    path = os.path.join(directory, "a.hpcrun")
    measurement(path, [[node(1, 0, 0, 0)] + [node(2, 1, i, i - 1, i == depth - 1) for i in range(1, depth)]])
    for view in ("summary", "topdown", "bottomup", "flat"):
        for form in ("text", "csv"):
            out, _ = report("-q", "--view", view, "-f", form, directory)
            assert len(out) < 200 << 20, (view, form, len(out))


@case
def files_may_change_while_they_are_read(directory):
    golden(directory, "recorded", "x")
    source = os.path.join(GOLDEN, "recorded")
    files = {name: contents(os.path.join(source, name)) for name in os.listdir(source) if name.endswith(MEASUREMENTS)}
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
            done = run_report("-q", "--view", VIEWS[number % len(VIEWS)], directory, timeout=60, limits=LIMITS)
            assert done.returncode in (0, 1) and (done.returncode == 0 or done.stderr), done
    finally:
        ended.set()
        changer.join()


@case
def regions_and_tasks_may_nest_deeply(directory):
    kinds = (2, 3, 4, 2, 10, 9, 5, 6, 2)
    for number, step in enumerate((1, 0)):  # a chain; then all kinds as siblings below a chain
        nodes = [node(1, 0, 0, 0)]
        for i in range(1, 100000):
            above = i - 1 if step or i % 9 else i // 9
            nodes.append(node(kinds[i % 9], 1, i % 5000, above, i % 2))
        out = os.path.join(directory, str(number))
        os.mkdir(out)
        measurement(os.path.join(out, "a.hpcrun"), [nodes])
        for view in ("summary", "topdown", "bottomup", "flat"):
            report("-q", "--view", view, "--lines" if view in ("topdown", "flat") else "-q", out)


def measured(directory, program):
    """Makes a measurement with a sample in main() of a program; returns its directory."""
    out = os.path.join(directory, "measured")
    os.mkdir(out)
    address = next(int(line.split()[0], 16) for line in must("nm", program).splitlines() if line.endswith(" T main"))
    measurement(os.path.join(out, "a.hpcrun"), [[node(1, 0, 0, 0), node(2, 1, address, 0, 1)]], program)
    assert b"  main" in report("--view", "topdown", out)[0]
    return out


def sections(path, name, data, directory):
    """Adds or replaces a section of a program."""
    file = os.path.join(directory, "section")
    with open(file, "wb") as out:
        out.write(data)
    must("objcopy", "--remove-section", name, "--add-section", f"{name}={file}", path)


@case
def debug_files_of_any_kind_do_no_harm(directory):
    program = compile_c(directory, "app", "int main(void) { return 0; }")
    must("objcopy", "--strip-debug", "--remove-section=.note.gnu.build-id", program)
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
def modules_of_any_kind_do_no_harm(directory):
    program = compile_c(directory, "app", "int main(void) { return 0; }")
    image = bytearray(contents(program))
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
    os.truncate(program, 1 << 42)  # a sparse file
    report("--view", "topdown", out)
    for replacement in (lambda: os.mkdir(program), lambda: os.mkfifo(program), lambda: os.symlink("app", program),
                        lambda: os.symlink("/dev/zero", program)):
        os.rmdir(program) if os.path.isdir(program) and not os.path.islink(program) else os.unlink(program)
        replacement()
        _, said = report("--view", "topdown", out)
        assert any(program in line for line in said), said


@case
def compressed_sections_with_wrong_sizes_do_no_harm(directory):
    program = compile_c(directory, "app", "int main(void) { return 0; }", "-gz=zlib")
    image = bytearray(contents(program))
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
