"""hpcprof-lite as the tests run it, and its tables as dictionaries."""
import csv
import glob
import io
import os

import tap

VIEWS = ("summary", "topdown", "bottomup", "flat", "threads", "efficiency", "parallelism", "critical-path", "whatif",
         "speedup", "regions", "region-tree", "overheads", "tasks", "source")
MEASUREMENTS = (".hpcrun", ".graph")  # suffixes of files that the running side writes


def report(*arguments, **how):
    """Runs hpcprof-lite; see tap.run()."""
    return tap.run(tap.REPORT, *arguments, **how)


def table(text):
    """The rows of a report in CSV."""
    return list(csv.DictReader(io.StringIO(text)))


def rows(view, *arguments, **how):
    """The rows of a view; fails unless the report succeeded."""
    return table(tap.must(tap.REPORT, "--view", view, "-f", "csv", *arguments, **how))


def check_spans(table):
    """Fails unless in every row of the parallelism view 0 <= span <= work, and a lock's bound of the span is at most
    the program's work, within the last digit that it shows."""
    digit = 0 if table and table[0]["unit"] == "units" else 2e-9
    wrong = [row for row in table if not 0 <= float(row["span"]) <= float(row["work"]) + digit or
             float(row["lock_bound"] or 0) > float(table[0]["work"]) + digit]
    assert not wrong, wrong


def golden_files(suffix, name=None):
    """The golden files with a suffix, by their directories: all, or those of one directory."""
    found = {}
    for path in sorted(glob.glob(os.path.join(tap.GOLDEN, name or "*", "*" + suffix))):
        found.setdefault(os.path.basename(os.path.dirname(path)), []).append(path)
    return found


def contents(path):
    """The bytes of a file."""
    with open(path, "rb") as file:
        return file.read()


def golden_report(*arguments, **how):
    """Runs hpcprof-lite where the golden measurements are; the output is bytes."""
    how.setdefault("LC_ALL", "C.UTF-8")
    return report(*arguments, cwd=tap.GOLDEN, timeout=60, text=False, **how)


def golden_rows(*arguments, **how):
    """The rows of a CSV report on golden measurements."""
    done = golden_report("-q", "-f", "csv", *arguments, **how)
    assert done.returncode == 0, done
    return table(done.stdout.decode())
