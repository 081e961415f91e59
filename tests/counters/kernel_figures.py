"""What the kernel counts for threads, without an option: page faults, context switches, system time, created threads,
in the context and the construct in which they came up; sums that must hold; kills, levels, parts of the run.

Usage: kernel_figures.py [-k CASE]"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as files
from measured import Measurement, build, combinations, tap, write

PAGES, ONCE, SLEEPS, REGIONS, CREATED, FILLINGS = 20000, 1000, 50, 200, 30, 20
FEW = 128  # faults of code, stacks and the runtime's memory that a function may be the first to use
FIGURES = {"user": "_s", "system": "_s", "page_faults": "", "switches": "", "threads_created": "", "create": "_s"}
COMPILERS = ("gcc", "clang")


def measure(directory, compiler, form, *options, prefix=(), expected=0):
    run = Measurement(directory, build("kernel_figures.c", compiler), form, options=options, prefix=prefix)
    assert run.done.returncode == expected, run.done
    return run


def of_function(run, name, column, *options):
    rows = run.view("flat", "--percent-limit", "0", *options)
    return sum(int(row[column]) for row in rows if row["name"] == name)


def own_figures(run):
    """What the program reads of itself at its end: page faults and context switches of its first thread."""
    minor, major, switches = map(int, run.done.stdout.split())
    return minor + major, switches


def threads_of(run):
    """The records of threads, as stored."""
    path, = (os.path.join(run.output, name) for name in os.listdir(run.output) if name.endswith(".hpcrun"))
    return [record for extent in files.extents(path) if extent.table == files.THREAD for record in extent.parsed()]


@tap.case
def a_function_has_the_faults_of_the_pages_that_it_touches(directory):
    deny = build("deny_perf_event.c", openmp=False)
    for compiler, prefix in combinations(COMPILERS, ((), (deny,))):
        run = measure(directory, compiler, "serial", prefix=prefix)
        faults = of_function(run, "touch_pages", "page_faults_incl")
        others = of_function(run, "nothing", "page_faults_incl")
        assert PAGES <= faults <= PAGES + FEW and others <= FEW, (compiler, prefix, faults, others)
        switches = of_function(run, "sleep_often", "switches_incl")
        assert switches >= SLEEPS, (compiler, prefix, switches)
        row, = (row for row in run.view("threads") if row["thread"] == "1")
        most, switched = own_figures(run)
        assert PAGES <= int(row["page_faults"]) <= most, (row["page_faults"], most)
        assert SLEEPS <= int(row["voluntary_switches"]) <= switched, (row, switched)


@tap.case
def a_region_has_the_faults_of_its_threads(directory):
    for compiler in COMPILERS:
        for mode in ("online", "log"):
            run = measure(directory, compiler, "parallel", "-p", mode)
            rows = [row for row in run.view("regions") if row["kind"] == "parallel"]
            found = sorted(int(row["page_faults"]) for row in rows if row["thread"] != "SUM")
            assert len(found) == 4 and max(found[:2]) <= FEW, (compiler, mode, found)
            assert all(PAGES <= faults <= PAGES + FEW for faults in found[2:]), (compiler, mode, found)
            for place in {row["region"] for row in rows}:
                parts = [int(row["page_faults"]) for row in rows if row["region"] == place and row["thread"] != "SUM"]
                whole, = (int(row["page_faults"]) for row in rows if row["region"] == place and row["thread"] == "SUM")
                assert sum(parts) == whole, (place, parts, whole)


def figure_of(row, figure, unit):
    """What a row of threads has of a figure of contexts, in billionths."""
    names = ("voluntary_switches", "involuntary_switches") if figure == "switches" else (figure + unit,)
    return sum(round(float(row[name]) * 1e9) for name in names)


@tap.case
def contexts_constructs_and_threads_have_the_same_sums(directory):
    for compiler, form, options in combinations(COMPILERS, ("parallel", "teams"), ((), ("-p", "off"), ("-e", "wall"),
                                                                                 ("-t",), ("-e", "instructions"))):
        if tap.run(tap.LAUNCHER, "-q", "--overwrite", *options, "true", cwd=directory).returncode == 125:
            continue  # the event is not available
        run = measure(directory, compiler, form, *options)
        rows, threads = run.view("topdown", "--percent-limit", "0"), run.view("threads")
        tree = run.view("region-tree") if "off" not in options else []
        for figure, unit in FIGURES.items():
            whole = round(float(rows[0][figure + "_incl" + unit]) * 1e9)
            own = sum(round(float(row[figure + "_excl" + unit]) * 1e9) for row in rows)
            known = {row["thread"]: figure_of(row, figure, unit) for row in threads}
            assert whole == own == sum(known.values()), (compiler, form, options, figure, whole, own)
            for row in tree:  # a thread that ends before it takes part in a region has no row
                if row["kind"] == "program" and row["thread"] != "SUM" and figure != "user":
                    assert known[row["thread"]] == round(float(row[figure + unit]) * 1e9), (compiler, form, options, row)


@tap.case
def both_times_are_the_cpu_time_without_the_tool(directory):
    for compiler in COMPILERS:
        run = measure(directory, compiler, "parallel")
        for thread in threads_of(run):
            used, own = sum(thread.usage[:2]), sum(thread.tool_usage[:2])
            # what is not in a sample: the start of the thread in the tool, and its end; both figures are read in turn
            rest = thread.cpu_ns - used - own
            assert own > 0 and -100000 <= rest <= 5000000, (compiler, thread.index, thread.cpu_ns, used, own)


@tap.case
def each_creation_of_a_thread_counts_where_it_happens(directory):
    for compiler in COMPILERS:
        for mode in ("online", "off"):
            run = measure(directory, compiler, "teams", "-p", mode)
            threads = len(run.view("threads"))
            created = of_function(run, "teams", "threads_created_incl")
            assert created == threads - 1, (compiler, mode, created, threads)
            if compiler == "gcc":  # each change of the team's size: two threads end or are created
                assert created == 3 + 2 * (REGIONS // 2 - 1), created
            if mode == "online":
                row, = (row for row in run.view("regions") if row["kind"] == "parallel" and row["thread"] == "SUM")
                assert int(row["threads_created"]) == created and float(row["create_s"]) > 0, row
    run = measure(directory, "gcc", "create")
    assert of_function(run, "create", "threads_created_incl") == CREATED
    first, *others = run.view("threads")
    assert len(others) == CREATED and all(ONCE <= int(row["page_faults"]) <= ONCE + FEW for row in others), others
    assert first["threads_created"] == str(CREATED) and float(first["create_s"]) > 0, first


@tap.case
def the_counter_fills_the_column(directory):
    run = measure(directory, "gcc", "parallel", "-c", "page-faults")
    for row in run.view("topdown"):
        assert row["page_faults_incl"] == row["page-faults_incl"], row
        assert row["page_faults_excl"] == row["page-faults_excl"], row
    for view in ("regions", "region-tree"):
        for row in run.view(view):
            assert row["page_faults"] == row["page-faults" + "_incl" * (view == "region-tree")], (view, row)


@tap.case
def a_killed_program_leaves_what_samples_have_seen(directory):
    run = measure(directory, "gcc", "killed", expected=-9)
    faults = of_function(run, "touch_pages", "page_faults_incl")
    assert PAGES <= faults <= PAGES + FEW, faults


@tap.case
def without_samples_threads_have_all(directory):
    settings = write(os.path.join(directory, "settings"), "[measure]\nlevel = summary\n")
    run = measure(directory, "gcc", "parallel", "--config", settings)
    for row in run.view("threads"):
        assert PAGES <= int(row["page_faults"]) <= PAGES + 8 * FEW, row
        assert float(row["user_s"]) + float(row["system_s"]) <= float(row["cpu_s"]) + 1e-5, row


@tap.case
def of_a_part_nothing_is_known(directory):
    run = measure(directory, "gcc", "parallel", "-t")
    part = "--from", "0.01", "--to", "0.1"
    for view in ("threads", "topdown", "regions"):
        rows = run.view(view, *part)
        names = [name for name in rows[0] if name.startswith(("page_faults", "system", "switches", "threads_created"))]
        assert names and not any(row[name] for row in rows for name in names), (view, names)
    fact, = (row for row in run.view("summary", *part) if row["section"] == "kernel")
    assert (fact["item"], fact["value"]) == ("known of", "the whole run"), fact
    sentence = "created threads are known only for the whole run"
    assert sentence in " ".join(tap.must(tap.REPORT, "--legend", *part, run.output).split())
    assert sentence not in " ".join(tap.must(tap.REPORT, "--legend", run.output).split())


@tap.case
def the_summary_names_the_kernel_if_its_ticks_suffice(directory):
    tick_s = time.clock_getres(time.CLOCK_MONOTONIC_COARSE) if hasattr(time, "CLOCK_MONOTONIC_COARSE") else 0.004
    for form in ("serial", "create"):
        run = measure(directory, "gcc", form)
        facts = {row["item"]: float(row["value"]) for row in run.view("summary") if row["section"] == "kernel"}
        user, system = facts["user"], facts["system"]
        named = "In the kernel: " in " ".join(tap.must(tap.REPORT, "--legend", run.output).split())
        assert named == (int(system / tick_s) >= 25 and system * 10 >= user + system), (form, facts)


@tap.case
def a_busy_process_on_the_same_cpu_switches_the_thread_out(directory):
    cpu = max(os.sched_getaffinity(0))
    with subprocess.Popen(("taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass")) as busy:
        try:
            run = measure(directory, "gcc", "serial", prefix=("taskset", "-c", str(cpu)))
        finally:
            busy.kill()
    row, = (row for row in run.view("threads") if row["thread"] == "1")
    voluntary, involuntary = int(row["voluntary_switches"]), int(row["involuntary_switches"])
    assert involuntary > 0 and SLEEPS <= voluntary and voluntary + involuntary <= own_figures(run)[1], row
    cores = {row["item"]: row for row in run.view("summary") if row["section"] == "cores"}
    assert float(cores["without core"]["value"]) > 0, cores
    assert not {"binding", "oversubscription", "smt"} & set(cores), cores  # it has as many cores as it needs


def evidence(run, item):
    return [row for row in run.view("summary") if row["section"] == "evidence" and row["item"] == item]


@tap.case
def threads_that_come_and_go_are_evidence_with_their_place(directory):
    for compiler, form, options in combinations(COMPILERS, ("teams", "create", "parallel"), ((), ("-p", "off"))):
        run = measure(directory, compiler, form, *options)
        found = evidence(run, "thread-churn")
        text = " ".join(tap.must(tap.REPORT, "--legend", run.output).split())
        if form == "create" or (form, compiler) == ("teams", "gcc"):
            created = CREATED if form == "create" else 3 + 2 * (REGIONS // 2 - 1)
            row, = found
            place = f"in {form} (kernel_figures.c:"
            assert int(row["value"]) == created and row["unit"] == "threads", (compiler, form, found)
            assert row["note"].startswith(place) and f"threads created: {created}, by calls" in row["note"], row
            at_once = int(row["note"].split("at most ")[1].split()[0])
            assert at_once * 2 <= created, row
            assert f"Threads come and go {place}" in text, (compiler, form, text)
        else:  # libomp keeps its threads
            assert not found and "come and go" not in text, (compiler, form, found)


@tap.case
def much_time_in_the_kernel_is_evidence_with_its_place(directory):
    run = measure(directory, "gcc", "fill")
    rows = run.view("topdown", "--percent-limit", "0")
    parents = {row["id"]: row for row in rows}
    whole = float(rows[0]["user_incl_s"]) + float(rows[0]["system_incl_s"])
    places = {}
    for row in rows:
        at = row
        while at["kind"] in ("runtime", "line"):
            at = parents[at["parent_id"]]
        known = places.setdefault(at["name"], [0, 0])
        known[0] += float(row["system_excl_s"])
        known[1] += int(row["page_faults_excl"])
    found = evidence(run, "kernel")
    assert found, places
    for row in found:
        name = re.match(r"in (.*?)( \([^()]*:\d+\))?: ", row["note"]).group(1)
        system_s, faults = places[name]
        assert abs(float(row["value"]) - system_s) < 1e-6 and system_s >= 0.1 * whole, (row, places)
        assert f"page faults there: {faults}," in row["note"], (row, places)
    assert sum(faults for _, faults in places.values()) >= FILLINGS * PAGES, places


tap.main()
