#!/usr/bin/env python3
"""The HTML report as a whole: its tables equal the CSV, no name becomes markup, nothing is asked of any server."""
import base64
import csv
import gzip
import io
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import Browser, need_browser
from report import report
from tap import BUILD, GOLDEN, case, main, must

# Tables of the page are the CSV of the view of that name.
TABLES = ("summary", "advice", "efficiency", "threads", "speedup", "topdown", "flat", "parallelism", "critical-path",
          "whatif", "regions", "region-tree", "overheads", "tasks", "locks", "phases", "grains")
READ_TABLE = """loadTable(%r).then((table) => table && [table.columns.map((column) => column.name),
    ...Array.from({ length: table.rows }, (_, row) => table.columns.map((column) => column.text(row)))])"""


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
        for name in ("recorded", "blame", "constructs2", "traced", "two", "hostile", "recorded-time", "locked"):
            path, _ = page(directory, name)
            browser.open(path)
            for view in TABLES:
                shown = browser.evaluate(READ_TABLE % view)
                done = report("-q", "--view", view, "-f", "csv", name, cwd=GOLDEN)
                expected = list(csv.reader(io.StringIO(done.stdout)))
                assert (shown or []) == expected, (name, view, shown, expected)
            quiet(browser)


def packed_table(path, name):
    """The header of a table, as it stands in the page."""
    with open(path, encoding="utf-8") as file:
        data = re.search(f'id="table-{name}">([^<]*)<', file.read()).group(1)
    data = gzip.decompress(base64.b64decode(data))
    return json.loads(data[4:4 + struct.unpack("<I", data[:4])[0]])


@case
def parents_follow_from_depths(directory):
    path, _ = page(directory, "blame")
    for name in ("topdown", "flat", "bottomup"):
        columns = {column["name"]: column for column in packed_table(path, name)["columns"]}
        assert columns["parent_id"]["bytes"] == 0 and columns["id"]["bytes"] > 0, columns
        assert "rank_work_max_s" in columns, columns


@case
def large_trees_leave_statistics_out(directory):
    measured, path = os.path.join(directory, "measured"), os.path.join(directory, "measured.html")
    must(os.path.join(BUILD, "tests", "synthesize"), "--threads", "2", "--contexts", "110000", "--depth", "30", measured)
    done = report("-q", "-f", "html", "-o", path, measured)
    assert done.returncode == 0, done
    done = report("-q", "--view", "topdown", "-f", "csv", measured)
    expected = list(csv.reader(io.StringIO(done.stdout)))
    kept = [i for i, name in enumerate(expected[0]) if not name.startswith(("thread_", "rank_"))]
    assert len(expected) > 100001 and len(kept) == len(expected[0]) - 16, len(expected)
    need_browser()
    with Browser() as browser:
        browser.open(path)
        assert browser.evaluate("loadTable('topdown').then((table) => table.rows)") == len(expected) - 1
        shown = browser.evaluate("""loadTable("topdown").then((table) => [table.columns.map((column) => column.name),
            ...Array.from({ length: table.rows / 7 }, (_, row) => table.columns.map((column) => column.text(7 * row)))])""")
        for found, row in zip(shown, [expected[0], *expected[1::7]]):
            assert found == [row[i] for i in kept], (found, row)
        told = browser.evaluate("document.getElementById('panel-summary').textContent")
        assert "statistics of threads and ranks" in told and "--view topdown -f csv" in told, told
        browser.evaluate("changeState({ tab: 'contexts' })")
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
def a_killed_process_is_named(directory):
    need_browser()
    with Browser() as browser:
        browser.open(page(directory, "killed")[0])
        text = browser.evaluate("document.getElementById('panel-summary').textContent")
        assert "1 process that was killed or could not write its file (" in text, text
        quiet(browser)


@case
def a_filter_of_the_measurement_is_named(directory):
    need_browser()
    with Browser() as browser:
        for name, filtered in (("filtered", True), ("recorded", False)):
            browser.open(page(directory, name)[0])
            assert browser.evaluate("!document.getElementById('filtered').hidden") == filtered
            text = browser.evaluate("document.getElementById('filtered').getBoundingClientRect().height && "
                                    "document.getElementById('filtered').textContent")
            assert bool(text) == filtered and (not text or text.startswith("Filtered: functions")), text
        quiet(browser)


@case
def missing_cores_come_first(directory):
    need_browser()
    with Browser() as browser:
        for name, missing in (("places", True), ("recorded", False)):
            browser.open(page(directory, name)[0])
            assert browser.evaluate("!document.getElementById('unreliable').hidden") == missing, name
            text = browser.evaluate("document.getElementById('unreliable').textContent")
            assert text.startswith("Unreliable: the host of this virtual machine took 7 %") == missing, text
            # below, nothing is said twice, and the legend of the plot names what is drawn
            panel = browser.evaluate("document.getElementById('panel-summary').textContent")
            said = text.removeprefix("Unreliable: ").split(" (steal)")[0].lower()
            assert not missing or said not in panel.lower(), panel
            reasons = browser.evaluate("[...document.querySelectorAll('#panel-summary h3 + ul > li')].map((one) => one.textContent.replace(/^[^:]*: /, ''))")
            assert len(reasons) > 2 and len(set(reasons)) == len(reasons), reasons
            drawn = browser.evaluate("['dashed', 'dotted'].map((kind) => [kind, document.querySelectorAll(`#panel-summary .plot-line.${kind}`).length > 0, "
                                     "document.getElementById('panel-summary').textContent.includes(`; ${kind}: `)])")
            assert all(line == told for _, line, told in drawn), drawn
            facts = [row["item"] for row in csv.DictReader(io.StringIO(report("-q", "-f", "csv", name, cwd=GOLDEN).stdout))
                     if row["note"] == "own part of the critical path"]
            linked = browser.evaluate("[...document.querySelectorAll('#panel-summary p.note a')].map((one) => one.title)")
            assert linked == facts, (linked, facts)
        quiet(browser)


@case
def the_bar_has_all_categories_and_the_rest(directory):
    need_browser()
    with Browser() as browser:
        browser.open(page(directory, "places")[0])
        widths = browser.evaluate("[...document.querySelectorAll('#panel-summary .bar-part')].map(part =>"
                                  " [part.className, part.title, parseFloat(part.style.width)])")
        keys = browser.evaluate("[...document.querySelectorAll('#panel-summary .legend > li')].map(part => part.className)")
        assert [name.removeprefix("bar-part ") for name, _, _ in widths] == keys and "unexplained" in keys, (widths, keys)
        assert abs(sum(width for _, _, width in widths) - 100) < 0.01, widths
        quiet(browser)


@case
def the_page_names_no_server(directory):
    path, _ = page(directory, "recorded")
    with open(path, encoding="utf-8") as file:
        addresses = set(re.findall(r"https?://[^\"'\s]+", file.read()))
    assert addresses == {"http://www.w3.org/2000/svg"}, addresses


def damaged(directory, pattern):
    """A page in which what follows the pattern's group is replaced by "!"."""
    path, _ = page(directory, "recorded")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    broken = re.sub(pattern, r"\1!", text)
    assert broken != text
    with open(path, "w", encoding="utf-8") as file:
        file.write(broken)
    return path


@case
def a_damaged_table_costs_one_tab(directory):
    need_browser()
    path = damaged(directory, r'(id="table-speedup">.{20}).')
    with Browser() as browser:
        browser.open(path)
        assert "cannot be shown" in browser.evaluate("document.getElementById('panel-summary').textContent")


@case
def a_table_whose_process_died_counts_as_missing(directory):
    need_browser()
    path = damaged(directory, r'(id="table-(?:speedup|bottomup)">[^<]{40})[^<]*')
    with Browser() as browser:
        browser.open(path)
        assert browser.evaluate("loadTable('speedup')") is None and not browser.evaluate("hasTable('bottomup')")
        text = browser.evaluate("document.getElementById('panel-summary').textContent")
        assert "cannot be shown" not in text and "Elapsed" in text, text
        quiet(browser)


@case
def findings_have_titles_and_doubts_are_no_changes(directory):
    need_browser()
    named, doubts = 0, 0
    with Browser() as browser:
        for name in ("recorded", "recorded-time", "traced", "plain"):
            path, _ = page(directory, name)
            done = report("-q", "--view", "advice", "-f", "csv", name, cwd=GOLDEN)
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            browser.open(path)
            shown = browser.evaluate("[...document.querySelectorAll('ol.findings strong')].map((one) => one.textContent)")
            rests = [row["evidence"] for row in rows if row["class"] in ("unexplained", "other")]
            changes = [row for row in rows if row["class"] not in ("unfit", "unexplained", "other")]
            assert len(shown) == len(changes), (name, shown, rows)
            for title, row in zip(shown, changes):
                assert title != row["class"] and title[0].isupper() and "-" not in title, (title, row)
            listed = browser.evaluate("[...document.querySelectorAll('ul.findings li')].map((one) => one.textContent)")
            assert listed == [row["evidence"] for row in rows if row["class"] == "unfit"], (name, listed, rows)
            left = browser.evaluate("[...document.querySelectorAll('ul.rests li')].map((one) => one.textContent)")
            assert len(left) == len(rests) and all(map(str.endswith, left, rests)), (name, left, rests)
            assert not any("inf" in text.split() or "nan" in text for text in listed), listed
            named, doubts = named + len(shown), doubts + len(listed)
            quiet(browser)
    assert named and doubts, (named, doubts)


FIRST_SCREEN = """(() => {
  const bottom = (one) => one ? Math.round(one.getBoundingClientRect().bottom) : null;
  const panel = document.getElementById("panel-summary");
  return { verdict: panel.querySelector(".verdict").textContent, height: innerHeight, width: document.documentElement.scrollWidth,
    bottoms: [...panel.querySelectorAll(".verdict, .figures, .bar, .time-use, .doubts"), ...[...panel.querySelectorAll("ol.findings > li")].slice(0, 3)].map(bottom),
    open: [...panel.querySelectorAll("details")].filter((one) => one.open).length,
    folded: panel.querySelectorAll("details.more li").length, shown: panel.querySelectorAll("ol.findings").length &&
      panel.querySelectorAll("ol.findings")[0].children.length };
})()"""


@case
def the_first_screen_has_the_verdict_the_time_and_three_findings(directory):
    need_browser()
    for name in ("recorded", "recorded-time", "plain", "waits"):
        path, _ = page(directory, name)
        done = report("-q", "-f", "csv", name, cwd=GOLDEN)
        facts = {row["item"]: row["value"] for row in csv.DictReader(io.StringIO(done.stdout)) if row["section"] == "run"}
        done = report("-q", "--view", "advice", "-f", "csv", name, cwd=GOLDEN)
        changes = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["class"] not in ("unfit", "unexplained", "other")]
        for width, height in ((1280, 800), (1920, 1080)):
            with Browser(width, height) as browser:
                browser.open(path)
                seen = browser.evaluate(FIRST_SCREEN)
                assert seen["verdict"].replace("\u00a0", " ") == facts["verdict"] and seen["verdict"].endswith("."), (seen, facts)
                assert len(seen["bottoms"]) >= 4 and max(seen["bottoms"]) <= seen["height"], (name, seen)
                assert seen["width"] <= width and seen["open"] == 0, (name, seen)
                assert (seen["shown"], seen["folded"]) == (min(len(changes), 3), max(0, len(changes) - 3)), (name, seen, changes)
                quiet(browser)


CONTRAST = """(() => {
  const part = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (name) => [1, 3, 5].map((at) => part(parseInt(styleValue(name).slice(at, at + 2), 16) / 255))
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const weak = [];
  for (const [least, grounds, names] of %s)
    for (const ground of grounds)
      for (const name of names)
        if (!(ratio(name, ground) >= least))
          weak.push([name, ground, ratio(name, ground)]);
  return weak;
})()"""


@case
def text_and_graphics_stand_out(directory):
    """WCAG 2.1, levels AA: text 4.5, graphics and controls 3.  Idle time is pale, and bars have a frame."""
    need_browser()
    grounds = ["--ground", "--raised", "--accent-ground", "--selected"]
    graphics = ["--work", "--overhead", "--lock-wait", "--blocked", "--core-wait", "--tool", "--control", "--critical",
                "--problem", "--edge", "--lane-other", "--lane-none", *(f"--lane-{number}" for number in range(1, 11))]
    pairs = [[4.5, grounds, ["--text", "--quiet", "--accent", "--grown", "--shrunk"]], [3, ["--ground"], graphics],
             [4.5, ["--grain", "--problem"], ["--on-node"]], [4.5, ["--mark-ground"], ["--text"]]]
    path, _ = page(directory, "recorded")
    with Browser() as browser:
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            browser.open(path)
            weak = browser.evaluate(CONTRAST % pairs)
            assert not weak, (scheme, weak)


@case
def options_that_a_page_cannot_have_are_refused(_):
    for wrong, expected in ((("--view", "flat"), "leave out view 'flat'"), (("--sort", "work"), "cannot be sorted"),
                            (("--from", "1"), "whole runs"), (("--fail-if", "work > 1 s"), "no conditions"),
                            (("--lines",), "--lines"), (("--root", "main"), "--root")):
        done = report("-f", "html", *wrong, "basic", cwd=GOLDEN)
        assert done.returncode == 2 and expected in done.stderr, done


if __name__ == "__main__":
    main()
