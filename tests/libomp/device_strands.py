#!/usr/bin/env python3
"""Device time in work and span (device_strands.c): exact, for what the device does is counted.  It is no work, and a strand
of the task that waits for it."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, line_of, tap

# Form: work, device time, span.
FORMS = {"serial": (15, 20, 35), "device_longer": (13, 30, 33), "host_longer": (33, 10, 33), "two": (0, 50, 30),
         "chain": (20, 100, 102), "loop": (36, 136, 37), "locked": (30, 70, 10), "nested": (17, 72, 27), "copies": (15, 46, 61), "copies_beside": (28, 32, 35),
         "after_helper": (38, 0, 38)}
# Rows: form, kind, mark of the line or None: instances, work, device time, span.
ROWS = {("serial", "target", None): (1, 0, 20, 20), ("device_longer", "task", "nowait"): (1, 0, 30, 30),
        ("loop", "for", None): (1, 16, 136, 17), ("loop", "target", None): (16, 0, 136, 136),
        ("copies", "target", "copies"): (1, 0, 32, 32), ("copies", "target", "others"): (1, 0, 8, 8),
        ("copies", "copy-to-device", "copies"): (1, 0, 8, 8), ("copies", "copy-from-device", "copies"): (1, 0, 4, 4),
        ("copies", "copy-to-device", "others"): (1, 0, 2, 2), ("copies", "copy-from-device", "others"): (1, 0, 1, 1),
        ("locked", "critical", None): (10, 0, 70, 70), ("nested", "task", "tree"): (2, 14, 56, 30)}
# Form, selected copies, mark of the line or None: the span of the form where they take no time.
COPIES = {("copies", "copy-to-device", None): 61 - 8 - 2 - 6, ("copies", "copy-from-device", None): 61 - 4 - 1,
          ("copies", "copy-to-device", "copies"): 61 - 8, ("copies", "copy-from-device", "others"): 61 - 1,
          ("copies", "both", None): 61 - 8 - 2 - 6 - 4 - 1, ("copies_beside", "both", None): 25 + 3,
          ("copies_beside", "copy-from-device", "beside"): 28 + 3}
# Selected line and factor: the span of the form then.
SCENARIOS = {("serial", "serial", 2): 25, ("device_longer", "nowait", 2): 18, ("device_longer", "nowait", 10): 13,
             ("serial", "serial", 20): 16}


def line(mark):
    return line_of("device_strands.c", f"// @ {mark}\n")


def measure(directory, form, *options):
    program = build("device_strands.c", "clang", "-rdynamic", "-I", tap.SOURCE)
    run = Measurement(directory, program, form, options=("--work", "user", *options), OMP_NUM_THREADS="2")
    assert run.done.returncode == 0 and "not followed" not in run.done.stderr, run.done
    return run, run.view("parallelism")


def figures(row):
    return tuple(float(row[name] or 0) for name in ("work", "device_time", "span"))


@tap.case
def closed_forms(directory):
    for mode in ("online", "log"):
        for form, wanted in FORMS.items():
            run, rows = measure(directory, form, "-p", mode)
            assert figures(rows[0]) == wanted, (form, mode, rows)
            assert sum(float(row["critical_path"]) for row in rows) == wanted[2], (form, rows)
            for row in rows:
                work, device, span = figures(row)
                assert work <= wanted[0] and device <= wanted[1] and span <= work + device, (form, row)
            for (of, kind, mark), expected in ROWS.items():
                found = [row for row in rows if of == form and row["kind"] == kind and mark in (None, "tree", "nowait", "copies", "others")
                         and (not mark or row["line"] == str(line(mark)))]
                assert of != form or (len(found) == 1 and (int(found[0]["instances"]), *figures(found[0])) == expected), \
                    (form, kind, expected, found)
            check_speedup(run, form, mode, wanted)


def check_speedup(run, form, mode, wanted):
    """The view fails if the log differs from the measurement.  A wait for a device needs no core."""
    for row in run.view("speedup") if wanted[0] else ():
        lower, estimate, upper = (float(row["speedup_" + name]) for name in ("lower", "estimate", "upper"))
        assert lower <= estimate + 1e-3 and estimate <= upper + 1e-3, (form, row)
        if mode == "log" and form != "locked":
            simulated = float(row["speedup_simulated"])
            assert lower <= simulated + 1e-3 and simulated <= upper + 1e-3, (form, row)
        if row["cores"] == "128" and mode == "log" and form != "locked":
            assert abs(simulated - wanted[0] / wanted[2]) < 1e-3, (form, row)


@tap.case
def bound_of_a_lock(directory):
    _, rows = measure(directory, "locked")
    assert float(max(row["lock_bound"] or "0" for row in rows)) == 73, rows


@tap.case
def critical_path(directory):
    _, rows = measure(directory, "serial")
    assert {row["kind"]: float(row["critical_path"]) for row in rows} == {"program": 15, "target": 20}, rows


@tap.case
def scenarios(directory):
    for (form, mark, factor), span in SCENARIOS.items():
        run, _ = measure(directory, form, "-p", "log")
        found, = run.view("whatif", "--what-if", f"device_strands.c:{line(mark)}={factor}")
        assert float(found["span"]) == span, (form, mark, factor, found)


@tap.case
def copies_alone(directory):
    """Copies can be selected without the regions of their constructs."""
    for form in ("copies", "copies_beside"):
        run, _ = measure(directory, form, "-p", "log")
        os.makedirs(os.path.join(directory, form))
        online, _ = measure(os.path.join(directory, form), form)
        for (of, kind, mark), span in COPIES.items():
            kinds = ("copy-to-device", "copy-from-device") if kind == "both" else (kind,)
            place = f":device_strands.c:{line(mark)}" if mark else ""
            text = ",".join(f"{one}{place}=1e12" for one in kinds)
            for measured in (run, online) if of == form else ():
                found, = measured.view("whatif", "--what-if", text)
                best = measured is online and form == "copies_beside"  # then the host's work is the longer chain
                assert (float(found["span"]) <= span if best else float(found["span"]) == span), (form, text, found)
    wrong = tap.run(tap.REPORT, "--view=whatif", "--what-if", "copy-to-device:other.c:1=2", run.output)
    assert wrong.returncode and "copy-to-device:other.c:1" in wrong.stderr, wrong
    for selector, why in (("copy-to-device:main=2", "only a file and lines may follow it"), ("copy-from-device:x.c:0=2", "from 1 on")):
        wrong = tap.run(tap.REPORT, "--view=whatif", "--what-if", selector, run.output)
        assert wrong.returncode == 2 and why in wrong.stderr, wrong


@tap.case
def grains(directory):
    """What a grain waits for a device is a part of its execution, and of the longest chain."""
    for form in ("device_longer", "loop", "nested"):
        run, _ = measure(directory, form, "-p", "log")
        found = run.view("grains")
        assert sum(float(row["exec_s"]) for row in found) == sum(FORMS[form][:2]), (form, found)
    tasks = [float(row["exec_s"]) for row in found if row["kind"] == "task"]
    assert sorted(tasks) == [0] + 14 * [5], found  # the last one only has a region


@tap.case
def part_of_a_run(directory):
    run, rows = measure(directory, "serial", "-p", "log")
    whole = run.view("parallelism", "--from", "0", "--to", "1000")
    assert [figures(row) for row in whole] == [figures(row) for row in rows], (whole, rows)


tap.main()
