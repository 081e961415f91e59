#!/usr/bin/env python3
"""Exports of profiles: what each format's rules and tools say of them, and that their values are those of the CSV."""
import base64
import collections
import csv
import functools
import glob
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import sys

sys.path[1:1] = (os.path.join(sys.path[0], "..", folder) for folder in ("support", "html"))
import profile_formats as formats
from browser import Browser, need_browser
from measured import build
from report import contents, escaped, original, rows, table, unescaped
from tap import (BIN, BUILD, DEPS, GOLDEN, LAUNCHER, LIBRARY, REPORT, SOURCE, Skip, case, main, must, need_program, run,
                 shared_directory, small_disk, start)

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # which has Debian's pandas
MODULE = os.path.join(os.path.dirname(LIBRARY), "hpcprof-lite-sqlite.so")
PPROF = os.path.join(DEPS, "pprof", "pprof")
SPEEDSCOPE = os.path.join(DEPS, "speedscope-1.25.0", "dist", "release", "index.html")
FORMATS = ("folded", "speedscope", "pprof", "callgrind", "hatchet", "sqlite")
TREES = FORMATS[:-1]
TABLES = ("threads", "efficiency", "regions", "overheads", "tasks", "advice", "parallelism", "flat", "critical_path",
          "whatif", "speedup", "region_tree", "processes")  # of SQLite, named by views
OTHER_TABLES = ("contexts", "run", "bottomup", "source", "phases", "marks", "user_counters", "locks", "devices", "ranks", "mpi",
                "messages", "wait_states", "try", "missing")
CATEGORIES = ("work", "overhead", "lockwait", "idleness")
METRICS = (*CATEGORIES, "critical_path", "user", "system", "page_faults", "switches", "threads_created", "create")
NS = 10**9


def measurement(compiler="gcc"):
    return measured(compiler)


@functools.lru_cache(maxsize=None)
def measured(compiler):
    output = os.path.join(shared_directory(), "measurement-" + compiler)
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f1000", "-o", output, build("exported.c", compiler))
    return output


def export(directory, form, source, *options):
    path = os.path.join(directory, form)
    done = run(REPORT, "-q", "-f", form, "-o", path, *options, source)
    assert done.returncode == 0 and not done.stdout and not done.stderr, done
    return path


def clean(name, semicolon=":"):
    """The program's name; formats other than JSON have escapes in it."""
    return unescaped(name).replace(";", semicolon)


def ns(cell):
    return round(float(cell) * NS) if cell else 0


def figures(row, metric, suffix):
    """A figure of a row of CSV: time in ns, or a count."""
    if f"{metric}_{suffix}_s" in row:
        return ns(row[f"{metric}_{suffix}_s"])
    cell = row[f"{metric}_{suffix}"]
    return ns(cell) if "." in cell else int(cell or 0)


class Name(str):
    """A function's name, and its module."""
    def __new__(cls, row):
        name = super().__new__(cls, clean(row["name"]))
        name.module = row["module"]
        return name


def csv_stacks(source, *options, metrics=METRICS):
    """Names from the root on → metric → own value, and the root's row."""
    found = rows("topdown", *options, source)
    paths, stacks = {}, collections.defaultdict(collections.Counter)
    for row in found:
        paths[row["id"]] = paths.get(row["parent_id"], ()) + (Name(row),)
        for metric in metrics:
            stacks[paths[row["id"]]][metric] += figures(row, metric, "excl")
    return stacks, found[0]


def plain(stacks, metric):
    """Paths with a value, as the CSV names them."""
    found = collections.Counter()
    for path, values in stacks.items():
        found[tuple(map(clean, path))] += values[metric]
    return +found


def check_stacks(stacks, wanted, metrics=METRICS):
    for metric in metrics:
        assert plain(stacks, metric) == plain(wanted, metric), metric


def check_folded(directory, source, metric, wanted, *options):
    """Values are differences of rounded sums: of any part of the tree, the sum is right to a microsecond."""
    found = formats.folded(export(directory, "folded", source, "--metric", metric, *options), metric)
    stacks = {tuple(map(clean, path)): values for path, values in found.items()}
    for path in wanted:
        for length in range(1, len(path) + 1):
            found, exact = (formats.below(kind, path[:length], metric) for kind in (stacks, wanted))
            assert abs(found - exact / 1000) < 1, (path[:length], found, exact)


def check_callgrind(path, wanted, metrics=METRICS):
    """Own costs by function, and inclusive ones of each function's outermost calls."""
    own, inclusive, _ = formats.callgrind(path)
    for metric in metrics:
        functions, outermost = collections.Counter(), collections.Counter()
        for stack, values in wanted.items():
            functions[stack[-1]] += values[metric]
            for name, _ in {(name, name.module) for name in stack}:
                outermost[name] += values[metric]
        found = collections.Counter()
        for name, values in own.items():
            found[clean(name.removesuffix("'2"))] += values[metric]
        assert +found == +functions, metric
        found = collections.Counter({clean(name): values[metric] for name, values in inclusive.items()
                                     if not name.endswith("'2")})
        assert +found == +outermost, metric


READERS = {"speedscope": lambda path: formats.speedscope(path)[0], "pprof": lambda path: formats.pprof(path)[0],
           "hatchet": formats.hatchet}


def check_all(directory, source, *options):
    wanted, root = csv_stacks(source, *options)
    for form, reader in READERS.items():
        # rows of lines are places in pprof, and rows nowhere here
        check_stacks(reader(export(directory, form, source, *options)), wanted)
    check_callgrind(export(directory, "callgrind", source, *options), wanted)
    for metric in CATEGORIES:
        check_folded(directory, source, metric, wanted, *options)
        assert formats.total(wanted, metric) == ns(root[metric + "_incl_s"])
    return wanted


@case
def values_of_all_contexts_are_those_of_csv(directory):
    """Two processes, compiled by gcc and clang: user-level paths, with inlined functions and names of any kind."""
    for compiler in "gcc", "clang":
        wanted = check_all(directory, measurement(compiler))
        assert all(formats.total(wanted, metric) for metric in ("work", "overhead", "critical_path")), compiler
        names = {name for path in wanted for name in path}
        assert {'"quoted", and:more', "line\nfeed\x01", "not \ufffd\ufffd UTF-8 \u00e9", "fn=(1) 12 34"} <= names, names
        assert max(map(len, names)) > 200
        stitched = [path for path in wanted if path[-1] == "burn" and "kernel" in path and
                    any(name.startswith("parallel @ exported.c:") for name in path)]
        assert stitched and all(path[1] == "main" for path in stitched), (compiler, wanted)


@case
def what_limits_hide_is_omitted_and_sums_stay(directory):
    source = measurement()
    for option in ("--depth", "2"), ("--percent-limit", "10"), ("--max-rows", "5"):
        wanted, root = csv_stacks(source, *option)
        found = {form: reader(export(directory, form, source, *option)) for form, reader in READERS.items()}
        for stacks in found.values():  # also in pprof, where own time is that of lines below
            check_stacks({path: values for path, values in stacks.items() if path[-1] != "[omitted]"}, wanted)
        found["callgrind"], *_ = formats.callgrind(export(directory, "callgrind", source, *option))
        assert found["callgrind"]["[omitted]"]["work"] == formats.total(
            {path: values for path, values in found["hatchet"].items() if path[-1] == "[omitted]"}, "work"), option
        for form, stacks in found.items():
            for metric in CATEGORIES + ("critical_path",):
                assert formats.total(stacks, metric) == figures(root, metric, "incl"), (option, form, metric)
            assert any(path[-1] == "[omitted]" or path == "[omitted]" for path in stacks), (option, form)
        stacks = formats.folded(export(directory, "folded", source, *option))
        assert abs(formats.total(stacks, "work") - ns(root["work_incl_s"]) / 1000) < 1
    assert max(map(len, found["hatchet"])) > 3


@case
def a_part_of_the_tree_or_of_the_run_is_exported(directory):
    source = measurement()
    wanted = check_all(directory, source, "--root", "region")
    assert {path[1] for path in wanted if len(path) > 1} == {"region"}
    part = ("--from", "5ms", "--to", "40ms")
    wanted = check_all(directory, source, *part)
    whole, _ = csv_stacks(source)
    assert 0 < formats.total(wanted, "work") < formats.total(whole, "work")
    database(directory, source, *part)


@case
def lines_and_inlined_functions_are_in_pprof_and_callgrind(directory):
    source = measurement()
    _, lines, locations = formats.pprof(export(directory, "pprof", source))
    _, _, costs = formats.callgrind(export(directory, "callgrind", source))
    wanted = collections.Counter()
    for row in rows("topdown", "--lines", source):
        if row["kind"] == "line":
            wanted[(row["file"], int(row["line"]))] += ns(row["work_excl_s"])
    assert any(number > 8 and file.endswith("burn.h") for file, number in +wanted), wanted
    for (file, number), value in (+wanted).items():
        assert costs[(file, number)]["work"] >= value, (file, number)
    found = collections.Counter()
    for (_, file, number), values in lines.items():
        found[(file, number)] += values["work"]
    assert {place: value for place, value in found.items() if value and place[0].endswith("burn.h")} == {
        place: value for place, value in (+wanted).items() if place[0].endswith("burn.h")}, (found, wanted)
    chains = {tuple(line[0] for line in chain) for chain in locations.values()}
    assert ("burn", "inner", "kernel") in chains and ("burn", "recursive") in chains, chains
    frames = formats.speedscope(export(directory, "speedscope", source))[1]
    assert [frame for frame in frames if frame["name"] == "kernel" and frame["file"].endswith("/exported.c")
            and frame["line"]], frames


def with_names(stacks):
    """The stacks with the program's own names of metrics."""
    found = collections.defaultdict(collections.Counter)
    for path, values in stacks.items():
        for metric, value in values.items():
            found[path][unescaped(metric)] += value
    return found


COUNTERS = {"samples_user": 6, "Work (2)": 8, '"a";b\n': 10, '"a";b\r': 12, "line_user": 14}


@case
def counters_of_the_program_are_metrics_with_names_of_their_own(directory):
    """Each process counts once.  Other columns have the names of two, and two need escapes."""
    source = measurement()
    for view in "topdown", "bottomup", "flat", "source":
        header = list(map(original, next(csv.reader(io.StringIO(must(REPORT, "-q", "--view", view, "-f", "csv", source))))))
        assert len(header) == len(set(header)), (view, header)
        suffix = "" if view == "source" else "_excl"
        missing = {("Work" if name == "Work (2)" else name) + suffix for name in COUNTERS} - set(header)
        assert not missing, (view, missing)
    for form, reader in READERS.items():
        stacks = with_names(reader(export(directory, form, source)))
        assert {name: formats.total(stacks, name) for name in COUNTERS} == COUNTERS, form
        assert {path[1] for path, values in stacks.items() if values["Work (2)"]} == {"main"}, form
    own, *_ = formats.callgrind(export(directory, "callgrind", source))
    own = with_names(own)
    assert {name: formats.total(own, name) for name in COUNTERS} == COUNTERS
    for name, value in COUNTERS.items():
        for given in {name, escaped(name)}:  # the latter as CSV shows it
            assert formats.total(formats.folded(export(directory, "folded", source, "--metric", given)), "work") == value
    if os.path.exists(MODULE):
        columns = ", ".join('sum("{}_excl")'.format(escaped(name).replace('"', '""')) for name in COUNTERS)
        found = database(directory, source).execute(f"select {columns} from contexts").fetchone()
        assert found == tuple(COUNTERS.values()), found


@case
def events_are_metrics_without_times(directory):
    """A run that was sampled by an event only; its command and its module have hostile names."""
    source = os.path.join(GOLDEN, "events")
    events = ("cycles", "critical_path")
    wanted, root = csv_stacks(source, metrics=events[:1])
    assert formats.total(wanted, "cycles") == int(root["cycles_incl"]) > 0
    for form, reader in READERS.items():
        check_stacks(reader(export(directory, form, source)), wanted, events[:1])
    check_callgrind(export(directory, "callgrind", source), wanted, events[:1])
    stacks = formats.folded(export(directory, "folded", source, "--metric", "cycles"), "cycles")
    check_stacks(stacks, wanted, events[:1])
    samples = formats.folded(export(directory, "folded", source, "--metric", "samples"), "samples")
    assert formats.total(samples, "samples") == int(root["samples"])
    for run, word, metric in (("events", "cyc", "cycles"), ("blame", "Idle%", "idleness"), ("graph", "crit", "critical_path")):
        found = [contents(export(directory, "folded", os.path.join(GOLDEN, run), "--metric", name))
                 for name in (word, metric)]
        assert found[0] == found[1] != b"", word
    if os.path.exists(MODULE):
        base = database(directory, source)
        assert base.execute("select sum(cycles_excl), sum(samples_excl) from contexts").fetchone() == (
            int(root["cycles_incl"]), int(root["samples"]))
        assert base.execute("select name from contexts where depth = 1").fetchone() == ('we"ird, name+0x1190',)


@case
def an_empty_run_is_a_valid_export(directory):
    """Few samples or none, and none wanted."""
    for level in "samples", "summary":
        source, config = (os.path.join(directory, name) for name in (level, "config.ini"))
        with open(config, "w", encoding="ascii") as file:
            file.write(f"[measure]\nlevel = {level}\n")
        must(LAUNCHER, "-q", "--config", config, "-o", source, "true")
        wanted, _ = csv_stacks(source, "-q")
        assert len(wanted) < 20, wanted
        for form, reader in READERS.items():
            check_stacks(reader(export(directory, form, source)), wanted)
        check_callgrind(export(directory, "callgrind", source), wanted, CATEGORIES[:1])
        formats.folded(export(directory, "folded", source))
        if os.path.exists(MODULE):
            database(directory, source)
        if os.path.exists(PPROF):
            must(PPROF, "-raw", os.path.join(directory, "pprof"), HOME=directory)


# ---- the formats' own tools ----

SPEEDSCOPE_ROWS = "[...document.querySelectorAll('tr')].map(row => [...row.cells].map(cell => cell.textContent))"


def in_speedscope(browser, directory, path):
    """The name of the profile, and the totals of the functions as speedscope shows them, in its unit."""
    with open(path, "rb") as file:
        content = base64.b64encode(file.read()).decode()
    script = os.path.join(directory, "load.js")  # as speedscope's own command line makes it
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, {json.dumps(content)})")
    browser.open(SPEEDSCOPE, f"#localProfilePath={script}&view=sandwich",
                 drawn=f"{SPEEDSCOPE_ROWS}.some(cells => cells.at(-1) === 'main')")  # the rows come one after the other
    totals = {cells[-1]: cells[0].split(" (")[0] for cells in browser.evaluate(SPEEDSCOPE_ROWS) if len(cells) == 3}
    return browser.evaluate("document.body.innerText").split("\n")[1], totals


@case
def speedscope_reads_four_formats(directory):
    if not os.path.exists(SPEEDSCOPE):
        raise Skip("no speedscope (scripts/setup)")
    need_browser()
    source = measurement()
    wanted, _ = csv_stacks(source)
    with Browser() as browser:
        for form, unit in ("folded", 1000), ("speedscope", 10**6), ("pprof", 10**6), ("callgrind", 1):
            path = export(directory, form, source)
            shown, totals = in_speedscope(browser, directory, path)
            if form in ("speedscope", "callgrind"):  # which hold several profiles
                assert "work (1/" in shown, shown
            for name in "main", "kernel", "region":
                found = {stack: values["work"] for stack, values in wanted.items() if name in stack}
                total, places = sum(found.values()), len({stack[:stack.index(name)] for stack in found})
                digits = totals[name].rstrip("ms").replace(",", "")
                error = unit / 10 ** len(digits.partition(".")[2])  # of what is shown
                if form == "folded":
                    error = unit * places  # a microsecond for each subtree
                assert total and abs(float(digits) * unit - total) <= error, (form, name, totals, total)


@case
def pprof_reads_what_was_written(directory):
    if not os.path.exists(PPROF):
        raise Skip("no pprof (scripts/setup)")
    source = measurement("clang")
    path = export(directory, "pprof", source)
    wanted, root = csv_stacks(source)
    text = must(PPROF, "-raw", path, HOME=directory)
    head, samples = re.search(r"^Samples:\n(.*)\n((?:.*\n)*?)Locations\n", text, re.M).groups()
    types = head.split()
    assert types[:5] == ["work/nanoseconds[dflt]", *(name + "/nanoseconds" for name in CATEGORIES[1:]),
                         "critical_path/nanoseconds"], types
    values = [map(int, line.split()) for line in re.findall(r"^([ \d]+): \d", samples, re.M)]
    sums = [sum(column) for column in zip(*values)]
    assert sums[:5] == [formats.total(wanted, metric) for metric in CATEGORIES + ("critical_path",)], sums
    top = must(PPROF, "-top", "-nodecount=1000", "-nodefraction=0", "-unit=ns", path, HOME=directory)
    shown = {name.removesuffix(" (inline)"): int(flat) for flat, name in re.findall(
        r"^ *(\d+)(?:ns)? +[\d.]+% +[\d.]+% +\d+(?:ns)? +[\d.]+%  (.*)$", top, re.M)}
    burnt = sum(values["work"] for stack, values in wanted.items() if stack[-1] == "burn")
    assert abs(shown["burn"] - burnt) <= 1 and "kernel" in shown, (shown, burnt)
    assert "File: exported-clang" in top


@case
def callgrind_annotate_reads_what_was_written(directory):
    need_program("callgrind_annotate")
    source = measurement()
    path = export(directory, "callgrind", source)
    _, root = csv_stacks(source)
    text = must("callgrind_annotate", "--threshold=100", path)
    total = re.search(r"^(.*)PROGRAM TOTALS$", text, re.M)[1]
    sums = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) \(", total)]
    known = [figures(root, metric, "incl") for metric in CATEGORIES + ("critical_path",)]
    known = [figure for figure in known if figure]  # it prints a dot in place of 0
    assert sums[:len(known)] == known, sums
    assert re.search(r"burn\.h:burn \[", text) and "annotated source: " in text, text
    text = must("callgrind_annotate", "--inclusive=yes", "--threshold=100", path)
    wanted = sum(ns(row["work_incl_s"]) for row in rows("flat", source) if row["name"] == "recursive")
    shown = re.findall(r"^ *([\d,]+) .*:recursive(?: \[.*|)$", text, re.M)
    assert [int(total.replace(",", "")) for total in shown] == [wanted], (shown, wanted)


# ---- SQLite ----

def database(directory, source, *options):
    if not os.path.exists(MODULE):
        raise Skip("built without SQLite")
    base = sqlite3.connect(export(directory, "sqlite", source, *options))
    assert base.execute("pragma integrity_check").fetchone() == ("ok",)
    return base


def cell(text):
    """A cell of CSV as the database has it."""
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text


@case
def tables_of_the_database_are_those_of_csv(directory):
    source = measurement()
    base = database(directory, source)
    base.row_factory = sqlite3.Row
    views = {"contexts": "topdown", "run": "summary", **{name: name.replace("_", "-") for name in TABLES}}
    tables = {row["name"] for row in base.execute("select name from sqlite_master where type = 'table'")}
    assert tables == {*TABLES, *OTHER_TABLES}, tables
    for name, view in views.items():
        found, wanted = base.execute(f"select * from {name}").fetchall(), rows(view, source)
        assert len(found) == len(wanted) and (wanted or name == "advice" or name == "tasks"), name
        shared = [column for column in (found[0].keys() if found else ()) if unescaped(column) in wanted[0]]
        assert name == "contexts" or len(shared) == len(found[0].keys() if found else ()), name
        for row, expected in zip(found, wanted):
            for column in shared:
                value, text = row[column], expected[unescaped(column)]
                assert (unescaped(value) == text if isinstance(value, str) else
                        value == cell(text)), (name, column, value, expected)
    assert len([column for column in base.execute("select * from contexts").fetchone().keys()]) == 48
    assert base.execute("pragma user_version").fetchone()[0] == 1
    assert base.execute("select typeof(name) from parallelism where name = '0012'").fetchone()[0] == "text"


KINDS = {int: {"integer", "real"}, float: {"integer", "real"}, str: {"text"}, type(None): {"null"}}


@case
def cells_of_the_database_are_text_where_those_of_json_are(directory):
    """The name of the program, and one of its regions, look like numbers."""
    program, output = os.path.join(directory, "0x10"), os.path.join(directory, "measurement")
    shutil.copy(build("exported.c"), program)
    must(LAUNCHER, "-q", "-o", output, "0x10", PATH=directory + ":" + os.environ["PATH"])
    base = database(directory, output)
    base.row_factory = sqlite3.Row
    for name, view in (("run", "summary"), *((name, name.replace("_", "-")) for name in TABLES)):
        wanted = json.loads(must(REPORT, "-q", "--view", view, "-f", "json", output))
        names = ['"' + row["name"].replace('"', '""') + '"' for row in base.execute(f"pragma table_info({name})")]
        assert len(names) == len(wanted["columns"]), name
        found = base.execute(f"select {', '.join(f'typeof({column})' for column in names)} from {name}").fetchall()
        assert len(found) == len(wanted["rows"]), name
        for row, expected in zip(found, wanted["rows"]):
            for kind, column in zip(row, wanted["columns"]):
                assert kind in KINDS[type(expected[column])], (name, column, expected, kind)
    assert base.execute("select value from run where item = 'command'").fetchone()[0] == "0x10"


@case
def the_types_of_the_database_are_the_same_for_all_runs(directory):
    """Also where a run has nothing to show; and the reason why it has not is in the database."""
    schemas = []
    for name in ("basic", "plain", "charted"):
        base = database(directory, os.path.join(GOLDEN, name))
        columns = {table: {row[1]: row[2] for row in base.execute(f"pragma table_info({table})")}
                   for table, in base.execute("select name from sqlite_master where type = 'table'")}
        assert all(kind in ("INTEGER", "REAL", "NUMERIC", "TEXT", "") for table in columns.values() for kind in table.values())
        missing = dict(base.execute("select name, reason from missing"))
        for table in columns:
            assert base.execute(f"select count(*) from {table}").fetchone()[0] or table in missing or \
                table in ("missing", "advice", "try", "regions", "region_tree", "overheads", "tasks", "parallelism", "whatif",
                          "speedup", "efficiency", "critical_path", "source"), (name, table)
        assert "hpcrun-lite -t" in missing.get("phases", "") or name == "charted", missing
        base.close()
        os.remove(os.path.join(directory, "sqlite"))
        schemas.append(columns)
    for other in schemas[1:]:
        for table, columns in schemas[0].items():
            assert all(other[table][column] == kind for column, kind in columns.items() if column in other[table]), table


@case
def grains_and_intervals_are_in_the_database_where_they_are_asked_for(directory):
    path = os.path.join(directory, "asked")
    for views, golden, tables in ((("--view", "grains"), "recorded", {"grains"}),
                                  (("--view", "timeline"), "traced", {"timeline"})):
        must(REPORT, "-q", "-f", "sqlite", *views, "-o", path, os.path.join(GOLDEN, golden))
        base = sqlite3.connect(path)
        for table in tables:
            wanted = rows(table, os.path.join(GOLDEN, golden))
            assert base.execute(f"select count(*) from {table}").fetchone()[0] == len(wanted) > 0, table
        base.close()
        os.remove(path)
    done = run(REPORT, "-q", "-f", "sqlite", "--view", "flat", "-o", path, os.path.join(GOLDEN, "basic"))
    assert done.returncode == 2 and "leave out view 'flat'" in done.stderr, done
    must(REPORT, "grains", os.path.join(GOLDEN, "recorded"), "-q", "-f", "sqlite", "-o", path)
    base = sqlite3.connect(path)
    assert base.execute("select count(*) from grains").fetchone()[0] > 0
    base.close()


def documented_queries():
    with open(os.path.join(SOURCE, "doc", "exports.md"), encoding="utf-8") as file:
        return re.findall(r"^```sql\n(.*?)^```", file.read(), re.M | re.S)


@case
def views_on_the_axis_of_time_are_cut_once_in_a_database_of_a_part(directory):
    """Other tables come from processes that are cut to the part."""
    path = os.path.join(directory, "part")
    for golden, name in (("charted", "phases"), ("traced", "phases")):
        source = os.path.join(GOLDEN, golden)
        assert run(REPORT, "-q", "-f", "sqlite", "--from", "0.5", "-o", path, source).returncode < 2  # 1: not all is traced
        base = sqlite3.connect(path)
        base.row_factory = sqlite3.Row
        wanted = table(run(REPORT, "-q", "--view", name, "-f", "csv", "--from", "0.5", source).stdout)
        found = base.execute(f"select * from {name}").fetchall()
        assert len(found) == len(wanted) > 0, (golden, name, len(found), len(wanted))
        for row, expected in zip(found, wanted):
            for column in row.keys():
                assert isinstance(row[column], str) or row[column] == cell(expected[column]), (golden, name, column)
        base.close()
        os.remove(path)


@case
def documented_queries_give_what_the_views_show(directory):
    base = database(directory, measurement())
    found = [base.execute(query).fetchall() for query in documented_queries()]
    assert len(found) >= 3 and all(found), found
    flat = collections.Counter()
    for row in rows("flat", measurement()):
        flat[row["name"]] += float(row["work_excl_s"])
    for name, work, *_ in found[0]:
        assert abs(flat[name] - work) < 1e-6, (name, work)
    wanted, _ = csv_stacks(measurement())
    assert all(tuple(map(clean, path.split(" > "))) in wanted or " > " in "".join(map("".join, wanted))
               for path, *_ in found[1]), found[1]


@case
def a_missing_sqlite_is_one_line(directory):
    """In a tree of its own without the module."""
    tree = os.path.join(directory, "bin")
    os.mkdir(tree)
    program = os.path.join(tree, "hpcprof-lite")
    with open(os.path.join(BIN, "hpcprof-lite"), "rb") as source, open(program, "wb") as file:
        file.write(source.read())
    os.chmod(program, 0o755)
    path = os.path.join(directory, "new")
    done = run(program, "-q", "-f", "sqlite", "-o", path, measurement())
    assert done.returncode == 1 and "this build has no SQLite" in done.stderr and done.stderr.count("\n") == 1, done
    assert os.listdir(directory) == ["bin"]


@case
def a_database_does_not_depend_on_standard_error(directory):
    """Its tables are made by processes of their own: how one fails is reported, and messages may be lost."""
    path, source = os.path.join(directory, "new"), os.path.join(GOLDEN, "places")
    write = REPORT, "-f", "sqlite", "-o", path, source
    database(directory, source).close()  # there is SQLite
    must("sh", "-c", 'exec "$@" 2>/dev/full', "sh", *write)
    os.remove(path)
    need_program("strace")
    done = run("strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=exit_group:signal=KILL", *write)
    assert "table 'run' cannot be made: the process that computed it was ended by signal 9" in done.stderr, done
    assert os.listdir(directory) == ["sqlite"]


# ---- the example ----

@case
def the_notebook_example_runs(directory):
    """With pandas and matplotlib, or it tells what is missing."""
    example = os.path.join(SOURCE, "doc", "examples", "notebook.py")
    for wrong in (), ("--help",), ("--scaling",), ("a", "b"):
        done = run(PYTHON, example, *wrong, cwd=directory)
        assert done.returncode == 2 and done.stderr.startswith("usage: ") and done.stderr.count("\n") == 1, done
    done = run(PYTHON, example, measurement(), PATH=BIN + os.pathsep + os.environ["PATH"], cwd=directory,
               MPLCONFIGDIR=directory)
    if "needs pandas" in done.stderr:
        raise Skip("no pandas")
    missing = run(PYTHON, example, "nowhere", PATH=BIN + os.pathsep + os.environ["PATH"], cwd=directory)
    assert missing.returncode == 1 and missing.stderr.count("\n") == 1 and "hpcprof-lite: " in missing.stderr, missing
    if not os.path.exists(MODULE):
        raise Skip("built without SQLite")
    assert done.returncode == 0 and "burn" in done.stdout and "work_excl_s" in done.stdout, done
    runs = os.path.join(directory, "runs")
    must(LAUNCHER, "-q", "--scaling", "1,2", "-o", runs, build("exported.c"), cwd=directory)
    done = run(PYTHON, example, "--scaling", runs, PATH=BIN + os.pathsep + os.environ["PATH"], cwd=directory,
               MPLCONFIGDIR=directory)
    if "needs matplotlib" in done.stderr:
        return
    with open(os.path.join(directory, "scaling.png"), "rb") as file:
        assert file.read(4) == b"\x89PNG" and done.returncode == 0 and "speedup" in done.stdout, done


# ---- failures ----

@case
def what_an_export_cannot_do_is_refused(directory):
    def refused(status, *arguments):
        done = run(REPORT, *arguments, measurement())
        assert done.returncode == status and done.stderr.count("\n") == 1 and not done.stdout, done
        return done.stderr

    path = os.path.join(directory, "new")
    for form in FORMATS:
        assert "leave out view 'flat'" in refused(2, "--view", "flat", "-f", form, "-o", path)
        assert "leave out --sort" in refused(2, "--sort", "name", "-f", form, "-o", path)
        assert "--compare needs" in refused(2, "--compare", "base", "-f", form, "-o", path)
        if form != "sqlite":
            assert "nothing matches" in refused(2, "--root", "nowhere", "-f", form, "-o", path)
        if form != "folded":
            assert "only format folded has one metric" in refused(2, "--metric", "work", "-f", form, "-o", path)
    assert "this run has work, overhead" in refused(2, "--metric", "cycles", "-f", "folded", "-o", path)
    assert "format sqlite is a database" in refused(2, "-f", "sqlite")
    assert "format sqlite has all contexts" in refused(2, "-f", "sqlite", "-o", path, "--depth", "2")
    assert "format sqlite has no conditions" in refused(2, "-f", "sqlite", "-o", path, "--fail-if", "work > 1 s")
    if os.path.exists(MODULE):
        assert "not a regular file" in refused(1, "-f", "sqlite", "-o", "/dev/null")
    assert not os.listdir(directory)


@case
def measurements_and_directories_are_not_replaced(directory):
    copy = os.path.join(directory, "copy")
    shutil.copytree(measurement(), copy)
    kept = [path for path in glob.glob(os.path.join(copy, "*")) if path.endswith((".hpcrun", ".trace", ".graph"))]
    before = [contents(path) for path in kept]
    assert kept
    for form in FORMATS if os.path.exists(MODULE) else TREES:
        for path, why in [(path, "it is a file of a measurement; ") for path in kept] + [(copy, "it is a directory; ")]:
            done = run(REPORT, "-q", "-f", form, "-o", path, copy)
            assert done.returncode == 1 and done.stderr.count("\n") == 1 and why in done.stderr, done
    assert [contents(path) for path in kept] == before


@case
def a_link_to_a_file_stays_a_link(directory):
    if not os.path.exists(MODULE):
        raise Skip("built without SQLite")
    place, link = os.path.join(directory, "place"), os.path.join(directory, "link")
    open(place, "wb").close()
    os.symlink("place", link)
    must(REPORT, "-q", "-f", "sqlite", "-o", link, os.path.join(GOLDEN, "places"))
    assert os.path.islink(link) and contents(place).startswith(b"SQLite format 3"), os.listdir(directory)
    os.remove(place)
    done = run(REPORT, "-q", "-f", "sqlite", "-o", link, os.path.join(GOLDEN, "places"))
    assert done.returncode == 1 and "not a regular file" in done.stderr and not os.path.exists(place), done


@case
def an_interrupted_export_leaves_what_was_there(directory):
    need_program("strace")
    path = os.path.join(directory, "there")
    for form in FORMATS if os.path.exists(MODULE) else TREES:
        with open(path, "w", encoding="ascii") as file:
            file.write("before")
        done = run("strace", "-qq", "-o", "/dev/null", "-e", "inject=rename:error=EIO:signal=TERM",
                   REPORT, "-q", "-f", form, "-o", path, os.path.join(GOLDEN, "places"))
        assert done.returncode == -signal.SIGTERM, (form, done)
        with open(path, encoding="ascii") as file:
            assert file.read() == "before" and os.listdir(directory) == ["there"], (form, os.listdir(directory))


@case
def a_full_disk_leaves_no_export(directory):
    with small_disk(directory, "4k") as disk:
        for form in FORMATS if os.path.exists(MODULE) else TREES:
            if form in ("folded", "pprof", "callgrind"):
                continue  # too small to fill it
            done = run(REPORT, "-q", "-f", form, "-o", os.path.join(disk, "new"), measurement())
            assert done.returncode == 1 and re.search("No space left|disk is full|disk I/O", done.stderr), done
            assert done.stderr.count("\n") == 1 and not os.listdir(disk), (form, done)


def peak_kib(*command):
    process = start(*command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.stderr.read()
    return usage.ru_maxrss


@case
def memory_does_not_grow_with_the_contexts(directory):
    """Beside the tree: 100 000 contexts take no more memory than one line of them."""
    source, path = os.path.join(directory, "big"), os.path.join(directory, "out")
    must(os.path.join(BUILD, "tests", "synthesize"), "--threads", "2", "--contexts", "100000", source)
    least = peak_kib(REPORT, "-q", "-f", "folded", "--depth", "1", "-o", path, source)
    for form in TREES:
        used = peak_kib(REPORT, "-q", "-f", form, "-o", path, source)
        assert used < least + 6000, (form, used, least)
        assert os.path.getsize(path) > 1000000, form


main()
