"""hpcprof-lite as the tests run it, and its tables as dictionaries."""
import csv
import glob
import io
import os
import re

import tap

VIEWS = ("summary", "topdown", "bottomup", "flat", "threads", "processes", "efficiency", "parallelism",
         "critical-path", "whatif", "speedup", "regions", "region-tree", "overheads", "tasks", "source")
MEASUREMENTS = (".hpcrun", ".graph")  # suffixes of files that the running side writes


def report(*arguments, **how):
    """Runs hpcprof-lite; see tap.run()."""
    return tap.run(tap.REPORT, *arguments, **how)


# What a terminal obeys, what is invisible, and what changes the order of what is shown: as common/escape.c has it.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]")


def escaped(text):
    """A name as all formats but JSON and text have it."""
    return re.sub(r"\\(?=u\{)|" + UNSAFE.pattern, lambda found: f"\\u{{{ord(found[0]):x}}}", text)


def unescaped(text):
    """The name again, without a mark."""
    return re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: chr(int(found[1], 16)), text)


def original(cell):
    """What stands in a cell of CSV, without its mark against formulas and its escapes."""
    return unescaped(cell[1:] if cell.startswith("'") else cell)


def table(text):
    """The rows of a report in CSV."""
    return [{original(name): cell and original(cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(text))]


def rows(view, *arguments, **how):
    """The rows of a view; fails unless the report succeeded."""
    return table(tap.must(tap.REPORT, "--view", view, "-f", "csv", *arguments, **how))


def check_spans(table):
    """Fails unless in every row of the parallelism view 0 <= span <= work + device time, and a lock's bound of the span
    is at most that of the program, within the last digit that it shows."""
    digit = 0 if table and table[0]["unit"] == "units" else 2e-9
    most = [float(row["work"]) + float(row["device_time"] or 0) + digit for row in table]
    wrong = [row for row, amount in zip(table, most) if not 0 <= float(row["span"]) <= amount or
             float(row["lock_bound"] or 0) > most[0]]
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
