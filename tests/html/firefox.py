#!/usr/bin/env python3
"""The page in Firefox: it opens, its first screen and its tabs are as in Chromium, and nothing is in the console."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import CHROMIUM, Browser
from gecko import Firefox, need_firefox
from report import report
from tap import GOLDEN, case, main

TABS = "[...document.querySelectorAll('[role=tab]')].map((tab) => tab.id)"
FIRST = """(() => { const panel = document.getElementById('panel-summary'), bottom = (one) => one.getBoundingClientRect().bottom;
  return [panel.querySelector('.verdict').textContent, Math.max(...[...panel.querySelectorAll('.verdict, .figures, .bar')].map(bottom)) <= innerHeight,
    document.documentElement.scrollWidth <= innerWidth]; })()"""
TEXTS = """[...document.querySelectorAll('main:not([hidden]) .grid')].map((grid) => [grid.getAttribute('aria-label'),
  ...[...grid.querySelectorAll('.grid-row')].slice(0, 10).map((row) => [...row.children].map((cell) => cell.querySelector('[title]')?.title ?? cell.textContent))])"""
DRAWN = """[...document.querySelectorAll('main:not([hidden]) canvas')].filter((canvas) => canvas.offsetWidth).map((canvas) => {
  const data = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return new Set(data).size > 2; })"""


def page(directory, name):
    path = os.path.join(directory, name + ".html")
    report("-q", "-f", "html", "-o", path, "./" + name, cwd=GOLDEN)
    return path


@case
def all_tabs_open_without_a_message(directory):
    need_firefox()
    with Firefox() as firefox:
        for name in ("recorded-time", "traced", "constructs2", "ranks", "hostile", "charted"):
            firefox.open(page(directory, name))
            verdict, first_screen, narrow = firefox.evaluate(FIRST)
            assert verdict.endswith(".") and first_screen and narrow, (name, verdict, first_screen, narrow)
            for tab in firefox.evaluate(TABS):
                firefox.click("#" + tab)
                shown = firefox.evaluate("[...document.querySelectorAll('main')].filter((panel) => panel.offsetHeight).map((panel) => panel.id)")
                assert shown == [tab.replace("tab-", "panel-")], (name, tab, shown)
                assert "cannot be shown" not in firefox.evaluate(f"document.getElementById('{shown[0]}').textContent")
        firefox.quiet()


@case
def tables_and_drawings_are_those_of_chromium(directory):
    need_firefox()
    path = page(directory, "traced")
    with Firefox() as firefox:
        seen = {}
        for tab in ("contexts", "timeline", "constructs", "constructs&sort-regions=exec_s.ascending"):
            firefox.open(path, "#tab=" + tab)
            seen[tab] = firefox.evaluate(TEXTS)
            drawn = firefox.evaluate(DRAWN)
            assert seen[tab] and all(drawn), (tab, seen[tab], drawn)
            assert drawn or tab.startswith("constructs"), tab
        firefox.quiet()
    if CHROMIUM:
        with Browser() as browser:
            for tab, texts in seen.items():
                browser.open(path, "#tab=" + tab)
                assert browser.evaluate(TEXTS) == texts, tab


if __name__ == "__main__":
    main()
