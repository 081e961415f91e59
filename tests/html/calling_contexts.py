#!/usr/bin/env python3
"""The tab of calling contexts: figures, selection, search, keyboard, links, hiding, recursion, source lines."""
import csv
import io
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import Browser, need_browser
from report import report
from tap import GOLDEN, case, compile_c, main, must, need_program, LAUNCHER, run

PANEL = "document.getElementById('panel-contexts')"
SELECTED = PANEL + ".querySelector('.grid-row[aria-selected=true]')"
# The rows of the grid in the document: id of the row's number, and the texts of its cells.
ROWS = PANEL + """ && [...%s.querySelectorAll('.grid-row')].map((row) => [Number(row.dataset.row),
    ...[...row.children].map((cell) => (cell.querySelector('[title]')?.title ?? cell.textContent).replace(/^[\\u25be\\u25b8]/, ''))])""" % PANEL
TITLES = "[...%s.querySelectorAll('.grid-title')].map((title) => title.dataset.column)" % PANEL
STATE = "Object.fromEntries(new URLSearchParams(location.hash.slice(1)))"


def page(directory, *arguments, cwd=GOLDEN):
    path = os.path.join(directory, "report.html")
    done = report("-q", "-f", "html", "-o", path, *arguments, cwd=cwd)
    assert os.path.exists(path), done
    return path


def rows_of(view, measurement, *options, cwd=GOLDEN):
    """The rows of a view's CSV."""
    done = report("-q", "--view", view, "-f", "csv", *options, measurement, cwd=cwd)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def plain(cell):
    """A number as the page shows it, without what makes it readable."""
    return cell.replace("\u2009", "").replace("\u00a0%", "")


def decimals(cell):
    """How many decimals a number is shown with."""
    return len(plain(cell).partition(".")[2])


def quiet(browser):
    assert not browser.messages and not browser.requests, (browser.messages, browser.requests)


def choose(browser, label, value):
    """Sets a control of the tab, named by its label, as a user does."""
    browser.evaluate(f"""(() => {{
        const labels = [...{PANEL}.querySelectorAll('.context-controls label')];
        const label = labels.find((found) => found.textContent.trim().startsWith({label!r}));
        const control = label.querySelector('input, select');
        if (control.type === 'checkbox') {{ control.click(); return; }}
        control.value = {value!r};
        control.dispatchEvent(new Event(control.type === 'search' ? 'input' : 'change', {{ bubbles: true }}));
    }})()""")


def press(browser, title):
    """Presses a button of the tab."""
    browser.evaluate(f"""[...{PANEL}.querySelectorAll('button')].find(
        (found) => found.textContent === {title!r}).click()""")


def settle(browser):
    """Waits until what was changed is drawn."""
    browser.evaluate("""new Promise((done) => setTimeout(
        () => requestAnimationFrame(() => requestAnimationFrame(done)), 250))""")


def selected(browser):
    return browser.evaluate(f"{SELECTED} && Number({SELECTED}.dataset.row)")


def icicle(browser):
    """Where the icicle is in the window: left, top, width, height."""
    return browser.evaluate(f"""(() => {{
        const canvas = {PANEL}.querySelector('canvas.icicle'), place = canvas.getBoundingClientRect();
        return [place.left, place.top, place.width, place.height];
    }})()""")


def unfold(browser):
    """Unfolds the whole tree by keys: the right one on every folded row.  They are events of the page, because
    hundreds from outside take long; tabs.py presses keys in a grid."""
    ended = browser.evaluate(f"""(() => {{
        const scroller = {PANEL}.querySelector('.grid-scroller'), selected = () => {SELECTED};
        const press = (key) => scroller.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true, cancelable: true }}));
        scroller.focus();
        press('Home');
        for (let i = 0; i < 300; i++) {{
            const before = selected().dataset.row;
            if (selected().getAttribute('aria-expanded') === 'false')
                press('ArrowRight');
            press('ArrowDown');
            if (selected().dataset.row === before)
                return true;
        }}
        return false; }})()""")
    assert ended, "the tree has no end"


@case
def all_rows_and_figures_are_those_of_the_csv(directory):
    need_browser()
    with Browser(1600, 2400) as browser:
        for name in ("blame", "recorded-time", "hostile"):
            path = page(directory, name)
            for tree, view in (("topdown", "topdown"), ("bottomup", "bottomup"), ("flat", "flat")):
                expected = rows_of(view, name)
                columns = [column for column in expected[0] if column not in ("name", "file")]
                browser.open(path, f"#tab=contexts&tree={tree}&columns={','.join(columns)}")
                if tree != "flat":
                    unfold(browser)
                titles, shown = browser.evaluate(TITLES), browser.evaluate(ROWS)
                assert titles == ["name", *columns], titles
                found = {row[0]: row[1:] for row in shown}
                assert tree == "bottomup" or len(found) >= min(len(expected), 40), (len(found), len(expected))
                for number, cells in found.items():
                    row = expected[number] if tree != "bottomup" else next(
                        line for line in expected if line["id"] == cells[1 + columns.index("id")])
                    assert cells[0] == row["name"], (name, tree, cells, row)
                    for column, cell in zip(columns, cells[1:]):
                        want = row[column]
                        if not want or column in ("kind", "module"):
                            assert cell == want.split("/")[-1], (column, cell, want)
                        else:
                            assert abs(float(plain(cell)) - float(want)) <= 0.501 * 10 ** -decimals(cell), \
                                (name, tree, column, cell, want)
            quiet(browser)


@case
def links_select_unfold_and_scroll(directory):
    need_browser()
    path = page(directory, "blame")
    rows = rows_of("topdown", "blame")
    with Browser() as browser:
        browser.open(path, "#tab=contexts")
        unfolded = {row[0] for row in browser.evaluate(ROWS)}
        folded = [row for number, row in enumerate(rows) if number not in unfolded]
        deepest = max(folded, key=lambda row: int(row["depth"]))
        browser.open(path, "#tab=contexts&context=" + deepest["id"])
        assert browser.evaluate(f"{SELECTED}.querySelector('.grid-cell').textContent").endswith(deepest["name"])
        assert browser.evaluate(f"{PANEL}.querySelector('.context-details h2').textContent") == deepest["name"]
        place = browser.evaluate(f"""(() => {{
            const row = {SELECTED}.getBoundingClientRect();
            const view = {PANEL}.querySelector('.grid-scroller').getBoundingClientRect();
            return row.top >= view.top && row.bottom <= view.bottom; }})()""")
        assert place
        quiet(browser)
        # from the summary, also while another tree is shown
        browser.open(path, "#tab=contexts&tree=flat")
        browser.evaluate("changeState({ tab: 'summary' })")
        link = browser.evaluate("""(() => { const link = document.querySelector('#panel-summary a[href*="context="]');
            link?.click(); return link?.getAttribute('href'); })()""")
        if link:
            settle(browser)
            number = link.split("context=")[1]
            assert browser.evaluate(STATE)["context"] == number
            name = next(row["name"] for row in rows if row["id"] == number)
            assert browser.evaluate(f"{SELECTED}.querySelector('.grid-cell').textContent").endswith(name)
        browser.open(path, "#tab=contexts&context=999999&focus=-3&zoom=x&hide=7777,a&colour=none&width=no&tree=no")
        assert browser.evaluate(SELECTED) is None and len(browser.evaluate(ROWS)) > 1
        quiet(browser)


def share_of(rows, text):
    """The percentage of all threads' time in rows whose names contain a text, and in what they call."""
    time = lambda row: sum(float(row[f"{name}_incl_s"]) for name in ("work", "overhead", "lockwait", "idleness"))
    covered, part = set(), 0
    for row in rows:
        inside = row["parent_id"] in covered
        if inside or text in row["name"].lower():
            covered.add(row["id"])
            part += 0 if inside else time(row)
    return 100 * part / time(rows[0])


@case
def search_marks_counts_and_steps(directory):
    need_browser()
    path = page(directory, "blame")
    rows = rows_of("topdown", "blame")
    word = rows[2]["name"][:3].lower()
    matching = [row for row in rows if word in row["name"].lower() or word in row["file"].lower()]
    with Browser() as browser:
        browser.open(path, "#tab=contexts")
        browser.evaluate(f"{PANEL}.querySelector('input[type=search]').focus()")
        for letter in word:
            browser.key(letter)
        browser.wait("new URLSearchParams(location.hash.slice(1)).get('search') === %r" % word)
        found = f"{PANEL}.querySelector('#context-found').textContent"
        assert browser.evaluate(found).split()[0] == str(len(matching)), (browser.evaluate(found), len(matching))
        marks = browser.evaluate(f"[...{PANEL}.querySelectorAll('.grid-row mark')].map((mark) => mark.textContent)")
        marks = [mark.lower() for mark in marks]
        assert marks and set(marks) == {word}, marks
        for number in range(len(matching)):
            browser.key("Enter")
            assert browser.evaluate(found) == f"{number + 1} of {len(matching)}"
            assert browser.evaluate(STATE)["context"] == matching[number]["id"]
        browser.key("Enter", modifiers=8)
        assert browser.evaluate(found) == f"{max(len(matching) - 1, 1)} of {len(matching)}"
        choose(browser, "Search", "(")
        browser.wait(f"{PANEL}.querySelector('input[type=search]').getAttribute('aria-invalid') === 'true'")
        assert "Invalid regular expression" in browser.evaluate(found)
        for text in ("0x1300", "parallel", word):
            choose(browser, "Search", text)
            browser.wait(f"/^{len([row for row in rows if text in row['name'].lower()])} match/.test({found})")
            told = re.fullmatch(r"\d+ match(?:es)?, ([\d.]+)\s% of all threads' time", browser.evaluate(found))
            assert told and abs(float(told[1]) - share_of(rows, text)) < 0.06, (text, browser.evaluate(found))
        choose(browser, "Search", "no such name")
        browser.wait(f"{found} === '0 matches'")
        quiet(browser)


@case
def the_keyboard_does_everything(directory):
    need_browser()
    path = page(directory, "blame")
    rows = rows_of("topdown", "blame")
    by_id = {row["id"]: row for row in rows}
    with Browser() as browser:
        browser.open(path, "#tab=contexts")
        browser.evaluate(f"{PANEL}.querySelector('canvas').focus()")
        browser.key("ArrowDown")
        assert browser.evaluate(STATE)["context"] == "0"
        browser.key("ArrowDown")
        child = browser.evaluate(STATE)["context"]
        assert by_id[child]["parent_id"] == "0"
        browser.key("Enter")
        assert browser.evaluate(STATE)["zoom"] == child
        browser.key("Escape")
        assert "zoom" not in browser.evaluate(STATE)
        browser.key("f")
        assert browser.evaluate(STATE)["focus"] == child
        shown = browser.evaluate(ROWS)
        assert shown[0][1] == by_id[child]["name"], shown[0]
        browser.key("Escape")
        assert "focus" not in browser.evaluate(STATE)
        browser.key("h")
        assert browser.evaluate(STATE)["hide"] == child and browser.evaluate(STATE)["context"] == "0"
        assert child not in [rows[row[0]]["id"] for row in browser.evaluate(ROWS)]
        press(browser, "Show all")
        assert "hide" not in browser.evaluate(STATE)
        assert child in [rows[row[0]]["id"] for row in browser.evaluate(ROWS)]
        browser.key("ArrowUp")
        browser.key("p")
        assert int(by_id[browser.evaluate(STATE)["context"]]["depth"]) >= 2
        browser.key("/")
        assert browser.evaluate("document.activeElement.type") == "search"
        quiet(browser)


@case
def a_click_zooms_and_hovering_tells_all_metrics(directory):
    need_browser()
    path = page(directory, "blame")
    rows = rows_of("topdown", "blame")
    with Browser() as browser:
        browser.open(path, "#tab=contexts")
        settle(browser)
        left, top, _, _ = icicle(browser)
        browser.move(left + 40, top + 10)
        browser.wait(f"!{PANEL}.querySelector('.context-tooltip').hidden")
        text = browser.evaluate(f"{PANEL}.querySelector('.context-tooltip').textContent")
        assert rows[0]["name"] in text and "work" in text and "samples" in text, text
        browser.click(left + 40, top + 30)
        state = browser.evaluate(STATE)
        assert rows[int(state["context"])]["parent_id"] == "0" and state["zoom"] == state["context"], state
        browser.evaluate("history.back()")
        browser.wait("!location.hash.includes('zoom')")
        quiet(browser)


@case
def columns_percent_and_order_are_chosen(directory):
    need_browser()
    path = page(directory, "blame")
    rows = rows_of("topdown", "blame")
    whole = float(rows[0]["work_incl_s"])
    with Browser(1600, 1200) as browser:
        browser.open(path, "#tab=contexts&columns=work_incl_s")
        choose(browser, "% of all", True)
        assert browser.evaluate(STATE)["percent"] == "1"
        for number, _, cell in browser.evaluate(ROWS):
            assert abs(float(cell.replace("\u00a0%", "")) - 100 * float(rows[number]["work_incl_s"]) / whole) <= 0.501, cell
        browser.evaluate(f"{PANEL}.querySelector('.context-menu').open = true")
        browser.evaluate(f"{PANEL}.querySelector('.context-menu input[value=samples]').click()")
        assert set(browser.evaluate(STATE)["columns"].split(",")) == {"work_incl_s", "samples"}
        assert "samples" in browser.evaluate(TITLES)
        press(browser, "Usual columns")
        assert "columns" not in browser.evaluate(STATE)
        browser.open(path, "#tab=contexts&tree=flat&columns=work_excl_s")
        browser.evaluate(f"{PANEL}.querySelector('.grid-title[data-column=work_excl_s]').click()")
        flat = rows_of("flat", "blame")
        order = [float(flat[row[0]]["work_excl_s"]) for row in browser.evaluate(ROWS)]
        assert order == sorted(order, reverse=True), order
        quiet(browser)


RECURSIVE = """#include <math.h>
#include <stdio.h>
static volatile double sum;
__attribute__((noinline)) static void burn(int n) { for (int i = 0; i < n; i++) sum += sqrt(i); }
__attribute__((noinline)) static int odd(int n);
__attribute__((noinline)) static int even(int n) { burn(3000000); return n ? odd(n - 1) + 1 : 0; }
__attribute__((noinline)) static int odd(int n) { burn(1000000); return n ? even(n - 1) + 1 : 0; }
int main(void) { printf("%d\\n", even(20)); }
"""


def same_collapsed(joined, rows, shown, column):
    """The option joins the same contexts as the page, keeps their ids, and all sums."""
    names = {rows[cells[0]]["id"]: cells[1].split(" (")[0] for cells in shown}
    assert {row["id"] for row in joined} >= set(names), (joined, names)
    assert sum(row["name"] == "even" for row in joined) == 1 and sum(row["name"] == "burn" for row in joined) == 2, joined
    for row in joined:
        if row["id"] in names and row["id"] != "0":
            assert row["name"] == names[row["id"]], (row, names)
    for name in {row["name"] for row in rows}:
        assert abs(sum(float(row[column]) for row in rows if row["name"] == name) -
                   sum(float(row[column]) for row in joined if row["name"] == name)) < 1e-6, name
    assert float(joined[0]["work_incl_s"]) == float(rows[0]["work_incl_s"])


@case
def recursion_is_collapsed_and_source_is_shown(directory):
    need_browser()
    need_program("gcc")
    program = compile_c(directory, "recursive", RECURSIVE, "-fno-optimize-sibling-calls", "-lm")
    must(LAUNCHER, "-q", "-e", "task-clock@f1000", "-o", os.path.join(directory, "measured"), program, cwd=directory)
    path = page(directory, "--sources", "measured", cwd=directory)
    rows = rows_of("topdown", "measured", cwd=directory)
    column = "work_excl_s"
    with Browser(1600, 1200) as browser:
        browser.open(path, f"#tab=contexts&collapse=1&columns={column},work_incl_s")
        unfold(browser)
        found = {cells[1].split(" (")[0]: cells for cells in browser.evaluate(ROWS)}
        assert {"main", "even", "odd", "burn"} <= set(found), found
        names = [cells[1].split(" (")[0] for cells in browser.evaluate(ROWS)]
        assert names.count("even") == names.count("odd") == 1 and names.count("burn") == 2, names
        for name in ("even", "odd"):
            own = sum(float(row[column]) for row in rows if row["name"] == name)
            assert abs(float(found[name][2]) - own) < 1e-4, (found[name], own)
        whole = next(float(row["work_incl_s"]) for row in rows if row["name"] == "even")
        assert abs(float(found["even"][3]) - whole) < 1e-3, (found["even"], whole)
        # all that is burned: below one row each of even and odd
        burned = sum(float(cells[3]) for cells in browser.evaluate(ROWS) if cells[1].startswith("burn"))
        assert abs(burned - sum(float(row[column]) for row in rows if row["name"] == "burn")) < 2e-3
        joined = rows_of("topdown", "measured", "--collapse-recursion", cwd=directory)
        same_collapsed(joined, rows, browser.evaluate(ROWS), column)
        burn = next(row for row in rows if row["name"] == "burn")
        browser.open(path, "#tab=contexts&context=" + burn["id"])
        lines = browser.evaluate(f"{PANEL}.querySelector('.context-source').textContent")
        assert "sum += sqrt(i)" in lines, lines
        command = browser.evaluate(f"{PANEL}.querySelector('.context-command').textContent")
        assert command == "hpcprof-lite --view source --root burn measured", command
        done = run("sh", "-c", command, cwd=directory, PATH=os.path.dirname(LAUNCHER) + ":" + os.environ["PATH"])
        assert done.returncode == 0 and "burn(int n)" in done.stdout, done
        quiet(browser)
    shown = report("-q", "--view", "source", "-f", "csv", "measured", cwd=directory).stdout
    with Browser() as browser:
        browser.open(path)
        table = browser.evaluate("""loadTable("source").then((table) => [table.columns.map((column) => column.name),
            ...Array.from({ length: table.rows }, (_, row) => table.columns.map((column) => column.text(row)))])""")
        assert table == list(csv.reader(io.StringIO(shown)))
        path = page(directory, "measured", cwd=directory)
        browser.open(path, "#tab=contexts&context=" + burn["id"])
        assert "holds no source text" in browser.evaluate(f"{PANEL}.querySelector('.context-details').textContent")
        assert browser.evaluate("document.getElementById('table-source')") is None


@case
def sources_need_a_page(_):
    for wrong, expected in ((("--sources",), "needs -f html"), (("-f", "csv", "--sources"), "needs -f html"),
                            (("-f", "html", "-I", "."), "--source-path needs --sources")):
        done = report(*wrong, "basic", cwd=GOLDEN)
        assert done.returncode == 2 and expected in done.stderr, done


@case
def hostile_names_and_tiny_trees_are_shown(directory):
    need_browser()
    with Browser(900, 700) as browser:
        for name in ("hostile", "empty", "basic", "two", "events"):
            path = page(directory, name)
            for fragment in ("", "&tree=bottomup", "&tree=critical-path", "&tree=flat",
                             "&context=0&search=.&percent=1&collapse=1"):
                browser.open(path, "#tab=contexts" + fragment)
                assert browser.evaluate(f"{PANEL}.querySelectorAll('img, b, iframe').length") == 0
                assert browser.evaluate(f"{PANEL}.textContent.length") > 40
                assert browser.evaluate("document.documentElement.scrollWidth") <= 900, (name, fragment)
                quiet(browser)


if __name__ == "__main__":
    main()
