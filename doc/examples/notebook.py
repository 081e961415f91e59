#!/usr/bin/env python3
"""Reads hpcrun-lite's measurements with pandas: the hottest functions, from CSV and from a SQLite database, and how the
program scales, as a plot.

    hpcrun-lite --scaling 1,2,4 -o runs ./program
    python3 notebook.py runs/threads-4     # one number of threads: tables
    python3 notebook.py --scaling runs     # all: scaling.png
"""
import io
import os
import sqlite3
import subprocess
import sys
import tempfile

try:
    import pandas
except ImportError:
    pandas = None


def csv(*arguments):
    """A report as a table."""
    done = subprocess.run(["hpcprof-lite", "-q", "-f", "csv", "--raw-names", *arguments], check=True, stdout=subprocess.PIPE,
                          text=True)
    return pandas.read_csv(io.StringIO(done.stdout))


def database(directory):
    """All tables of a run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.db")
        subprocess.run(["hpcprof-lite", "-q", "-f", "sqlite", "-o", path, directory], check=True)
        base = sqlite3.connect(path)
        names = pandas.read_sql("SELECT name FROM sqlite_master WHERE type = 'table'", base)["name"]
        return {name: pandas.read_sql(f"SELECT * FROM {name}", base) for name in names}


def show_run(directory):
    flat = csv("--view", "flat", directory).sort_values("work_excl_s", ascending=False)
    print(flat[["name", "file", "line", "work_excl_s", "idleness_excl_s"]].head(10).to_string(index=False), "\n")
    tables = database(directory)
    contexts = tables["contexts"]
    totals = contexts.groupby("name")[["work_excl_s", "overhead_excl_s", "lockwait_excl_s", "idleness_excl_s"]].sum()
    print(totals.nlargest(10, "work_excl_s").to_string(), "\n")
    threads = tables["threads"][["process", "thread", "work_s", "overhead_s", "lockwait_s", "idle_s"]]
    print(threads.to_string(index=False))


def plot_scaling(directory):
    try:
        import matplotlib
    except ImportError:
        print("notebook.py needs matplotlib (Debian: python3-matplotlib)", file=sys.stderr)
        return 1
    matplotlib.use("Agg")  # no window
    from matplotlib import pyplot
    table = csv("--scaling", directory)
    table = table[table["kind"] == "run"]
    pyplot.plot(table["threads"], table["threads"], "--", color="grey", label="ideal")
    pyplot.plot(table["threads"], table["speedup"], "o-", label="measured")
    pyplot.title(os.path.basename(os.path.abspath(directory)))
    pyplot.xticks(table["threads"])
    pyplot.xlabel("threads")
    pyplot.ylabel("speedup")
    pyplot.legend()
    pyplot.savefig("scaling.png", dpi=150)
    print(table[["threads", "speedup"]].to_string(index=False))
    return 0


def main(arguments):
    scaling = arguments[:1] == ["--scaling"]
    if len(arguments) != 1 + scaling or arguments[scaling].startswith("-"):
        print("usage: notebook.py DIR | --scaling DIR", file=sys.stderr)
        return 2
    if not pandas:
        print("notebook.py needs pandas (Debian: python3-pandas)", file=sys.stderr)
        return 1
    try:
        if scaling:
            return plot_scaling(arguments[1])
        show_run(arguments[0])
        return 0
    except subprocess.CalledProcessError:  # hpcprof-lite has said why
        return 1


sys.exit(main(sys.argv[1:]))
