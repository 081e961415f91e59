"""Counts the single cases of a test run, shows what failed and prints "N passed, M failed" at the end.

Usage: count_cases.py TESTLOG.JSON MESON-STATUS

A test that fails without naming a failed case (it crashed, or ran out of time) counts as one failed case.  Exits
non-zero where anything failed, nothing ran, or meson itself failed.
"""
import json
import re
import sys


def cases(record):
    """(passed, failed) of one test of the log."""
    lines = record.get("stdout", "").splitlines()
    passed = sum(1 for line in lines if re.match(r"ok\b", line) and not re.search(r"#\s*skip", line, re.I))
    failed = sum(1 for line in lines if re.match(r"not ok\b", line) and not re.search(r"#\s*todo", line, re.I))
    if record["result"] in ("OK", "EXPECTEDFAIL"):
        return max(passed, 0 if lines else 1), failed
    if record["result"] == "SKIP":
        return passed, failed
    return passed, max(failed, 1)


def show(record):
    """Prints which cases of a test failed, and why: meson leaves the diagnostics of TAP out."""
    shown = [line for line in record.get("stdout", "").splitlines() if re.match(r"not ok\b|#", line)]
    print("\n".join([f"--- {record['name']}: {record['result']}"] + shown + record.get("stderr", "").splitlines()))


def main():
    with open(sys.argv[1], encoding="utf-8") as log:
        records = [json.loads(line) for line in log if line.strip()]
    results = [cases(record) for record in records]
    for record, result in zip(records, results):
        if result[1] > 0:
            show(record)
    passed = sum(result[0] for result in results)
    failed = sum(result[1] for result in results)
    if sys.argv[2] != "0" and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main())
