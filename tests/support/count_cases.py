"""Counts the single cases of a test run, shows what failed and prints "N passed, M failed" at the end.

Usage: count_cases.py TESTLOG.JSON MESON-STATUS [REPEATED.JSON REPEATED-STATUS]
       count_cases.py --failed TESTLOG.JSON     (the names of the tests that failed; none where more than 10 did)

A test that fails without naming a failed case (it crashed, or ran out of time) counts as one failed case; so does a run
whose status is not the number of tests that failed by its log: then meson itself failed, or the log is not complete.
Exits non-zero where anything failed or nothing ran.

REPEATED.JSON is the log of a second run, of the tests that failed in the first: they count as they ended there.  A case
that failed in the first run and is skipped or missing in the second has failed.  What failed only in the first run is
shown, too.  Cases that were skipped because other programs took the machine are listed before the last line.
"""
import json
import re
import sys


AT_MOST = 10  # failed tests that are repeated
BAD = ("FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS")  # results of a test that meson counts in its status
BUSY = "other programs took"  # as support/tap.py says why it skips a case


def lines(record):
    """(fine, name, directive) of the cases of one test of the log; of a TODO, too."""
    for word, name, directive in re.findall(r"^(ok|not ok)\b *\d* *-? *(.*?) *(?:# *((?:skip|todo).*))?$",
                                            record.get("stdout", ""), re.I | re.M):
        yield word == "ok", name, directive


def cases(record):
    """(passed, failed) of one test of the log."""
    passed = sum(1 for fine, _, directive in lines(record) if fine and not directive.lower().startswith("skip"))
    failed = sum(1 for fine, _, directive in lines(record) if not fine and not directive.lower().startswith("todo"))
    if record["result"] in ("OK", "EXPECTEDFAIL"):
        return max(passed, 0 if record.get("stdout") else 1), failed
    if record["result"] == "SKIP":
        return passed, failed
    return passed, max(failed, 1)


def show(record):
    """Prints which cases of a test failed, and why: meson leaves the diagnostics of TAP out."""
    shown = [line for line in record.get("stdout", "").splitlines() if re.match(r"not ok\b|#", line)]
    print("\n".join([f"--- {record['name']}: {record['result']}"] + shown + record.get("stderr", "").splitlines()))


def read(path):
    """The records of a log, as far as they can be read: status_fits() notes what is missing."""
    records = []
    try:
        with open(path, encoding="utf-8") as log:
            for line in filter(str.strip, log):
                records.append(json.loads(line))
    except (OSError, ValueError) as reason:
        print(f"--- {path}: {reason}", file=sys.stderr)
    return records


def status_fits(records, status):
    """Whether meson's exit status is the number of tests that failed by the log; says so if not."""
    failed = sum(record["result"] in BAD for record in records)
    if status == str(failed % 256):
        return True
    print(f"--- meson: exit status {status}, but {failed} of {len(records)} tests failed by its log")
    return False


def print_failed(path):
    """Few tests may have failed by chance; many have not, and running them all again would take too long."""
    names = {record["name"].rsplit(" / ", 1)[-1] for record in read(path) if cases(record)[1]}
    print(*sorted(names) if len(names) <= AT_MOST else ())


def has_passed(name, record):
    """Whether a case that failed has passed in a repeated test.  One that fails as a whole has no line of its own where
    each of its parts passes, or is skipped as it is each time."""
    found = [(fine, directive) for fine, other, directive in lines(record) if other == name]
    if found:
        return all(fine and not directive for fine, directive in found)
    group = name.partition(": exit status ")[0]
    parts = [(fine, directive) for fine, other, directive in lines(record) if other.startswith(group + ": ")]
    return (all(fine and BUSY not in directive for fine, directive in parts)
            and not all(directive for _, directive in parts))


def settled(record, again):
    """How a test that failed has ended when it was repeated.  Adds a failed case for each that has not passed then."""
    failed = [name for fine, name, directive in lines(record) if not fine and not directive]
    failed_again = {name for fine, name, _ in lines(again) if not fine}
    left = [name for name in failed if name not in failed_again and not has_passed(name, again)]
    added = [f"not ok - {name}\n# failed in the first run, and has not passed in the second" for name in left]
    return {**again, "stdout": "\n".join([again.get("stdout", "").rstrip("\n"), *added])} if left else again


def repeated(records, second):
    """The records with those of the second run in place of those that failed; shows what failed in the first run only."""
    second = {record["name"]: record for record in second}
    results = []
    for record in records:
        again = second.get(record["name"]) if cases(record)[1] else None
        again = again and settled(record, again)
        if again and not cases(again)[1]:
            print("=== failed beside other tests, passed alone:")
            show(record)
        results.append(again or record)
    return results


def print_skipped(records):
    """Lists the cases that say nothing because the machine was busy."""
    names = [f"{record['name']}: {name}" for record in records for _, name, directive in lines(record)
             if BUSY in directive]
    if names:
        print("\n".join(names + [f"{len(names)} skipped: machine busy"]))


def main():
    if sys.argv[1] == "--failed":
        print_failed(sys.argv[2])
        return 0
    records = read(sys.argv[1])
    fits = [status_fits(records, sys.argv[2])]
    if len(sys.argv) > 3:
        second = read(sys.argv[3])
        fits.append(status_fits(second, sys.argv[4]))
        records = repeated(records, second)
    results = [cases(record) for record in records]
    for record, result in zip(records, results):
        if result[1] > 0:
            show(record)
    passed = sum(result[0] for result in results)
    failed = sum(result[1] for result in results) + fits.count(False)
    print_skipped(records)
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main())
