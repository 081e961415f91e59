#!/usr/bin/env python3
"""Source lines with their figures: where they are found, what is shown, and that they add up to the other views."""
import os
import re
import shlex
import shutil
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import line_of, source_file
from report import report, rows
from tap import GOLDEN, LAUNCHER, REPORT, case, compile_c, main, must, need_program, shared_directory, timed

PROGRAM = "annotated.c"
SUMS = {"samples": "samples", "work_s": "work_incl_s", "overhead_s": "overhead_incl_s",
        "lockwait_s": "lockwait_incl_s", "idleness_s": "idleness_incl_s", "critical_path": "critical_path_incl"}


def measured(compiler, *flags, **options):
    """The directories of a measurement and of the source of a program of its own; built once for each name."""
    need_program(compiler)
    place = os.path.join(shared_directory(), "-".join((compiler, *(flag.strip("-") for flag in flags))))
    data = os.path.join(place, "data")
    if not os.path.exists(data):
        os.makedirs(os.path.join(place, "src"))
        shutil.copy2(source_file(PROGRAM), os.path.join(place, "src"))
        program = os.path.join(place, "a;(b)")  # a name to be quoted
        must(compiler, "-g", "-O1", "-fno-inline", "-fopenmp", os.path.join("src", PROGRAM), "-o", program, "-lm",
             cwd=place)
        must(LAUNCHER, "-q", "-o", data, *flags, program, **options)
    return data, os.path.join(place, "src", PROGRAM)


def text(*arguments, **how):
    done = report("-q", "--view", "source", *arguments, **how)
    assert done.returncode == 0 and all(len(line) <= 80 for line in done.stdout.splitlines()), done
    return done.stdout


def add_up(data, *part):
    """Fails unless the lines add up to the flat view's totals; returns them."""
    flat, lines = rows("flat", *part, data)[0], rows("source", *part, data)
    for column, total in SUMS.items():
        found = sum(Decimal(row[column] or 0) for row in lines)
        assert found == Decimal(flat[total] or 0), (data, column, found, flat[total])
    return lines


def check_lines(compiler):
    data, source = measured(compiler)
    with open(source, encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in file]
    lines = add_up(data)
    places = [(row["file"], int(row["line"])) for row in lines if row["line"]]
    assert len(set(places)) == len(places) and places == sorted(places), places
    for row in lines:
        if row["file"] == source and row["line"]:
            assert row["text"] == texts[int(row["line"]) - 1], row
    own = {int(row["line"]): row for row in lines if row["file"] == source and row["line"]}
    loop = [own[number] for number in (line_of(PROGRAM, "= hot"), line_of(PROGRAM, "= hot") - 1) if number in own]
    assert sum(int(row["samples"]) for row in loop) > 0.5 * sum(int(row["samples"]) for row in lines), lines
    assert {row["function"] for row in loop} == {"burn"} and not any(row["directive"] for row in loop), loop
    for kind in ("parallel", "critical", "barrier"):
        row = own[line_of(PROGRAM, "/* = " + kind)]
        assert kind in row["directive"].split() and row["function"] == "main", row
    waits = {number: float(row["lockwait_s"]) for number, row in own.items() if float(row["lockwait_s"])}
    if not waits:  # one thread had no core whenever the other one had: to be measured again
        shutil.rmtree(os.path.dirname(data))
    timed(waits, compiler)
    assert all(line_of(PROGRAM, "= critical") <= number <= line_of(PROGRAM, "= end") for number in waits), waits
    assert line_of(PROGRAM, "= silent") not in own


@case
def lines_have_their_figures_with_gcc(_):
    check_lines("gcc")


@case
def lines_have_their_figures_with_clang(_):
    check_lines("clang")


@case
def lines_of_any_measurement_add_up(_):
    for name in ("basic", "two", "events", "blame", "graph", "recorded", "plain", "waits", "killed", "constructs2"):
        add_up(os.path.join(GOLDEN, name))


@case
def lines_of_a_part_of_the_run_add_up(_):
    data, _ = measured("gcc", "-t")
    for part in (("--from", "50ms"), ("--to", "50ms"), ("--idleness", "core")):
        add_up(data, *part)


@case
def lines_add_up_without_work_and_span_and_with_other_events(_):
    for flags in (("-p", "off"), ("-e", "task-clock", "-e", "page-faults@1")):
        data, _ = measured("gcc", *flags)
        lines = add_up(data)
        assert any(row["directive"] == "parallel" for row in lines), lines
        assert ("page-faults" in lines[0]) == ("-e" in flags), lines[0]
        if "-e" in flags:
            found = sum(int(row["page-faults"]) for row in lines)
            assert found == int(rows("flat", data)[0]["page-faults_incl"]) > 0


@case
def text_shows_lines_around_figures(_):
    data, source = measured("gcc")
    shown = text(data)
    hot = line_of(PROGRAM, "= hot")
    assert re.search(rf"^ +\d+\.\d+.* ({hot} +x = x \* |{hot - 1} +for )", shown, re.M), shown
    assert re.search(rf"^ +{line_of(PROGRAM, 'static double burn')}  static double burn", shown, re.M), shown
    assert re.search(rf" {line_of(PROGRAM, '= critical')}> #pragma omp critical", shown), shown
    assert "puts(" not in shown, shown
    whole = text("--root", PROGRAM, data)
    assert re.search(r"^ +\.\.\.$", whole, re.M) and "puts(" not in whole, whole
    part = text("--root", f"{PROGRAM}:{line_of(PROGRAM, '= silent') - 2}-{line_of(PROGRAM, '= silent')}", data)
    assert "puts(" in part and "..." not in part and "burn" not in part, part
    assert "puts(" in text("--root", f"{PROGRAM}:{line_of(PROGRAM, '= silent')}", data)


@case
def commands_disassemble_the_hot_code(_):
    need_program("objdump")
    data, _ = measured("gcc")
    shown = text("--root", "burn", data).replace("\\\n", "")
    command = next(line for line in shown.splitlines() if line.startswith("  objdump"))
    assert "mulsd" in must(*shlex.split(command)), command
    for width in range(40, 81):  # the path ends in another column each time
        lines = text("--root", "burn", data, COLUMNS=str(width)).splitlines(keepends=True)
        first = next(i for i, line in enumerate(lines) if line.startswith("  objdump"))
        last = next(i for i in range(first, len(lines)) if not lines[i].endswith("\\\n"))
        assert max(len(line) - 1 for line in lines[first:last + 1]) <= width, (width, lines[first:last + 1])
        whole = "".join(lines[first:last + 1]).replace("\\\n", "")
        assert shlex.split(whole) == shlex.split(command), (width, whole)


@case
def a_selector_limits_rows(_):
    data, _ = measured("gcc")
    whole = rows("source", data)
    for selector, selected in (("burn", lambda row: row["function"] == "burn"),
                               (PROGRAM, lambda row: row["file"].endswith(PROGRAM)),
                               (f"{PROGRAM}:1-20", lambda row: row["line"] and row["file"].endswith(PROGRAM) and
                                int(row["line"]) <= 20)):
        assert rows("source", "--root", selector, data) == [row for row in whole if selected(row)], selector
    few = text("--max-rows", "4", data)
    assert len(few) < len(text(data)) and "--root FUNCTION or FILE shows others" in few, few


def without_source(shown, path):
    """A report without the line, possibly broken, that names the file with the text."""
    lines = shown.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if line.startswith("Source: "))
    last = first + 1
    while "".join(lines[first:last]).replace("\n  ", "").strip() != "Source: " + path:
        last += 1
    return "".join(lines[:first] + lines[last:])


@case
def a_relative_path_is_not_that_of_the_current_directory(directory):
    """The path of a file that was compiled elsewhere, without its directory."""
    need_program("gcc")
    program, data, planted = (os.path.join(directory, name) for name in ("program", "data", "planted"))
    os.mkdir(os.path.join(directory, "src"))
    shutil.copy2(source_file(PROGRAM), os.path.join(directory, "src"))
    must("gcc", "-g", "-O1", "-fno-inline", "-fopenmp", f"-fdebug-prefix-map={directory}=sources", "-o", program,
         os.path.join(directory, "src", PROGRAM), "-lm", cwd=directory)
    must(LAUNCHER, "-q", "-o", data, program)
    recorded = next(row["file"] for row in rows("source", data) if row["file"].endswith(PROGRAM))
    os.makedirs(os.path.dirname(os.path.join(planted, recorded)))
    with open(os.path.join(planted, recorded), "w", encoding="utf-8") as file:
        file.write("planted\n" * 999)
    for how in ((), ("-f", "csv")):
        done = report("-q", "--view", "source", *how, data, cwd=planted)
        assert done.returncode == 0 and "planted" not in done.stdout, (recorded, done.stdout)
    assert "planted" in text("-I", planted, data, cwd=planted)


@case
def what_has_no_figures_is_explained(directory):
    need_program("gcc")
    program = compile_c(directory, "outer", "volatile double x;\n"
                        "static void inner(void) { for (long i = 0; i < 100000000; i++) x = i; }\n"
                        "static void outer(void) { inner(); x = 0; }\nint main(void) { outer(); return 0; }\n",
                        "-fno-inline")
    must(LAUNCHER, "-q", "-o", os.path.join(directory, "run"), program)
    done = report("-q", "--view", "source", "--root", "outer", "run", cwd=directory)
    assert done.returncode == 2 and "'outer' has no figures of its own" in done.stderr, done
    assert report("-q", "topdown", "--root", "outer", "run", cwd=directory).returncode == 0
    data, _ = measured("gcc")
    for how in ((), ("-f", "csv")):
        for lines in ("99999", "0", "99990-99999", "0-5"):
            done = report("-q", "--view", "source", *how, "--root", f"{PROGRAM}:{lines}", data)
            assert done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1, (how, lines, done)


@case
def narrow_reports_keep_to_their_width(_):
    data, _ = measured("gcc")
    for columns in (60, 50):
        for how in ((), ("--legend",)):
            shown = must(REPORT, "-q", "source", *how, data, COLUMNS=str(columns))
            assert max(map(len, shown.splitlines())) <= columns, shown
            assert "terminal" not in shown, shown


@case
def moved_sources_are_found(directory):
    data, source = measured("clang")
    place = os.path.dirname(source)
    known = text("--root", "burn", data)
    away = os.path.join(directory, "away", "src")
    os.makedirs(os.path.join(directory, "other"))
    os.rename(place, place + ".away")
    try:
        lost = text("--root", "burn", data, "-I", os.path.join(directory, "other"))
        assert "see -I DIR" in " ".join(lost.split()) and "x = x" not in lost, lost
        hot = line_of(PROGRAM, "= hot")
        assert re.search(rf"^ +\d.* ({hot - 1}|{hot})$", lost, re.M), lost
        assert all(not row["text"] for row in rows("source", data))
        shutil.copytree(place + ".away", away)
        for found in (away, os.path.dirname(away)):
            moved = text("--root", "burn", "-I", os.path.join(directory, "other"), "-I", found, data)
            assert without_source(moved, os.path.join(away, PROGRAM)) == known, moved
            assert "by name only" not in moved, moved
        with open(os.path.join(directory, "other", PROGRAM), "w", encoding="utf-8") as file:
            file.write("wrong\n")  # less of its path is the same
        found = text("--root", "burn", "-I", os.path.join(directory, "other"), "-I", os.path.dirname(away), data)
        assert without_source(found, os.path.join(away, PROGRAM)) == known, found
        wrong = text("--root", "burn", "-I", os.path.join(directory, "other"), data)
        assert "has only 1 line: it is not the file that was measured" in " ".join(wrong.split()), wrong
        assert "(found by name only: it may be another file)" in " ".join(wrong.split()), wrong
        assert "has only 1 line:" in text("--root", PROGRAM, "-I", os.path.join(directory, "other"), data)
        for content, what in (("wrong\n", "too short"), ("", "not readable"), ("\n" * 999, "newer than the measurement")):
            with open(os.path.join(directory, "other", PROGRAM), "w", encoding="utf-8") as file:
                file.write(content)
            done = report("--view", "source", "-f", "csv", "-I", os.path.join(directory, "other"), data)
            assert f"1 source file is {what}, such as {file.name}" in done.stderr, done.stderr
        os.utime(file.name, (1, 1))
        done = report("--view", "source", "-f", "csv", "-I", os.path.join(directory, "other"), data)
        assert "1 source file is found by name only" in done.stderr, done.stderr
        said = report("--view", "source", "-f", "csv", data).stderr  # those of a library with line numbers may miss, too
        assert re.search(r"^hpcprof-lite: \d+ source file(s are| is) missing, such as ", said, re.M), said
    finally:
        os.rename(place + ".away", place)


@case
def any_bytes_are_survived(_):
    data, source = measured("gcc")
    os.rename(source, source + ".sound")
    try:
        for content in (b"", os.urandom(100000), b"\x1b[31m\t" * 40000, b"\n" * 3 + b"x" * 9000000, bytes(5000),
                        "\u202ex\u0301\n".encode() * 300):
            with open(source, "wb") as file:
                file.write(content)
            for how in ((), ("-f", "csv"), ("-f", "json")):
                done = report("-q", "--view", "source", *how, data, text=False, LC_ALL="C.UTF-8")
                assert done.returncode == 0 and b"\x1b" not in done.stdout and b"\0" not in done.stdout, (content[:9], how)
                done.stdout.decode("utf-8")
        assert "is newer than the measurement" in text(data)
        os.remove(source)
        os.mkfifo(source)
        assert "see -I DIR" in " ".join(text(data).split())
        os.remove(source)
        os.symlink(source, source)
        assert "see -I DIR" in " ".join(text(data).split())
    finally:
        os.remove(source)
        os.rename(source + ".sound", source)


main()
