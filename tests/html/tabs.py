#!/usr/bin/env python3
"""The tabs of parallelism, constructs and grains: their figures are those of the CSV, and they can be used by keyboard
alone."""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import Browser, need_browser
from report import report
from tap import GOLDEN, LAUNCHER, REPORT, case, compile_c, main, must

# The cells of the first rows of a grid, by its label.
CELLS = """[...document.querySelectorAll('[aria-label=%s] .grid-row')].map(
    (row) => [...row.querySelectorAll('.grid-cell')].map((cell) => cell.querySelector('[title]')?.title ?? cell.textContent))"""
TITLES = "[...document.querySelectorAll('[aria-label=%s] .grid-title')].map((title) => title.dataset.column)"


def opened(directory, measurement, browser, fragment=""):
    need_browser()
    path = os.path.join(directory, measurement + ".html")
    if not os.path.exists(path):
        report("-q", "-f", "html", "-o", path, "./" + measurement, cwd=GOLDEN)
    browser.open(path, fragment)


def quoted(label):
    return '"' + label + '"'


def shown(browser, label):
    """The rows of a grid, as dictionaries by the names of the CSV's columns."""
    titles = browser.evaluate(TITLES % quoted(label))
    return [dict(zip(titles, cells)) for cells in browser.evaluate(CELLS % quoted(label))]


def expected(measurement, view):
    done = report("-q", "--view", view, "-f", "csv", "./" + measurement, cwd=GOLDEN)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def agree(cells, row, names):
    for name in names:
        if row[name]:
            assert abs(float(cells[name]) - float(row[name])) <= 0.51e-6 or name.endswith("_pct") and \
                abs(float(cells[name]) - float(row[name])) <= 0.051, (name, cells, row)
        else:
            assert cells.get(name, "") == "", (name, cells, row)


COPY = """(async () => {
  let copied = null;
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: async (text) => { copied = text; } } });
  const button = %s.querySelector(".copy");
  button.click();
  await new Promise((resume) => setTimeout(resume));
  return [copied, button.textContent];
})()"""


@case
def tables_and_findings_are_copied_as_text(directory):
    with Browser() as browser:
        opened(directory, "constructs2", browser)
        label = "Overheads"
        copied, said = browser.evaluate(COPY % f"document.querySelector('[aria-label={label}]')")
        lines, cells = copied.splitlines(), browser.evaluate(CELLS % quoted(label))
        assert said == "Copied" and len(lines) == 1 + len(cells) == 1 + len(expected("constructs2", "overheads")), copied
        for line, row in zip(lines[1:], cells):
            assert line.split() == " ".join(row).split(), (line, row)
        copied, said = browser.evaluate(COPY % "document.querySelector('#panel-summary .card.wide')")
        changes = [row for row in expected("constructs2", "advice") if row["class"] not in ("unfit", "unexplained", "other")]
        assert said == "Copied" and changes, copied
        for number, row in enumerate(changes):
            for text in (f"{number + 1}. ", row["evidence"], row["remedy"], row["command"]):
                assert " ".join(text.split()) in " ".join(copied.split()), (text, copied)
        assert browser.messages == []


@case
def figures_are_those_of_the_csv(directory):
    with Browser() as browser:
        opened(directory, "constructs2", browser)
        for label, view, names in (("Overheads", "overheads", ("total_s", "imbalance_s", "sync_pct")),
                                   ("Tasks", "tasks", ("instances", "exec_s", "exec_p90_s", "elsewhere_pct")),
                                   ("Work, span and parallelism of each construct", "parallelism",
                                    ("instances", "work", "span", "critical_path_pct"))):
            rows = expected("constructs2", view)
            cells = shown(browser, label)
            assert len(cells) == len(rows) > 0, (label, len(cells), len(rows))
            for one, row in zip(cells, rows):
                assert one["name"] == row["name"], (label, one, row)
                agree(one, row, names)
        sums = [row for row in expected("constructs2", "regions") if row["thread"] == "SUM"]
        cells = shown(browser, "Regions")
        assert len(cells) == len(sums) > 0
        for one, row in zip(cells, sums):
            agree(one, row, ("exec_s", "exec_count", "body_s"))
        assert not browser.messages, browser.messages


@case
def settings_that_were_tried_are_listed(directory):
    with Browser() as browser:
        opened(directory, "locked", browser)
        headings = "[...document.querySelectorAll('h2')].map((title) => title.textContent)"
        title = "What settings gained when they were tried"
        assert title in browser.evaluate(headings)
        rows = browser.evaluate("[...[...document.querySelectorAll('section')].find((card) => card.textContent.startsWith("
                                f"'{title}')).querySelectorAll('tr')].map((row) => [...row.children].map((cell) => "
                                "cell.textContent))")
        wanted = expected("locked", "try")
        assert [(row[0], row[-1]) for row in rows[1:]] == [(row["setting"], row["verdict"]) for row in wanted], rows
        assert rows[1][1:5] == ["507\u00a0ms", "492\u00a0ms", "521\u00a0ms", "400\u00a0ms"], rows
        assert not browser.messages, browser.messages
        opened(directory, "basic", browser)
        assert title not in browser.evaluate(headings)


@case
def locks_are_listed(directory):
    with Browser() as browser:
        opened(directory, "locked", browser)
        rows, cells = expected("locked", "locks"), shown(browser, "Locks")
        assert len(cells) == len(rows) > 0, (cells, rows)
        for one, row in zip(cells, rows):
            assert one["kind"] == row["kind"] and one["lock"] == row["lock"], (one, row)
            agree(one, row, ("waits", "wait_s", "acquisitions", "held_s"))
        assert not browser.messages, browser.messages


@case
def devices_are_listed(directory):
    with Browser() as browser:
        opened(directory, "offload", browser, "#tab=constructs")
        rows, cells = expected("offload", "devices"), shown(browser, "Devices")
        assert len(cells) == len(rows) > 0, (cells, rows)
        for one, row in zip(cells, rows):
            assert one["kind"] == row["kind"] and one["device"] == row["device"], (one, row)
            agree(one, row, ("busy_s", "idle_s", "overlap_s", "to_bytes", "from_s"))
        assert not browser.messages, browser.messages


@case
def ranks_and_calls_of_mpi_are_listed(directory):
    with Browser() as browser:
        opened(directory, "ranks", browser, "#tab=parallelism")
        for view, label, columns in (("ranks", "Ranks", ("rank", "work_s", "mpi_s", "mpi_calls", "global_efficiency")),
                                     ("mpi", "Calls of MPI", ("calls", "time_s", "sent_bytes")),
                                     ("efficiency", "Efficiencies of the job and its threads", ("value", "gain_s"))):
            rows, cells = expected("ranks", view), shown(browser, label)
            assert len(cells) == len(rows) > 1, (cells, rows)
            for one, row in zip(cells, rows):
                agree(one, row, columns)
        assert not browser.messages, browser.messages


@case
def nested_constructs_fold_and_unfold(directory):
    label = quoted("Constructs as they were nested")
    with Browser() as browser:
        opened(directory, "constructs2", browser, "#tab=constructs")
        first = browser.evaluate(CELLS % label)
        browser.evaluate(f"document.querySelector('[aria-label={label}] .grid-scroller').focus()")
        browser.key("ArrowDown")
        browser.key("ArrowLeft")
        folded = browser.evaluate(CELLS % label)
        assert len(folded) == 1 and folded[0][0].lstrip("\u25b8") == first[0][0].lstrip("\u25be"), (folded, first)
        browser.key("ArrowRight")
        assert browser.evaluate(CELLS % label) == first
        for _ in range(len(first)):
            browser.key("ArrowDown")
        browser.key("Home")
        assert browser.evaluate(f"document.querySelector('[aria-label={label}] [aria-selected=true]').ariaRowIndex") == "2"


@case
def columns_sort(directory):
    label = quoted("Overheads")
    with Browser() as browser:
        opened(directory, "constructs2", browser, "#tab=constructs")
        click = f"[...document.querySelectorAll('[aria-label={label}] .grid-title')]" \
                ".find((title) => title.dataset.column === 'imbalance_s').click()"
        rows = [float(row["imbalance_s"]) for row in expected("constructs2", "overheads")]
        for descending in (True, False):
            browser.evaluate(click)
            found = [float(row["imbalance_s"]) for row in shown(browser, "Overheads")]
            assert found == sorted(rows, reverse=descending) and len(set(found)) > 2, found


@case
def tabs_and_links_work_by_keyboard(directory):
    with Browser() as browser:
        opened(directory, "recorded-time", browser)
        names = browser.evaluate("[...document.querySelectorAll('[role=tab]')].map((tab) => tab.id.slice(4))")
        browser.evaluate("document.querySelector('[role=tab]').focus()")
        for name in names[1:] + names[:1]:
            browser.key("ArrowRight")
            visible = browser.evaluate("[...document.querySelectorAll('[role=tabpanel]')]"
                                       ".filter((panel) => !panel.hidden).map((panel) => panel.id.slice(6))")
            assert visible == [name] and f"tab={name}" in browser.evaluate("location.hash"), (visible, name)
        browser.evaluate("history.back()")
        browser.wait(f"location.hash.includes('tab={names[-1]}')")
        browser.wait(f"!document.getElementById('panel-{names[-1]}').hidden")


@case
def links_in_grids_are_followed_by_keyboard(directory):
    rows = [row for row in expected("constructs2", "regions") if row["thread"] == "SUM"]
    place = next(i for i, row in enumerate(rows) if row["context_id"])
    with Browser() as browser:
        opened(directory, "constructs2", browser, "#tab=constructs")
        browser.evaluate("document.querySelector('[aria-label=Regions] .grid-scroller').focus()")
        for _ in range(place + 1):
            browser.key("ArrowDown")
        browser.key("Enter")
        shown_now = browser.evaluate("location.hash")
        assert "tab=contexts" in shown_now and f"context={rows[place]['context_id']}" in shown_now, shown_now


@case
def what_if_states_the_bound_or_the_scenario(directory):
    with Browser() as browser:
        opened(directory, "recorded-time", browser, "#tab=parallelism")
        scenario = next(row for row in expected("recorded-time", "whatif") if "," not in row["selector"])
        move = "(() => { const label = [...document.querySelectorAll('.slider label')].find((one) => " \
               f"one.textContent === '{scenario['selector']}'); const slider = label.parentElement.querySelector('input');" \
               "slider.value = %d; slider.dispatchEvent(new Event('input')); " \
               "return label.parentElement.querySelector('output').textContent; })()"
        text = browser.evaluate(move % 7)  # 16 times as fast
        assert scenario["note"] in text, (text, scenario)
        assert f"{float(scenario['span']) * 1e3:.1f}" in text, (text, scenario)
        bound = browser.evaluate(move % 3)
        assert "bound" in bound and "at least" in bound, bound


@case
def grains_have_a_graph_that_folds(directory):
    with Browser() as browser:
        opened(directory, "recorded-time", browser, "#tab=grains")
        cells = shown(browser, "Single grains")
        rows = expected("recorded-time", "grains")
        assert [(one["path"], one["kind"]) for one in cells] == [(row["path"], row["kind"]) for row in rows]
        for one, row in zip(cells, rows):
            agree(one, row, ("exec_s", "slack_s"))
        browser.evaluate("document.querySelector('.graph-canvas').focus()")
        titles = set()
        for _ in range(40):
            browser.key("n")
            titles.add(browser.evaluate("document.querySelector('.graph-details h3').textContent"))
        assert any("4 \u00d7 for" in title for title in titles), titles
        assert not browser.messages, browser.messages


@case
def changes_are_those_of_the_csv(directory):
    need_browser()
    path = os.path.join(directory, "changes.html")
    done = report("-q", "-f", "html", "-o", path, "--compare", "constructs", "constructs2", cwd=GOLDEN)
    assert done.returncode == 0, done
    with Browser() as browser:
        browser.open(path, "#tab=runs")
        for label, view, name in (("Regions and constructs", "regions", "name"), ("Parallelism", "parallelism", "name"),
                                  ("What has changed", "summary", "item"), ("Threads: CPU time", "threads", "thread")):
            done = report("-q", "--compare", "constructs", "--view", view, "-f", "csv", "constructs2", cwd=GOLDEN)
            rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["base"] or row["new"] or
                    view != "summary"]
            cells = shown(browser, label)
            assert len(cells) == len(rows) > 0, (label, len(cells), len(rows))
            for one, row in zip(cells, rows):
                assert one[name] == row[name], (label, one, row)
                one["difference"] = one["difference"].rstrip(" !").lstrip("+")
                agree(one, row, ("base", "new", "difference"))
        text = browser.evaluate("document.getElementById('panel-runs').textContent")
        assert "New: constructs2; base: constructs" in text, text[:200]
        # a choice in the icicle is selected in the grid, and its times stand below the drawing
        browser.evaluate("document.querySelector('#panel-runs canvas.icicle').focus()")
        for _ in range(3):
            browser.key("ArrowDown")
        chosen = browser.evaluate("document.querySelector('[aria-label=\"Calling contexts: time\"] [aria-selected=true]')"
                                  ".querySelector('.grid-cell').textContent")
        said = browser.evaluate("document.querySelector('#panel-runs output').textContent")
        assert said.split(":")[0] == chosen.lstrip("\u25be\u25b8") and "\u2192" in said, (said, chosen)
        assert not browser.messages and not browser.requests, browser.messages


@case
def a_series_has_a_plot_and_its_losses(directory):
    need_browser()
    program = compile_c(directory, "halves", """
        int main(void)
        {
          volatile double sum = 0;
          #pragma omp parallel for reduction(+ : sum)
          for (int i = 0; i < 100000000; i++)
            sum += i;
          return 0;
        }""", "-fopenmp")
    must(LAUNCHER, "-q", "--scaling", "1,2", "-o", "series", program, cwd=directory)
    must(REPORT, "-q", "--scaling", "-f", "html", "-o", "series.html", "series", cwd=directory)
    rows = list(csv.DictReader(io.StringIO(must(REPORT, "-q", "--scaling", "-f", "csv", "series", cwd=directory))))
    with Browser() as browser:
        browser.open(os.path.join(directory, "series.html"), "#tab=runs")
        cells = shown(browser, "Runs")
        runs = [row for row in rows if row["kind"] == "run"]
        assert [one["threads"] for one in cells] == [row["threads"] for row in runs] == ["1", "2"], (cells, runs)
        for one, row in zip(cells, runs):
            agree(one, row, ("elapsed_s", "speedup", "parallel_efficiency"))
        assert browser.evaluate("document.querySelectorAll('#panel-runs .plot-point').length") == 2
        assert not browser.messages, browser.messages


@case
def reports_without_openmp_say_so(directory):
    with Browser() as browser:
        opened(directory, "plain", browser)
        for tab in ("parallelism", "constructs", "grains"):
            text = browser.evaluate(f"document.getElementById('panel-{tab}').textContent")
            assert text and "cannot be shown" not in text, (tab, text)
        assert not browser.messages, browser.messages


if __name__ == "__main__":
    main()
