"""Counts the single cases of a test run, shows what failed and prints "N passed, M failed" at the end.

Usage: count_cases.py TESTLOG.JSON MESON-STATUS [REPEATED.JSON REPEATED-STATUS]
       count_cases.py --failed TESTLOG.JSON     (the names of the tests that failed; none where more than 10 did)

A test that fails without naming a failed case (it crashed, or ran out of time) counts as one failed case.  Exits
non-zero where anything failed, nothing ran, or meson itself failed.

REPEATED.JSON is the log of a second run, of the tests that failed in the first: they count as they ended there.  What
failed only in the first run is shown, too.
"""
import json
import re
import sys


AT_MOST = 10  # failed tests that are repeated


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


def read(path):
    with open(path, encoding="utf-8") as log:
        return [json.loads(line) for line in log if line.strip()]


def print_failed(path):
    """Few tests may have failed by chance; many have not, and running them all again would take too long."""
    names = {record["name"].rsplit(" / ", 1)[-1] for record in read(path) if cases(record)[1]}
    print(*sorted(names) if len(names) <= AT_MOST else ())


def repeated(records, path):
    """The records with those of the second run in place of the first one's; shows what failed in the first run only."""
    second = {record["name"]: record for record in read(path)}
    for record in records:
        again = second.get(record["name"])
        if cases(record)[1] and again and not cases(again)[1]:
            print("=== failed beside other tests, passed alone:")
            show(record)
    return [second.get(record["name"], record) if cases(record)[1] else record for record in records]


def main():
    if sys.argv[1] == "--failed":
        print_failed(sys.argv[2])
        return 0
    records, status = read(sys.argv[1]), sys.argv[2]
    if len(sys.argv) > 3:
        records, status = repeated(records, sys.argv[3]), sys.argv[4]
    results = [cases(record) for record in records]
    for record, result in zip(records, results):
        if result[1] > 0:
            show(record)
    passed = sum(result[0] for result in results)
    failed = sum(result[1] for result in results)
    if status != "0" and failed == 0:
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main())
