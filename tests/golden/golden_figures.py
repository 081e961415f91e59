#!/usr/bin/env python3
"""Figures of the golden measurements, derived by hand from what make_golden.c and golden_graphs.c put into them."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import VIEWS, golden_report, golden_rows as rows, table as table_of
from tap import case, main

TREES = ("topdown", "bottomup", "flat")
PATHS = ("parallelism", "critical-path", "whatif", "speedup")
FOUR = ("work", "overhead", "lockwait", "idleness")
BASELINES = ("thread", "core", "shared")


def figures(row, unit=1e9):
    """The four categories of a row in ns, inclusive and exclusive."""
    cells = [f"{kind}_{part}" for kind in FOUR for part in ("incl", "excl")]
    return {cell: round(float(row[cell + "_s"]) * unit) for cell in cells}


@case
def inclusive_values_are_exclusive_ones_and_children(_):
    for name in ("blame", "blames"):
        for lines in ((), ("--lines",)):
            for which in BASELINES:
                table = rows("--view", "topdown", "--idleness", which, *lines, name)
                for row in table:
                    own, below = figures(row), [figures(child) for child in table if child["parent_id"] == row["id"]]
                    for kind in FOUR:
                        assert own[f"{kind}_incl"] == own[f"{kind}_excl"] + sum(one[f"{kind}_incl"] for one in below)


# For each context of the golden measurement `usage`: user and system time in ms, page faults, switches, threads created.
USAGE = {"app+0x1190": (0, 0, 0, 0, 1), "app+0x1250": (100, 300, 70005, 3, 0),
         "parallel @ app+0x1190 [app+0x1330]": (380, 20, 6, 14, 0), "[counted after the last sample]": (1, 2, 4, 1, 0)}
COUNTED = ("user_excl_s", "system_excl_s", "page_faults_excl", "switches_excl", "threads_created_excl")


@case
def the_kernel_s_figures_are_those_of_each_context(_):
    found = {row["name"]: tuple(round(float(row[name]) * (1000 if name.endswith("_s") else 1)) for name in COUNTED)
             for row in rows("--view", "topdown", "usage")}
    for name, expected in USAGE.items():
        assert found[name] == expected, (name, found[name], expected)
    first, second = rows("--view", "threads", "usage")
    for row, user, system in ((first, 0.291, 0.312), (second, 0.19, 0.01)):
        error = (0.004 * system * user / (user + system)) ** 0.5  # of n ticks with a share p, sqrt(n p (1 - p)) ticks
        assert abs(float(row["system_error_s"]) - error) < 1e-8, (row, error)
    facts = {row["item"]: row["value"] for row in rows("--view", "summary", "usage") if row["section"] == "kernel"}
    assert facts["page faults"] == "70015" and facts["threads created"] == "1", facts


# For each context of the golden measurement `blame`, in ms: work, overhead, lock wait, then idleness of others against
# four threads, eight cores and the threads in use, from P and the sums of P/b and P t/b that make_golden.c gives it.
BLAME = {
    "app+0x2000": (200, 0, 0, 4 * 200 - 200, 8 * 200 - 200, 0),  # serial: one thread of one
    "app+0x2100": (1150, 0, 0, 0, 8 * 1150 // 4 - 1150, 0),  # balanced: four of four
    "[OpenMP runtime]": (0, 50, 0, 0, 8 * 50 // 4 - 50, 0),
    # imbalanced: one of four
    "parallel @ app+0x1300 [app+0x1400]": (200, 0, 0, 4 * 200 - 200, 8 * 200 - 200, 4 * 200 - 200),
    "app+0x2200": (100, 0, 0, 4 * 50 - 100, 8 * 50 - 100, 4 * 50 - 100),  # below the lock: two of four
    "app+0x2300": (0, 0, 100, 4 * 50 - 100, 8 * 50 - 100, 4 * 50 - 100),  # its release
    "app+0x2400": (50, 0, 0, 0, 0, 0),  # not a thread of OpenMP's
}


@case
def idleness_is_charged_against_each_baseline(_):
    for position, which in enumerate(BASELINES):
        table = rows("--view", "flat", "--idleness", which, "blame")
        wanted = {name: (*ms[:3], ms[3 + position]) for name, ms in BLAME.items()}
        found = {row["name"]: tuple(figures(row, 1e3)[f"{kind}_excl"] for kind in FOUR) for row in table}
        assert {name: ms for name, ms in found.items() if any(ms)} == wanted, (which, found)
        total = sum(sum(ms) for ms in wanted.values())
        assert {"thread": 4 * 800, "core": 8 * 800}.get(which, total - 50) == total - 50
        for row in table:
            incl = [figures(row)[f"{kind}_incl"] for kind in FOUR]
            assert row["abs_idleness_pct"] == f"{100 * incl[3] / (total * 1e6):.4f}", row
            assert row["rel_idleness_pct"] == f"{100 * incl[3] / (sum(incl) or 1):.4f}", row
    assert rows("--view", "flat", "blame") == rows("--view", "flat", "--idleness", "thread", "blame")


@case
def processes_have_their_own_baseline(_):
    tables = (rows("--view", "flat", name) for name in ("blame", "blames"))
    one, both = ({row["name"]: figures(row, 1e3) for row in table} for table in tables)
    skewed = "parallel @ app+0x1300 [app+0x1400]"
    assert both[skewed]["work_excl"] == 200 + 300
    assert both[skewed]["idleness_excl"] == (4 - 1) * 200 + (2 - 1) * 300
    assert all(both[name] == one[name] for name in one if name.startswith("app+0x2"))


@case
def percentages_refer_to_the_selected_part(_):
    table = rows("--view", "topdown", "--root", "app+0x1500", "blame")
    incl = figures(table[0], 1e3)
    assert [incl[f"{kind}_incl"] for kind in FOUR] == [100, 0, 100, 200]
    assert table[0]["abs_idleness_pct"] == table[0]["rel_idleness_pct"] == "50.0000"
    release = next(row for row in table if row["name"] == "app+0x2300")
    assert (release["abs_idleness_pct"], release["rel_idleness_pct"]) == ("25.0000", "50.0000")


@case
def contexts_that_cause_only_lock_waiting_are_shown(_):
    names = [row["name"] for row in rows("--view", "topdown", "--percent-limit", "5", "blame")]
    assert "app+0x2300" in names and "app+0x2400" not in names


@case
def blame_orders_siblings(_):
    for column, part in (("idleness_excl_s", None), ("lockwait_excl_s", None), ("lockwait_incl_s", None),
                         ("idleness_incl_s", None), ("abs_idleness_pct", None), ("rel_idleness_pct", None)):
        found = [float(row[column]) for row in rows("--view", "flat", "--sort", column, "blame")[1:]]
        assert found == sorted(found, reverse=True) and found[0] > found[-1], column


@case
def efficiencies_are_those_of_the_exact_times(_):
    table = {row["metric"]: row for row in rows("--view", "efficiency", "blame")}
    # T R = 3.2 s; idle 0.8 s and 0.6 s before threads 2 to 4 exist; 0.2 s of the 0.8 s are outside regions
    losses = {"load_balance": (1.4 - 0.6) / 3.2, "serialisation": 0.2 * 3 / 3.2, "lock_waiting": 0.1 / 3.2,
              "runtime_overhead": 0.05 / 3.2}
    losses["parallel_efficiency"] = sum(losses.values())
    parts = {"thread_time": (3.2, 0), "work": (1.65, 0), "overhead_time": (0.05, 0.05 / 4),
             "idleness_time": (1.5, 1.5 / 4),
             "lock_waiting_time": (0.1, 0.1 / 4)}
    assert set(table) == set(losses) | set(parts) | {"work_one_thread", "work_inflation"}
    for metric, (seconds, gain) in parts.items():
        assert (table[metric]["value"], table[metric]["unit"]) == (f"{seconds:.9f}", "s"), metric
        assert table[metric]["gain_s"] == (f"{gain:.9f}" if gain else ""), metric
    for metric in ("work_one_thread", "work_inflation"):
        assert table[metric]["value"] == table[metric]["gain_s"] == "" and "OMP_NUM_THREADS=1" in table[metric]["note"]
    for metric, loss in losses.items():
        assert (table[metric]["value"], table[metric]["unit"]) == (f"{1 - loss:.6f}", "ratio"), metric
        assert table[metric]["gain_s"] == f"{loss * 0.8:.9f}", metric
    assert abs(float(table["parallel_efficiency"]["value"]) - 1.65 / 3.2) < 1e-6  # the work, over all
    assert {row["item"]: row["value"] for row in rows("blame") if row["section"] == "efficiency"} == {
        metric: row["value"] for metric, row in table.items() if row["unit"] == "ratio"}


@case
def work_of_a_run_on_one_thread_shows_inflation(_):
    alone = {row["metric"]: row for row in rows("--view", "efficiency", "blame", "alone")}
    single = {row["metric"]: row for row in rows("--view", "efficiency", "blame")}
    for metric, row in single.items():
        if metric not in ("work_one_thread", "work_inflation"):
            assert alone[metric] == row, metric  # the run that is compared with does not count
    assert (alone["work_one_thread"]["value"], alone["work_inflation"]["value"]) == ("1.500000000", "0.150000000")
    assert alone["work_inflation"]["gain_s"] == f"{0.15 / 4:.9f}" and not alone["work_inflation"]["note"]
    four = ("work_one_thread", "work_inflation", "overhead_time", "idleness_time")
    assert abs(sum(float(alone[metric]["value"]) for metric in four) - 3.2) < 1e-9
    # with itself: nothing
    assert "work_inflation" not in golden_report("--view", "efficiency", "alone").stdout.decode()


@case
def without_openmp_there_is_no_blame(_):
    assert golden_report("--view", "efficiency", "-f", "csv", "plain").stdout == b"metric,value,unit,gain_s,note\n"
    text = golden_report("--view", "efficiency", "plain").stdout.decode()
    assert text.startswith("Efficiencies are not known") and "its runtime was not measured" in text
    for row in rows("--view", "flat", "plain") + rows("--view", "flat", "--idleness", "core", "places-plain"):
        assert row["idleness_incl_s"] == row["lockwait_incl_s"] == "0.000000000" and row["abs_idleness_pct"] == "0.0000"
    assert b"Idle%" not in golden_report("-q", "--view", "flat", "plain").stdout
    summary = golden_report("-q", "plain").stdout.decode()
    assert "Efficiency" not in summary and "not seen;" in summary and "no OpenMP was seen in it." in " ".join(summary.split())


@case
def the_summary_names_the_worst_contexts(_):
    table = [row for row in rows("blame") if row["section"] in ("idleness", "lock wait")]
    assert [(row["section"], row["item"], row["value"]) for row in table] == [
        ("idleness", "app+0x2000", "0.600000000"), ("idleness", "parallel @ app+0x1300 [app+0x1400]", "0.600000000"),
        ("idleness", "app+0x2200", "0.100000000"), ("lock wait", "app+0x2300", "0.100000000")]
    advice = [(row["item"], row["value"]) for row in rows("blame") if row["section"] == "advice"]
    assert advice[0] == ("serial code in app+0x2000", "0.150000000"), advice
    assert b"--sort idleness_incl_s --idleness core blame" in golden_report("-q", "--idleness", "core", "blame").stdout
    lines = golden_report("-q", "blame").stdout.decode().splitlines()
    assert len(lines) <= 24
    heads = ("./blame ran for 0.800 s with 4 OpenMP threads; 52 % of all threads' time", "1 process", "WWW", "W work 52.3 %",
             "Efficiency 51.6 %; lost in regions 25.0, outside 18.8, locks 3.1, runtime 1.6 %", "Most work and overhead in",
             "What to change first", "  1. serial code in app+0x2000: 0.150 s (19 %)", "Measurement quality", "next: ", "more: ")
    places = [next(i for i, line in enumerate(lines) if line.startswith(head)) for head in heads]
    assert places == sorted(places) and not places[0]
    assert b"= 77.4 % of 4 threads x 0.800 s + 1.000 s outside OpenMP" in golden_report("-q", "--view", "efficiency", "blame").stdout


@case
def the_bar_has_the_shares_of_the_categories(_):
    for name in ("blame", "places", "graph", "traced", "waits"):
        for columns in ("80", "120", "50"):
            lines = golden_report("-q", name, COLUMNS=columns).stdout.decode().splitlines()
            assert max(map(len, lines)) <= int(columns), (name, columns, lines)
            bar = next(line for line in lines if line.startswith(("WW", "..")))
            after = lines.index(bar) + 1
            end = next(i for i in range(after, len(lines)) if not re.match(r"\S [a-z]", lines[i]))
            below = " ".join(lines[after:end])
            shares = [re.fullmatch(r"(\S) [a-z ]+ ([0-9.]+) %", part).groups() for part in below.split(", ")]
            assert len(bar) == int(columns) and abs(sum(float(share) for _, share in shares) - 100) < 0.5, (name, shares)
            for letter, share in shares:
                assert abs(bar.count(letter) - float(share) * len(bar) / 100) <= 1, (name, letter, share, bar)


@case
def the_summary_of_several_programs_names_the_first(_):
    text = " ".join(golden_report("-q", "--merge", "blame", "two").stdout.decode().split())
    assert text.startswith("app and others ran for 1.500 s in 3 processes with up to 4 OpenMP threads each; 64 %"), text


@case
def an_unfit_measurement_is_reported_first(_):
    for name, words in (("constructs", "8 samples: too few for conclusions"), ("traced", None), ("blame", None)):
        first = golden_report("-q", name).stdout.decode().splitlines()[0]
        assert first.startswith("Unreliable: ") == bool(words) and (not words or words in first), (name, first)
    lines = golden_report("-q", "waits").stdout.decode().splitlines()
    assert not lines[0].startswith("Unreliable"), lines


def factor(exact, shares):
    """What a ms of shares stands for; samples of 10 ms count too little by their standard error at most."""
    return min(exact / shares, 1 + 1 / max(1, shares / 10) ** 0.5)


# For each context of the golden measurement `places`, in ms: work, overhead, lock wait, then idleness by place, of
# threads that do not exist, and of cores without a thread.  Exact waiting E and shares s of all contexts at each place
# (make_golden.c): parked 800 / 1600, region end 160 / 500, barrier 60 / 30, tasks 80 / 20, lock 40 / 10.  A barrier
# with 30 ms was never seen: charged to the runtime below the function that waited there, as are the runtime's own work
# and the part of other places that samples cannot have missed by chance.
# Four threads miss 4000 - 1000 - 2 x 900 - 500 = 700 ms: charged by 4 sum(p / b) - sum(p n / b), 350 in all.  Four
# cores have no thread for 1 s: charged by sum(p / b), 400 in all.
# The file has no records of switches.  Thread 1, whose 20 ms at the barrier were not seen, did not run for 620 ms, and
# had no processor in 50 of them: the same part of its waits counts as that.
READY = 20 * 50 / 620
UNSEEN, OF_THREAD_1 = 60 - READY, (20 - READY) / (60 - READY)
PARKED, END, BARRIER, TASKS, LOCK, MISSING = (factor(*pair) for pair in (
    (800, 1600), (160, 500), (60, 30), (80, 20), (40, 10), (700, 350)))
PLACES = {
    "app+0x2000": (200, 0, 0, {"parked": 1200 * PARKED}, MISSING * (4 * 200 - 600), 10 * 200),
    "app+0x2100": (80, 0, 0, {"end": 300 * END}, MISSING * (4 * 80 - 220), 10 * 80),
    "app+0x2200": (80, 0, 0, {"end": 100 * END, "barrier": 30 * BARRIER}, MISSING * (4 * 40 - 160), 10 * 40),
    "app+0x2300": (40, 0, 0, {"tasks": 20 * TASKS, "parked": 400 * PARKED}, MISSING * (4 * 20 - 80), 10 * 20),
    "app+0x2400": (0, 0, 10 * LOCK, {"end": 100 * END}, MISSING * (4 * 10 - 40), 10 * 10),
    "app+0x2500": (100, 0, 0, {}, MISSING * (4 * 50 - 150), 10 * 50),
    "app+0x2600": (60, 0, 0, {}, 0, 0),  # not a thread of OpenMP's
    # 1 ms of the runtime's work is in the tool; 20 of the 60 ms at the barrier are of the thread with a context
    "[OpenMP runtime]": (0, 5 - 1 + 10 + 4 + 20, 40 - 10 * LOCK,
                         {"unseen": 30 + (UNSEEN - 30 * BARRIER) * OF_THREAD_1 + 80 - 20 * TASKS}, 0, 0),
    "[waiting that no sample saw]": (0, 0, 0, {"unseen": (UNSEEN - 30 * BARRIER) * (1 - OF_THREAD_1)},
                                     700 - 350 * MISSING, 0),
}


def places_figures(which):
    """The four categories of each context against a baseline."""
    found = {}
    for name, (work, overhead, lockwait, idle, missing, spare) in PLACES.items():
        all_ms = sum(ms for place, ms in idle.items() if which != "shared" or place != "parked")
        all_ms += 0 if which == "shared" else missing
        found[name] = (work, overhead, lockwait, all_ms + (spare if which == "core" else 0))
    return found


@case
def exact_waiting_is_distributed_by_samples(_):
    for which in BASELINES:
        wanted = places_figures(which)
        found = {row["name"]: tuple(figures(row, 1e3)[f"{kind}_excl"] for kind in FOUR)
                 for row in rows("--view", "flat", "--idleness", which, "places")}
        for name, figures_of in found.items():
            assert all(abs(ms - by_hand) <= 1 for ms, by_hand in zip(figures_of, wanted.get(name, (0, 0, 0, 0)))), (
                which, name, figures_of, wanted.get(name))
        assert set(wanted) <= set(found)
    idle = {which: round(sum(row[3] for row in places_figures(which).values())) for which in BASELINES}
    exact = 20 - READY + 400 + 520 + 190
    assert idle == {"shared": round(exact - 800), "thread": round(exact + 700), "core": round(exact + 700 + 4000)}


@case
def waiting_of_threads_is_exact(_):
    columns = ("idle_s", "lockwait_s", "overhead_s", "tool_s", "core_wait_s", "blocked_s")
    found = [tuple(round(float(row[column]) * 1e3) for column in columns)
             for row in rows("--view", "threads", "places")]
    # Thread 1 has 1000 ms: 494 are in its contexts, its waits, the tool (10), and blocked calls (100).  It ran or was
    # ready for 380 + 50, so it slept for 570, of which 120 - READY are known: 452 of the others it was blocked.
    assert found == [(20, 0, 4, 10, 50, 552), (400, 40, 14, 0, 0, 0), (520, 0, 20, 0, 0, 0), (190, 0, 0, 0, 0, 0),
                     (0, 0, 0, 0, 0, 50)]
    order = [row["thread"] for row in rows("--view", "threads", "--sort", "core_wait_s", "places")]
    assert order[0] == "1" == rows("--view", "threads", "--sort", "tool_s", "places")[0]["thread"]
    said = golden_report("-q", "--view", "efficiency", "places").stdout.decode()
    for line in ("  blocked                   0.602   19.2 ", "  ready without a core      0.050    1.6",
                 "  tool                      0.010    0.3"):
        assert line in said, said


@case
def steal_time_is_named_first(_):
    for view in ("summary", "advice", "efficiency"):
        said = golden_report("-q", "--view", view, "places").stdout.decode()
        assert said.startswith("Unreliable: the host of this virtual machine took 7 % of the time of its CPUs"), view
    said = " ".join(golden_report("-q", "places").stdout.decode().split())
    assert "Measure on a machine whose host leaves it its CPUs." in said, said
    said = " ".join(golden_report("-q", "--compare", "places", "places").stdout.decode().split())
    assert said.count("Unreliable: the host of this virtual machine took 7 %") == 2, said  # the base and the new run


@case
def times_with_steal_are_not_checked(_):
    for condition, code in (("elapsed > 1 ms", 2), ("elapsed < 1000 s", 3), ("idleness > 1 us", 2), ("work > 1 ms", 3),
                            ("samples > 1", 3)):
        done = golden_report("-q", "--fail-if", condition, "places")
        refused = b"' cannot be checked by 'places', whose threads had no core for " in done.stderr
        assert done.returncode == code and refused == (code == 2) == (b"(steal: 7 %)" in done.stderr), done


@case
def waits_that_a_kill_interrupts_count(_):
    """Since 0.6 s, two threads wait.  Where a region was open, one of them waits at its end, otherwise both are
    parked."""
    for name, inside in (("killed", 50 + 50 + 400), ("killed-between", 50 + 50)):
        for which, idle in (("shared", inside), ("thread", 2 * (100 + 50 + 400))):
            row, = rows("--view", "flat", "--idleness", which, name)[1:]
            assert abs(figures(row, 1e3)["idleness_excl"] - idle) <= 1, (name, which, row)
        assert [round(float(row["idle_s"]) * 1e3) for row in rows("--view", "threads", name)] == [0, 550, 550]


@case
def hostile_places_saturate(_):
    for view in VIEWS:
        charged = view in ("summary", "topdown", "bottomup", "flat", "critical-path", "source")
        for which in BASELINES if charged else ("thread",):
            baseline = ("--idleness", which) if charged else ()
            done = golden_report("-q", "--view", view, *baseline, "nowhere")
            assert done.returncode == 1 and b"shares in waiting that do not exist, 6 times" in done.stderr, (view, done)
    table = table_of(golden_report("-q", "--view", "flat", "-f", "csv", "nowhere").stdout.decode())
    assert all(0 <= float(row[f"{kind}_idleness_pct"]) <= 100 for row in table for kind in ("abs", "rel"))


@case
def waiting_without_samples_is_reported(_):
    said = " ".join(golden_report("-q", "--legend", "waits").stdout.decode().split())
    assert "0.300 s of lock waits timed, 0.020 s sampled: threads slept (see -e wall)" in said
    assert "blocked for 0.300 s in calls outside OpenMP, place unknown (-e wall shows it)" in said
    assert "3 samples of lock waits not charged (4.2 %): missing from lock wait" in said
    assert "1 thread state repaired: idleness may be slightly off" in said
    assert "2 samples in tasks of unknown origin (2.8 %): shown below their region" in said
    said = " ".join(golden_report("-q", "--legend", "waits-wall").stdout.decode().split())
    assert "0.020 s sampled" in said
    assert "-e wall shows" not in said
    assert "With -e wall, time in blocking calls that cannot be interrupted is charged when they return" in said
    assert "-e wall" not in golden_report("-q", "blame").stdout.decode()


@case
def the_threads_view_shows_blocked_time(_):
    assert [row["blocked_s"] for row in rows("--view", "threads", "waits")] == ["0.300000000", "0.000000000"]
    table = rows("--merge", "--view", "threads", "--sort", "blocked_s", "blame", "waits")
    assert table[0]["blocked_s"] == "0.300000000"


@case
def processes_are_the_sums_of_their_threads(_):
    columns = ("work_s", "overhead_s", "lockwait_s", "idle_s", "blocked_s")
    for name in ("two", "blame", "blames", "waits", "huge"):
        threads = rows("--view", "threads", name)
        for process in rows("--view", "processes", name):
            own = [thread for thread in threads if thread["process"] == process["process"]]
            assert len(own) == int(process["threads"]) > 0, process
            for column in columns:
                total = sum(round(1e9 * float(thread[column])) for thread in own)
                assert round(1e9 * float(process[column])) == total or name == "huge", (name, column)
    assert [row["process"] for row in rows("--view", "processes", "--sort", "threads", "two")] == ["100", "200"]
    assert [row["process"] for row in rows("--view", "processes", "--sort", "rank", "two")] == ["200", "100"]


def amounts(table, column, unit=1e9):
    """A column of work as whole numbers: nanoseconds, or the counted unit."""
    return [round(float(row[column]) * unit) for row in table]


@case
def the_critical_path_sums_to_the_span(_):
    for name, span, unit in (("graph", 400_000_000, 1e9), ("graphs", 400_000_000, 1e9), ("units", 10, 1)):
        table = rows("--view", "parallelism", name)
        assert table[0]["kind"] == "program" and amounts(table[:1], "span", unit) == [span]
        assert sum(amounts(table, "critical_path", unit)) == span, name
        assert abs(sum(float(row["critical_path_pct"]) for row in table) - 100) < 1e-3
        for view in TREES + ("critical-path",):
            for lines in ((), ("--lines",)):
                tree = rows("--view", view, *lines, name)
                level = tree if view != "bottomup" else [row for row in tree if row["depth"] in ("0", "1")]
                assert sum(amounts(level, "critical_path_excl", unit)) == span, (name, view)
                assert amounts(tree[:1], "critical_path_incl", unit) == [span]
                if view == "critical-path":
                    assert all(amounts(tree, "critical_path_incl", unit))
    done = golden_report("-q", "-f", "csv", "--view", "parallelism", "lies")
    table = table_of(done.stdout.decode())
    assert sum(amounts(table, "critical_path")) == 100_000_000 and len(done.stderr.decode().splitlines()) == 4


# Contexts of the golden measurement `graph` with their own part of the critical path in ns.  10 ms of the program's
# 200 ms have no sample: they are spread over its other contexts, 40 ms and 150 ms.
GRAPH_PATH = {
    "app+0x1010": 40_000_000 + 10_000_000 * 40 // 190,
    "app+0x2000": 150_000_000 + 10_000_000 - 10_000_000 * 40 // 190,
    "app+0x1100": 5_000_000,
    "parallel @ app+0x1100 [app+0x1200]": 15_000_000,
    "app+0x2100": 100_000_000 + 60_000_000 + 8_000_000,  # two threads, and what had no sample in the loop
    "single [callers unknown]": 12_000_000,
}


@case
def the_critical_path_has_contexts(_):
    for view in ("topdown", "critical-path", "flat"):
        table = rows("--view", view, "graph")
        own = dict(zip((row["name"] for row in table), amounts(table, "critical_path_excl")))
        assert {name: ns for name, ns in own.items() if ns} == GRAPH_PATH, (view, own)
    table = rows("--view", "critical-path", "--sort", "critical_path_excl", "graph")
    assert [row["name"] for row in table[1:3]] == ["single [callers unknown]", "app+0x1000"]
    own = [float(row["critical_path_excl"]) for row in rows("--view", "flat", "--sort", "critical_path_excl",
                                                            "graph")[1:]]
    assert own == sorted(own, reverse=True)
    heavy = rows("--view", "critical-path", "--percent-limit", "11", "graph")
    assert "app+0x1010" not in {row["name"] for row in heavy} and "app+0x2000" in {row["name"] for row in heavy}
    part = rows("--view", "critical-path", "--root", "app+0x1100", "graph")
    assert part[0]["critical_path_incl"] == "0.188000000"
    assert rows("--view", "critical-path", "graphs") != [] == rows("--view", "critical-path", "blame")


@case
def constructs_have_work_and_span(_):
    table = {(row["kind"], row["name"]): row for row in rows("--view", "parallelism", "graph")}
    loop = table["for", "app+0x1200"]
    assert (loop["work"], loop["span"], loop["parallelism"]) == ("0.700000000", "0.175000000", "4.0000")
    assert (loop["critical_path"], loop["critical_path_pct"]) == ("0.168000000", "42.0000")
    assert (loop["iteration_parallelism"], loop["instances"], loop["unit"]) == ("100.0000", "10", "s")
    assert table["critical", "app+0x1210"]["lock_bound"] == "0.065000000"
    assert table["program", "./graph"]["parallelism"] == "2.5000"
    assert table["barrier", "app+0x1230"]["parallelism"] == ""
    assert ("user-region", "phase 1") in table
    both = {(row["kind"], row["name"]): row for row in rows("--view", "parallelism", "graphs")}
    assert both["program", "./graph"]["work"] == "1.600000000" and both["program", "./graph"]["span"] == "0.400000000"
    assert "span of process 1000" in both["program", "./graph"]["note"]
    loop = both["for", "app+0x1200"]  # the same loop, in modules of other numbers
    assert (loop["work"], loop["span"], loop["instances"]) == ("1.000000000", "0.300000000", "20")
    assert loop["note"] == "this runtime does not report chunks: all that one thread runs count as one"
    for column in loop:
        found = [row[column] for row in rows("--view", "parallelism", "--sort", column, "graph")[1:]]
        if column in ("kind", "name", "file", "unit", "note"):
            assert found == sorted(found), column
        else:
            assert [float(cell or 0) for cell in found] == sorted((float(cell or 0) for cell in found), reverse=True)
    assert len(rows("--view", "parallelism", "--max-rows", "3", "graph")) == 3
    text = golden_report("-q", "--view", "parallelism", "graph").stdout.decode()
    assert text.startswith("On unlimited cores, with the same tasks and chunks, this run could be 2.5 times\n"
                           "as fast as on one core; 50 % of the critical path is outside all regions, the\n"
                           "largest part in app+0x1000 > app+0x2000.\n")


@case
def chosen_columns_are_those_of_the_table_in_that_order(_):
    """Text shows them, too, where it is a table: with headings, and without anything else that rows have."""
    headings = {"threads": ("graph", "samples", "thread", "Samples", "Thread"),
                "parallelism": ("graph", "span", "kind", "Span", "kind"),
                "whatif": ("graph", "span", "selector", "Span", "What runs faster"),
                "speedup": ("graph", "speedup_upper", "cores", "Upper", "Cores"),
                "marks": ("marked", "end_s", "name", "end_s", "Name"),
                "user-counters": ("marked", "sum", "counter", "Sum", "Counter"),
                "advice": ("constructs",), "phases": ("traced",)}
    for view, (directory, *shown) in headings.items():
        whole = rows("--view", view, directory)
        names = list(whole[0])[::-2]
        chosen = rows("--view", view, "--columns", ",".join(names), directory)
        assert list(chosen[0]) == names and chosen == [{name: row[name] for name in names} for row in whole], view
        done = golden_report("-q", "--view", view, "-f", "json", "--columns", ",".join(names), directory)
        assert json.loads(done.stdout)["columns"] == names, view
        done = golden_report("-q", "--view", view, "--columns", ",".join(shown[:2]) or names[0], directory)
        if not shown:
            assert done.returncode == 2 and b"no table as text" in done.stderr, done
            continue
        lines = done.stdout.decode().splitlines()
        heading = next(number for number, line in enumerate(lines) if re.fullmatch(f" *{shown[2]} +{shown[3]}", line))
        below = lines[heading + 1:heading + 1 + len(whole)]
        assert not any(line.endswith(" ") or line.startswith(" " * 20) and view == "parallelism" for line in below), below
        if view != "threads" and view != "user-counters":
            assert len(below) == len(whole) and all(len(line.split()) >= 2 for line in below), below
    measured = golden_report("-q", "--view", "speedup", "--columns", "cores,speedup_measured", "graph").stdout.decode()
    assert re.search("^ +1$", measured, re.M) and not re.search(" $", measured, re.M), measured
    both = rows("--view", "parallelism", "--columns", "construct,lock_bound,construct", "graph")
    assert list(both[0]) == ["construct", "lock_bound"] and {"construct": "critical (app+0x1210)",
                                                             "lock_bound": "0.065000000"} in both
    first, *others = [row["construct"] for row in rows("--view", "parallelism", "--sort", "construct", "--columns",
                                                       "construct", "graph")]
    assert first == "program" and others == sorted(others) and len(set(others)) > 3, others


def scenario(*selected, name="graph"):
    """The one row of the whatif view for a scenario."""
    row, = rows("--view", "whatif", "--what-if", ",".join(f"{what}={factor}" for what, factor in selected), name)
    return row


@case
def scenarios_bound_the_span(_):
    names = {row["name"]: row for row in rows("--view", "topdown", "graph")}
    own = GRAPH_PATH
    inclusive = {"app+0x1000": sum(own.values()) - 12_000_000, "app+0x1100": 188_000_000,
                 "app+0x2000": own["app+0x2000"],
                 "parallel @ app+0x1100 [app+0x1200]": 183_000_000, "single [callers unknown]": 12_000_000}
    for name, selected in inclusive.items():
        for selector in (name, "#" + names[name]["id"]):
            for factor in (1, 2, 16, 1000000):
                row = scenario((selector, factor))
                low = 400_000_000 - selected * (1 - 1 / factor)
                assert abs(float(row["span_low"]) * 1e9 - low) < 2, (selector, factor, row)
                assert row["span"] == row["span_low"] and row["span_high"] == "0.400000000"
                assert (row["work"], row["factor"]) == ("1.000000000", str(factor))
                assert abs(float(row["parallelism"]) * low / 1e9 - 1) < 1e-3
                assert abs(float(row["span_reduction_pct"]) - 100 * (1 - low / 4e8)) < 1e-3
    assert scenario(("@phase 1", 5))["span_low"] == "0.396000000"
    assert scenario(("#0", 2))["span_low"] == "0.200000000"
    nested = scenario(("app+0x1100", 2), ("app+0x2100", 4))  # the larger factor holds for what both cover
    assert nested["span_low"] == f"{(212 + 20 / 2 + 168 / 4) / 1000:.9f}" and nested["factor"] == ""
    assert nested["selector"] == "app+0x1100=2,app+0x2100=4", nested
    assert scenario(("app+0x1100", 4), ("app+0x2100", 4))["factor"] == "4"
    both = rows("--view", "whatif", "--what-if", "app+0x2000=2", "--what-if", "app+0x2100=2", "graph")
    assert [row["scenario"] for row in both] == ["1", "2"]
    assert all("best case" in row["note"] for row in both)


@case
def suggestions_are_the_best_functions_and_pairs(_):
    table = rows("--view", "whatif", "graph")
    assert [row["selector"] for row in table[:3]] == ["app+0x2100", "app+0x2000", "app+0x1010"]
    assert table[3]["selector"] == "app+0x2100,app+0x2000" and {row["factor"] for row in table} == {"16"}
    for row in table:
        asked = scenario(*((name, 16) for name in row["selector"].split(",")))
        assert {key: row[key] for key in row if key != "scenario"} == {key: asked[key] for key in row
                                                                       if key != "scenario"}
    for part in (table[:3], table[3:]):
        spans = [float(row["span"]) for row in part]
        assert spans == sorted(spans)


@case
def constructs_have_figures_under_a_scenario(_):
    table = rows("--view", "parallelism", "--what-if", "app+0x2100=4,app+0x2000=2", "graph")
    low = round((400 - 168 * 3 / 4) * 1e6 - GRAPH_PATH["app+0x2000"] / 2)
    assert abs(amounts(table[:1], "span")[0] - low) <= 1 and "another path" in table[0]["note"]
    assert sum(amounts(table, "critical_path")) == amounts(table[:1], "span")[0]
    loop = next(row for row in table if row["kind"] == "for")
    assert amounts([loop], "critical_path")[0] in range(42_000_000 - 1, 42_000_002)
    assert (loop["work"], loop["span"]) == ("0.700000000", "0.175000000")


@case
def speedups_are_those_of_greedy_schedules(_):
    for name, work, span, burdened, own, lock in (("graph", 1.0, 0.4, 0.5, 3, 0), ("graphs", 1.6, 0.4, 0.5, 5, 0),
                                                  ("units", 100, 10, 10, 2, 73)):
        table = rows("--view", "speedup", name)
        assert [int(row["cores"]) for row in table] == sorted({1, 2, 4, 8, 16, 32, 64, 128, own})
        for row in table:
            cores, lower, upper, estimate, loaded = (float(row[key]) for key in (
                "cores", "speedup_lower", "speedup_upper", "speedup_estimate", "speedup_burdened"))
            assert abs(lower - work / (work / cores + max(span, lock))) < 1e-4
            assert abs(upper - work / max(work / cores, span, lock)) < 1e-4
            assert abs(estimate - work / max((work - span) / cores + span, lock)) < 1e-4
            assert abs(loaded - work / max((work - burdened) / cores + burdened, lock)) < 1e-4
            assert lower <= estimate <= upper and loaded <= estimate and row["speedup_simulated"] == ""
            measured = int(row["cores"]) == own and name != "units"
            assert row["speedup_measured"] == (f"{work:.4f}" if measured else ""), row  # elapsed: 1 s


@case
def the_summary_shows_the_parallelism(_):
    table = [(row["item"], row["value"], row["unit"]) for row in rows("graph") if row["section"] == "parallelism"]
    assert table == [("work", "1.000000000", "s"), ("span", "0.400000000", "s"), ("burdened span", "0.500000000", "s"),
                     ("parallelism", "2.5000", "ratio"), ("app+0x2100", "0.168000000", "s"),
                     ("app+0x2000", "0.157894737", "s"), ("app+0x1010", "0.042105263", "s")]
    assert ", parallelism, flat: hpcprof-lite VIEW DIR" in golden_report("-q", "graph").stdout.decode()
    assert not [row for row in rows("blame") if row["section"] == "parallelism"]
    assert "parallelism" not in golden_report("-q", "blame").stdout.decode()


@case
def without_a_graph_there_is_a_hint(_):
    for view in PATHS:
        done = golden_report("-q", "--view", view, "-f", "csv", "blame")
        assert done.returncode == 0 and done.stdout.count(b"\n") == 1, view
        done = golden_report("-q", "--view", view, "blame")
        assert done.returncode == 0 and b"hpcrun-lite -p online" in done.stdout


@case
def huge_sums_saturate(_):
    most = "18446744073.709551615"
    for which in BASELINES:
        table = rows("--view", "flat", "--idleness", which, "huge")
        assert [table[0][f"{kind}_incl_s"] for kind in FOUR] == ["0.000000105", most, most, most]
        assert all(0 <= float(row[f"{kind}_idleness_pct"]) <= 100 for row in table for kind in ("abs", "rel"))
    for view in VIEWS:
        assert golden_report("-q", "--view", view, "huge").returncode == 0
    for which in BASELINES:
        for view in ("summary", "topdown", "bottomup", "critical-path", "source"):
            assert golden_report("-q", "--view", view, "--idleness", which, "huge").returncode == 0


# Scenario: span, for the golden measurement `recorded` (golden_graphs.c).  Thread 1 has 10, then 40 in @update while
# thread 2 has 32 in @check; then both have 8 chunks of 5; at the end thread 1 has 5.  Faster code that is not on the
# critical path shortens the span only together with code that is.
RECORDED = {
    "@update=16": 10 + 32 + 5 + 5, "@check=16": 60, "@update=16,@check=16": 10 + 2.5 + 5 + 5,
    "@update=16,@check=4": 10 + 8 + 5 + 5,
    "app+0x2300=5": 10 + 40 + 1 + 5, "app+0x2100=2": 10 + 32 + 5 + 5, "app+0x1000=2": 30,
    "app+0x1200=2": 10 + 20 + 2.5 + 5,
    "app+0x2000=10": 1 + 40 + 5 + 5, "app+0x2000=1": 60,
}


@case
def a_recorded_graph_gives_the_span_itself(_):
    for scenario_text, span in RECORDED.items():
        row, = rows("--view", "whatif", "--what-if", scenario_text, "recorded")
        assert [float(row[key]) for key in ("span", "span_low", "span_high")] == [span] * 3, (scenario_text, row)
        assert row["work"] == "127" and abs(float(row["span_reduction_pct"]) - 100 * (1 - span / 60)) < 1e-3
        assert abs(float(row["parallelism"]) - 127 / span) < 1e-3 and row["note"].startswith("replayed from the graph log: exact")
        timed, = rows("--view", "whatif", "--what-if", scenario_text, "recorded-time")
        assert abs(float(timed["span"]) - span / 1000) < 1e-9, (scenario_text, timed)
        exact = scenario_text.startswith("@")
        assert ("two standard errors" in timed["note"]) == (not exact and not scenario_text.endswith("=1")), timed
        assert not exact or timed["span_low"] == timed["span_high"] == timed["span"]
    many = [option for text in list(RECORDED) * 8 for option in ("--what-if", text)]  # more than fit into one replay
    assert [float(row["span"]) for row in rows("--view", "whatif", *many, "recorded")] == list(RECORDED.values()) * 8


@case
def samples_leave_an_error(_):
    """5 of the 60 ms on the path are selected, c = 5 ms.  A sample is 10 ms: n = 1."""
    row, = rows("--view", "whatif", "--what-if", "app+0x2300=5", "recorded-time")
    error = 2 * 0.004 * (1 - 5 / 60) ** 0.5
    assert abs(float(row["span_low"]) - (0.056 - error)) < 1e-9 and row["span_high"] == "0.060000000", row
    row, = rows("--view", "whatif", "--what-if", "app+0x2000=10", "recorded-time")  # c = 10 ms, n = 1; 51 ms are left
    assert abs(float(row["span_low"]) - (0.051 - 2 * 0.009 * (1 - 10 / 60) ** 0.5)) < 1e-9, row
    row, = rows("--view", "whatif", "--what-if", "app+0x1000=2", "recorded-time")  # the selection has all samples
    assert row["span_low"] == row["span_high"] == "0.030000000", row


@case
def functions_that_gain_only_together_are_suggested_in_pairs(_):
    table = rows("--view", "whatif", "recorded")
    found = [row["selector"] for row in table]
    assert found[:3] == ["app+0x2000", "app+0x2100", "app+0x2300"] and found[3] == "app+0x2100,app+0x2200", found
    assert float(table[3]["span"]) == 22.5 and all(float(row["span"]) < 60 for row in table)


@case
def constructs_are_replayed_under_a_scenario(_):
    table = rows("--view", "parallelism", "--what-if", "@update=16", "recorded")
    found = {(row["kind"], row["name"]): [float(row[key]) for key in ("work", "span", "critical_path")]
             for row in table}
    assert found == {  # 2.5 units are rounded
                     ("program", "./recorded"): [127, 52, 15], ("user-region", "check"): [32, 32, 32],
                     ("user-region", "update"): [40, 3, 0], ("for", "app+0x1200"): [40, 5, 5],
                     ("parallel", "app+0x1100"): [112, 37, 0]}, found
    timed = {row["name"]: row for row in rows("--view", "parallelism", "--what-if", "@update=16", "recorded-time")}
    assert timed["update"]["span"] == "0.002500000" and timed["check"]["critical_path"] == "0.032000000"


@case
def recorded_graphs_are_scheduled(_):
    """On 2 cores: 10 + 40 + 4 chunks of 5 + 5; on 4 two chunks; on 8 and more one."""
    spans = {1: 127, 2: 75, 4: 65}
    for row in rows("--view", "speedup", "recorded"):
        cores = int(row["cores"])
        assert abs(float(row["speedup_simulated"]) - 127 / spans.get(cores, 60)) < 1e-4, row
        assert float(row["speedup_lower"]) <= float(row["speedup_simulated"]) <= float(row["speedup_upper"]) + 1e-4
    costs = {row["cores"]: row for row in rows("--view", "speedup", "recorded-time")}  # 0.5 ms each for fork and join
    assert abs(float(costs["128"]["speedup_burdened"]) - 127 / ((127 - 61) / 128 + 61)) < 1e-4


@case
def a_log_that_differs_is_marked(_):
    for view in ("whatif", "speedup"):
        done = golden_report("-q", "--view", view, "recorded-lies")
        lines = [line for line in done.stderr.decode().splitlines() if "graph log" in line]
        assert done.returncode == 1 and len(lines) == 1 and "60 in the log, 59 in the measurement" in lines[0], done
        assert b"may be wrong" in done.stdout
    done = golden_report("-q", "--view", "whatif", "-f", "csv", "recorded-lies").stdout.decode()
    assert all("differs" in row["note"] for row in table_of(done))


@case
def recorded_text_fits_80_columns(_):
    for name in ("recorded", "recorded-time", "recorded-lies"):
        for arguments in (("whatif",), ("speedup",), ("parallelism", "--what-if", "@update=16"),
                          ("whatif", *(option for text in RECORDED for option in ("--what-if", text)))):
            text = golden_report("-q", "--view", *arguments, name).stdout.decode()
            assert text and max(map(len, text.splitlines())) <= 80, (name, arguments, text)


@case
def device_time_and_what_devices_recorded(_):
    """strand: 700 ms of work, two waits of 150 ms for a device, 40 ms of each for a copy."""
    table = rows("--view", "parallelism", "strand")
    assert [(row["kind"], *(float(row[name] or 0) for name in ("work", "device_time", "span", "critical_path"))) for row in table] == \
           [("program", 0.7, 0.3, 1, 0.7), ("target", 0, 0.3, 0.3, 0.22), ("copy-to-device", 0, 0.08, 0.08, 0.08)], table
    for selector, span in (("copy-to-device=1e9", 0.92), ("copy-to-device=2", 0.96), ("#3=2", 1 - 0.15), ("copy-from-device=2", None)):
        done = golden_report("-q", "--view", "whatif", "-f", "csv", "--what-if", selector, "strand")
        found = table_of(done.stdout.decode()) if span else done.stderr.decode()
        assert float(found[0]["span"]) == span if span else "copy-from-device" in found, (selector, done)
    device, = (row for row in rows("--view", "devices", "strand") if row["kind"] == "device")
    assert (device["times"], float(device["to_s"]), float(device["recorded_s"])) == ("device", 0.08, 0.165), device
    events = json.loads(golden_report("-q", "-f", "perfetto", "strand").stdout)["traceEvents"]
    lanes = {event["tid"]: event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    recorded = sorted((lanes[event["tid"]], event["ts"] / 1000, event["dur"] / 1000) for event in events
                      if event.get("cat") == "device" and "recorded" in lanes[event["tid"]])
    assert recorded == [("device 0: copies to it (as it recorded)", 105, 50), ("device 0: copies to it (as it recorded)", 606, 30),
                        ("device 0: regions (as it recorded, 1 of 2)", 140, 100)], recorded


main()
