"""Pages of measurements with a trace, and what the CSV tells of their intervals: for tests of the timeline."""
import csv
import io
import os

from browser import need_browser
from report import report
from tap import GOLDEN

SHOWN = """[...document.querySelectorAll('[aria-label="%s"] .grid-row')].map(
    (row) => [...row.querySelectorAll('.grid-cell')].map((cell) => cell.textContent))"""
CELLS = SHOWN.replace("cell.textContent", "cell.title || (cell.querySelector('[title]')?.title ?? cell.textContent)")  # in full
TITLES = "[...document.querySelectorAll('[aria-label=\"%s\"] .grid-title')].map((title) => title.textContent.replaceAll('\u00a0', ' '))"
NAMES = {"Work": "work", "Overhead": "overhead", "Lock wait": "lock_wait", "Idle": "idle",
         "MPI": "mpi",
         "Blocked in calls": "blocked", "Ready without a core": "core_wait",
         "Waiting for a thread without a core": "waiting_no_core", "This tool": "tool",
         "Not recorded": "gap"}


def page(directory, measurement, cwd=GOLDEN):
    need_browser()
    path = os.path.join(directory, os.path.basename(measurement) + ".html")
    report("-q", "-f", "html", "-o", path, measurement, cwd=cwd)
    return path


def intervals(measurement, *options):
    done = report("-q", "--view", "timeline", "-f", "csv", *options, measurement, cwd=GOLDEN)
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def topdown():
    done = report("-q", "--view", "topdown", "-f", "csv", "traced", cwd=GOLDEN)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def ns(row):
    return round((float(row[4]) - float(row[3])) * 1e9)


def seconds_ns(text):
    return round(float(text.removesuffix(" s") or 0) * 1e9)


def shown_ns(cells, titles):
    """The amounts of a grid's row by category; empty ones are 0."""
    return {NAMES[title]: seconds_ns(cells[titles.index(title)]) for title in titles if title in NAMES}


def quiet(browser):
    assert not browser.messages and not browser.requests, (browser.messages, browser.requests)
