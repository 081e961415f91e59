"""What a filter of the measurement leaves out of contexts, constructs, threads, ranks and time; that sums, idle times,
work and span stay as they are without it; and that reports say so."""
import base64
import glob
import gzip
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from jobs import mpirun
from measured import Measurement, build, tap
from report import VIEWS, check_spans, report
from report import rows as report_rows

ALL_VIEWS = VIEWS + ("timeline", "phases", "advice", "grains")

THREADS = 2
TOTAL = 0.05 + 0.1 + 0.05 + 0.05 + 0.031 + 0.05 + 0.075 + 0.05  # seconds of work, in the order of main()
COMPILERS = ("gcc", "clang")
ERROR = 0.05
SETTINGS = {"OMP_NUM_THREADS": str(THREADS), "OMP_WAIT_POLICY": "passive"}


def configuration(directory, *filters, sections=""):
    """A configuration file with the filters, each "KEY VALUE"."""
    path = os.path.join(directory, "filter.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[filter]\n" + "".join(f"{' = '.join(line.split(' ', 1))}\n" for line in filters) + sections)
    return path


def measure(directory, *filters, compiler="gcc", events="task-clock@f2000", options=(), arguments=(), launcher_prints=False):
    run = Measurement(directory, build("filtered.c", compiler, "-O2"), *arguments,
                      options=("--config", configuration(directory, *filters), "-e", events, *options), **SETTINGS)
    assert run.done.returncode == 0, run.done
    assert launcher_prints or "filter: " not in run.done.stderr, run.done.stderr
    return run


def work(nodes, *path, kind=None):
    """Work of the rows whose path ends so; the first one is a child of the root if it is "/"."""
    found = [node for node in nodes if node.path()[-len(path):] == list(path) or
             (path[0] == "/" and node.path() == list(path[1:]))]
    assert all(kind in (None, node.kind) for node in found), [(node.kind, node.name) for node in found]
    return sum(node.value("work_incl_s") for node in found)


def total(nodes):
    return nodes[0].value("work_incl_s")


def names(nodes):
    return {node.name for node in nodes if node.value("work_incl_s") > 0}


def close(found, expected, what=""):
    tap.timed(abs(found - expected) < max(ERROR * expected, 0.006), f"{what}: {found:.4f}, not {expected:.4f}")


def check_sums(run):
    """All categories of all threads add up to their time, and nothing was lost for the filter."""
    categories = ("work_s", "overhead_s", "lockwait_s", "idle_s", "tool_s", "core_wait_s", "waiting_no_core_s",
                  "blocked_s")
    rows = run.threads()
    sums, wall = (sum(float(row[column]) for row in rows for column in columns) for columns in (categories, ("wall_s",)))
    tap.timed(abs(sums - wall) < 0.03 * wall + 0.05, (sums, wall))
    lost = {row["item"]: row["value"] for row in run.view("summary") if row["section"] == "health"}
    for loss in ("samples dropped without memory", "unwinds cut short"):
        assert lost[loss] == "0", lost


@tap.case
def an_excluded_function_ends_in_filtered_below_its_caller(directory):
    for compiler, clock in (("gcc", "online"), ("clang", "online"), ("clang", "off")):
        run = measure(directory, "functions !left_out", compiler=compiler, options=("-p", clock))
        nodes, what = run.tree(), f"{compiler}, -p {clock}"
        close(total(nodes), TOTAL, what)
        close(work(nodes, "main", "[filtered]", kind="filtered"), 0.1, what)
        assert "left_out" not in names(nodes), what
        close(work(nodes, "main", "kept"), 0.05, what)
        check_sums(run)


@tap.case
def waiting_is_the_same_with_and_without_a_filter(directory):
    for what in ("functions !constructs", "functions kept", "constructs !critical"):
        run = measure(directory, what, compiler="clang")
        root = run.tree()[0]
        rows = run.threads()
        exact = sum(float(row["lockwait_s"]) for row in rows)
        charged = root.value("lockwait_incl_s")
        tap.timed(abs(charged - exact) <= 0.02 * exact + 1e-3, (what, charged, exact))
        elapsed = next(float(row["value"]) for row in run.view("summary") if row["item"] == "elapsed")
        idle = sum(float(row["idle_s"]) for row in rows) + THREADS * elapsed - sum(float(row["wall_s"]) for row in rows)
        charged = root.value("idleness_incl_s")
        tap.timed(abs(charged - idle) <= 0.02 * idle + 1e-3, (what, charged, idle))
        close(total(run.tree()), TOTAL, what)


@tap.case
def a_worker_has_the_function_that_created_its_region(directory):
    for compiler, clock in (("gcc", "off"), ("clang", "online")):
        run = measure(directory, "functions kept", compiler=compiler, options=("-p", clock))
        nodes, what = run.tree(), f"{compiler}, -p {clock}"
        close(total(nodes), TOTAL, what)
        close(work(nodes, "main", "kept"), 0.05, what)
        close(work(nodes, "solve", "kept"), 0.05, what)
        close(sum(node.value("work_incl_s") for node in nodes if node.name == "kernel"), 0.1, what)
        close(work(nodes, "/", "[filtered]", kind="filtered"), TOTAL - 0.1, what)
        check_sums(run)


@tap.case
def a_function_inside_a_region_includes_the_path_to_it(directory):
    run = measure(directory, "functions wanted", compiler="clang")
    nodes = run.tree()
    close(total(nodes), TOTAL)
    wanted = [node for node in nodes if node.name == "wanted"]
    assert wanted and all(node.path()[0] == "main" and node.parent.kind == "parallel" for node in wanted)
    close(work(nodes, "wanted"), 0.05)
    close(work(nodes, "/", "[filtered]"), TOTAL - 0.05)


@tap.case
def excluding_wins_and_patterns_choose(directory):
    nodes = measure(directory, "functions kernel, !left_*, !k[a-f]pt").tree()
    close(total(nodes), TOTAL)
    close(work(nodes, "main", "[filtered]"), 0.1 + 0.05)
    close(sum(node.value("work_incl_s") for node in nodes if node.kind == "user-region"), 0.075)
    close(work(nodes, "wanted", "kernel"), 0.05)
    close(work(nodes, "/", "[filtered]"), TOTAL - 0.15 - 0.05 - 0.075)


@tap.case
def an_inlined_function_is_found(directory):
    for compiler in COMPILERS:
        nodes = measure(directory, "functions !inlined", compiler=compiler).tree()
        close(total(nodes), TOTAL, compiler)
        close(work(nodes, "main", "[filtered]"), 0.025, compiler)
        close(work(nodes, "main", "inlining"), 0.025, compiler)


@tap.case
def modules_match_by_base_name(directory):
    nodes = measure(directory, "modules !filtered-*").tree()
    close(total(nodes), TOTAL)
    close(work(nodes, "[filtered]"), TOTAL)
    nodes = measure(directory, "modules filtered-*").tree()
    close(total(nodes), TOTAL)
    tap.timed(work(nodes, "[filtered]") < 0.01)
    close(work(nodes, "main", "serial"), 0.05)


@tap.case
def tasks_have_the_function_that_created_them(directory):
    for compiler, context in (("gcc", "creation"), ("clang", "region")):
        what = f"{compiler}, {context}"
        nodes = measure(directory, "functions !tasks", compiler=compiler, options=("--task-context", context)).tree()
        close(total(nodes), TOTAL, what)
        close(work(nodes, "main", "[filtered]"), 0.05, what)
        assert "task_body" not in names(nodes), what
        nodes = measure(directory, "functions tasks", compiler=compiler, options=("--task-context", context)).tree()
        close(work(nodes, "task_body"), 0.05, what)
        close(work(nodes, "/", "[filtered]"), TOTAL - 0.05, what)


@tap.case
def user_regions_limit_samples_and_records(directory):
    for compiler in COMPILERS:
        run = measure(directory, "regions solve", compiler=compiler)
        nodes = run.tree()
        close(total(nodes), TOTAL, compiler)
        close(work(nodes, "/", "[filtered]"), TOTAL - 0.075, compiler)
        close(sum(node.value("work_incl_s") for node in nodes if node.kind == "user-region"), 0.075, compiler)
        found = {row["kind"] for row in run.view("region-tree") if row["kind"] not in ("program", "reduction")}
        assert found == {"user-region", "parallel"}, found
        check_sums(run)


@tap.case
def constructs_without_records_belong_to_what_is_around_them(directory):
    loop = next(row["line"] for row in measure(directory).view("regions") if row["kind"] == "for")
    for compiler, what, missing, kept in (
            ("gcc", "!critical", {"critical"}, {"parallel", "for", "barrier", "user-region"}),
            ("clang", "!parallel", {"parallel"}, {"critical", "for", "user-region"}),
            ("clang", "parallel, critical", {"for", "barrier", "user-region"}, {"parallel", "critical"}),
            ("gcc", f"!filtered.c:{loop}", {"for"}, {"parallel", "critical", "user-region"})):
        run = measure(directory, "constructs " + what, compiler=compiler)
        rows = run.view("region-tree", "--percent-limit", "0")
        found = {row["kind"] for row in rows}
        assert not found & missing and kept <= found, (compiler, what, found)
        wall = sum(float(row["wall_s"]) for row in run.threads())
        lived = sum(float(row["incl_s"]) for row in rows if row["kind"] == "program" and row["thread"] == "SUM")
        tap.timed(abs(lived - wall) < 0.02 * wall + 0.005, (compiler, what, lived, wall))
        spans = run.view("parallelism")
        check_spans(spans)
        close(float(spans[0]["work"]), TOTAL, f"{compiler}, {what}: work")
        assert {"critical", "parallel"} <= {row["kind"] for row in spans}, spans
        close(total(run.tree()), TOTAL, what)


@tap.case
def threads_that_are_left_out_have_no_samples(directory):
    run = measure(directory, "threads 1,3-9")
    one, two = run.threads()
    assert int(two["samples"]) == 0 and float(two["work_s"]) == 0 and float(two["idle_s"]) > 0, two
    tap.timed(int(one["samples"]) > 250 and float(two["cpu_s"]) > 0.075, (one, two))
    close(total(run.tree()), float(one["work_s"]))
    close(float(run.view("parallelism")[0]["work"]), TOTAL, "work of both")


@tap.case
def only_a_part_of_the_run_is_measured(directory):
    both = ("skip-first 200 ms", "only 300 ms")
    for events, clock, limits, expected in (("task-clock@f1000", "online", both[:1], {"late", "after"}),
                                            ("task-clock@f1000", "online", both[1:], {"early"}),
                                            ("wall@f1000", "online", both, {"late"}),
                                            ("task-clock@f1000", "off", both, {"late"})):
        what = f"{events}, -p {clock}, {limits}"
        run = measure(directory, *limits, arguments=("sleeps",), events=events,
                      options=("-p", clock, "-tstates"))
        nodes = run.tree()
        found = names(nodes) & {"early", "late", "after"}
        tap.timed(found == expected, what, found)
        for name in found:
            tap.timed(work(nodes, name) > 0.01, what, name)
        if clock == "online":
            check_gaps(run, limits, what)


def check_gaps(run, limits, what):
    """The initial thread's states: a gap exactly where measuring was paused, while the thread slept."""
    rows = [row for row in run.view("timeline") if row["thread"] == "1"]
    gaps = [(float(row["start_s"]), float(row["end_s"])) for row in rows if row["kind"] == "gap"]
    tap.timed(gaps, what, rows)
    skipped = 0.2 if limits[0].startswith("skip") else 0
    if skipped:
        # the first gap begins with the thread's trace, once the tool has started
        tap.timed(gaps[0][0] < 0.02 and abs(gaps[0][1] - skipped) < 0.002, what, gaps)
    if limits[-1].startswith("only"):
        tap.timed(abs(gaps[-1][0] - skipped - 0.3) < 0.002, what, gaps)


@tap.case
def other_ranks_are_not_measured(directory):
    output = os.path.join(directory, "job")
    done = mpirun("openmpi", 4, tap.LAUNCHER, "--config", configuration(directory, "ranks 1-2,7"), "-o", output,
                  build("filtered.c", "gcc", "-O2"), "s", cwd=directory)
    assert done.returncode == 0, done
    assert len(glob.glob(os.path.join(output, "*.hpcrun"))) == 2, os.listdir(output)
    summary = report(output, "--view", "summary", "-f", "csv").stdout
    assert "filtered,\"ranks 1-2,7\"" in summary, summary


@tap.case
def every_report_names_the_filter(directory):
    run = measure(directory, "functions !left_out", "skip-first 2 ms", "threads 1-9", options=("-p", "log", "-t"))
    text = "functions !left_out; threads 1-9; skip-first 2 ms"
    for view in ALL_VIEWS:
        printed = report(run.output, "--view", view).stdout
        assert "Filtered: " + text in " ".join(printed.split()) and printed.count("Filtered:") == 1, (view, printed)
        if view != "grain-graph":
            assert json.loads(report(run.output, "--view", view, "-f", "json").stdout)["run"]["filtered"] == text, view
    rows = json.loads(report(run.output, "--view", "summary", "-f", "json").stdout)["rows"]
    assert [row["value"] for row in rows if row["item"] == "filtered"] == [text]
    exported = json.loads(report(run.output, "-f", "perfetto").stdout)
    assert exported["otherData"]["filtered"] == text
    exported = json.loads(report(run.output, "-f", "firefox").stdout)
    assert exported["meta"]["extra"][0]["entries"][0]["value"] == text
    archive = os.path.join(directory, "archive")
    if report("-f", "otf2", "-o", archive, run.output).returncode == 0:  # where the library of OTF2 is
        with open(os.path.join(archive, "traces.otf2"), "rb") as file:
            assert f"Filtered: {text}".encode() in file.read()
    page = re.search('id="table-summary">([^<]*)<', report(run.output, "-f", "html").stdout).group(1)
    assert text.encode() in gzip.decompress(base64.b64decode(page))
    again = os.path.join(directory, "unfiltered")
    shutil.move(measure(directory).output, again)
    run = measure(directory, "threads 1")
    for view in ("summary", "topdown"):
        assert "Filtered:" not in report(again, "--view", view).stdout
    compared = report("--compare", again, run.output, "--fail-if", "work < -1%")
    assert "were not measured with the same filter (none; threads 1)" in compared.stderr, compared.stderr
    assert "Filtered: threads 1" in compared.stdout, compared.stdout
    assert "with different filters" in compared.stderr, compared.stderr
    assert "same filter" not in report("--compare", run.output, run.output).stderr
    assert "--scaling: " in report("--scaling", again, run.output).stderr


@tap.case
def many_addresses_go_through_a_file(directory):
    run = measure(directory, "functions !*e*[a-m], !left_out")
    files = glob.glob(os.path.join(run.output, "*.filter"))
    assert len(files) == 1 and os.path.getsize(files[0]) > 32768, os.listdir(run.output)
    nodes = run.tree()
    close(total(nodes), TOTAL)
    assert "left_out" not in names(nodes) and "kernel" not in names(nodes), names(nodes)
    again = measure(directory, "functions !left_out")  # -o with --overwrite removes the file
    assert not glob.glob(os.path.join(again.output, "*.filter"))


def started(directory, *command, sections="", filters=("functions !left_out",)):
    """Measures a command that starts the program.  Returns its directory and what the launcher printed."""
    output = os.path.join(directory, "started")
    done = tap.run(tap.LAUNCHER, "--overwrite", "-o", output, "-e", "task-clock@f2000", "--config",
                   configuration(directory, *filters, sections=sections), *command, cwd=directory, **SETTINGS)
    assert done.returncode == 0 and "filter: " not in done.stderr, done
    return output


def filtered_work(output):
    rows = [row for row in report_rows("topdown", output) if row["kind"] == "filtered"]
    return sum(float(row["work_incl_s"]) for row in rows)


@tap.case
def programs_that_others_start_are_filtered(directory):
    program = build("filtered.c", "gcc", "-O2")
    script = os.path.join(directory, "run.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\ncd /\nsed -n 1p {script} >/dev/null\n{program}\nexec {program}\n")
    os.chmod(script, 0o755)
    output = started(directory, script)
    close(filtered_work(output), 2 * 0.1)
    assert "in no program" not in " ".join(report(output, "--view", "flat").stdout.split())
    assert len(glob.glob(os.path.join(output, "*.filter"))) == 2, os.listdir(output)  # sed, the program
    name = os.path.basename(program)
    assert filtered_work(started(directory, "env", "A=1", program, filters=("constructs !filtered.c:12",))) == 0
    output = started(directory, "sh", "-c", f"trap '' CHLD; {program}; :", filters=(),
                     sections=f"[program {name}]\nfunctions = !kept, !nowhere\n")
    close(filtered_work(output), 2 * 0.05)
    assert "; found in no program: nowhere" in " ".join(report(output, "--view", "flat").stdout.split())


@tap.case
def names_that_are_not_found_are_reported(directory):
    for text in ("functions nowhere", "constructs filtered.c:1"):
        run = measure(directory, text, launcher_prints=True, arguments=("expr",))  # a program, which it does not start
        assert "is not in" in run.done.stderr and text.split()[1] in run.done.stderr, run.done
        assert "found in no program: " + text.split()[1] in " ".join(report("--legend", run.output).stdout.split()), text
    for parallelism in ("online", "off"):
        run = measure(directory, "regions solve, nowhere", options=("-p", parallelism))
        assert "; found in no program: nowhere " in " ".join(report("--legend", run.output).stdout.split()) + " ", parallelism


tap.main()
