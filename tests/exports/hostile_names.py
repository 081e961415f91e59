#!/usr/bin/env python3
"""Names that a terminal would obey, and names that a spreadsheet would compute: of functions, source files, modules,
commands, directories, user regions, marks, phases and counters, in every view and format and in messages."""
import csv
import functools
import gzip
import io
import json
import os
import re
import sqlite3
import sys

sys.path[:0] = [os.path.join(sys.path[0], "..", folder) for folder in ("support", "cli")]
from measured import openmp_flags
from report import UNSAFE, escaped, original, report, rows, unescaped
from screen_model import Terminal
from tap import GOLDEN, INCLUDE, LAUNCHER, LIBRARY, REPORT, Skip, case, main, must, run, shared_directory

NAMES = ("=cmd|' /C calc'!A1", "+1+2", "-1+1", "@sum(1)", "\ttab", "\rcr", "'quoted", " =space", "\uff1dwide",
         "\uff0bw", "\uff0dw", "\uff20w", "\x9b31mC1", "\x85next", "\u202eoverride", "\u2066isolate\u2069", "\u200fmark",
         "\u061cletter", "a\u2028line", "a\u200bb\ufeff", "esc\x1b]0;t\x07\x1b[31m", "\x7fdel", "a\nb", "\xadsoft",
         "\U000e0041tag", "\\u{9b}literal", "\\\\u{9b}", "comma,\"quote\"")
INVALID = b"\x9blone\x85\xff"
FILE = "=1+1\x1b[31m\u202e\x9b<b>'.c"
PROGRAM = "-run\u2067\x9b31m\x1b]0;x\x07"
FORMULA = re.compile(" *[=+\\-@\t\r\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[-+]\d+)?|-?inf")
VIEWS = ("summary", "topdown", "bottomup", "flat", "parallelism", "critical-path", "whatif", "speedup", "efficiency",
         "regions", "region-tree", "overheads", "tasks", "grains", "threads", "timeline", "phases", "advice", "source",
         "marks", "user-counters", "try")
EXPORTS = {"folded": (), "speedscope": (), "callgrind": (), "hatchet": (), "perfetto": (), "firefox": (),
           "graphml": ("--unreduced",), "dot": ("--unreduced",), "html": ("--sources",)}
NAME_BYTES = 48


def padded(name):
    """The bytes that replace a name of NAME_BYTES bytes in the program's file."""
    return (name if isinstance(name, bytes) else name.encode()).ljust(NAME_BYTES, b"_")


def shown(name):
    """The name in the terms of the reports."""
    text, at = "", 0
    while at < len(name):  # each byte that is no UTF-8 becomes one U+FFFD
        for length in range(1, 5):
            try:
                text, at = text + name[at:at + length].decode(), at + length
                break
            except UnicodeDecodeError:
                if length == 4 or at + length >= len(name):
                    text, at = text + "\ufffd", at + 1
                    break
    return text


def placeholder(number):
    return f"function_{number:02}".ljust(NAME_BYTES, "q")


@functools.lru_cache(maxsize=None)
def program():
    """A program with those names: they replace placeholders in its file."""
    directory, names = shared_directory(), (*NAMES, INVALID)
    stem = "source".ljust(len(FILE.encode()) - 2, "z")
    lines = ['#include <hpcrun-lite.h>', "static volatile double sum;"]
    for number in range(len(names)):
        lines.append(f"__attribute__((noinline)) void {placeholder(number)}(const char *name)\n{{\n"
                     "  hpcrun_lite_phase(name);\n  hpcrun_lite_region_begin(name);\n"
                     "#pragma omp parallel\n"
                     "  for (int i = 0; i < 4000000; i++)\n    sum += i; // \u202e\x9b31m \u2066 \x1b[31m\n"
                     "#pragma omp parallel\n#pragma omp single\n"
                     "  for (int i = 0; i < 3; i++)\n#pragma omp task\n    sum += i;\n"
                     "  hpcrun_lite_region_end();\n  hpcrun_lite_counter(name, 1);\n  hpcrun_lite_mark(name);\n}")
    calls = "".join(f"  {placeholder(number)}(argv[{number + 1}]);\n" for number in range(len(names)))
    lines.append(f"int main(int argc, char **argv)\n{{\n  (void)argc;\n{calls}  return 0;\n}}\n")
    with open(os.path.join(directory, stem + ".c"), "wb") as file:
        file.write("\n".join(lines).encode())
    must("gcc", "-O1", "-g", *openmp_flags("gcc"), "-I", INCLUDE, stem + ".c", "-o", "plain", "-ldl", cwd=directory)
    with open(os.path.join(directory, "plain"), "rb") as file:
        data = file.read().replace((stem + ".c").encode(), FILE.encode())
    for number, name in enumerate(names):
        data = data.replace(placeholder(number).encode(), padded(name))
    with open(os.path.join(directory, PROGRAM), "wb") as file:
        file.write(data)
    os.chmod(file.name, 0o755)
    os.rename(os.path.join(directory, stem + ".c"), os.path.join(directory, FILE))
    return file.name


@functools.lru_cache(maxsize=None)
def measured(threads=2):
    output = os.path.join(shared_directory(), f"run\x9b{threads}\u202e")
    done = run(LAUNCHER, "-t", "-p", "log", "-e", "task-clock@f1000", "-o", output, program(), *NAMES,
               os.fsdecode(INVALID), OMP_NUM_THREADS=str(threads), text=False)
    assert done.returncode == 0 and escaped(output).encode() in done.stderr, done
    check_output(done.stderr, "the line at exit")
    return output


def check_output(output, *what):
    """Fails if the output has anything that a terminal must not get."""
    text = output.decode() if isinstance(output, bytes) else output
    for line in text.split("\n"):
        found = UNSAFE.search(line)
        assert not found, (what, line[max(0, found.start() - 40):found.end() + 40])


def printed(*arguments, status=0):
    """What the report prints, which a terminal may get."""
    done = report(*arguments, text=False, LC_ALL="C.UTF-8")
    assert done.returncode == status, (arguments, done)
    check_output(done.stdout, *arguments, "output")
    check_output(done.stderr, *arguments, "messages")
    return done.stdout.decode()


def table(*arguments):
    return list(csv.reader(io.StringIO(printed("-f", "csv", *arguments))))


def check_cells(cells, *what):
    """Fails if a spreadsheet would take one for a formula."""
    for row in cells:
        for cell in row:
            assert NUMBER.fullmatch(cell) or not FORMULA.match(cell), (what, cell)


def texts(document):
    """The rows of a report in JSON: text as it is, all else as None."""
    return [[value if isinstance(value, str) else None for value in row.values()] for row in document["rows"]]


@case
def every_view_is_safe_in_every_format(_):
    for view in VIEWS:
        for how in ((), ("--legend",) if view not in ("advice", "marks", "user-counters", "try") else ()):
            printed("--view", view, *how, measured())
        cells = table("--view", view, measured())
        check_cells(cells, view)
        exact = table("--view", view, "--raw-names", measured())
        assert [list(map(unescaped, row)) for row in exact] == [list(map(original, row)) for row in cells], view
        document = json.loads(printed("--view", view, "-f", "json", measured()))
        if view in ("timeline", "grains"):  # cells, and groups
            continue
        assert document["columns"] == [original(cell) for cell in cells[0]], view
        for row, expected in zip(cells[1:], texts(document), strict=True):
            for cell, text in zip(row, expected, strict=True):
                assert text is None or original(cell) == text, (view, cell, text)


@case
def names_are_those_of_the_program(_):
    """Undoing marks and escapes gives what the program has; a mark is where one is needed, and nowhere else."""
    names = {row["name"] for row in rows("flat", measured())}
    expected = {padded(name).decode() for name in NAMES} | {shown(padded(INVALID))}
    assert expected <= names, expected - names
    given = {*NAMES, shown(INVALID)}
    assert {row["name"] for row in rows("marks", measured())} == given
    assert given <= {row["counter"] for row in rows("user-counters", measured())}
    assert given <= {row["name"] for row in rows("topdown", measured()) if row["kind"] == "user-region"}
    assert any(row["file"].endswith("/" + FILE) for row in rows("flat", measured()))
    assert any(row["module"] == program() for row in rows("flat", measured()))
    cells = {cell for row in table("--view", "marks", measured())[1:] for cell in row}
    for name in NAMES:
        marked = name[0] == "'" or FORMULA.match(name)
        assert ("'" if marked else "") + escaped(name) in cells, (name, cells)
    exact = {cell for row in table("--view", "marks", "--raw-names", measured())[1:] for cell in row}
    assert set(map(escaped, NAMES)) <= exact, exact


@case
def numbers_get_no_mark(_):
    """Among them negative ones: a comparison with a longer run."""
    cells = table("--view", "flat", "--compare", os.path.join(GOLDEN, "two"), os.path.join(GOLDEN, "basic"))
    numbers = [cell for row in cells for cell in row if cell.startswith("-")]
    assert numbers and all(NUMBER.fullmatch(cell) for cell in numbers), numbers


@case
def exports_are_safe(directory):
    for form, how in EXPORTS.items():
        text = printed("-q", "-f", form, *how, measured())
        assert form in ("html", "graphml", "dot") or "31mC1" in text, form
    # the label of a construct in DOT, whose strings have backslashes of their own
    assert escaped("\x1b[31m\u202e").replace("\\", "\\\\") in printed("-q", "-f", "dot", "--unreduced", measured())
    path = os.path.join(directory, "profile")
    must(REPORT, "-q", "-f", "pprof", "-o", path, measured())
    with gzip.open(path) as file:
        data = file.read()
    assert escaped(NAMES[12]).encode() in data
    for unsafe in "\x9b", "\u202e", "\x1b]", "\u2066":
        assert unsafe.encode() not in data, unsafe


@case
def the_database_has_no_marks(directory):
    if not os.path.exists(os.path.join(os.path.dirname(LIBRARY), "hpcprof-lite-sqlite.so")):
        raise Skip("the SQLite module is not built")
    path = os.path.join(directory, "run.db")
    must(REPORT, "-q", "-f", "sqlite", "-o", path, measured())
    base = sqlite3.connect(path)
    for name, in base.execute("select name from sqlite_master where type = 'table'").fetchall():
        found = base.execute(f"select * from {name}")
        check_output("\n".join(column[0] for column in found.description), name)
        for row in found:
            check_output("\n".join(cell for cell in row if isinstance(cell, str)), name)
    for view, where in ("contexts", "topdown"), ("parallelism", "parallelism"):
        found = {unescaped(name) for name, in base.execute(f"select name from {view}") if name}
        assert found == {row["name"] for row in rows(where, measured()) if row["name"]}, view


@case
def comparisons_and_conditions_are_safe(_):
    one, two = measured(1), measured()
    counter = escaped(NAMES[12])
    for view in "summary", "topdown", "bottomup", "flat", "regions", "parallelism", "threads":
        printed("-q", "--view", view, "--compare", one, two)
        printed("-q", "--view", view, "--compare", one, "-f", "json", two)
        check_cells(table("-q", "--view", view, "--compare", one, two), view)
    for view in "topdown", "flat":
        text = printed("-q", "--view", view, "--compare", one, "--metric", counter + "_excl", two)
        assert counter in text, text
    for how in (), ("-f", "markdown"), ("-f", "junit"), ("-f", "csv"), ("-f", "json"):
        text = printed("-q", *how, "--fail-if", f"{counter}_incl > 0", two, status=3)
        assert not how or how[1] == "json" or counter in text, text
        printed("-q", *(how if how != ("-f", "junit") else ()), "--compare", one, two)
    for how in (), ("-f", "json"):
        printed("-q", "--scaling", *how, one, two)
    check_cells(table("-q", "--scaling", one, two))


@case
def names_are_given_as_csv_shows_them(_):
    """A name with escapes selects what has it."""
    for name in NAMES[12], NAMES[14], NAMES[26]:
        found = rows("topdown", "--root", escaped(padded(name).decode()), measured())
        assert found[0]["name"].endswith(f", below {padded(name).decode()}"), found[0]


@case
def messages_are_safe(directory):
    """Commands of both programs, with names in their command lines and in what they find."""
    name = os.path.join(directory, NAMES[12] + NAMES[14] + NAMES[20] + os.fsdecode(INVALID))
    for command in ((REPORT, name), (REPORT, "--view", name), (REPORT, "--sort", name, measured()),
                    (REPORT, name + "\n"), (REPORT, "--root", name, "flat", measured()),
                    (REPORT, "--fail-if", name, measured()),
                    (REPORT, "--compare", name, measured()), (REPORT, "--scaling", measured(), measured()),
                    (REPORT, "--fail-if", f"{name} > 1", measured()), (REPORT, "-o", directory, measured()),
                    (REPORT, "--compare", measured(), measured()),
                    (REPORT, "flat", "--compare", measured(), "--metric", name, measured()),
                    (LAUNCHER, name), (LAUNCHER, "-o", measured(), "true"), (LAUNCHER, "--event", name, "true"),
                    (LAUNCHER, "--config", name, "true"), (LAUNCHER, "--control", name, "status"),
                    (LAUNCHER, "--control", measured(), "status"), (LAUNCHER, "--diagnose", program()),
                    (LAUNCHER, "--print-config", "-o", name), (LAUNCHER, "--env", "-o", name)):
        done = run(*command, cwd=directory, text=False, LC_ALL="C.UTF-8")
        check_output(done.stdout, command)
        check_output(done.stderr, command)
        assert done.stdout or done.stderr, command


@case
def the_environment_for_scripts_is_exact(directory):
    """--env prints no control character but gives a shell the same directory."""
    name = os.path.join(directory, NAMES[12] + "'" + NAMES[14] + NAMES[20] + os.fsdecode(INVALID))
    lines = must(LAUNCHER, "--env", "-o", name)
    done = run("sh", "-c", lines + 'printf %s "$HPCRUN_LITE_DIR"', text=False)
    assert done.stdout == os.fsencode(name), (done, lines)


@case
def the_live_view_is_safe(_):
    screen = Terminal(REPORT, "--live", "flat", measured(), columns=160, rows=60)
    text = screen.see("ended", escaped("\x9b31mC1"), escaped("\u202eoverride"))
    check_output(text, "the live view")
    screen.press("1")
    check_output(screen.see("[1 Summary]"), "the summary of the live view")
    screen.press("3")
    check_output(screen.see("[3 Contexts]"), "the contexts of the live view")
    assert screen.end() == 0


@case
def marks_of_csv_are_refused_elsewhere(_):
    for how in (), ("-f", "json"), ("-f", "html"), ("--live",):
        done = report("--raw-names", *how, measured())
        assert done.returncode == 2 and "--raw-names" in done.stderr, done


if __name__ == "__main__":
    main()
