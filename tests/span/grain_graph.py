"""The graph of grains (--view grain-graph): without cycles, with all of the run's work; unreduced, its longest path is
the span.  GraphML is read by networkx, drawings by Graphviz."""
import json
import os
import shutil
import sys
import warnings

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from basic_forms_table import FORMS, completed, program
from measured import Measurement, build, combinations, tap
from report import report

try:
    import networkx
except ImportError:
    networkx = None

KINDS = {"grain", "fork", "join", "bookkeeping", "fragment"}
EDGES = {"creation", "join", "continuation", "dependence"}


def graph_of(directory, run, *options):
    """The graph as networkx reads it from GraphML."""
    if not networkx:
        raise tap.Skip("no networkx")
    path = os.path.join(directory, "graph.graphml")
    tap.must(tap.REPORT, "-f", "graphml", "-o", path, *options, run.output)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = networkx.read_graphml(path)
    assert networkx.is_directed_acyclic_graph(graph)
    assert {data["kind"] for _, data in graph.nodes(data=True)} <= KINDS
    assert {data["kind"] for *_, data in graph.edges(data=True)} <= EDGES
    return graph


def work_of(graph):
    return sum(data.get("exec_s", 0) for _, data in graph.nodes(data=True))


def longest(graph):
    below = {}
    for node in reversed(list(networkx.topological_sort(graph))):
        below[node] = graph.nodes[node].get("exec_s", 0) + max((below[next] for next in graph.successors(node)),
                                                              default=0)
    return max(below.values())


def grains_in(graph):
    return sum(data["grains"] for _, data in graph.nodes(data=True))


def measure(directory, binary, *arguments, work="user"):
    return Measurement(directory, binary, *arguments, options=("-p", "log", "--work", work))


def check_forms(directory, compiler, *threads):
    for form, count in combinations(list(FORMS), threads):
        run = measure(directory, program(compiler), form, str(count))
        completed(run)
        work, span = FORMS[form]
        unreduced = graph_of(directory, run, "--unreduced")
        assert (work_of(unreduced), longest(unreduced)) == (work, span), (form, work_of(unreduced), longest(unreduced))
        red = [ends for *ends, data in unreduced.edges(data=True) if data["critical"]]
        assert all(one[1] == next[0] for one, next in zip(sorted(red, key=lambda ends: int(ends[0][1:])),
                                                          sorted(red, key=lambda ends: int(ends[0][1:]))[1:])), form
        all_grains = len(run.view("grains"))
        assert grains_in(unreduced) == all_grains, (form, grains_in(unreduced), all_grains)
        for most in (2000, 12, 1):
            graph = graph_of(directory, run, "--max-nodes", str(most))
            assert len(graph) <= most and work_of(graph) == work, (form, most, len(graph), work_of(graph))
            assert grains_in(graph) == all_grains, (form, most, grains_in(graph), all_grains)


@tap.case
def closed_forms_by_clang(directory):
    check_forms(directory, "clang", 2, 3)


@tap.case
def closed_forms_by_gcc(directory):
    check_forms(directory, "gcc", 2, 4)


@tap.case
def many_tasks_are_few_nodes(directory):
    run = measure(directory, build("creation_times.c", "clang"), "deferred", "30000", work="cpu-time")
    graph = graph_of(directory, run, "--max-nodes", "50")
    tasks = [data for _, data in graph.nodes(data=True) if data.get("grain_kind") == "task"]
    assert len(graph) <= 50 and sum(data["grains"] for data in tasks) == 30000, (len(graph), len(tasks))
    assert abs(work_of(graph) - float(run.view("parallelism")[0]["work"])) < 1e-8


@tap.case
def drawings(directory):
    tap.need_program("dot")
    run = measure(directory, build("creation_times.c", "clang"), "recursive", "9", work="cpu-time")
    for options in ((), ("--max-nodes", "20"), ("--unreduced",), ("--colour", "load_balance")):
        path = os.path.join(directory, "graph.dot")
        tap.must(tap.REPORT, "-f", "dot", "-o", path, *options, run.output)  # which implies the view
        done = tap.run("dot", "-Tpng", path, "-o", path + ".png")
        assert done.returncode == 0 and not done.stderr and os.path.getsize(path + ".png") > 1000, done.stderr


@tap.case
def json_has_the_same_graph(directory):
    named = shutil.copy(program("clang"), os.path.join(directory, 'größe "<&'))
    run = measure(directory, named, "loops", "2")
    graph = graph_of(directory, run)
    read = json.loads(tap.must(tap.REPORT, "--view", "grain-graph", "-f", "json", run.output))
    assert len(read["nodes"]) == len(graph) and len(read["edges"]) == graph.number_of_edges()
    assert sum(node["exec_s"] for node in read["nodes"]) == work_of(graph)
    names = [{node.get("name") or "" for node in nodes} for nodes in (read["nodes"], dict(graph.nodes).values())]
    assert names[0] == names[1] and any('größe "<&' in name for name in names[0]), names


@tap.case
def a_root_opens_what_is_below_it(directory):
    run = measure(directory, program("clang"), "fib", "2")
    grains = run.view("grains")
    inner = next(row for row in grains if row["kind"] == "task" and any(other["parent_id"] == row["id"]
                                                                        for other in grains))
    below = {inner["id"]}
    for row in sorted(grains, key=lambda row: int(row["id"])):
        if row["parent_id"] in below:
            below.add(row["id"])
    graph = graph_of(directory, run, "--root", inner["path"])
    assert grains_in(graph) == len(below), (grains_in(graph), len(below))
    assert work_of(graph) == sum(int(row["exec_s"]) for row in grains if row["id"] in below)
    done = report("--view", "grain-graph", "-f", "dot", "--root", "0.99", run.output)
    assert done.returncode == 2 and "0.99" in done.stderr, done


@tap.case
def a_root_above_many_levels(directory):
    run = measure(directory, build("grain_forms.c", "clang"), "descent", "2")
    shown = tap.must("sh", "-c", 'ulimit -s 256; exec "$@"', "sh", tap.REPORT, "--view", "grain-graph", "-f", "json",
                     "--root", "0.1.1.1", run.output)
    assert sum(node["grains"] for node in json.loads(shown)["nodes"]) == 20000


@tap.case
def a_root_in_one_of_several_processes(directory):
    program = build("grain_forms.c", "clang")
    run = measure(directory, "sh", "-c", f"{program} tree 2 & {program} balanced 2; wait")
    grains = run.view("grains")
    path = next(row["path"] for row in grains if row["kind"] == "task" and row["exec_s"] == "10")
    graph = graph_of(directory, run, "--root", path)
    assert (grains_in(graph), work_of(graph)) == (1, 10), graph.nodes(data=True)
    without = path.split(":")[1]
    done = report("--view", "grain-graph", "-f", "dot", "--root", without, run.output)
    assert done.returncode == 2 and "--view grains" in done.stderr, done


@tap.case
def without_space_for_temporary_files(directory):
    run = measure(directory, program("clang"), "fib", "2")
    done = report("--view", "grain-graph", "--unreduced", "-f", "json", run.output, TMPDIR="/dev/null")
    assert done.returncode == 1 and "TMPDIR" in done.stderr and "unreduced" not in done.stderr, done


@tap.case
def without_a_log_there_is_no_drawing(directory):
    for form in "dot", "graphml":
        done = report("-q", "-f", form, "-o", os.path.join(directory, form), os.path.join(tap.GOLDEN, "basic"))
        assert done.returncode == 1 and "hpcrun-lite -p log" in done.stderr and not os.listdir(directory), done


@tap.case
def a_killed_process_is_no_empty_graph(directory):
    """Nor is it one if another process has ended without OpenMP."""
    killed = build("logged_graph.c", "clang")
    run = measure(directory, "sh", "-c", f'"{killed}" kill; :')
    assert run.done.returncode == 0, run.done
    for form in "dot", "graphml":
        done = report("-q", "-f", form, "-o", os.path.join(directory, "graph"), run.output)
        assert done.returncode == 1 and "was killed" in done.stderr and "empty" not in done.stderr, done


@tap.case
def options_that_do_not_fit_are_refused(_):
    for arguments in (("--view", "grain-graph"), ("--view", "topdown", "-f", "dot"), ("--max-nodes", "5"),
                      ("--view", "grain-graph", "-f", "dot", "--unreduced", "--max-nodes", "5"),
                      ("--view", "grain-graph", "-f", "dot", "--colour", "red")):
        done = report(*arguments, "nowhere")
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, (arguments, done)


tap.main()
