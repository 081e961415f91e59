#!/usr/bin/env python3
"""The HTML report as a whole: its tables equal the CSV, no name becomes markup, nothing is asked of any server."""
import csv
import io
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import CHROMIUM, Browser
from report import report
from tap import GOLDEN, Skip, case, main

# Tables of the page are the CSV of the view of that name.
TABLES = ("summary", "advice", "efficiency", "threads", "speedup", "topdown", "flat", "parallelism", "critical-path",
          "whatif", "regions", "region-tree", "overheads", "tasks", "phases", "grains")
READ_TABLE = """loadTable(%r).then((table) => table && [table.columns.map((column) => column.name),
    ...Array.from({ length: table.rows }, (_, row) => table.columns.map((column) => column.text(row)))])"""


def need_browser():
    if not CHROMIUM:
        raise Skip("no Chromium: run scripts/setup")


def page(directory, *measurements, cwd=GOLDEN):
    """Writes the report of measurements."""
    path = os.path.join(directory, "-".join(measurements) + ".html")
    done = report("-q", "-f", "html", "-o", path, *measurements, cwd=cwd)
    assert os.path.exists(path), done
    return path, done


def quiet(browser):
    assert not browser.messages and not browser.requests, (browser.messages, browser.requests)


@case
def tables_equal_the_csv(directory):
    need_browser()
    with Browser() as browser:
        for name in ("recorded", "blame", "constructs2", "traced", "two", "hostile", "recorded-time"):
            path, _ = page(directory, name)
            browser.open(path)
            for view in TABLES:
                shown = browser.evaluate(READ_TABLE % view)
                done = report("-q", "--view", view, "-f", "csv", name, cwd=GOLDEN)
                expected = list(csv.reader(io.StringIO(done.stdout)))
                assert (shown or []) == expected, (name, view, shown, expected)
            quiet(browser)


@case
def names_never_become_markup(directory):
    need_browser()
    path, _ = page(directory, "hostile")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert len(re.findall("<script", text)) == len(re.findall("</script>", text))
    with Browser() as browser:
        browser.open(path)
        assert browser.evaluate("document.querySelectorAll('img, iframe, object, embed, link, b').length") == 0
        quiet(browser)


@case
def the_page_names_no_server(directory):
    path, _ = page(directory, "recorded")
    with open(path, encoding="utf-8") as file:
        addresses = set(re.findall(r"https?://[^\"'\s]+", file.read()))
    assert addresses == {"http://www.w3.org/2000/svg"}, addresses


@case
def a_damaged_table_costs_one_tab(directory):
    need_browser()
    path, _ = page(directory, "recorded")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    broken = re.sub(r'(id="table-speedup">.{20}).', r"\1!", text)
    assert broken != text
    with open(path, "w", encoding="utf-8") as file:
        file.write(broken)
    with Browser() as browser:
        browser.open(path)
        assert "cannot be shown" in browser.evaluate("document.getElementById('panel-summary').textContent")


@case
def options_that_a_page_cannot_have_are_refused(_):
    for wrong, expected in ((("--view", "flat"), "leave out view 'flat'"), (("--sort", "work"), "cannot be sorted"),
                            (("--from", "1"), "whole runs"), (("--fail-if", "work > 1 s"), "no conditions"),
                            (("--lines",), "--lines"), (("--root", "main"), "--root")):
        done = report("-f", "html", *wrong, "basic", cwd=GOLDEN)
        assert done.returncode == 2 and expected in done.stderr, done


if __name__ == "__main__":
    main()
