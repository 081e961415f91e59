"""Advice: programs with exactly one ill (ills.c), what is found in them, and whether the forecast comes true."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, combinations, tap

ILLS = ("serial", "imbalance", "chunk-overhead", "task-overhead", "few-chunks", "region-overhead", "contention",
        "dependences", "creation", "nesting", "blocking", "barrier")
ENVIRONMENT = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
HEALTHY = ("serial", "imbalance", "few-chunks", "contention", "dependences", "none")
MUCH = 5.0  # per cent of the elapsed time: other programs make threads wait for less


def ills(compiler):
    return build("ills.c", compiler)


def advice(directory, compiler, name, how):
    run = Measurement(directory, ills(compiler), name, how, **ENVIRONMENT)
    assert run.done.returncode == 0, run.done
    return run.view("advice")


def check_form(row):
    low, gain, high = (float(row[column]) for column in ("gain_low_s", "gain_s", "gain_high_s"))
    assert low <= gain <= high, row
    assert row["command"].startswith("hpcprof-lite --view "), row
    if row["class"] in ("unfit", "none"):
        assert gain == 0 and row["evidence"] and not row["confidence"], row
    else:
        assert gain > 0 and row["evidence"] and row["remedy"] and row["confidence"] in ("low", "medium", "high"), row


def find(directory, name, compiler):
    found = advice(directory, compiler, name, "ill")
    for row in found:
        check_form(row)
    tap.timed(found[0]["class"] == name, compiler, found)


def find_nothing(directory, name, compiler):
    found = advice(directory, compiler, name, "healthy")
    tap.timed(all(float(row["gain_pct"]) < MUCH for row in found), name, compiler, found)


@tap.case
def each_ill_is_found_first(directory):
    for name, compiler in combinations(ILLS, ("gcc", "clang")):
        tap.again(find, directory, name, compiler)


@tap.case
def healthy_programs_have_none(directory):
    for name, compiler in combinations(HEALTHY, ("gcc", "clang")):
        tap.again(find_nothing, directory, name, compiler)


tap.main()
