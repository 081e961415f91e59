"""What reports say of programs that do one thing each (sentences.c) is true, and the summary fits one screen."""
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import Measurement, build, tap
from report import report

LINES = 24
CORES = "largest loss: threads without a core"
VIEWS = ("summary", "parallelism", "whatif", "speedup", "efficiency", "threads")
# What each program is about, and the words of the summary's first finding.
FORMS = {"healthy": (2, None), "flood": (2, "tasks (too small|created by one thread)"),
         "chain": (2, "tasks or iterations that wait"), "chunks": (2, "too few pieces"),
         "many": (2, None), "locked": (2, "threads that wait for a lock"), "regions": (2, "parallel regions too small"),
         "single": (1, None), "crowded": (4 * len(os.sched_getaffinity(0)), None)}


class Said:
    """A program's run, and the text of each view: its lines, and all in one."""

    def __init__(self, directory, compiler, form):
        threads = FORMS[form][0]
        program = {"single": "healthy", "crowded": "healthy"}.get(form, form)
        self.run = Measurement(directory, build("sentences.c", compiler), program, OMP_NUM_THREADS=str(threads),
                               OMP_WAIT_POLICY="passive")
        assert self.run.done.returncode == 0, self.run.done
        self.read()

    def read(self):
        with ThreadPoolExecutor(2) as pool:
            texts = pool.map(lambda view: report("--view", view, self.run.output).stdout, VIEWS)
            self.lines = {view: text.splitlines() for view, text in zip(VIEWS, texts)}
        self.text = {view: " ".join(" ".join(lines).split()) for view, lines in self.lines.items()}
        self.facts = {(row["section"], row["item"]): row["value"] for row in self.run.view("summary")}


def seconds(said, view, pattern):
    """The seconds that a sentence names, None if it is missing."""
    found = re.search(pattern, said.text[view])
    return found and float(found.group(1))


def check_summary(said, form, what):
    """One screen of 24 lines and 80 columns."""
    lines = said.lines["summary"]
    verdict = next(i for i, line in enumerate(lines) if re.search(r" ran for [0-9.]+ s", line))
    assert len(lines) <= LINES, (what, lines)
    assert all(len(line) <= 80 for line in lines) and lines[-1].endswith(" DIR"), (what, lines)
    unreliable = [line for line in lines[:verdict] if line.startswith("Unreliable: ")]
    all_s = sum(float(said.facts["categories", item]) for item in
                ("work", "overhead", "lock wait charged", "idleness", "blocked", "no core",
                 "waiting for a thread without a core", "tool"))
    for much, words in ((float(said.facts.get(("cores", "without core"), 0)) > 0.05, "had no core"),
                        (float(said.facts["categories", "tool"]) > all_s / 10, "this tool took")):
        told = any(words in line for line in unreliable)  # of missing cores only if they matter in all
        assert told == much or (words == "had no core" and much), (what, words, lines)
    work = re.search(r"; ([0-9]+) % of (?:its|their|all threads') time was work", said.text["summary"])
    assert not work or abs(int(work.group(1)) - 100 * float(said.facts["categories", "work"]) / all_s) <= 1, (what, lines)
    assert f" {FORMS[form][0]} thread" in said.text["summary"], (what, lines)


def check_sentences(said, what):
    """What may not be claimed of any program."""
    for view, words in (("parallelism", "serial code"), ("efficiency", "uneven"), ("parallelism", "span is at least")):
        assert words not in said.text[view], (what, view, said.lines[view])
    if said.lines["parallelism"][0].startswith("On unlimited cores"):
        assert "with the same tasks and chunks" in said.text["parallelism"], (what, said.lines["parallelism"])
    runtime = seconds(said, "parallelism", r"counting ([0-9.]+) s in the OpenMP runtime and this tool")
    most = sum(float(said.facts["categories", item]) for item in ("overhead", "tool"))
    assert not runtime or runtime <= most + 0.001, (what, runtime, most)
    table = any("Shorter%" in line for line in said.lines["whatif"])
    assert table == ("that would shorten it most" in said.text["whatif"]), (what, said.lines["whatif"])
    assert table != ("No function of the program" in said.text["whatif"]), (what, said.lines["whatif"])
    several = said.facts["run", "threads_max"] != "1" and "Time of all threads" in said.text["efficiency"]
    assert several == ("Work with one thread is not known" in said.text["efficiency"]), (what, said.lines["efficiency"])


def check(directory, compiler, form):
    said = Said(directory, compiler, form)
    what = (compiler, form)
    check_summary(said, form, what)
    check_sentences(said, what)
    finding = FORMS[form][1]
    if finding:
        tap.timed(re.search(f"largest gain found: {finding}", said.text["summary"]) or CORES in said.text["summary"],
                  what, said.lines["summary"])
    if form == "locked":
        bound = seconds(said, "parallelism", r"every run takes (?:at least|about) ([0-9.]+) s")
        estimated = "every run takes about" in said.text["parallelism"]  # a part of the executions was followed
        assert bound and (estimated or bound <= float(said.facts["run", "elapsed"]) + 0.001), (
            what, said.lines["parallelism"])
        tap.timed("could not be faster than on one core (one lock limits it)" in said.text["parallelism"], what, said.text)
    if form in ("chain", "single"):
        assert "could not be faster than on one core" in said.text["parallelism"], (what, said.lines["parallelism"])
    if form == "many":
        tap.timed("path hardly limits a run with 2 threads." in said.text["parallelism"], what, said.lines["parallelism"])
        assert "% of the critical path" not in said.text["parallelism"], (what, said.lines["parallelism"])
    if form == "single" and CORES not in said.text["summary"]:
        assert "with one thread, no region can run in parallel" in said.text["summary"], (what, said.lines["summary"])
    if form == "crowded":
        tap.timed("more threads than cores" in said.text["summary"], what, said.lines["summary"])


@tap.case
def each_sentence_is_true(directory):
    for compiler in ("gcc", "clang"):
        for form in FORMS:
            tap.again(check, directory, compiler, form)


@tap.case
def a_program_without_openmp(directory):
    run = Measurement(directory, build("sentences.c", "gcc", openmp=False, name="without"), "healthy")
    lines = report("--view", "summary", run.output).stdout.splitlines()
    text = " ".join(" ".join(lines).split())
    elapsed, cpu = (float(row["value"]) for row in run.view("summary") if row["item"] in ("elapsed", "cpu"))
    assert f"which used {cpu / elapsed:.2f} cores on average; no OpenMP was seen in it." in text, lines
    assert "largest loss" not in text and "Efficiency" not in text and len(lines) <= LINES, lines
    for view in ("parallelism", "whatif", "speedup", "efficiency"):
        said = report("--view", view, run.output).stdout
        first = next(line for line in said.splitlines() if not line.startswith(("Unreliable: ", "  ")))
        assert "not known" in first, (view, said)


tap.main()
