"""Grains (-p log, --view grains): their number, paths, work and metrics as they follow from the source."""
import collections
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from basic_forms_table import FORMS
from measured import Measurement, build, tap
from report import report, rows

COLUMNS = ("id,path,kind,parent_id,child_number,sync_number,construct,name,file,line,context_id,thread,cpu,node,exec_s,"
           "create_s,chunk_overhead_s,sync_overhead_s,create_instant_s,first,last,parallel_benefit,"
           "instantaneous_parallelism,scatter,memory_utilisation,work_deviation,load_balance,critical,slack_s,problems,"
           "sync_parent_id,sync_instant_s,chunks")


def measure(directory, compiler, form, threads, work="user", source="grain_forms.c", **settings):
    run = Measurement(directory, build(source, compiler), form, str(threads), options=("-p", "log", "--work", work),
                      **settings)
    assert run.done.returncode == 0, run.done
    return run


def check(run):
    """The rows of a run, after what holds for every run."""
    grains, program = run.view("grains"), run.view("parallelism")[0]
    exact = program["unit"] != "s"
    amounts = [int(row["exec_s"].replace(".", "")) for row in grains]
    assert sum(amounts) == int(program["work"].replace(".", "")), (sum(amounts), program)
    known = {row["id"]: row for row in grains}
    assert len(known) == len(grains) == len({row["path"] for row in grains}), "ids and paths differ"
    for row in grains:
        parent = known.get(row["parent_id"])
        assert bool(parent) == (row["kind"] != "initial"), row
        assert row["kind"] != "task" or "~" in row["path"] or row["path"].endswith("." + row["child_number"]), row
        assert not parent or int(parent["id"]) < int(row["id"]), row
        assert bool(row["sync_parent_id"]) == bool(row["sync_number"]) == bool(row["sync_instant_s"]), row
        if exact and parent and row["sync_parent_id"] == row["parent_id"]:
            assert int(row["create_instant_s"]) <= int(row["sync_instant_s"]) <= int(parent["exec_s"]), row
        while parent and parent["id"] != row["sync_parent_id"]:
            parent = known.get(parent["parent_id"])
        assert bool(parent) == bool(row["sync_number"]), row
        assert row["critical"] != "1" or float(row["slack_s"]) == 0, row
        assert not exact or bool(row["slack_s"]) == (row["exec_s"] != "0"), row
    if exact and float(program["span"]):
        assert any(row["critical"] == "1" for row in grains), "nothing is critical"
    return grains


def tasks(grains):
    return [row for row in grains if row["kind"] in ("task", "chunk")]


def with_problem(grains, name):
    return [row for row in grains if name in row["problems"].split()]


def same_for_all_threads(directory, compiler, form):
    """The paths and work of a program's tasks, which do not depend on the number of threads."""
    found = set()
    for threads in (2, 3, 8):
        grains = check(measure(directory, compiler, form, threads))
        found.add(frozenset((row["path"], row["kind"], row["exec_s"]) for row in tasks(grains)))
    assert len(found) == 1, [sorted(one)[:20] for one in found]
    return {path: int(work) for path, _, work in found.pop()}


def fibonacci(n):
    """Tasks below a call of fib(n), by their relative paths, and the work of the call itself: see grain_forms.c."""
    if n < 8:
        def work(m):
            return m + (work(m - 1) + work(m - 2) if m > 1 else 0)
        return {}, work(n)
    below = {}
    for child in (1, 2):
        inner, own = fibonacci(n - child)
        below |= {f".{child}": own} | {f".{child}{path}": work for path, work in inner.items()}
    return below, 1


def by_compilers(function):
    for compiler in ("clang", "gcc"):
        function(compiler)


@tap.case
def fibonacci_with_a_cut_off(directory):
    expected = {"0.1.1" + path: work for path, work in fibonacci(12)[0].items()}
    assert len(expected) == 24
    by_compilers(lambda compiler: tap_equal(same_for_all_threads(directory, compiler, "fibonacci"), expected))


def tap_equal(got, expected):
    assert got == expected, (sorted(set(got.items()) ^ set(expected.items()))[:10])


@tap.case
def an_imbalanced_tree(directory):
    expected = {"0.1.1" + ".1" * level: 7 - level for level in range(1, 7)}
    expected |= {"0.1.1" + ".1" * level + ".2": 1 for level in range(6)}
    by_compilers(lambda compiler: tap_equal(same_for_all_threads(directory, compiler, "tree"), expected))


@tap.case
def a_flood_of_tasks(directory):
    expected = {f"0.1.1.{number}": 2 for number in range(1, 20001)}
    by_compilers(lambda compiler: tap_equal(same_for_all_threads(directory, compiler, "flood"), expected))


@tap.case
def a_chain_of_tasks(directory):
    """Paths of more than 48 levels end in a number that stands for the whole path, the same in each run."""
    some = {"0.1.1" + ".1" * level: 3 for level in range(1, 40)}
    for compiler in ("clang", "gcc"):
        found = same_for_all_threads(directory, compiler, "chain")
        assert some.items() <= found.items() and len(found) == 200 and set(found.values()) == {3}, sorted(found)[:60]
        grains = check(measure(directory, compiler, "chain", 2))
        assert all(row["critical"] == "1" and row["instantaneous_parallelism"] == "1" for row in tasks(grains))


@tap.case
def chunks_of_a_loop(directory):
    """GCC's code passes the loop's variable to the runtime, clang's code the number of the iteration."""
    ranges = {"gcc": ((1, 7), (9, 15), (17, 23), (25, 31)), "clang": ((0, 3), (4, 7), (8, 11), (12, 15))}
    for compiler, expected in ranges.items():
        for threads in (2, 3):  # libomp gives all iterations to a team of one thread at once
            grains = check(measure(directory, compiler, "loop", threads))
            chunks = [row for row in grains if row["kind"] == "chunk"]
            assert {(row["path"], int(row["exec_s"])) for row in chunks} == {
                (f"0.1/L1[{first}-{last}]", 16 + 32 * number) for number, (first, last) in enumerate(expected)}, chunks
            assert {(int(row["first"]), int(row["last"])) for row in chunks} == set(expected), chunks
            parallelism = sorted((int(row["exec_s"]), int(row["instantaneous_parallelism"])) for row in chunks)
            assert parallelism == [(16, 4), (48, 3), (80, 2), (112, 1)], parallelism
            mine = collections.Counter(row["thread"] for row in chunks)
            assert all(int(row["chunks"]) == mine[row["thread"]] for row in chunks), chunks
            slack = {int(row["exec_s"]): int(row["slack_s"]) for row in chunks}
            assert slack == {16: 96, 48: 64, 80: 32, 112: 0}, slack


@tap.case
def chunks_of_a_taskloop(directory):
    found = same_for_all_threads(directory, "clang", "taskloop")
    assert found == {f"0.1.1/L1[{4 * i}-{4 * i + 3}]": 16 * i + 6 for i in range(5)}, found
    found = same_for_all_threads(directory, "gcc", "taskloop")  # libgomp does not tell the iterations
    assert found == {f"0.1.1.{i + 1}": 16 * i + 6 for i in range(5)}, found


@tap.case
def constructs_number_their_tasks(directory):
    for threads in (1, 2, 3):
        grains = check(measure(directory, "clang", "constructs", threads))
        found = {row["path"]: int(row["exec_s"]) for row in tasks(grains)}
        expected = {"0.1.1.1": 1, "0.1.2.1": 2, "0.1.m1.1": 3} | {f"0.1.t{i}.1": 4 for i in range(threads)}
        assert found == expected, found


@tap.case
def balanced_and_unbalanced_siblings(directory):
    for compiler in ("clang", "gcc"):
        assert not with_problem(check(measure(directory, compiler, "balanced", 2)), "load_balance")
        grains = check(measure(directory, compiler, "unbalanced", 2))
        assert len(with_problem(grains, "load_balance")) == 8
        assert {row["load_balance"] for row in tasks(grains)} == {f"{(80 - 150 / 8) / 80:.4f}"}, tasks(grains)


@tap.case
def balanced_and_unbalanced_threads_of_a_loop(directory):
    assert not with_problem(check(measure(directory, "clang", "balanced_loop", 3)), "load_balance")
    grains = check(measure(directory, "clang", "unbalanced_loop", 3))
    assert [row["kind"] for row in with_problem(grains, "load_balance")] == ["chunk"] * 3
    assert {row["load_balance"] for row in tasks(grains)} == {f"{(80 - 100 / 3) / 80:.4f}"}, tasks(grains)


@tap.case
def instantaneous_parallelism_of_tasks(directory):
    """Eight tasks of 10 can run together; when one of 80 is left, it runs alone."""
    assert not with_problem(check(measure(directory, "clang", "balanced", 2)), "instantaneous_parallelism")
    found = with_problem(check(measure(directory, "clang", "unbalanced", 2)), "instantaneous_parallelism")
    assert [(row["exec_s"], row["instantaneous_parallelism"]) for row in found] == [("80", "1")], found


@tap.case
def parallel_benefit_of_coarse_and_fine_tasks(directory):
    for compiler in ("clang", "gcc"):
        run = measure(directory, compiler, "coarse", 2, work="cpu-time")
        coarse, contexts = tasks(check(run)), {row["id"]: row["name"] for row in run.view("topdown")}
        assert {contexts.get(row["context_id"]) for row in coarse} == {"coarse"}, (coarse, contexts)
        assert len(coarse) == 8 and all(row["create_s"] and row["parallel_benefit"] for row in coarse), coarse
        fine = tasks(check(measure(directory, compiler, "fine", 2, work="cpu-time")))
        without = [len(with_problem(rows, "parallel_benefit")) for rows in (coarse, fine)]
        tap.timed(without[0] <= 2 and without[1] > 500, without)


@tap.case
def siblings_on_distant_nodes(directory):
    """Threads on two CPUs, which the run takes for two NUMA nodes; the twin's threads are on one of them."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise tap.Skip("needs two CPUs")
    program = build("grain_forms.c", "clang")
    settings = (f"HPCRUN_LITE_NUMA=NUMA: {cpus[0]} 10,40; {cpus[1]} 40,10", "OMP_PROC_BIND=true", "OMP_PLACES=threads")
    for used, scatter in (cpus, "40"), (cpus[:1], "10"):
        run = Measurement(directory, "env", *settings, program, "balanced_loop", "2",
                          options=("-p", "log", "--work", "user"),
                          prefix=("taskset", "-c", ",".join(map(str, used))))
        team = [row for row in run.view("grains") if row["kind"] == "implicit"]
        assert [row["scatter"] for row in team] == [scatter] * 2, team
        assert {row["node"] for row in team} == {str(cpus.index(cpu)) for cpu in used}, team
        assert len(with_problem(team, "scatter")) == (2 if scatter == "40" else 0), team


@tap.case
def limits_of_problems(directory):
    run = measure(directory, "clang", "unbalanced", 2)
    assert len(with_problem(run.view("grains", "--grain-limit", "load_balance=0.7"), "load_balance")) == 8
    assert not with_problem(run.view("grains", "--grain-limit", "load_balance=0.8"), "load_balance")
    more = run.view("grains", "--grain-limit", "instantaneous_parallelism=9")
    assert len(with_problem(more, "instantaneous_parallelism")) == 8
    for wrong in ("load_balance", "load_balance=", "load_balance=-1", "balance=1", "scatter=x", "=1"):
        done = report("--view", "grains", "--grain-limit", wrong, run.output)
        assert done.returncode == 2 and wrong in done.stderr, done


@tap.case
def work_deviation_from_a_reference_run(directory):
    apart = os.path.join(directory, "reference")
    os.mkdir(apart)
    reference = measure(apart, "clang", "deviating", 1)
    same = measure(directory, "clang", "deviating", 2, WORK="20")
    found = same.view("grains", "--reference", reference.output)
    assert [row["work_deviation"] for row in tasks(found)] == ["1", "1", "1", "2"], found
    assert not with_problem(found, "work_deviation")
    done = report("--view", "grains", "--reference", reference.output, same.output)
    assert f"{reference.output}: grains that this run does not have: 1 of 7" in done.stderr, done  # the second thread
    longer = measure(directory, "clang", "deviating", 3, WORK="21")
    found = longer.view("grains", "--reference", reference.output)
    assert [row["path"] for row in with_problem(found, "work_deviation")] == ["0.1.1.1"], found
    other = measure(directory, "clang", "tree", 2).view("grains", "--reference", reference.output)
    assert {row["path"]: row["work_deviation"] for row in other if row["work_deviation"]} == {
        "0.1.1.1": "0.6000", "0.1.1.2": "0.1000"}, other


@tap.case
def groups_add_up_to_the_grains(directory):
    run = measure(directory, "clang", "fibonacci", 3)
    grains, groups = run.view("grains"), run.view("grains", "--grain-groups")
    for column, sums in (("exec_s", "exec_s"), (None, "grains")):
        assert sum(int(row[column]) if column else 1 for row in grains) == sum(int(row[sums]) for row in groups)
    counted = collections.Counter(row["kind"] for row in grains)
    for kind in counted:
        assert sum(int(row["grains"]) for row in groups if row["kind"] == kind) == counted[kind]
    problems = sum(bool(row["problems"]) for row in grains)
    assert problems == sum(int(row["problem_grains"]) for row in groups)
    for name in ("load_balance", "instantaneous_parallelism"):
        assert len(with_problem(grains, name)) == sum(int(row[name]) for row in groups), name
    held = [int(row["problem_exec_s"]) for row in groups]
    assert held == sorted(held, reverse=True), held
    text = report("--view", "grains", run.output).stdout
    assert "24 tasks" in text and max(map(len, text.splitlines())) <= 80, text


@tap.case
def columns_are_as_documented(directory):
    run = measure(directory, "clang", "fibonacci", 2, work="cpu-time")
    done = report("--view", "grains", "-f", "csv", run.output)
    assert done.stdout.splitlines()[0] == COLUMNS, done.stdout[:500]
    grains = check(run)
    assert all(float(row["exec_s"]) >= 0 and row["sync_overhead_s"] for row in tasks(grains)), grains
    assert all(not row["scatter"] and not row["memory_utilisation"] for row in grains)
    counted = check(measure(directory, "clang", "fibonacci", 2))
    assert not any(row["sync_overhead_s"] or row["create_s"] or row["parallel_benefit"] for row in counted)


@tap.case
def other_forms_and_random_programs(directory):
    for compiler in ("clang", "gcc"):
        for form in FORMS if compiler == "clang" else ():
            check(measure(directory, compiler, form, 3, source="basic_forms.c"))
        for seed in range(1, 4):
            check(measure(directory, compiler, str(seed), 3, source="random_form.c"))


@tap.case
def several_processes(directory):
    program = build("grain_forms.c", "clang")
    run = Measurement(directory, "sh", "-c", f"{program} tree 2 & {program} balanced 2; wait",
                      options=("-p", "log", "--work", "user"))
    grains = run.view("grains")
    assert len({row["id"] for row in grains}) == len(grains) == len({row["path"] for row in grains}) == 26, grains
    assert sum(int(row["exec_s"]) for row in grains) == int(run.view("parallelism")[0]["work"]) == 107
    processes = collections.Counter(row["path"].split(":")[0] for row in grains)
    assert sorted(processes.values()) == [11, 15], processes


@tap.case
def without_a_log(directory):
    run = Measurement(directory, build("grain_forms.c", "clang"), "tree", "2", options=("--work", "user"))
    done = report("--view", "grains", "-f", "csv", run.output)
    assert done.returncode == 1 and "-p log" in done.stderr and not done.stdout, done
    without = Measurement(directory, build("grain_forms.c", "clang"), "tree", "2", options=("-p", "off"))
    text = report("--view", "grains", without.output).stdout
    assert "-p log" in text and "-p online" not in text, text
    for view in ("--grain-groups",), ("--reference", run.output), ("--grain-limit", "scatter=1"):
        done = report("--view", "topdown", *view, run.output)
        assert done.returncode == 2 and "grains" in done.stderr, done


if __name__ == "__main__":
    tap.main()
