#!/usr/bin/env python3
"""Executables and libraries that are replaced or deleted after they were measured: another file's names are never used,
and the measured file's are found with --symbols and --keep-symbols."""
import contextlib
import glob
import os
import re
import shutil
import signal
import sys
from collections import Counter

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement
from measurement_file import METRICS, MODULES, NODES, STRINGS, THREAD, VALUES, extent, extents, record_of
from report import report, table
from tap import (LAUNCHER, OTHER_USER, REPORT, Skip, case, compile_c, main, must, need_program, need_root, run,
                 start)

# The functions are called by way of each other, so that the code has calls before all return addresses.
PROGRAM = r"""
#include <stdio.h>
#include <unistd.h>
#include "burn.h"
#ifndef INNER
#define INNER inner
#define FACTOR 3
#endif
volatile double sink;
int constant = 5;
NOINLINE void INNER(double seconds) { burn(seconds); sink += FACTOR; }
NOINLINE void middle(double seconds) { sink += 1; INNER(seconds); sink += 2; }
NOINLINE void outer(double seconds) { sink += 1; middle(seconds); sink += 2; }
#ifdef FURTHER
NOINLINE int further(int x) { return x * 3 + constant; }
#endif
int main(int count, char **arguments)
{
  outer(0.15);
  if (count > 1) {
    puts("ready");
    fflush(stdout);
    for (;;)
      outer(0.05);
  }
  return (int)sink & 0;
}
"""
NO_ID, REASON = "-Wl,--build-id=none", "is not the file that was measured"


def program(directory, name, *flags):
    return compile_c(directory, name, PROGRAM, *flags)


def names(measurement, *options):
    """The names of functions in the flat view, and what is reported beside them."""
    done = report("--view", "flat", "-f", "csv", *options, measurement)
    assert done.returncode == 0, done
    return {row["name"] for row in table(done.stdout)}, done.stderr


def check_names(measurement, *options):
    found, said = names(measurement, *options)
    assert {"inner", "middle", "outer", "main"} <= found and not said, (found, said)


def check_refused(measurement, reason, *options):
    found, said = names(measurement, *options)
    assert not {"inner", "other", "middle", "outer", "main"} & found, found
    assert any(re.match(r"app\+0x[0-9a-f]+$", name) for name in found), found
    assert said.count("\n") == 1 and REASON in said and "/app'" in said and re.search(reason, said), said
    assert "--symbols" in said and "--keep-symbols" in said and "build" not in said.replace("build id", ""), said
    text = report("--view", "summary", "-q", *options, measurement).stdout
    assert re.search(r"No symbols: app .*give the file: --symbols DIR", text) and "build with -g" not in text, text


def flip_byte(path, offset):
    """Changes one byte of a file."""
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def section(path, name):
    """Offset and size of a section."""
    found = re.search(rf" {re.escape(name)} +\w+ +\w+ (\w+) (\w+)", must("readelf", "-S", "-W", path))
    return int(found[1], 16), int(found[2], 16)


def replace(directory, *flags, name="app"):
    """Puts another program in the place of one, under the same path."""
    shutil.move(program(directory, "new", *flags), os.path.join(directory, name))


@case
def a_program_of_another_size_is_refused(directory):
    run_of = Measurement(directory, program(directory, "app", NO_ID))
    check_names(run_of.output)
    replace(directory, NO_ID, "-DFURTHER", "-DINNER=other", "-DFACTOR=3")
    check_refused(run_of.output, r"\d+ bytes, measured \d+; modified \d{4}-\d\d-\d\d [\d:]+ UTC, the measured one \d{4}.* UTC")


@case
def a_program_of_the_same_size_is_refused(directory):
    """One byte differs: of the code, the dynamic section, the program headers."""
    need_program("readelf")
    app = program(directory, "app", NO_ID)
    run_of = Measurement(directory, app)
    (code, size), dynamic, headers = section(app, ".text"), section(app, ".dynamic")[0] + 8, 64 + 8
    for offset, reason in (code + size - 1, r"its code at 0x[0-9a-f]+ differs"), (dynamic, "dynamic section differ"), \
            (headers, "its program headers"):
        flip_byte(app, offset)
        check_refused(run_of.output, reason)
        flip_byte(app, offset)
    check_names(run_of.output)


FUNCTIONS = 24
MANY = ('#include "burn.h"\nextern volatile int loaded;\n' +
        "".join(f"NOINLINE void part{i}(void) {{ burn(0.03); loaded = {i}; }}\n" for i in range(FUNCTIONS)))
CALLER = ("volatile int loaded;\n" + "".join(f"void part{i}(void);\n" for i in range(FUNCTIONS)) +
          "int main(void)\n{\n" + "".join(f"  part{i}();\n" for i in range(FUNCTIONS)) + "  return 0;\n}\n")


@case
def code_that_is_changed_in_memory_is_tried_once(directory):
    """Each function is a new context; nothing identifies the code of a library with relocations in it, or that may be
    written to."""
    need_program("strace", "readelf")
    for flags, sign in (("-Wl,-z,notext",), "TEXTREL"), (("-Wl,--omagic", "-nostdlib"), "RWE"):
        library = compile_c(directory, "libmany.so", MANY, "-shared", "-fno-pic", "-mcmodel=large", NO_ID, *flags)
        assert sign in must("readelf", "-W", "-d", "-l", library)
        app, log = compile_c(directory, "app", CALLER, library, "-Wl,--build-id"), os.path.join(directory, "calls")
        run_of = Measurement(directory, app, prefix=("strace", "-f", "-o", log, "-e", "trace=process_vm_readv"))
        if run_of.done.returncode:
            raise Skip(f"strace cannot trace here: {run_of.done.stderr}")
        found, _ = names(run_of.output)
        assert {f"part{i}" for i in range(FUNCTIONS)} <= found, found
        with open(log, encoding="utf-8", errors="replace") as file:
            heads = Counter(re.findall(r"ELF.*iov_base=(0x[0-9a-f]+), iov_len=64}\], 1, 0\) = 64$", file.read(), re.M))
        assert heads and max(heads.values()) <= 2, (flags, heads)


@case
def the_time_of_a_file_is_no_reason(directory):
    for flags in (NO_ID,), ("-Wl,--build-id",):
        app = program(directory, "app", *flags)
        run_of = Measurement(directory, app)
        os.utime(app, (1, 1))
        check_names(run_of.output)
        shutil.copy(app, app + "-copy")
        os.replace(app + "-copy", app)
        check_names(run_of.output)


@case
def the_build_id_decides_where_there_is_one(directory):
    app = program(directory, "app", "-Wl,--build-id=0x0102030405060708")
    run_of = Measurement(directory, app)
    replace(directory, "-Wl,--build-id=0x0102030405060709")
    check_refused(run_of.output, "build id 0102030405060709, measured 0102030405060708; modified .*the measured one")
    replace(directory, "-Wl,--build-id=0x0102030405060708", "-DFURTHER")
    check_names(run_of.output)


@case
def a_killed_process_has_recorded_its_file(directory):
    app = program(directory, "app", NO_ID)
    process = start(LAUNCHER, "-q", "-o", "data", app, "forever", cwd=directory)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    data = os.path.join(directory, "data")
    found = report("--view", "flat", "-f", "csv", data).stdout
    assert "inner" in found, found
    replace(directory, NO_ID, "-DFURTHER", "-DINNER=other", "-DFACTOR=3")
    done = report("--view", "flat", "-f", "csv", data)
    assert REASON in done.stderr and not re.search(r"\b(inner|other|outer)\b", done.stdout), done


def calls_of(app):
    """The address inside each call instruction in the code of the program's own functions, in their order."""
    calls = {}
    for function in "main", "outer", "middle", "inner":
        text = must("objdump", "-d", f"--disassemble={function}", app)
        after = re.search(r"\tcall .*\n +([0-9a-f]+):", text)
        calls[function] = int(after[1], 16) - 1
    return [calls[name] for name in ("main", "outer", "middle", "inner")]


def measurement_without_identity(directory, app, offsets):
    """Writes a measurement as versions wrote it that did not record what identifies a file: a chain of frames."""
    def records(number, *fields, owner=0):
        data = b"".join(bytes(record_of(number)(**each)) for each in fields)
        file.write(extent(number, len(data) // len(fields), data, owner, live=True))

    os.makedirs(directory)
    with open(os.path.join(directory, "old.live"), "wb") as file:
        file.write(extent(STRINGS, 1, b"\0samples\0" + app.encode() + b"\0", 0, live=True))
        records(METRICS, {"name": 1, "period": 1})
        records(MODULES, {}, {"path": 9, "flags": 1})
        records(THREAD, {"index": 1, "samples": 1}, owner=1)
        chain = [{"kind_what": 1 << 24}]
        for number, offset in enumerate(offsets):
            chain.append({"kind_what": 2 << 24 | 1, "offset": offset, "parent": number,
                          "value": int(number + 1 == len(offsets))})
        records(NODES, *chain, owner=1)
        file.write(extent(VALUES, 8, b"\0" * 8 + b"\1" + b"\0" * 7, 1, live=True))


@case
def return_addresses_must_follow_calls(directory):
    need_program("objdump")
    app = program(directory, "app", NO_ID)
    calls = calls_of(app)
    for name, move, refused in ("right", 0, False), ("moved", 2, True):
        data = os.path.join(directory, name)
        measurement_without_identity(data, app, [address + move for address in calls])
        done = report("--view", "flat", "-f", "csv", data)
        assert ("no call instruction is before 3 of 3 recorded return addresses" in done.stderr) == refused, (name, done)
        assert ("middle" in done.stdout) != refused, (name, done)
    data = os.path.join(directory, "one")  # a signal may have interrupted one of them
    measurement_without_identity(data, app, [calls[0] + 2, *calls[1:]])
    assert "middle" in report("--view", "flat", "-f", "csv", data).stdout


@case
def symbols_are_found_in_a_directory(directory):
    """By the whole path, the name and the build id; another file of that name is not used."""
    for flags, identity in (NO_ID, None), ("-Wl,--build-id=0x0a0b0c0d0e0f0102", "0a/0b0c0d0e0f0102"):
        app = program(directory, "app", flags)
        run_of = Measurement(directory, app)
        places = [app.lstrip("/"), "app"] + ([".build-id/" + identity] if identity else [])
        for number, place in enumerate(places):
            where = os.path.join(directory, f"old-{identity is None}-{number}")
            os.makedirs(os.path.dirname(os.path.join(where, place)))
            shutil.copy(app, os.path.join(where, place))
        wrong = os.path.join(directory, f"wrong-{identity is None}")
        os.makedirs(wrong)
        program(wrong, "app", NO_ID, "-DFURTHER", "-DINNER=other", "-DFACTOR=3")
        shutil.copy(os.path.join(wrong, "app"), app)
        check_refused(run_of.output, "measured", "--symbols", wrong)
        for number, place in enumerate(places):
            where = os.path.join(directory, f"old-{identity is None}-{number}")
            check_names(run_of.output, "--symbols", where)
            check_names(run_of.output, "--symbols", wrong, "--symbols", where)
        os.unlink(app)
        check_names(run_of.output, "--symbols", where)
        found, said = names(run_of.output)
        assert "inner" not in found and "cannot open" in said and "--symbols" in said, said
        compared = report("--compare", run_of.output, "--view", "flat", "-f", "csv", "--symbols", where, run_of.output)
        assert compared.returncode == 0 and "inner" in compared.stdout and "open" not in compared.stderr, compared


@case
def debug_files_are_found_in_a_directory(directory):
    need_program("objcopy", "strip")
    app = program(directory, "app", "-Wl,--build-id=0x0a0b0c0d0e0f0103")
    where = os.path.join(directory, "debug")
    for place in "app.debug", ".build-id/0a/0b0c0d0e0f0103.debug", "app":
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(os.path.dirname(os.path.join(where, place)))
        full = program(directory, "app", "-Wl,--build-id=0x0a0b0c0d0e0f0103")
        must("objcopy", "--only-keep-debug", full, os.path.join(where, place))
        must("strip", full)
        run_of = Measurement(directory, app)
        assert "inner" not in names(run_of.output)[0], place
        check_names(run_of.output, "--symbols", where)
        lines = {row["line"] for row in table(report("--view", "flat", "-f", "csv", "--symbols", where,
                                                     run_of.output).stdout) if row["name"] == "inner"}
        assert lines and "" not in lines, (place, lines)
    full = program(directory, "app", NO_ID)
    shutil.rmtree(where)
    os.makedirs(where)
    must("objcopy", "--only-keep-debug", full, os.path.join(where, "linked"))
    must("strip", full)
    must("objcopy", "--add-gnu-debuglink=debug/linked", full, cwd=directory)
    run_of = Measurement(directory, app)
    check_names(run_of.output, "--symbols", where)


@case
def a_directory_of_symbols_must_exist(directory):
    done = report("--symbols", os.path.join(directory, "none"), directory)
    assert done.returncode == 2 and "--symbols" in done.stderr and "no directory" in done.stderr, done
    run_of = Measurement(directory, program(directory, "app", NO_ID))
    done = report("--symbols", directory, "--view", "threads", run_of.output)
    assert done.returncode == 2 and "shows no functions" in done.stderr, done
    for more in ("--compare", run_of.output), ("--fail-if", "work of main > 1000 s"):  # these read symbols for each view
        done = report("--symbols", directory, "--view", "threads", *more, run_of.output)
        assert done.returncode == 0 and done.stdout, done


def kept(measurement):
    return sorted(name for name in os.listdir(measurement) if name.startswith("symbols-"))


@case
def kept_symbols_travel_with_the_measurement(directory):
    for flags in NO_ID, "-Wl,--build-id":
        app = program(directory, "app", flags)
        run_of = Measurement(directory, app, options=("--keep-symbols",))
        assert run_of.done.returncode == 0 and "keep" not in run_of.done.stderr, run_of.done
        assert any(re.fullmatch(r"symbols-[0-9a-f]{16}-app", name) for name in kept(run_of.output)), kept(run_of.output)
        assert not any("hpcrun-lite" in name for name in kept(run_of.output))
        assert not any(name.endswith(".symbols") for name in os.listdir(run_of.output)), os.listdir(run_of.output)
        assert all(os.stat(os.path.join(run_of.output, name)).st_mode & 0o777 == 0o600 for name in kept(run_of.output))
        replace(directory, NO_ID, "-DFURTHER", "-DINNER=other", "-DFACTOR=3")
        check_names(run_of.output)
        os.unlink(app)
        moved = os.path.join(directory, "elsewhere" + flags[-1])
        os.rename(run_of.output, moved)
        check_names(moved)
        with open(os.path.join(moved, next(name for name in kept(moved) if name.endswith("-app"))), "r+b") as file:
            file.truncate(1000)
        assert "inner" not in names(moved)[0]


@case
def a_killed_process_has_kept_its_executable(directory):
    app = program(directory, "app", NO_ID)
    process = start(LAUNCHER, "-q", "--keep-symbols", "-o", "data", app, "forever", cwd=directory)
    assert process.stdout.readline() == "ready\n"
    data = os.path.join(directory, "data")
    done = run(LAUNCHER, "--control", data, "snapshot", os.path.join(directory, "copy"))
    assert done.returncode == 0, done
    process.send_signal(signal.SIGKILL)
    process.wait()
    os.unlink(app)
    for measurement in data, os.path.join(directory, "copy"):
        assert "inner" in report("--view", "flat", "-f", "csv", measurement).stdout, measurement


@case
def measurements_with_kept_symbols_are_replaced(directory):
    app = program(directory, "app", NO_ID)
    for _ in range(2):
        run_of = Measurement(directory, app, options=("--keep-symbols",))
        assert run_of.done.returncode == 0, run_of.done
    assert len([name for name in kept(run_of.output) if name.endswith("-app")]) == 1
    left = os.path.join(run_of.output, "host-77-5f.symbols")  # of a process that was killed
    for content in b"", b"\0" * 100, b"\x7fELF":
        with open(left, "wb") as file:
            file.write(content)
        assert Measurement(directory, app).done.returncode == 0
        assert not kept(run_of.output) and not os.path.exists(left), os.listdir(run_of.output)
    foreign = os.path.join(run_of.output, "symbols-0123456789abcdef-text")
    with open(foreign, "w", encoding="utf-8") as file:
        file.write("of the user\n")
    done = Measurement(directory, app).done
    assert done.returncode != 0 and "symbols-0123456789abcdef-text" in done.stderr and os.path.exists(foreign), done


@case
def an_executable_that_was_deleted_before_it_ran_is_kept(directory):
    app = program(directory, "app", NO_ID)
    run_of = Measurement(directory, "sh", "-c", f"exec 9<{app} && rm {app} && exec /proc/self/fd/9",
                         options=("--keep-symbols",))
    assert run_of.done.returncode == 0 and "is not kept" not in run_of.done.stderr, run_of.done
    assert any(name.endswith("-app (deleted)") for name in kept(run_of.output)), kept(run_of.output)
    check_names(run_of.output)


@case
def a_library_that_is_replaced_during_the_run_is_not_kept(directory):
    text, flags = '#include "burn.h"\nNOINLINE void part(void) { burn(0.2); }\n', ("-shared", "-fPIC", NO_ID)
    library = compile_c(directory, "libpart.so", text, *flags)
    other = compile_c(directory, "libother.so", text + "int further(int x) { return x * 3; }\n", *flags)
    app = compile_c(directory, "app", "#include <stdio.h>\nvoid part(void);\n"
                    "int main(int count, char **names) { part(); return count < 3 ? 0 : rename(names[1], names[2]); }\n",
                    library, f"-Wl,-rpath,{directory}")
    run_of = Measurement(directory, app, options=("--keep-symbols",))
    assert any(name.endswith("-libpart.so") for name in kept(run_of.output)), kept(run_of.output)
    run_of = Measurement(directory, app, other, library, options=("--keep-symbols",))
    assert run_of.done.returncode == 0 and f"'{library}' is not kept: it was changed or replaced" in run_of.done.stderr
    assert not any(name.endswith("-libpart.so") for name in kept(run_of.output)), kept(run_of.output)


@case
def what_another_host_has_left_does_not_hinder(directory):
    """A process there that was killed had the same number, and was copying the same file."""
    app = program(directory, "app", NO_ID)
    first = Measurement(directory, app, options=("--keep-symbols",))
    name = next(name for name in kept(first.output) if name.endswith("-app"))
    script = os.path.join(directory, "leave")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n: > {directory}/data/{name.removesuffix('app')}$$.part\nexec {app}\n")
    os.chmod(script, 0o755)
    done = run(LAUNCHER, "--keep-symbols", "-o", os.path.join(directory, "data"), script)
    assert done.returncode == 0 and "is not kept" not in done.stderr, done
    assert name in kept(os.path.join(directory, "data"))


@case
def too_large_files_are_left_out(directory):
    app = program(directory, "app", NO_ID)
    os.truncate(app, (256 << 20) + 1)  # a hole
    run_of = Measurement(directory, app, options=("--keep-symbols",))
    assert run_of.done.returncode == 0 and run_of.done.stderr.count("--keep-symbols") == 1, run_of.done
    assert "256 MiB" in run_of.done.stderr and not any(name.endswith("-app") for name in kept(run_of.output))
    check_names(run_of.output)


@case
def files_that_do_not_fit_are_left_out(directory):
    """Neither SIGXFSZ nor a part of a file: the program runs as alone."""
    app = program(directory, "app", NO_ID)
    run_of = Measurement(directory, app, options=("--keep-symbols",), limits={"FSIZE": 64 << 10})
    assert run_of.done.returncode == 0 and "no room for it" in run_of.done.stderr, run_of.done
    assert all(name.endswith("-app") for name in kept(run_of.output)), kept(run_of.output)
    check_names(run_of.output)


@case
def nothing_is_written_through_links(directory):
    """A link or a file that stands at a copy's name is neither followed nor replaced."""
    app = program(directory, "app", NO_ID)
    first = Measurement(directory, app, options=("--keep-symbols",))
    name = next(name for name in kept(first.output) if name.endswith("-app"))
    target = os.path.join(directory, "target")
    script = os.path.join(directory, "put-link")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nln -s {target} {directory}/linked/{name}\n: > {target}\nexec {app}\n")
    os.chmod(script, 0o755)
    done = run(LAUNCHER, "--keep-symbols", "-o", os.path.join(directory, "linked"), script)
    assert done.returncode == 0 and os.path.islink(os.path.join(directory, "linked", name)), done
    assert os.path.getsize(target) == 0
    assert "'" + app + "' is not kept" in done.stderr, done.stderr


# ---- debug data that were read are kept ----

STORE, DEBUG_DATA = "debug-data", 22


def topdown(measurement, *options):
    """A report with functions and lines, and what is said beside it."""
    done = report("--view", "topdown", "--lines", "-f", "csv", *options, measurement)
    assert done.returncode == 0, done
    return done.stdout, done.stderr


def state(path):
    status = os.stat(path, follow_symlinks=False)
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_nlink


def measured(directory, *flags):
    """A program, its measurement, the file that a report keeps there, and that report."""
    app = program(directory, "app", *flags)
    run_of = Measurement(directory, app)
    assert run_of.done.returncode == 0, run_of.done
    return app, run_of.output, os.path.join(run_of.output, STORE), topdown(run_of.output)


def payloads(store):
    return [found.data for found in extents(store) if found.table == DEBUG_DATA]


def write_payloads(store, changed):
    """Writes entries in the place of those of a file, which stays the same one."""
    with open(store, "wb") as file:
        for payload in changed:
            file.write(extent(DEBUG_DATA, 1, payload))


@case
def a_second_report_uses_what_the_first_has_read(directory):
    for flags in ((NO_ID,), ("-Wl,--build-id",), ("-gz=zlib",)):
        app, data, store, first = measured(directory, *flags)
        assert "inner" in first[0] and not first[1] and os.stat(store).st_mode & 0o777 == 0o600, first
        before = state(store)
        assert topdown(data) == first and state(store) == before, "read again"
        for options in (("-j", "4"), ("--symbols", directory)):
            assert topdown(data, *options) == first, options
        changed = [payload.replace(b"inner", b"INNER") for payload in payloads(store)]
        write_payloads(store, changed)
        assert "INNER" in topdown(data)[0], "what is kept is not used"
        for version in (b", build ", b", BUILD "), (b"libdwarf ", b"LIBDWARF "):
            write_payloads(store, [payload.replace(*version) for payload in changed])
            assert topdown(data) == first, "what another version has read is used"
        write_payloads(store, changed)
        os.utime(app)
        assert topdown(data) == first, "what was read of another file is used"


@case
def what_was_read_of_another_file_is_not_used(directory):
    """Files with the measured build id and other contents are taken for the measured ones: but for what they have."""
    fixed = "-Wl,--build-id=0x11223344"
    app, data, store, first = measured(directory, fixed)
    replace(directory, fixed, "-DINNER=other", "-DFACTOR=3")
    changed = topdown(data)
    assert changed != first and "other" in changed[0] and topdown(data) == changed
    os.unlink(store)
    assert topdown(data) == changed
    replace(directory, fixed)
    again, status = topdown(data), os.stat(app)
    with open(app, "r+b") as file:  # of the same size and time
        file.seek(file.read().index(b"new.c"))
        file.write(b"NEW.C")
    os.utime(app, ns=(status.st_atime_ns, status.st_mtime_ns))
    renamed = topdown(data)
    os.unlink(store)
    assert renamed != again and topdown(data) == renamed
    must("strip", "-g", app)
    stripped = topdown(data)
    os.unlink(store)
    assert stripped != renamed and topdown(data) == stripped


@case
def damage_of_what_is_kept_does_no_harm(directory):
    app, data, store, first = measured(directory)
    with open(store, "rb") as file:
        sound = file.read()
    for size in (8, 63, 64, 65, len(sound) // 2, len(sound) - 1):
        with open(store, "wb") as file:
            file.write(sound[:size])
        assert topdown(data) == first, size
        assert payloads(store), "a damaged file is not replaced"
    for at in range(8, len(sound), max(1, len(sound) // 40)):
        with open(store, "wb") as file:
            file.write(sound[:at] + bytes([sound[at] ^ 0x10]) + sound[at + 1:])
        assert topdown(data) == first, at
    whole = max(payloads(store), key=len)
    key = int.from_bytes(whole[:8], "little")
    for number in range(60):  # the checksums are right
        at = 8 + key + number * (len(whole) - 8 - key) // 60
        write_payloads(store, [whole[:at] + b"\xff" * 4 + whole[at + 4:]])
        assert run(REPORT, "-q", "--view", "topdown", data).returncode == 0, at
    for wrong in (b"", b"\xff" * 8, (2 ** 63).to_bytes(8, "little"), whole[:8 + key]):
        write_payloads(store, [wrong])
        assert topdown(data) == first, wrong
    os.utime(app)
    assert topdown(data) == first


@case
def what_was_read_with_little_memory_is_not_kept(directory):
    """Where memory is short, debug data seem damaged, or parts of them are left out: a later report has it all."""
    _, data, store, first = measured(directory)
    short = 0
    for megabytes in range(22, 42):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(store)
        done = run(REPORT, "--view", "topdown", "--lines", "-f", "csv", data, limits={"AS": megabytes << 20})
        short += bool(done.returncode or done.stderr)
        assert "damaged" not in done.stderr, done
        assert topdown(data) == first, (megabytes, done)
    if not short:
        raise Skip("20 MiB of address space are enough here")


@case
def a_limit_of_file_sizes_only_keeps_nothing(directory):
    """A write beyond the limit fails, and does not end the report by SIGXFSZ."""
    _, data, store, first = measured(directory)
    page = os.path.join(directory, "page.html")
    done = run(REPORT, "-f", "html", "-o", page, data, limits={"FSIZE": 4096})
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and f"cannot write {page}" in done.stderr, done
    assert not glob.glob(page + "*"), os.listdir(directory)
    size = os.path.getsize(store)

    def named(text):
        """What is shown of the rows but for those of the vdso, whose copy in memory the limit forbids."""
        return sorted((row["name"], row["line"], row["work_excl_s"]) for row in table(text) if "vdso" not in row["module"])

    for limit, fits in (0, False), (1, False), (size - 1, False), (size, True):
        os.unlink(store)
        done = run(REPORT, "--view", "topdown", "--lines", "-f", "csv", data, limits={"FSIZE": limit})
        assert (named(done.stdout), done.stderr) == (named(first[0]), "") and done.returncode == 0, done
        assert glob.glob(store + "*") == [store] * fits, os.listdir(data)
        assert topdown(data) == first


@case
def what_is_kept_takes_no_other_files_place(directory):
    _, data, store, first = measured(directory)
    ours, victim = os.path.join(directory, "ours"), os.path.join(directory, "victim")
    os.rename(store, ours)
    with open(victim, "w", encoding="utf-8") as file:
        file.write("precious\n")
    for make in (lambda: os.link(victim, store), lambda: os.link(ours, store), lambda: os.symlink(ours, store),
                 lambda: shutil.copy(victim, store), lambda: os.mkfifo(store), lambda: os.mkdir(store)):
        make()
        before = state(store), state(victim), state(ours)
        assert topdown(data) == first
        assert (state(store), state(victim), state(ours)) == before and not glob.glob(store + "-*")
        (os.rmdir if os.path.isdir(store) else os.unlink)(store)
    os.rename(os.path.join(data, "launch"), os.path.join(directory, "launch"))
    assert topdown(data) == first and not os.path.exists(store), "written into a directory that hpcrun-lite has not made"


@case
def nothing_is_kept_where_it_cannot_be(directory):
    need_root()
    _, data, store, first = measured(directory)
    os.unlink(store)
    for path in (directory, data):
        os.chmod(path, 0o755)
    os.chown(data, 65534, 65534)
    assert topdown(data) == first and not os.path.exists(store), "written into another user's directory"
    os.chmod(data, 0o555)
    for name in os.listdir(data):
        os.chown(os.path.join(data, name), 65534, 65534)
    if any(run(*OTHER_USER, *command).returncode for command in ((REPORT, "--version"), ("test", "-x", directory))):
        raise Skip("another user cannot run the report here")
    done = run(*OTHER_USER, REPORT, "--view", "topdown", "--lines", "-f", "csv", data)
    assert (done.stdout, done.stderr) == first and not os.path.exists(store), done


@case
def reports_at_the_same_time_keep_one_file(directory):
    app, data, store, first = measured(directory)
    for _ in range(3):
        os.utime(app)
        many = [start(REPORT, "--view", "topdown", "--lines", "-f", "csv", data) for _ in range(8)]
        assert [process.communicate()[0] for process in many] == [first[0]] * len(many)
        assert payloads(store) and not glob.glob(store + "-*")
    unfinished = store + "-a1B2c3"  # of a report that was killed
    for path in store, unfinished:  # a loss of power may have left the first one empty, too
        open(path, "wb").close()
        assert Measurement(directory, app).done.returncode == 0, "not known as files of ours"
        assert not os.path.exists(store) and not os.path.exists(unfinished)


@case
def what_a_report_that_was_ended_has_left_is_removed(directory):
    _, data, store, first = measured(directory)
    with open(store, "rb") as file:
        magic = file.read(8)
    old = {"-a1B2c3": magic, "-d4E5f6": b""}
    others = {"-g7H8i9": b"of the user\n", "-old": magic, "-a1B2c3d": magic, ".a1B2c3": magic}
    for names, age in (old, 0), (old, 7200), (others, 7200):
        for name, content in names.items():
            with open(store + name, "wb") as file:
                file.write(content)
            os.utime(store + name, (os.stat(data).st_mtime - age,) * 2)
        os.symlink(store, store + "-j0K1l2")
        os.unlink(store)
        assert topdown(data) == first and os.path.exists(store)
        left = {path.removeprefix(store) for path in glob.glob(store + "[-.]*")}
        assert left == {"-j0K1l2"} | ({*names} if names is others or not age else set()), (age, left)
        os.unlink(store + "-j0K1l2")


@case
def an_empty_file_is_replaced(directory):
    _, data, store, first = measured(directory)
    open(store, "wb").close()
    assert topdown(data) == first and payloads(store)


if __name__ == "__main__":
    main()
