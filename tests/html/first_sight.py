#!/usr/bin/env python3
"""The page as strangers meet it: names that can be read (also in text) and followed, search, addresses that show the same again, paper,
and the five questions of doc/report.md, with the clicks that it names."""
import base64
import csv
import functools
import io
import os
import re
import resource
import struct
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from browser import Browser, need_browser
from report import report
from tap import BUILD, GOLDEN, LAUNCHER, REPORT, case, compile_c, main, must, need_program, shared_directory, timed
from traced_pages import quiet

PANEL = "document.getElementById('panel-%s')"
STATE = "Object.fromEntries(new URLSearchParams(location.hash.slice(1)))"
SETTLE = "new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 250))"

TEMPLATES = """
#include <map>
#include <string>
#include <vector>
#include <math.h>
namespace solver {
template <class K, class V> struct Grid {
  std::map<K, V> cells;
  std::vector<double> values = std::vector<double>(20000, 1.0);
  __attribute__((noinline)) void relax(int n) { for (int s = 0; s < n; s++) for (auto &v : values) v = sqrt(v + s); }
};
template <class F> __attribute__((noinline)) void each(F f, int n)
{
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++)
    f(i);
}
}
int main()
{
  static solver::Grid<std::string, std::vector<std::pair<int, double>>> grids[2];
  static solver::Grid<std::vector<long>, std::pair<float, std::string>> others[2];
  for (int step = 0; step < 4; step++) {
    solver::each([&](int i) { grids[i].relax(900); }, 2);
    solver::each([&](int i) { others[i].relax(900); }, 2);
  }
}
"""

QUESTIONS = """
#include <stdlib.h>
#define BURN(amount) for (volatile long i = 0; i < 250000L * (amount); i++)
__attribute__((noinline)) static void integrate(int amount) { BURN(amount) ; }
__attribute__((noinline)) static void write_results(int amount) { BURN(amount) ; }
__attribute__((noinline)) static void add_up(void)
{
#pragma omp critical(ledger)
  BURN(4) ;
}
int main(int count, char **arguments)
{
  int serial = count > 1 ? atoi(arguments[1]) : 80;
  for (int step = 1; step <= 20; step++) {
#pragma omp parallel num_threads(2)
    {
      integrate(step == 13 ? 500 : 100);
      add_up();
    }
    write_results(serial);
  }
}
"""


def page(directory, *options, cwd=GOLDEN):
    need_browser()
    path = os.path.join(directory, "report.html")
    must(REPORT, "-q", "-f", "html", "-o", path, *options, cwd=cwd)
    return path


def rows_of(view, measurement, cwd=GOLDEN):
    done = report("-q", "--view", view, "-f", "csv", measurement, cwd=cwd)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def settle(browser):
    browser.evaluate(SETTLE)


@functools.lru_cache(maxsize=None)
def measure(name, source, compiler):
    """Measures a program of C++, once for the whole script.  Returns the measurement."""
    need_program(compiler)
    program = os.path.join(shared_directory(), f"{name}-{compiler}")
    text, measured = os.path.join(shared_directory(), name + ".cc"), program + ".measured"
    with open(text, "w", encoding="utf-8") as file:
        file.write(source)
    must(compiler, "-g", "-O1", "-fopenmp", text, "-o", program)
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f1000", "-o", measured, program)
    return measured


def templates():
    return measure("templates", TEMPLATES, "g++")


# Of the names in the grids of a tab: the grid's label, whole name, text, and whether the text is cut off.
NAMES = """[...%s.querySelectorAll('.grid')].filter((grid) => grid.offsetWidth).flatMap((grid) =>
    [...grid.querySelectorAll('.grid-cell')].filter((cell) => cell.querySelector('[title]')).map((cell) =>
      [grid.getAttribute('aria-label'), cell.querySelector('[title]').title, cell.querySelector('[title]').textContent,
        cell.scrollWidth > cell.clientWidth + 1, cell.querySelector('.grid-aside')?.textContent ?? '']))"""


@case
def long_names_are_folded_and_told_apart(directory):
    path, folded = page(directory, templates()), 0
    with Browser(1280, 1400) as browser:
        for fragment in ("contexts", "contexts&tree=flat", "contexts&tree=bottomup", "timeline", "constructs", "parallelism"):
            browser.open(path, "#tab=" + fragment)
            settle(browser)
            found = browser.evaluate(NAMES % (PANEL % fragment.split("&")[0]))
            assert found, fragment
            for _, whole, text, cut, _ in found:
                assert not cut and (text == whole or "\u2026" in text or whole.startswith(text)), (fragment, whole, text)
                folded += text != whole
            for label in {one[0] for one in found}:
                names = {(whole, text, aside) for at, whole, text, _, aside in found if at == label}
                texts = [text + aside for _, text, aside in names]
                assert len(set(texts)) == len(texts), (fragment, label, sorted(names))
        assert folded > 4, folded
        places = browser.evaluate("""[...document.querySelectorAll('.grid-title[data-column=file]')].map((title) => {
            const grid = title.closest('.grid-scroller').getBoundingClientRect(), box = title.getBoundingClientRect();
            return [box.width > 0, box.right <= grid.right]; }).filter(([shown]) => shown)""")
        assert places and all(inside for _, inside in places), places
        browser.open(path, "#tab=contexts")
        settle(browser)
        names = ["sieve::Small::cross_off(unsigned char*, unsigned char*)", "sieve::Small::cross_off(pod_vector<unsigned char>&)",
                 "region @ library+0x43713", "region @ library+0x43713,region @ library+0x9"]
        first, second, third, fourth = browser.evaluate("distinctNames(%s, (name) => fittedName(name, (text) => text.length <= 26))" % names)
        assert first != second and all("cross_off(" in one and len(one) <= 28 for one in (first, second)), (first, second)
        assert third == names[2] != fourth, (third, fourth)
        place = browser.evaluate("""(() => { const title = document.querySelector('#panel-contexts [data-column=file]');
            return title.getBoundingClientRect().right <= innerWidth && title.previousSibling.dataset.column; })()""")
        assert place == "name", place
        quiet(browser)


@case
def text_tells_shortened_names_apart(_):
    whole = [row["name"] for row in rows_of("flat", templates()) if "relax" in row["name"]]
    assert len(whole) == 2 and whole[0] != whole[1], whole
    lines = must(REPORT, "-q", "flat", "--percent-limit", "0", templates(), COLUMNS="80").splitlines()
    rows = [number for number, line in enumerate(lines) if re.match(r" +\d+\.\d+.* solver::Grid<\.\.>::relax\(\.\.\)", line)]
    assert len(rows) == 2 and max(map(len, lines)) <= 80, lines
    below = [lines[number + 1] for number in rows]
    assert below[0] != below[1] and all(re.match(r"    solver::Grid<std::\S.*::relax", line) for line in below), below
    assert all(any(name.startswith(line.strip().split("<..")[0]) for name in whole) for line in below), (below, whole)


@case
def text_tells_shortened_names_from_whole_ones(directory):
    need_program("g++")
    program, space = os.path.join(directory, "spaces"), "outer_" * 8
    with open(program + ".cc", "w", encoding="utf-8") as file:
        file.write(f"""#define BURN(amount) for (volatile long i = 0; i < 50000000L * (amount); i++)
            namespace {space} {{ __attribute__((noinline)) void advance(void) {{ BURN(1) ; }} }}
            extern "C" __attribute__((noinline)) void advance(void) {{ BURN(3) ; }}
            int main() {{ advance(); {space}::advance(); }}""")
    must("g++", "-g", "-O1", program + ".cc", "-o", program)
    must(LAUNCHER, "-q", "-e", "task-clock@f1000", "-o", "measured", program, cwd=directory)
    lines = must(REPORT, "-q", "flat", "--percent-limit", "0", "measured", cwd=directory, COLUMNS="80").splitlines()
    rows = [number for number, line in enumerate(lines) if re.search(r" advance\b", line)]
    assert len(rows) == 2 and lines[rows[1] + 1].startswith("    outer_"), lines
    assert rows[1] == rows[0] + 1, lines


SOLVERS = """
#include <cmath>
#include <vector>
template <class T, int K> struct Solver {
  std::vector<T> values = std::vector<T>(20000, T(1));
  __attribute__((noinline)) void run()
  {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 20000; i++)
      for (int j = 0; j < K; j++)
        values[i] = std::sqrt(values[i] + j);
  }
};
int main()
{
  Solver<float, 90> a;
  Solver<double, 90> b;
  Solver<double, 80> c;
  for (int i = 0; i < 6; i++) {
    a.run();
    b.run();
    c.run();
  }
}
"""


@case
def text_tells_equal_rows_apart(_):
    for compiler in ("g++", "clang++"):
        measured = measure("solvers", SOLVERS, compiler)
        for view, name, width in [(view, name, width) for width in (80, 100, 120)
                                  for view, name in (("flat", r" parallel @ .*"), ("regions", r" parallel @ .*"), ("phases", r" solvers\.cc:\d+.*"))]:
            lines = must(REPORT, "-q", view, measured, COLUMNS=str(width)).splitlines()
            rows = [(re.search(r"^ +[\d.].*?(%s)" % name, line), below) for line, below in zip(lines, lines[1:] + [""])]
            rows = [(found[1], below if re.match(r" {4,13}\D", below) else "") for found, below in rows if found]
            rows = [row for row in rows if "[callers unknown]" not in "".join(row)]  # of executions that no sample saw
            assert len(rows) == len(set(rows)) == 3, (compiler, view, width, lines)
            assert max(map(len, lines)) <= width, lines
            if view == "flat" and (compiler == "clang++" or width == 80):
                assert all(re.match(r"    called by Solver<(?:float|double), [89]0>::run\(\)$", below) for _, below in rows), rows


@case
def page_tells_equal_rows_apart(directory):
    for compiler in ("g++", "clang++"):
        path = page(directory, measure("solvers", SOLVERS, compiler))
        with Browser(1280, 1400) as browser:
            browser.open(path, "#tab=contexts&tree=flat")
            settle(browser)
            texts = browser.evaluate("""[...document.querySelectorAll('#panel-contexts .grid-cell')].map((cell) => cell.textContent)
                .filter((text) => text.startsWith('parallel @ ') && !text.includes('[callers unknown]'))""")
            quiet(browser)
        named = re.compile(r"parallel @ solvers\.cc:8 called by Solver<(?:float|double), [89]0>::run\(\)")
        assert len(texts) == len(set(texts)) == 3 and all(map(named.fullmatch, texts)), (compiler, texts)


def equal_functions(directory, count):
    """A program with so many functions of one name, and the address of the first one's call; they are 16 bytes apart."""
    source, program = (os.path.join(directory, f"equal{count}{suffix}") for suffix in (".s", ""))
    with open(source, "w", encoding="utf-8") as file:
        file.write(".globl main\nmain: ret\n.p2align 4\nwork: ret\n")
        for number in range(count):
            file.write(f".type f{number:06}, @function\nf{number:06}: call work\nret\n.fill 10, 1, 0xcc\n.size f{number:06}, 7\n")
    must("gcc", "-pie", source, "-o", program)
    with open(program, "rb") as file:
        contents = bytearray(file.read())
    start, = struct.unpack_from("<Q", contents, 0x28)
    sections = list(struct.iter_unpack("<IIQQQQIIQQ", contents[start:start + 64 * struct.unpack_from("<H", contents, 0x3c)[0]]))
    symbols = next(section for section in sections if section[1] == 2)
    names = sections[symbols[6]][4]
    first = contents.index(b"\0f000000\0", names) + 1 - names
    calls = []
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, address = *struct.unpack_from("<I", contents, at), *struct.unpack_from("<Q", contents, at + 8)
        if re.match(rb"f\d{6}\0", contents[names + name:names + name + 8]):
            struct.pack_into("<I", contents, at, first)
            calls.append(address)
    with open(program, "wb") as file:
        file.write(contents)
    assert len(calls) == count and max(calls) - min(calls) == 16 * (count - 1), calls[:9]
    return program, min(calls)


@case
def text_tells_many_equal_rows_apart(directory):
    """In a time that grows as their number."""
    spent = []
    for count in (4000, 16000):
        program, call = equal_functions(directory, count)
        output = os.path.join(directory, f"flat{count}")
        must(os.path.join(BUILD, "tests", "synthesize"), "--threads", "2", "--contexts", str(3 * count), "--depth", "3",
             "--addresses", str(count), "--from", str(call + 4), "--stride", "16", "--module", program, output)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        lines = must(REPORT, "-q", "flat", "--percent-limit", "0", output, COLUMNS="80").splitlines()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert sum(line.startswith("    called by ") for line in lines) > count * 0.9, lines[:40]
    timed(spent[1] < 7 * spent[0], spent)


@case
def equal_rows_have_their_callers(directory):
    program = compile_c(directory, "twice", """
        #include <math.h>
        static volatile double sum;
        __attribute__((noinline)) static void shared(void)
        {
        #pragma omp parallel num_threads(2)
          for (int i = 0; i < 2000000; i++)
            sum += sqrt(i);
        }
        __attribute__((noinline)) static void first_user(void) { shared(); sum++; }
        __attribute__((noinline)) static void second_user(void) { shared(); sum++; }
        int main(void) { first_user(); second_user(); }""", "-fopenmp", "-fno-optimize-sibling-calls", "-lm")
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f1000", "-o", "measured", program, cwd=directory)
    with Browser(1280, 1400) as browser:
        browser.open(page(directory, "measured", cwd=directory), "#tab=timeline")
        settle(browser)
        asides = browser.evaluate("[...document.querySelectorAll('[aria-label=\"Contexts with most time in the chosen part\"]"
                                  " .grid-cell')].map((cell) => cell.textContent).filter((text) => text.includes(' called '))")
        assert len(asides) == len(set(asides)) >= 2, asides
        quiet(browser)


@case
def names_lead_to_contexts_and_to_the_timeline(directory):
    path = page(directory, templates())
    rows = {row["id"]: row for row in rows_of("topdown", templates())}
    followed = 0
    with Browser(1280, 1400) as browser:
        for tab in ("summary", "timeline", "constructs", "parallelism"):
            browser.open(path, "#tab=" + tab)
            links = browser.evaluate(f"[...{PANEL % tab}.querySelectorAll('a[href*=\"context=\"]')].map((link) => link.title)")
            assert len(links) >= 2, (tab, links)
            for number in (0, len(links) - 1):
                browser.open(path, "#tab=" + tab)
                browser.evaluate(f"[...{PANEL % tab}.querySelectorAll('a[href*=\"context=\"]')][{number}].click()")
                settle(browser)
                state = browser.evaluate(STATE)
                row, name = rows[state["context"]], links[number].rpartition(" > ")[2]  # of a path, the last one
                assert state["tab"] == "contexts" and (name.split(" (")[0].split("(")[0] in row["name"] or "@" in row["name"]), (tab, name, row)
                shown = browser.evaluate("document.querySelector('#panel-contexts .context-details h2').textContent")
                assert shown == row["name"], (shown, row)
                followed += 1
        work = next(row for row in rows.values() if "relax" in row["name"])
        browser.open(path, "#tab=contexts&context=" + work["id"])
        browser.evaluate("document.querySelector('.context-timeline').click()")
        browser.wait("location.hash.includes('tab=timeline')")
        settle(browser)
        details = browser.evaluate("document.querySelector('.lane-details').textContent")
        assert work["name"] in details, (work["name"], details)
        quiet(browser)
    assert followed == 8


GRAINS = """
#define BURN(amount) for (volatile long i = 0; i < 300000L * (amount); i++)
__attribute__((noinline)) static void leaf(int amount) { BURN(amount) ; }
int main(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 8; i++) {
#pragma omp task
    leaf(30);
  }
  leaf(100);
}
"""

LINKS = """[...document.querySelectorAll('[aria-label="%s"] .grid-cell a')].filter((link) =>
    link.closest('.grid').querySelectorAll('.grid-title')[[...link.closest('.grid-row').children].indexOf(link.closest('.grid-cell'))].dataset.column === '%s')"""


def follow(browser, links, number, shows):
    """Clicks at one of the links: its context is shown, and nothing else changes; then goes back."""
    before = browser.evaluate(STATE)
    click(browser, f"{links}[{number}]")
    state = browser.evaluate(STATE)
    assert {**before, "tab": "contexts", "context": state["context"]} == state, (before, state)
    shown = browser.evaluate("document.querySelector('#panel-contexts .context-details h2').textContent")
    assert shows(state["context"], shown), (links, shown)
    browser.evaluate("history.back()")
    browser.wait(f"!{PANEL % before['tab']}.hidden")
    assert browser.evaluate(STATE) == before


@case
def worst_contexts_and_holders_are_links(directory):
    program = compile_c(directory, "leaves", GRAINS, "-fopenmp")
    must(LAUNCHER, "-q", "-t", "-p", "log", "-e", "task-clock@f1000", "-o", "measured", program, cwd=directory)
    path = page(directory, "measured", cwd=directory)
    names = {row["id"]: row["name"] for row in rows_of("topdown", "measured", cwd=directory)}
    phases = [row for row in rows_of("phases", "measured", cwd=directory) if row["context_id"] and not row["step"]]
    with Browser(1280, 1400) as browser:
        browser.open(path, "#tab=timeline")
        links = LINKS % ("Phases", "context")
        assert browser.evaluate(f"{links}.map((link) => link.title)") == [row["context"] for row in phases] != []
        for number, row in enumerate(phases):
            follow(browser, links, number, lambda id, shown: id == row["context_id"] and shown == names[id])
        browser.open(path, "#tab=grains")
        for label, column in (("Groups of grains", "name"), ("Groups of grains", "creator_name"), ("Single grains", "name")):
            links = LINKS % (label, column)
            titles = browser.evaluate(f"{links}.map((link) => link.title)")
            assert titles, (label, column)
            follow(browser, links, 0, lambda id, shown: (titles[0] == shown or " @ " in shown) and shown == names[id])
        path = page(directory, "locked")
        browser.open(path, "#tab=constructs")
        links = LINKS % ("Locks", "held_by")
        holders = [row["held_by"] for row in rows_of("locks", "locked") if row["held_by"]]
        assert browser.evaluate(f"{links}.map((link) => link.title)") == holders != []
        for number, holder in enumerate(holders):
            follow(browser, links, number, lambda _, shown: shown == holder or shown.endswith(f"[{holder}]"))
        # by keyboard, Tab leads from the titles of columns to all links of the selected row
        browser.evaluate("document.querySelector('[aria-label=Locks] .grid-scroller').focus()")
        browser.key("Home")
        stops = browser.evaluate("[...document.querySelectorAll('[aria-label=Locks] [aria-selected=true] a')].map((link) => link.title)")
        browser.evaluate("[...document.querySelectorAll('[aria-label=Locks] .grid-title')].at(-1).focus()")
        reached = []
        for _ in stops:
            browser.key("Tab")
            reached.append(browser.evaluate("document.activeElement.title"))
        assert reached == stops and len(stops) > 1, (stops, reached)
        browser.key("Enter")
        browser.wait("location.hash.includes('tab=contexts')")
        quiet(browser)


ORDER = """[...document.querySelectorAll('.grid')].map((grid) => [grid.getAttribute('aria-label'),
    [...grid.querySelectorAll('.grid-title[aria-sort]')].map((title) => title.dataset.column + ' ' + title.getAttribute('aria-sort')),
    [...grid.querySelectorAll('.grid-row')].map((row) => Number(row.dataset.row))])"""


@case
def an_address_has_the_order_of_tables(directory):
    path, changed = page(directory, "traced"), 0
    with Browser() as browser, Browser() as other:
        for tab in ("contexts", "contexts&tree=flat", "timeline", "constructs"):
            browser.open(path, "#tab=" + tab)
            settle(browser)
            first = dict((label, rows) for label, _, rows in browser.evaluate(ORDER))
            browser.evaluate("""[...%s.querySelectorAll('.grid')].forEach((grid, number) => {
                const titles = [...grid.querySelectorAll('.grid-title')];
                for (let times = 0; times <= number %% 2; times++)
                  [...grid.querySelectorAll('.grid-title')][Math.min(1 + number, titles.length - 1)].click(); })""" % (PANEL % tab.split("&")[0]))
            settle(browser)
            wanted, address = browser.evaluate(ORDER), browser.evaluate("location.hash")
            sorted_grids = [label for label, titles, _ in wanted if titles]
            assert len(sorted_grids) == browser.evaluate(f"{PANEL % tab.split('&')[0]}.querySelectorAll('.grid').length") > 0, (tab, wanted)
            changed += sum(first[label] != rows for label, titles, rows in wanted if titles)
            other.open(path, address)
            settle(other)
            assert other.evaluate(ORDER) == wanted, (tab, address)
        assert changed > 6, changed
        # another part of the run keeps the order, and an address without it has the first one
        browser.open(path, "#tab=timeline&sort-intervals-of-the-selected-thread-in-the-chosen-part=duration.descending")
        browser.evaluate("changeState({ from: '0.1', to: '0.3' })")
        lengths = browser.evaluate("[...document.querySelectorAll('[aria-label^=\"Intervals of\"] .grid-row')].map((row) => row.children[1].title)")
        assert lengths == sorted(lengths, key=lambda text: -float(text.split()[0])) and len(set(lengths)) > 2, lengths
        browser.evaluate("location.hash = '#tab=timeline'")
        settle(browser)
        other.open(path, "#tab=timeline")
        settle(other)
        assert browser.evaluate(ORDER) == other.evaluate(ORDER)
        quiet(browser)
        quiet(other)


@case
def search_filters_and_tells_the_share(directory):
    path = page(directory, "constructs2")
    nested = [row for row in rows_of("region-tree", "constructs2") if row["thread"] == "SUM"]
    with Browser(1280, 1400) as browser:
        for word in ("for", "critical", "task"):
            browser.open(path, "#tab=constructs&search=" + word)
            settle(browser)
            covered, part, count = {}, 0.0, 0
            for row in nested:
                hit = int(row["depth"]) > 0 and any(word in row[name].lower() for name in ("name", "file", "kind"))
                above = covered.get(row["parent_id"], False)
                count, part = count + hit, part + (float(row["incl_s"] or 0) if hit and not above else 0)
                covered[row["id"]] = hit or above
            told = browser.evaluate("document.getElementById('constructs-found').textContent")
            found = re.fullmatch(r"([\d\u2009]+) constructs? match(?:es)?, ([\d.]+)\s% of all threads' time", told)
            assert found and int(found[1]) == count > 0, (word, told, count)
            assert abs(float(found[2]) - 100 * part / float(nested[0]["incl_s"])) < 0.06, (word, told, part)
            rows = [row for row in rows_of("regions", "constructs2") if row["thread"] == "SUM"]
            kinds = browser.evaluate("[...document.querySelectorAll('[aria-label=Regions] .grid-row')].length")
            expected = [row for row in rows if any(word in row[name].lower() for name in ("region", "name", "file", "kind"))]
            assert kinds == len(expected) < len(rows), (word, kinds, len(expected), len(rows))
        browser.evaluate("document.querySelector('.construct-search input').focus()")
        for _ in "task":
            browser.key("Backspace")
        browser.evaluate("(() => { const input = document.querySelector('.construct-search input'); input.value = '';"
                         " input.dispatchEvent(new Event('input')); })()")
        browser.wait("document.querySelectorAll('[aria-label=Regions] .grid-row').length === %d" % len(rows))
        # contexts: matches, what leads to them and what they call; then all again
        path = page(directory, "blame")
        tree = rows_of("topdown", "blame")
        browser.open(path, "#tab=contexts&search=0x1300")
        settle(browser)
        parents = {row["id"]: row["parent_id"] for row in tree}
        leading = set()
        for row in tree:
            if "0x1300" in row["name"]:
                at = row["id"]
                while at:
                    leading.add(at)
                    at = parents[at]
        shown = browser.evaluate("[...document.querySelectorAll('#panel-contexts .grid-row')].map((row) => Number(row.dataset.row))")
        assert {tree[number]["id"] for number in shown} == leading and len(leading) < len(tree), (shown, leading)
        browser.evaluate("changeState({ search: '' })")
        settle(browser)
        again = browser.evaluate("[...document.querySelectorAll('#panel-contexts .grid-row')].map((row) => Number(row.dataset.row))")
        browser.open(path, "#tab=contexts")
        settle(browser)
        assert again == browser.evaluate("[...document.querySelectorAll('#panel-contexts .grid-row')].map((row) => Number(row.dataset.row))")
        quiet(browser)


@case
def the_part_of_the_run_is_named(directory):
    with Browser() as browser:
        browser.open(page(directory, "traced"), "#tab=timeline")
        parts = "[...document.querySelectorAll('#panel-timeline h2 .part')].map((part) => part.textContent).filter(Boolean)"
        assert set(browser.evaluate(parts)) == {" in the whole run"} and len(browser.evaluate(parts)) >= 4
        browser.evaluate("changeState({ from: '0.1', to: '0.3' })")
        assert set(browser.evaluate(parts)) == {" from 0.100000 to 0.300000 s"}, browser.evaluate(parts)
        # a click on a phase selects it, and the address keeps it
        settle(browser)
        left, top, width = browser.evaluate("(() => { const box = document.querySelector('.lanes-axis').getBoundingClientRect();"
                                            " return [box.left, box.top, box.width]; })()")
        browser.evaluate("changeState({ from: '', to: '' })")
        browser.click(left + width / 2, top + 33)
        browser.wait("chosenRange() !== null")
        chosen = browser.evaluate("chosenRange()")
        phases = [row for row in rows_of("phases", "traced") if not row["step"]]
        assert any(abs(float(row["start_s"]) * 1e9 - chosen["from"]) < 2 and abs(float(row["end_s"]) * 1e9 - chosen["to"]) < 2
                   for row in phases), (chosen, phases)
        quiet(browser)


VIEW = """({ tabs: [...document.querySelectorAll('[role=tab]')].map((tab) => tab.ariaSelected),
    rows: [...document.querySelectorAll('.grid-row')].map((row) => row.textContent), search: document.querySelector('#panel-contexts input[type=search]').value,
    lanes: [...document.querySelectorAll('.lanes-label')].map((label) => label.textContent), range: document.querySelector('.range-text').textContent,
    details: document.querySelector('.lane-details').textContent })"""


@case
def an_address_shows_the_same_again(directory):
    measured = os.path.join(directory, "measured")
    must(os.path.join(os.path.dirname(REPORT), "..", "..", "..", "..", "tests", "synthesize"), "--processes", "2", "--ranks",
         "--threads", "20", "--contexts", "60", "--events", "4000", measured)
    path = page(directory, measured)
    with Browser() as browser:
        browser.open(path, "#tab=timeline")
        settle(browser)
        left, top = browser.evaluate("(() => { const box = document.querySelector('.lanes-labels').getBoundingClientRect();"
                                     " return [box.left, box.top]; })()")
        browser.click(left + 60, top + 2 * 24 + 12)  # the threads alike of the first rank
        browser.wait("document.querySelectorAll('.lanes-label').length > 10")
        browser.evaluate("document.querySelector('.lanes-scroller').focus()")
        for key in ("ArrowDown", "ArrowRight", "[", "+", "d"):
            browser.key(key)
        browser.evaluate("changeState({ search: 'a.*1', colour: 'context' })")
        for tab in ("timeline", "contexts"):
            browser.evaluate(f"changeState({{ tab: '{tab}' }})")
            settle(browser)
            settle(browser)
            address, before = browser.evaluate("location.hash"), browser.evaluate(VIEW)
            assert all(f"{name}=" in address for name in ("folds", "from", "to", "view", "lane", "at", "search", "tab")), address
            with Browser() as other:
                other.open(path, address)
                settle(other)
                after = other.evaluate(VIEW)
                for name in before:
                    assert before[name] == after[name], (tab, name, before[name], after[name])
                quiet(other)
        quiet(browser)


PAPER = """({ ground: getComputedStyle(document.documentElement).backgroundColor, width: document.getElementById('page').offsetWidth,
    controls: [...document.querySelectorAll('nav, .copy, .toolbar, .lanes-help, .context-controls, button')].filter((one) => one.offsetWidth && !one.closest('.grid-head, .context-details')).map((one) => one.className || one.textContent),
    tabs: [...document.querySelectorAll('main')].filter((one) => one.offsetHeight).map((one) => one.id),
    wide: [...document.querySelectorAll('.grid-title')].filter((title) => title.offsetWidth && title.getBoundingClientRect().right > document.getElementById('page').getBoundingClientRect().right + 1).length,
    most: Math.max(...[...document.querySelectorAll('.grid-body')].filter((body) => body.offsetWidth).map((body) => body.offsetHeight / 24)),
    left: [...document.querySelectorAll('.grid-left')].map((one) => one.textContent).filter(Boolean),
    folded: [...document.querySelectorAll('#panel-summary details')].filter((one) => !one.open).length,
    pixel: new Uint8Array(document.querySelector('.icicle').getContext('2d').getImageData(3, document.querySelector('.icicle').height - 3, 1, 1).data.buffer)[0] })"""


@case
def paper_is_light_and_has_no_controls(directory):
    measured = os.path.join(directory, "measured")
    must(os.path.join(os.path.dirname(REPORT), "..", "..", "..", "..", "tests", "synthesize"), "--threads", "3", "--contexts",
         "400", "--events", "4000", measured)
    path = page(directory, measured)
    with Browser() as browser:
        browser.scheme("dark")
        browser.open(path, "#tab=contexts&tree=flat")
        browser.evaluate("changeState({ tree: '' })")
        settle(browser)
        dark = browser.evaluate(PAPER)
        assert dark["pixel"] < 128 and dark["controls"] and dark["tabs"] == ["panel-contexts"], dark
        browser.evaluate("dispatchEvent(new Event('beforeprint'))")
        paper = browser.evaluate(PAPER)
        assert paper["ground"] == "rgb(255, 255, 255)" and paper["pixel"] > 128 and not paper["controls"], paper
        assert {"panel-summary", "panel-contexts", "panel-timeline"} <= set(paper["tabs"]) and not paper["wide"], paper
        assert abs(paper["width"] - 277 / 25.4 * 96) < 2 and paper["most"] <= 40 and paper["left"] and not paper["folded"], paper
        browser.evaluate("dispatchEvent(new Event('afterprint'))")
        settle(browser)
        again = browser.evaluate(PAPER)
        assert [again[name] for name in ("ground", "pixel", "tabs", "left")] == [dark[name] for name in ("ground", "pixel", "tabs", "left")]
        printed = base64.b64decode(browser.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"])
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", printed)
        assert boxes and all(abs(float(width) - 842) < 1.5 and abs(float(height) - 595) < 1.5 for width, height in boxes), boxes
        assert 3 <= len(boxes) < 25, len(boxes)
        browser.messages = [text for text in browser.messages if "getImageData" not in text]  # this test's own
        quiet(browser)


def click(browser, script):
    """Clicks where an element is in the window, as a reader does."""
    browser.evaluate(f"({script}).scrollIntoView({{ block: 'center' }})")
    settle(browser)
    x, y = browser.evaluate(f"(() => {{ const box = ({script}).getBoundingClientRect();"
                            " return [box.left + Math.min(box.width / 2, 60), box.top + box.height / 2]; })()")
    browser.click(x, y)
    settle(browser)


def first_row(browser, label):
    return browser.evaluate(f"""(() => {{ const row = document.querySelector('[aria-label="{label}"] .grid-row');
        return Object.fromEntries([...row.children].map((cell, i) => [row.closest('.grid').querySelectorAll('.grid-title')[i].dataset.column,
          cell.querySelector('[title]')?.title ?? cell.textContent])); }})()""")


@case
def five_questions_take_three_clicks_each(directory):
    program = compile_c(directory, "questions", QUESTIONS, "-fopenmp")
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f500", "-o", "before", program, cwd=directory, OMP_WAIT_POLICY="passive")
    must(LAUNCHER, "-q", "-t", "-e", "task-clock@f500", "-o", "after", program, "0", cwd=directory, OMP_WAIT_POLICY="passive")
    path = page(directory, "--compare", "before", "after", cwd=directory)
    compared = os.path.join(directory, "compared.html")
    os.rename(path, compared)
    path = page(directory, "before", cwd=directory)
    tab = "document.getElementById('tab-%s')"
    with Browser() as browser:
        # the hottest path
        browser.open(path)
        click(browser, tab % "contexts")
        click(browser, "[...document.querySelectorAll('#panel-contexts button')].find((one) => one.textContent === 'Hot path')")
        way = browser.evaluate("document.querySelector('.context-path').textContent")
        timed("integrate" in way, way)
        # the worst cause of idleness
        browser.open(path)
        click(browser, tab % "contexts")
        browser.evaluate("document.querySelector('#panel-contexts select').focus()")
        browser.key("F")  # functions
        settle(browser)
        click(browser, "document.querySelector('#panel-contexts .grid-title[data-column=idleness_excl_s]')")
        worst = first_row(browser, "Calling contexts, Functions")
        timed(worst["name"] == "write_results", worst)
        # the slowest repetition
        browser.open(path)
        click(browser, tab % "timeline")
        click(browser, "[...document.querySelectorAll('[aria-label=Phases] .grid-row')].find((row) => row.textContent.includes('slowest of'))")
        chosen = browser.evaluate("chosenRange()")
        slowest = browser.evaluate("document.querySelector('[aria-label=Phases] [aria-selected=true]').textContent")
        timed("slowest of 20 repetitions: number 13" in slowest, slowest)
        timed(chosen["to"] - chosen["from"] > 0, chosen)
        # which lock
        browser.open(path)
        click(browser, tab % "constructs")
        lock = first_row(browser, "Locks")
        assert lock["kind"] == "critical" and lock["function"] == "add_up", lock
        # did the change help
        browser.open(compared)
        click(browser, tab % "runs")
        verdict = browser.evaluate("document.querySelector('#panel-runs .verdict').textContent")
        timed(browser.evaluate("document.querySelectorAll('#panel-runs a[href*=\"context=\"]').length") > 2)
        timed(re.match(r"The new run took [\d.]+\s(?:s|ms), the base [\d.]+\s(?:s|ms): \u2212[\d.]+\s%\. ", verdict), verdict)
        quiet(browser)


if __name__ == "__main__":
    main()
