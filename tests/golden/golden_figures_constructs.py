#!/usr/bin/env python3
"""Times of constructs of the golden measurements, derived by hand from what golden_constructs.c puts into them.
Regions A and B are the worked examples of the ompP paper, in tenths of a second."""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import golden_report, golden_rows as rows
from tap import GOLDEN, REPORT, case, main, start

NAMES = {name: f"app+{0x1010 + 16 * i:#x}" for i, name in enumerate(
    "A critical B B_single B_task C C_single C_task D barrier D_task E inner loop F sections lock single".split())}
WALL = 3000


def ms(cell):
    """A time in milliseconds; None: the cell is empty."""
    return round(float(cell) * 1e3, 6) if cell else None


def figures(table, name, *columns, kind=None):
    """The figures of a construct by thread: one or a tuple, in milliseconds."""
    found = {}
    for row in table:
        if row["name"] == NAMES.get(name, name) and (kind or row["kind"]) == row["kind"]:
            cells = tuple(ms(row[column + "_s"]) for column in columns)
            found[row["thread"]] = cells if len(cells) > 1 else cells[0]
    return found


def count(table, name, column, kind=None):
    """A column of the sum of a construct."""
    row, = (row for row in table if row["name"] == NAMES.get(name, name) and row["thread"] == "SUM" and
            (kind or row["kind"]) == row["kind"])
    return row[column]


@case
def a_critical_section_is_entered_by_one_thread_after_another(_):
    """Figure 1: bodies of 1.0; enter 0, 2, 1, 3."""
    table = rows("--view", "regions", "constructs")
    assert figures(table, "critical", "exec", "body", "enter", "exit") == {
        "1": (100, 100, 0, None), "2": (300, 100, 200, None), "3": (200, 100, 100, None), "4": (400, 100, 300, None),
        "SUM": (1000, 400, 600, None)}
    assert (count(table, "critical", "exec_count"), count(table, "critical", "executions")) == ("4", "4")


@case
def tasks_run_at_the_closing_barrier(_):
    """Figures 5 and 8: five tasks of 1.0 on two threads."""
    table = rows("--view", "regions", "constructs")
    assert figures(table, "B", "exec", "body", "exit_barrier", "startup", "shutdown", "task") == {
        "1": (300, 0, 0, 0, 0, 300), "2": (300, 0, 100, 0, 0, 200), "SUM": (600, 0, 100, 0, 0, 500)}
    tree = {row["id"]: row for row in rows("--view", "region-tree", "constructs") if row["thread"] == "SUM"}

    def above(name, kind):
        row, = (row for row in tree.values() if row["name"] == NAMES[name] and row["kind"] == kind)
        parent = tree[row["parent_id"]]
        return parent["kind"], parent["name"]
    assert above("B_task", "task-exec") == ("parallel", NAMES["B"])
    assert above("B_task", "task") == ("single", NAMES["B_single"])
    assert above("C_task", "task-exec") == ("task", NAMES["C_task"])  # if(0)
    assert above("C_task", "task") == ("single", NAMES["C_single"])


@case
def overheads_are_those_of_the_paper(_):
    """Figure 7: of 6.0, an imbalance of 1.0; with if(0) the other thread waits for all five tasks."""
    table = {row["name"]: row for row in rows("--view", "overheads", "constructs")}
    columns = ("total", "sync", "imbalance", "limited_parallelism", "management", "useful", "gain")
    found = {name: tuple(ms(table[NAMES.get(name, name)][column + "_s"]) for column in columns)
             for name in ("A", "B", "C", "D", "E", "F", "./constructs")}
    assert found == {
        "A": (1616, 600, 600, 0, 12, 404, 303),  # also as a team of one thread in the user region
        "B": (600, 0, 100, 0, 0, 500, 50),
        "C": (1000, 0, 500, 0, 0, 500, 250),
        "D": (226, 100, 0, 0, 6, 120, 53),       # 3 after the last arrival, 3 for the task's creation
        "E": (520, 0, 130, 0, 20, 370, 37.5),    # four threads of three teams
        "F": (304, 10, 30, 50 + 60, 4, 150, 38.5),
        "./constructs": (4 * WALL, 710, 1360, 110, 42, 2044, 303 + 50 + 250 + 53 + 37.5 + 38.5)}
    assert table[NAMES["B"]]["imbalance_pct"] == "16.6667" and table[NAMES["B"]]["sync_pct"] == "0.0000"
    assert list(table)[-1] == "./constructs" and table["./constructs"]["region"] == "program"
    for row in table.values():
        lost = sum(ms(row[column + "_s"]) for column in columns[1:5])
        if row["region"] != "program":
            assert abs(ms(row["total_s"]) - lost - ms(row["useful_s"])) < 1e-6, row


@case
def an_untied_task_runs_on_two_threads(_):
    table = rows("--view", "regions", "constructs")
    assert figures(table, "D_task", "body", kind="task-exec") == {"1": 60, "2": 40, "SUM": 100}
    assert count(table, "D_task", "exec_count", kind="task-exec") == "1"
    assert figures(table, "barrier", "exec", "exit_barrier", "task")["SUM"] == (203, 103, 100)
    assert figures(table, "D_task", "enter", kind="task") == {"1": 3, "SUM": 3}
    assert figures(table, "B_task", "exec", "enter", kind="task")["SUM"] == (None, None)  # creation was not timed


@case
def inner_regions_hang_below_those_that_create_them(_):
    """Threads 3 and 4 have E_INNER by links; below that, thread 4 creates E once more."""
    table = rows("--view", "regions", "constructs")
    inner1, inner2, inner4 = 2 + 80 + 20 + 2, 2 + 120 + 10 + 2, 2 + 65 + 60 + 2
    assert figures(table, "E", "exec") == {"1": 37 + inner1, "2": 7 + inner2, "4": 5, "SUM": 49 + inner1 + inner2}
    assert figures(table, "inner", "exec", "startup", "exit_barrier", "shutdown") == {
        "1": (inner1, 2, 20, 2), "2": (inner2, 2, 10, 2), "3": (104, 2, 10, 2), "4": (inner4, 2, 60, 2),
        "SUM": (inner1 + inner2 + 104 + inner4, 8, 100, 8)}
    executions = {name: (count(table, name, "exec_count"), count(table, name, "executions"))
                  for name in ("E", "inner", "loop", "single", "sections", "barrier", "lock")}
    assert executions == {"E": ("3", "2"), "inner": ("4", "2"), "loop": ("4", "2"), "single": ("4", "1"),
                          "sections": ("4", "1"), "barrier": ("2", "1"), "lock": ("2", "2")}
    assert len([row for row in table if row["name"] == NAMES["E"]]) == 4  # recursion is folded


@case
def sections_and_single_have_columns_of_their_own(_):
    table = rows("--view", "regions", "constructs")
    assert figures(table, "sections", "exec", "body", "section", "exit_barrier")["SUM"] == (204, None, 120, 84)
    assert [row["section_count"] for row in table if row["kind"] == "sections"] == ["1", "1", "1", "0", "3"]
    assert [row["single_count"] for row in table if row["name"] == NAMES["single"]] == ["1", "0", "0", "0", "1"]
    assert figures(table, "single", "body", "single", "exit_barrier")["SUM"] == (None, 20, 60)
    assert figures(table, "lock", "exec", "enter", "body", "exit")["SUM"] == (60, 10, 50, None)
    assert "counts for the construct around it" in count(table, "lock", "note")


@case
def rows_add_up(_):
    for name, several in (("constructs", False), ("constructs2", True)):
        tree, sums = rows("--view", "region-tree", name), {}
        for row in tree:
            sums[row["thread"]] = sums.get(row["thread"], 0) + (ms(row["excl_s"]) or 0)
            parts = [ms(row[column]) or 0 for column in row if column.endswith("_s") and column not in
                     ("incl_s", "excl_s", "gain_s")]
            assert abs((ms(row["incl_s"]) or 0) - sum(parts)) < 1e-6, row
        lives = {row["thread"]: ms(row["incl_s"]) for row in tree if row["id"] == "0"}
        assert sums == lives and lives["SUM"] == (WALL * 8 if several else WALL * 4), (sums, lives)
        by_id = {}
        for row in tree:
            by_id.setdefault(row["id"], []).append(row)
        for lines in by_id.values():
            assert lines[-1]["thread"] == "SUM"
            for column in ("incl_s", "excl_s", "body_s", "exit_barrier_s", "task_s"):
                assert abs(sum(ms(row[column]) or 0 for row in lines[:-1]) - (ms(lines[-1][column]) or 0)) < 1e-6
        flat = rows("--view", "regions", name)
        gains = [sum(float(row["gain_s"] or 0) for row in table) for table in (tree, flat)]
        assert abs(gains[0] - gains[1]) < 1e-6
        overheads = rows("--view", "overheads", name)
        assert abs(gains[0] - sum(float(row["gain_s"]) for row in overheads[:-1])) < 1e-6, name


@case
def constructs_link_to_their_contexts(_):
    contexts = {row["id"]: row["name"] for row in rows("--view", "topdown", "constructs")}
    table = rows("--view", "regions", "constructs")
    found = {row["name"]: contexts.get(row["context_id"]) for row in table if row["thread"] == "SUM"}
    assert found[NAMES["A"]] == "app+0x1000" and found[NAMES["critical"]] == "app+0x1010", found
    assert found[NAMES["B"]] is None


@case
def the_same_construct_of_two_processes_is_one(_):
    table = rows("--view", "regions", "constructs2")
    # the second process counts in ticks that are twice as long
    assert figures(table, "A", "exec", "body", "exit_barrier", "startup") == {
        "1": (407, 104, 300, 2), "2": (403, 300, 100, 2), "3": (403, 200, 200, 2), "4": (403, 400, 0, 2),
        "5": (224, 20, 200, 2), "6": (224, 220, 0, 2), "SUM": (2064, 1244, 800, 12)}
    assert (count(table, "A", "exec_count"), count(table, "A", "executions")) == ("7", "3")
    loops = [row for row in rows("--view", "region-tree", "constructs2")
             if row["name"] == NAMES["loop"] and row["thread"] == "SUM"]
    assert [(row["depth"], ms(row["incl_s"])) for row in loops] == [("3", 355), ("1", 14)]
    assert figures(table, "loop", "exec")["SUM"] == 355 + 14
    total = rows("--view", "overheads", "constructs2")[-1]
    assert ms(total["total_s"]) == 4 * WALL + 2 * WALL


@case
def what_was_open_at_a_kill_counts(_):
    """For 100 ms, thread 1 waited at a loop's end and thread 2 was in it; thread 3 had ended."""
    table = rows("--view", "regions", "constructs-killed")
    assert figures(table, "loop", "exec", "body", "exit_barrier") == {
        "1": (115, 10, 105), "2": (115, 110, 5), "3": (15, 10, 5), "SUM": (245, 130, 115)}
    assert "Work and span are not known" in golden_report("-q", "--view", "parallelism",
                                                          "constructs-killed").stdout.decode()


@case
def tasks_have_figures(_):
    table = {row["name"]: row for row in rows("--view", "tasks", "constructs")}
    row = table[NAMES["B_task"]]
    assert (row["instances"], row["undeferred"], row["exec_s"], row["exec_mean_s"]) == ("5", "0", "0.500000000",
                                                                                       "0.100000000")
    assert (row["wait_mean_s"], row["elsewhere_pct"], row["create_s"]) == ("0.001000000", "40.0000", "")
    assert table[NAMES["C_task"]]["undeferred"] == "5"
    row = table[NAMES["D_task"]]
    assert (row["untied"], row["dependences"], row["suspended"], row["create_s"]) == ("1", "1", "1", "0.003000000")


@case
def executions_are_counted_in_the_parallelism_view(_):
    table = {row["name"]: row for row in rows("--view", "parallelism", "constructs")}
    assert list(table["./constructs"])[-2:] == ["executions", "device_time"]
    found = {name: table[NAMES[name]]["executions"] for name in ("A", "E", "loop", "B_task", "critical", "lock")}
    assert found == {"A": "2", "E": "2", "loop": "2", "B_task": "5", "critical": "4", "lock": "2"}, found
    assert all(row["executions"] == "" for row in rows("--view", "parallelism", "graph"))


@case
def views_are_sorted_and_shortened(_):
    for view in ("regions", "overheads", "tasks", "region-tree"):
        whole = rows("--view", view, "constructs")
        for column in whole[0]:
            done = golden_report("-q", "--view", view, "-f", "csv", "--sort", column, "constructs")
            assert done.returncode == 0, (view, column, done)
        assert golden_report("--view", view, "--sort", "nothing", "constructs").returncode == 2
        some = rows("--view", view, "--max-rows", "2", "constructs")
        least = {"regions": 2 * 4, "region-tree": 3 * 4, "tasks": 2, "overheads": 3}[view]
        assert least - 2 <= len(some) <= 15 and len(some) < len(whole) and some == [row for row in whole if row in some]
    assert b"'advice' cannot be sorted or shortened" in golden_report("advice", "--sort", "gain_s", "constructs").stderr
    gains = [row["gain_s"] for row in rows("--view", "regions", "--sort", "gain_s", "constructs")
             if row["thread"] == "SUM"]
    assert [float(gain) for gain in gains] == sorted(map(float, gains), reverse=True)
    heavy = rows("--view", "regions", "--percent-limit", "8", "constructs")
    assert {row["name"] for row in heavy} == {NAMES["A"], NAMES["critical"], NAMES["C"]}
    deep = rows("--view", "region-tree", "--depth", "1", "constructs")
    assert {row["depth"] for row in deep} == {"0", "1"}
    tree = rows("--view", "region-tree", "--sort", "kind", "constructs")
    kinds = [row["kind"] for row in tree if row["depth"] == "1" and row["thread"] == "SUM"]
    assert kinds == sorted(kinds)
    for column in ("exec_count", "region", "context_id"): # numbers first, the greatest; names in ascending order
        listed = [row[column].lstrip("R") for row in rows("--view", "regions", "--sort", column, "constructs")
                  if row["thread"] == "SUM"]
        known = [int(value) for value in listed if value]
        assert known == sorted(known, reverse=column == "exec_count") and listed[:len(known)] == list(map(str, known))


@case
def columns_of_constructs_are_chosen(_):
    """Text shows what CSV has, but for columns that only text has."""
    def text(view, columns, *arguments):
        done = golden_report("-q", "--view", view, "--percent-limit", "0", "--columns", columns, *arguments, "constructs")
        return [line.split() for line in done.stdout.decode().splitlines()]
    table = rows("--view", "regions", "constructs")
    for thread, arguments in (("SUM", ()), ("1", ("--per-thread",))):
        lines = text("regions", "region,thread,exec_count", *arguments)
        assert lines[0] == ["region", "thread", "exec_count"], lines[0]
        wanted = [[row["region"], row["thread"], row["exec_count"]] for row in table if row["thread"] == thread]
        assert wanted and [line for line in lines if line[1:2] == [thread] and len(line) == 3] == wanted, lines
    assert text("regions", "section_s,inside_s,construct")[0] == ["section_s", "Body", "Construct"]
    shown = {line[-1]: line for line in text("overheads", "region,kind,imbalance_pct,construct")}
    last = rows("--view", "overheads", "constructs")[-1]
    assert shown["program"] == ["program", "program", f"{float(last['imbalance_pct']):.1f}", "program"], shown
    lines = text("tasks", "name,instances,share_below_10us,exec_min")
    assert lines[1] == [NAMES["B_task"], "5", "0.0", "100", "ms"], lines
    done = golden_report("--view", "region-tree", "-f", "csv", "--columns", "depth,construct,count", "constructs")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "depth,construct,count" and "0,./constructs," in lines, lines[:9]


@case
def the_summary_begins_with_what_could_be_gained(_):
    lines = golden_report("-q", "constructs").stdout.decode().splitlines()
    head = next(line for line in lines if line.startswith("What to change first"))
    assert head.startswith("What to change first (5 findings), and the time"), head
    assert len(lines) <= 24, len(lines)
    found = [re.match(r" +[0-9]\. .*: ([0-9.]+) s \([0-9]+ %\)$", line) for line in lines]
    gains = [match.group(1) for match in found if match]
    assert gains == ["0.250", "0.150", "0.050"], gains
    table = [row for row in rows("constructs") if row["section"] == "constructs"]
    assert len(table) == 5 and table[0]["value"] == "0.250000000"
    assert table[0]["note"] == "waiting for the last thread"


def on_terminal(columns, *arguments):
    """The lines of a report on a terminal of that width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child, text = start(REPORT, "-q", "--no-pager", *arguments, cwd=GOLDEN, stdout=its, NO_COLOR="1", LC_ALL="C"), b""
    os.close(its)
    try:
        while more := os.read(ours, 4096):
            text += more
    except OSError:  # the program has ended
        pass
    os.close(ours)
    child.communicate()
    assert child.returncode == 0, text
    return text.decode().replace("\r", "").splitlines()


@case
def wide_terminals_have_more_columns(_):
    for view in ("regions", "region-tree", "parallelism", "overheads", "tasks"):
        narrow, wide = (on_terminal(columns, "--view", view, "constructs") for columns in (80, 120))
        assert max(map(len, narrow)) <= 80 and max(map(len, wide)) <= 120, view
        heads = [next(line.split() for line in lines if "Construct" in line or "Region" in line)
                 for lines in (narrow, wide)]
        more = {"regions": ["Exit"], "region-tree": ["Enter", "Exit"], "parallelism": ["Count"]}.get(view, [])
        assert [word for word in heads[1] if word not in heads[0]] == more, heads
    row = next(line for line in wide if "B_task" in line or NAMES["B_task"] in line)
    assert row.endswith(f"task ({NAMES['B_task']})"), row


@case
def threads_are_compared_if_they_took_part_equally_often(_):
    lines = golden_report("-q", "--view", "regions", "constructs").stdout.decode().splitlines()
    after = {line.split()[-1]: following for line, following in zip(lines, lines[1:]) if " parallel (" in line}
    assert "uneven" not in after[f"({NAMES['A']})"]  # thread 1 once more than the others
    assert after[f"({NAMES['C']})"].split(": ", 1)[1] == \
        "body and tasks of thread 1: 0.500 s; mean of 2 threads: 0.250 s"


@case
def a_pipe_is_as_wide_as_columns_says(_):
    for view in ("regions", "region-tree", "overheads", "tasks", "summary"):
        for columns, width in (("120", 120), ("60", 60), ("", 80), ("0", 80), ("wide", 80)):
            piped = golden_report("-q", "--view", view, "constructs", LC_ALL="C", COLUMNS=columns).stdout.decode()
            assert piped.splitlines() == on_terminal(width, "--view", view, "constructs"), (view, columns)
    tree = golden_report("-q", "--view", "region-tree", "constructs", COLUMNS="56").stdout.decode()
    assert "2      pa" in tree and "2      3: fo" in tree, tree  # there is no room to indent further


@case
def the_text_says_why_rows_are_missing(_):
    for view, options, reason in (("regions", (), "3 rows below 0.5 % omitted; --percent-limit 0 shows all."),
                                  ("overheads", ("--percent-limit", "5"), "3 rows below 5 % omitted; --perc"),
                                  ("tasks", ("--max-rows", "1"), "2 rows omitted."),
                                  ("region-tree", ("--depth", "1"), "omitted, including those below 0.5 %;")):
        done = golden_report("-q", "--view", view, *options, "constructs")
        assert reason in done.stdout.decode().splitlines()[-1], done


@case
def without_times_of_constructs_there_is_a_hint(_):
    for view in ("regions", "region-tree", "overheads", "tasks"):
        done = golden_report("-q", "--view", view, "-f", "csv", "blame")
        assert done.returncode == 0 and done.stdout.count(b"\n") == 1, view
        done = golden_report("-q", "--view", view, "blame")
        assert done.returncode == 0 and b"hpcrun-lite -p online" in done.stdout
    done = golden_report("-q", "--view", "grains", "blame")
    assert b"hpcrun-lite -p log" in done.stdout and b"online" not in done.stdout


@case
def counts_are_divided_by_rates(_):
    """Of 90 instructions, 30 and 60: 10 and 20 ms of equal rates."""
    tree = {(row["kind"], row["thread"]): row for row in rows("--view", "region-tree", "counted")}
    assert {key: (int(row["instructions_incl"]), int(row["instructions_excl"])) for key, row in tree.items()} == {
        ("program", "1"): (9600, 1000), ("program", "2"): (390, 0), ("program", "SUM"): (9990, 1000),
        ("parallel", "1"): (8600, 5000), ("parallel", "2"): (390, 130), ("parallel", "SUM"): (8990, 5130),
        ("for", "1"): (3600, 3600), ("for", "2"): (260, 260), ("for", "SUM"): (3860, 3860)}
    flat, = (row for row in rows("--view", "regions", "counted") if row["kind"] == "parallel" and row["thread"] == "SUM")
    assert [float(flat["instructions" + part]) for part in ("", "_min", "_mean", "_max")] == [8990, 390, 4495, 8600]
    assert float(flat["instructions_per_cycle"]) == 1.45
    assert float(flat["cache-misses_per_1000_instructions"]) == 2.5584
    assert float(flat["counted_pct"]) == 65.625, "55 of 160 ms were not read"


main()
