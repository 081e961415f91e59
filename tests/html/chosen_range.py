#!/usr/bin/env python3
"""The part of the run that is chosen in the timeline, in the other tabs of the HTML report: times of contexts and
constructs are sums over the intervals of --from and --to, and tabs that show the whole run say so."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import Browser
from tap import case, main
from traced_pages import CELLS, NAMES, TITLES, intervals, ns, page, quiet, shown_ns, topdown

SHOWN_TAB = "document.getElementById('panel-%s')"
NOTICE = "(() => { const notice = document.querySelector('.range-notice'); return notice.hidden ? '' : " \
         "notice.textContent; })()"
TIMES = {"work": "work", "overhead": "overhead", "lockwait": "lock_wait", "idleness": "idle"}


def context_times(rows, tree):
    """The times that intervals of a part give each context, by column: its own, and with what it calls."""
    sums, parents = collections.Counter(), {row["id"]: row["parent_id"] for row in tree}
    for row in rows:
        identity = row[10 if row[6] in ("idle", "lock_wait") else 7]
        for name in [name for name, category in TIMES.items() if category == row[6] and identity]:
            sums[identity, f"range_{name}_excl_s"] += ns(row)
            while identity:
                sums[identity, f"range_{name}_incl_s"] += ns(row)
                identity = parents[identity]
    return sums


@case
def contexts_show_the_chosen_part(directory):
    path, tree = page(directory, "traced"), topdown()
    columns = [f"range_{name}_{form}_s" for name in TIMES for form in ("incl", "excl")]
    with Browser(1600, 1200) as browser:
        for part in (("0.100000000", "0.350000000"), ("0.300000000", "0.420000000"), ("0.000000000", "1000.000000000")):
            link = f"#tab=contexts&from={part[0]}&to={part[1]}&context=4&columns=id,{','.join(columns)}"
            browser.open(path, link)
            expected = context_times(intervals("traced", "--from", part[0], "--to", part[1]), tree)
            titles = browser.evaluate("[...%s.querySelectorAll('.grid-title')].map((title) => title.dataset.column)" %
                                      (SHOWN_TAB % "contexts"))
            cells = browser.evaluate("[...%s.querySelectorAll('.grid-row')].map((row) => [...row.children].map("
                                     "(cell) => cell.textContent))" % (SHOWN_TAB % "contexts"))
            assert titles[1:] == ["id", *columns] and len(cells) > 3, (titles, cells)
            for one in cells:
                for title, text in zip(titles[2:], one[2:]):
                    assert abs(float(text) - expected[one[1], title] / 1e9) < 0.501e-4, (part, one, title, expected)
            notice = browser.evaluate(NOTICE)
            assert f"Only from {float(part[0]):.2f} s to" in notice and "sums over the timeline" in notice, notice
        whole = sum(expected["0", f"range_{name}_incl_s"] for name in TIMES) / 1e9
        width = browser.evaluate("[...%s.querySelectorAll('.context-controls label')].find((label) => "
                                 "label.textContent.startsWith('Width')).querySelector('select').value" %
                                 (SHOWN_TAB % "contexts"))
        assert width == "range" and whole > 0, (width, whole)
        quiet(browser)


@case
def the_part_can_be_removed_and_changed(directory):
    with Browser(1600, 1200) as browser:
        browser.open(page(directory, "traced"), "#tab=contexts")
        titles = "[...%s.querySelectorAll('.grid-title')].map((title) => title.dataset.column)" % (SHOWN_TAB % "contexts")
        usual = browser.evaluate(titles)
        assert browser.evaluate(NOTICE) == "" and "range_work_incl_s" not in usual, usual
        browser.evaluate("changeState({ from: '0.1', to: '0.35' })")
        browser.wait("%s.includes('range_work_incl_s')" % titles)
        browser.evaluate("document.querySelector('#panel-contexts .grid-title[data-column=range_work_excl_s]').click()")
        browser.evaluate("changeState({ from: '0.3', to: '0.42' })")
        browser.wait("%s.includes('from 0.30 s to 0.42 s')" % NOTICE)
        menu = browser.evaluate("[...document.querySelectorAll('.context-menu input')].map((box) => box.value)")
        assert {"work_incl_s", "range_idleness_excl_s", "samples"} <= set(menu), menu
        browser.evaluate("changeState({ collapse: '1' })")
        browser.evaluate("changeState({ tree: 'flat' })")
        browser.wait("%s.startsWith('This tree shows the whole run')" % NOTICE)
        browser.evaluate("changeState({ tree: '', collapse: '' })")
        browser.wait("%s.startsWith('Only from')" % NOTICE)
        browser.evaluate("document.querySelector('.range-notice button').click()")
        browser.wait("!%s.includes('range_work_incl_s')" % titles)
        assert browser.evaluate(NOTICE) == "" and browser.evaluate(titles) == usual
        assert "from=" not in browser.evaluate("location.hash")
        browser.evaluate("history.back()")
        browser.wait("%s.includes('range_work_incl_s')" % titles)
        quiet(browser)


@case
def other_tabs_say_what_they_show_of_a_part(directory):
    part = "0.100000000", "0.350000000"
    rows = intervals("traced", "--from", part[0], "--to", part[1])
    label = "Time of constructs in the chosen part of the run"
    with Browser() as browser:
        path = page(directory, "traced")
        browser.open(path, f"#tab=constructs&from={part[0]}&to={part[1]}")
        expected = collections.Counter()
        for row in rows:
            if row[8]:
                expected[row[8], row[6]] += ns(row)
        titles, cells = browser.evaluate(TITLES % label), browser.evaluate(CELLS % label)
        found = sorted(tuple(sorted(shown_ns(one, titles).items())) for one in cells)
        numbers = {number for number, _ in expected}
        names = [NAMES[title] for title in titles if title in NAMES]
        assert found == sorted(tuple(sorted((name, expected[number, name]) for name in names)) for number in numbers)
        assert "first table" in browser.evaluate(NOTICE)
        for tab in ("summary", "parallelism", "grains"):
            browser.evaluate("changeState({ tab: '%s' })" % tab)
            browser.wait("%s.startsWith('This tab shows the whole run')" % NOTICE)
        browser.evaluate("changeState({ tab: 'timeline' })")
        browser.wait("%s === ''" % NOTICE)
        browser.open(path, "#tab=contexts&from=2&to=3")  # after the end: nothing has any time
        assert "Only from" in browser.evaluate(NOTICE)
        quiet(browser)


@case
def without_a_trace_a_part_changes_nothing(directory):
    grid = "%s.querySelector('.grid').textContent" % (SHOWN_TAB % "contexts")
    with Browser() as browser:
        path = page(directory, "blame")
        browser.open(path, "#tab=contexts")
        before = browser.evaluate(grid)
        for tab in ("summary", "constructs", "contexts"):
            browser.open(path, f"#tab={tab}&from=0.1&to=0.35")
            assert browser.evaluate(NOTICE) == "", tab
        assert browser.evaluate(grid) == before
        quiet(browser)


if __name__ == "__main__":
    main()
