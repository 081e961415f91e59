#!/usr/bin/env python3
"""Counters in the timeline of the HTML report: counts are those of the CSV, also of a part, and the charts follow the
zoom of the lanes."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import Browser
from tap import case, main
from traced_pages import CELLS, intervals, page, quiet

BETWEEN = """loadCounters().then((counters) => counters.map((counter) =>
    [counter.name, counter.event, counter.between(%s, %s)]))"""
LABELS = "[...document.querySelectorAll('.counters-label')].map((label) => [...label.children]" \
         ".map((part) => part.textContent))"
# of each row of the chart: where the first and the last column of pixels has a bar, as a part of the width
BARS = """(() => {
  const canvas = document.querySelector('.counters-canvas'), context = canvas.getContext('2d');
  const { width, height } = canvas, rows = document.querySelectorAll('.counters-label').length;
  const image = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer), ground = image[0];
  return Array.from({ length: rows }, (_, row) => {
    const y = Math.round(height / rows * (row + 1) - 10 * devicePixelRatio);
    const found = Array.from({ length: width }, (_, x) => x).filter((x) => image[y * width + x] !== ground);
    return found.length ? [found[0] / width, (found.at(-1) + 1) / width] : null;
  });
})()"""
NAMES = ["instructions", "page-faults", "items"]


def sums(*options):
    found = collections.Counter()
    for row in intervals("charted", *options):
        if row[5] == "counter":
            found[row[9]] += int(row[12])
    return found


def drawn(browser):
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


@case
def counts_are_those_of_the_csv(directory):
    with Browser() as browser:
        browser.open(page(directory, "charted"), "#tab=timeline")
        for first, last in ((0, 0.64), (0.128, 0.384), (0.16, 0.352)):
            found = browser.evaluate(BETWEEN % (first * 1e9, last * 1e9))
            assert [name for name, _, _ in found] == NAMES and [event for _, event, _ in found] == [True, True, False]
            expected = sums("--from", f"{first}", "--to", f"{last}")
            for name, _, count in found:
                assert abs(count - expected[name]) < 1e-6, (first, last, name, count, expected)
        quiet(browser)


@case
def a_part_has_its_counts_in_the_table(directory):
    with Browser() as browser:
        browser.open(page(directory, "charted"), "#tab=timeline&from=0.128&to=0.384")
        drawn(browser)
        cells = browser.evaluate(CELLS % "Counters in the chosen part")
        assert [(one[0], one[1], one[2].replace("\u2009", "")) for one in cells] == [
            ("instructions", "-c", "4000"), ("page-faults", "-c", "1200"), ("items", "the program", "12")], cells
        assert cells[0][3] == "15.6\u00a0k/s", cells  # 4000 in 0.256 s
        quiet(browser)


@case
def charts_follow_the_lanes(directory):
    path = page(directory, "charted")
    with Browser() as browser:
        browser.open(path, "#tab=timeline")
        drawn(browser)
        labels = browser.evaluate(LABELS)
        assert [label[0] for label in labels] == NAMES, labels
        assert labels[0][1] == "at most 23.4\u00a0k/s", labels  # 3000 in 0.128 s
        first, last = browser.evaluate(BARS)[0]  # 0.128 to 0.320 of 0.640 s
        assert abs(first - 0.2) < 0.005 and abs(last - 0.5) < 0.005, (first, last)
        for scheme in ("dark", "light"):
            browser.scheme(scheme)
            browser.open(path, "#tab=timeline&view=0.064-0.192")
            drawn(browser)
            assert browser.evaluate(LABELS)[0][1] == "at most 15.6\u00a0k/s", browser.evaluate(LABELS)
            first, last = browser.evaluate(BARS)[0]  # 0.128 to 0.192 of 0.064 to 0.192 s
            assert abs(first - 0.5) < 0.005 and last == 1, (scheme, first, last)
        quiet(browser)


@case
def pages_without_counters_have_no_charts(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        drawn(browser)
        assert not browser.evaluate("document.querySelectorAll('.counters, [aria-label^=Counters]').length")
        browser.open(page(directory, "charted-hostile"), "#tab=timeline")
        drawn(browser)
        assert len(browser.evaluate(LABELS)) == 3, browser.evaluate(LABELS)
        quiet(browser)


main()
