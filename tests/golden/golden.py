#!/usr/bin/env python3
"""hpcprof-lite on the golden measurements: every view and format is as expected, to the byte.

Usage: golden.py [--update] [-k CASE]     (--update: writes the expected files anew, from what the program prints; look
                                          at the difference before you keep it)"""
import functools
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file
from report import VIEWS, contents, golden_report, golden_rows as rows, table as csv_table
from tap import GOLDEN, case, main

SOUND = ("basic", "zstd", "live", "two", "events", "blame", "blames", "huge", "plain", "waits", "graph", "graphs",
         "units", "recorded", "recorded-time", "places", "places-plain", "killed", "killed-between", "constructs",
         "constructs2", "constructs-killed", "filtered")
BAD = ("hostile", "truncated", "flipped", "version", "empty", "foreign", "lies", "nowhere", "astray")
TREES = ("topdown", "bottomup", "flat")
PATHS = ("parallelism", "critical-path", "whatif", "speedup")
CONSTRUCTS = ("regions", "region-tree", "overheads", "tasks")
TRACED = {"traced": 0, "traced-plain": 0, "traced-samples": 0, "traced-killed": 0, "traced-hostile": 1}
FOUR = ("work", "overhead", "lockwait", "idleness")

# Several cases look at the same report: it is made once.
known_report = functools.lru_cache(maxsize=None)(golden_report)


def expected():
    """The expected files: name → (arguments, exit status, stream)."""
    table = {}
    table["basic.regions.txt"] = (("-q", "--view", "regions", "basic"), 0, "stdout")
    for view in (*CONSTRUCTS, "parallelism"):
        for name in ("constructs", "constructs2"):
            table[f"{name}.{view}.txt"] = (("-q", "--view", view, name), 0, "stdout")
            table[f"{name}.{view}.csv"] = (("-q", "--view", view, "-f", "csv", name), 0, "stdout")
    for view, name in (*((view, "constructs") for view in CONSTRUCTS), ("grains", "recorded")):
        table[f"{name}.{view}.legend.txt"] = (("-q", "--view", view, "--legend", name), 0, "stdout")
    for view in ("regions", "region-tree"):
        table[f"counted.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "counted"), 0, "stdout")
        table[f"counted.{view}.txt"] = (("-q", "--view", view, "counted"), 0, "stdout")
    table["constructs.summary.txt"] = (("-q", "constructs"), 0, "stdout")
    table["constructs2.per-thread.txt"] = (("-q", "--view", "regions", "--per-thread", "constructs2"), 0, "stdout")
    table["constructs.regions.json"] = (("-q", "--view", "regions", "-f", "json", "constructs"), 0, "stdout")
    table["constructs-killed.region-tree.csv"] = (("-q", "--view", "region-tree", "-f", "csv", "constructs-killed"), 0,
                                                  "stdout")
    table["astray.region-tree.csv"] = (("-q", "--view", "region-tree", "-f", "csv", "astray"), 1, "stdout")
    for view in VIEWS:
        if view in CONSTRUCTS:
            continue
        table[f"basic.{view}.txt"] = (("-q", "--view", view, "basic"), 0, "stdout")
        table[f"two.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "two"), 0, "stdout")
        table[f"blame.{view}.txt"] = (("-q", "--view", view, "blame"), 0, "stdout")
        table[f"blame.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "blame"), 0, "stdout")
        table[f"graph.{view}.txt"] = (("-q", "--view", view, "graph"), 0, "stdout")
        table[f"graph.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "graph"), 0, "stdout")
    for view in ("summary", "threads", "flat", "efficiency"):
        table[f"places.{view}.txt"] = (("-q", "--view", view, "places"), 0, "stdout")
        table[f"places.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "places"), 0, "stdout")
    table["alone.efficiency.txt"] = (("-q", "--view", "efficiency", "blame", "alone"), 0, "stdout")
    table["alone.efficiency.csv"] = (("-q", "--view", "efficiency", "-f", "csv", "alone", "blame"), 0, "stdout")
    for view in PATHS:
        table[f"graphs.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "graphs"), 0, "stdout")
        table[f"units.{view}.txt"] = (("-q", "--view", view, "units"), 0, "stdout")
        table[f"lies.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "lies"), 1, "stdout")
    table["events.topdown.csv"] = (("-q", "--view", "topdown", "-f", "csv", "events"), 0, "stdout")
    table["events.topdown.json"] = (("-q", "--view", "topdown", "-f", "json", "events"), 0, "stdout")
    for view in (*TREES, "summary"):
        table[f"filtered.{view}.txt"] = (("-q", "--view", view, "filtered"), 0, "stdout")
        table[f"filtered.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "filtered"), 0, "stdout")
    for view in (*TREES, "summary", "threads"):
        table[f"usage.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "usage"), 0, "stdout")
    table["usage.summary.txt"] = (("-q", "usage"), 0, "stdout")
    under = ("-q", "--view", "parallelism", "--what-if", "@update=16")
    for name, status in (("recorded", 0), ("recorded-time", 0), ("recorded-lies", 1)):
        for form in ("txt", "csv"):
            options = () if form == "txt" else ("-f", "csv")
            for view in ("whatif", "speedup", "grains"):
                table[f"{name}.{view}.{form}"] = (("-q", "--view", view, *options, name), status, "stdout")
            table[f"{name}.scenario.{form}"] = ((*under, *options, name), status, "stdout")
    table["recorded.whatif.json"] = (("-q", "--view", "whatif", "-f", "json", "recorded"), 0, "stdout")
    table["recorded.grains.json"] = (("-q", "--view", "grains", "-f", "json", "--grain-groups", "recorded"), 0, "stdout")
    table["recorded.speedup.json"] = (("-q", "--view", "speedup", "-f", "json", "recorded"), 0, "stdout")
    table["recorded-lies.err"] = (("-q", "--view", "whatif", "recorded-lies"), 1, "stderr")
    timeline = ("-q", "--view", "timeline", "-f", "csv")
    for view in ("marks", "user-counters", "topdown", "phases"):
        for suffix, how in ((".txt", ()), (".csv", ("-f", "csv"))):
            table[f"marked.{view}{suffix}"] = (("-q", "--view", view, *how, "marked"), 0, "stdout")
            table[f"marked-hostile.{view}{suffix}"] = (("-q", "--view", view, *how, "marked-hostile"), 1, "stdout")
    for suffix, how in (".txt", ()), (".csv", ("-f", "csv")), (".json", ("-f", "json")):
        table[f"locked.try{suffix}"] = (("-q", "--view", "try", *how, "locked"), 0, "stdout")
        table[f"locked.locks{suffix}"] = (("-q", "--view", "locks", *how, "locked"), 0, "stdout")
    table["locked.advice.txt"] = (("-q", "--view", "advice", "locked"), 0, "stdout")
    table["locked.advice.csv"] = (("-q", "--view", "advice", "-f", "csv", "locked"), 0, "stdout")
    table["locked-hostile.locks.csv"] = (("-q", "--view", "locks", "-f", "csv", "locked-hostile"), 1, "stdout")
    table["locked-hostile.err"] = (("-q", "--view", "locks", "locked-hostile"), 1, "stderr")
    for view in ("messages", "wait-states", "parallelism"):
        table[f"messages.{view}.txt"] = (("-q", "--view", view, "messages"), 0, "stdout")
        table[f"messages.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "messages"), 0, "stdout")
    table["messages-hostile.txt"] = (("-q", "--view", "messages", "messages-hostile"), 0, "stdout")
    for view in ("topdown", "flat", "summary", "threads", "ranks", "mpi", "efficiency", "advice"):
        table[f"ranks.{view}.txt"] = (("-q", "--view", view, "./ranks"), 0, "stdout")
        table[f"ranks.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "./ranks"), 0, "stdout")
    for view in ("topdown", "mpi", "threads", "efficiency"):
        table[f"ranks-hostile.{view}.csv"] = (("-q", "--view", view, "-f", "csv", "./ranks-hostile"), 1, "stdout")
    table["ranks-hostile.err"] = (("-q", "--view", "ranks", "./ranks-hostile"), 1, "stderr")
    for suffix, how in ((".txt", ()), (".csv", ("-f", "csv"))):
        for view in ("devices", "regions"):
            table[f"offload.{view}{suffix}"] = (("-q", "--view", view, *how, "offload"), 0, "stdout")
            table[f"strand.{view}{suffix}"] = (("-q", "--view", view, *how, "strand"), 0, "stdout")
        for view in (*PATHS, "timeline"):
            table[f"strand.{view}{suffix}"] = (("-q", "--view", view, *how, "strand"), 0, "stdout")
        free = "-q", "--view", "whatif", "--what-if", "copy-to-device=1e9"
        table[f"strand.free-copies{suffix}"] = ((*free, *how, "strand"), 0, "stdout")
    table["strand.perfetto.json"] = (("-q", "-f", "perfetto", "strand"), 0, "stdout")
    table["offload-killed.devices.csv"] = (("-q", "--view", "devices", "-f", "csv", "offload-killed"), 0, "stdout")
    table["marked.marks.json"] = (("-q", "--view", "marks", "-f", "json", "--from", "350ms", "marked"), 0, "stdout")
    table["marked-hostile.err"] = (("-q", "--view", "marks", "marked-hostile"), 1, "stderr")
    for name, status in TRACED.items():
        table[f"{name}.timeline.csv"] = ((*timeline, name), status, "stdout")
    table["traced.summary.txt"] = (("-q", "traced"), 0, "stdout")
    table["traced.timeline.txt"] = (("-q", "--view", "timeline", "traced"), 0, "stdout")
    table["traced.timeline.legend.txt"] = (("-q", "--view", "timeline", "--lanes", "process", "--legend", "traced"), 0,
                                           "stdout")
    table["traced-samples.timeline.txt"] = (("-q", "--view", "timeline", "traced-samples"), 0, "stdout")
    table["traced.states.txt"] = (("-q", "--view", "timeline", "--lanes", "process", "--per-thread", "traced"), 0, "stdout")
    table["traced.phases.csv"] = (("-q", "--view", "phases", "-f", "csv", "traced"), 0, "stdout")
    table["traced.part.csv"] = ((*timeline, "--from", "300ms", "--to", "440ms", "traced"), 0, "stdout")
    table["traced-hostile.err"] = ((*timeline, "traced-hostile"), 1, "stderr")
    charts = {"csv": ("-f", "csv"), "json": ("-f", "json"), "txt": (), "process.txt": ("--lanes", "process"),
              "part.txt": ("--from", "100ms", "--to", "384ms"),
              "part.csv": ("-f", "csv", "--from", "100ms", "--to", "384ms")}
    for suffix, how in charts.items():
        table[f"charted.timeline.{suffix}"] = (("-q", "--view", "timeline", *how, "charted"), 0, "stdout")
        table[f"charted-hostile.timeline.{suffix}"] = (("-q", "--view", "timeline", *how, "charted-hostile"), 1, "stdout")
    table["charted-hostile.err"] = (("-q", "--view", "timeline", "-f", "csv", "charted-hostile"), 1, "stderr")
    for name, status in (("charted", 0), ("charted-hostile", 1)):
        for view in ("topdown", "flat", "regions", "region-tree", "user-counters"):
            table[f"{name}.{view}.csv"] = (("-q", "--view", view, "-f", "csv", name), 0, "stdout")
            table[f"{name}.{view}.part.csv"] = (("-q", "--view", view, "-f", "csv", "--from", "128ms", "--to", "384ms",
                                                 name), status, "stdout")
    for view in ("topdown", "regions", "tasks"):
        for part, begin in (("part", "128ms"), ("cut", "100ms")):
            table[f"charted.{view}.{part}.txt"] = (("-q", "--view", view, "--from", begin, "--to", "384ms", "charted"),
                                                   0, "stdout")
    for name in BAD:
        arguments = ("-q", "--view", "topdown", "-f", "csv", name)
        table[f"{name}.topdown.csv"] = (arguments, 1, "stdout")
        table[f"{name}.err"] = (arguments, 1, "stderr")
    return table


def golden_file(name):
    """The path of an expected file: in the directory of the measurement that its name begins with."""
    return os.path.join(GOLDEN, name.split(".")[0], name)


@case
def output_is_as_expected(_):
    for name, (arguments, status, stream) in expected().items():
        done = known_report(*arguments)
        assert done.returncode == status, (name, done)
        assert getattr(done, stream) == contents(golden_file(name)), (name,
                                                                      getattr(done, stream).decode(errors="replace"))


@case
def all_forms_of_a_measurement_are_read_alike(_):
    for view in VIEWS:
        plain = known_report("-q", "--view", view, "-f", "csv", "basic").stdout
        assert plain
        for form in ("zstd", "live"):
            assert known_report("-q", "--view", view, "-f", "csv", form).stdout == plain, (view, form)


@case
def threads_and_order_do_not_matter(_):
    for view in VIEWS:
        one = golden_report("-q", "-j", "1", "--merge", "--view", view, "-f", "json", "two", "events")
        many = golden_report("-q", "-j", "4", "--merge", "--view", view, "-f", "json", "events", "two", "two")
        assert one.returncode == many.returncode == 0 and one.stdout
        assert one.stdout == many.stdout, view
        many_runs = ("two", "blames", "graphs", "constructs2")
        one = golden_report("-q", "-j", "1", "--merge", "--view", view, "-f", "json", *many_runs)
        many = golden_report("-q", "-j", "4", "--merge", "--view", view, "-f", "json", *many_runs[::-1])
        assert one.returncode == many.returncode == 0 and one.stdout == many.stdout, view


@case
def exclusive_values_add_up(_):
    for name in SOUND[:4] + ("blame", "blames", "places"):
        for view in TREES:
            for lines in ((), ("--lines",)):
                table = rows("--view", view, *lines, name)
                kinds = FOUR if name.startswith(("blame", "places")) else ("work", "overhead")
                for kind in kinds:
                    level = table if view != "bottomup" else [row for row in table if row["depth"] in ("0", "1")]
                    total = sum(round(float(row[f"{kind}_excl_s"]) * 1e9) for row in level)
                    assert total == round(float(table[0][f"{kind}_incl_s"]) * 1e9), (name, view, kind)


@case
def rows_stand_below_their_parents(_):
    for view in TREES:
        depths = {}
        for row in rows("--view", view, "two"):
            assert row["id"] not in depths
            if row["parent_id"]:
                assert depths[row["parent_id"]] == int(row["depth"]) - 1
            else:
                assert row["kind"] == "root" and not depths
            depths[row["id"]] = int(row["depth"])


@case
def columns_without_a_measurement_are_empty(_):
    for row in rows("--view", "topdown", "two"):
        for column in ("lockwait_incl_s", "idleness_excl_s", "abs_idleness_pct", "critical_path_incl"):
            assert row[column] == "", row
    for row in rows("--view", "topdown", "blame"):
        assert row["critical_path_incl"] == "" != row["idleness_excl_s"], row
    done = golden_report("-q", "--view", "topdown", "-f", "json", "two")
    assert json.loads(done.stdout)["rows"][0]["rel_idleness_pct"] is None


@case
def json_has_the_columns_of_csv(_):
    for name, views in (*((name, VIEWS) for name in SOUND), ("traced", (*VIEWS, "phases"))):
        for view in views:
            done = known_report("-q", "--view", view, "-f", "json", name)
            data = json.loads(done.stdout.decode("utf-8"))
            plain = known_report("-q", "--view", view, "-f", "csv", name)
            assert plain.returncode == done.returncode == 0, (plain, done)
            text = plain.stdout.decode()
            table, header = csv_table(text), text.splitlines()[0]
            assert data["view"] == view and ",".join(data["columns"]) == header
            assert len(data["rows"]) == len(table)
            for line, record in zip(table, data["rows"]):
                assert list(record) == data["columns"]
                assert all(value is None or str(value).strip() or not line[key] for key, value in record.items())


@case
def the_summary_recommends_views_that_succeed(_):
    for names, status, views in (*(((name,), status, 2 if "plain" in name or "samples" in name else 3)
                                   for name, status in TRACED.items()), (("--merge", "traced", "traced-plain"), 0, 1)):
        lines = golden_report("-q", *names, COLUMNS="160").stdout.decode().splitlines()
        found = [line.split("--view ")[1].split()[0] for line in lines if line.startswith("next: ")]
        for line in lines[-3:]:
            listed = re.fullmatch(r"(?:when|more)[^:]*: (.*): hpcprof-lite VIEW DIR", line)
            found += listed.group(1).split(", ") if listed else []
        assert {"advice", "efficiency", "topdown", "flat"} <= set(found), (names, found)
        assert ("timeline" in found, "phases" in found) == (views > 1, views == 3), (names, found)
        for view in found:
            done = golden_report("-q", "--view", view, *names)
            assert done.returncode in (0, status) and done.stdout, (names, done)


@case
def problems_of_a_trace_without_lanes_are_reported_once(directory):
    place = shutil.copytree(os.path.join(GOLDEN, "traced-hostile"), os.path.join(directory, "run"))
    for name in os.listdir(place):
        if name.endswith(".trace"):
            with open(os.path.join(place, name), "wb") as file:
                file.write(b"no extent of a trace" * 50)
    done = golden_report("-q", "--view", "timeline", place)
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 1 and not done.stdout and len(set(lines)) == len(lines) > 1, done


@case
def a_trace_beside_no_threads_is_harmless(directory):
    place = shutil.copytree(os.path.join(GOLDEN, "traced-plain"), os.path.join(directory, "run"))
    path, = (os.path.join(place, name) for name in os.listdir(place) if name.endswith(".hpcrun"))
    kept = [part for part in measurement_file.extents(path) if not part.owner]
    with open(path, "wb") as file:
        for part in kept:
            file.write(measurement_file.extent(part.table, part.size, part.data, part.owner, first=part.first))
    for view in ("timeline", "phases"):
        done = golden_report("-q", "--view", view, place)
        assert done.returncode == 1 and b"the trace has no threads" in done.stderr, done
    done = golden_report("-q", "--view", "timeline", "--from", "1ms", place)
    assert done.returncode == 1 and b"between --from and --to: choose another part" in done.stderr, done


@case
def notes_are_about_all_lines(_):
    for rows in ((), ("--max-rows", "1")):  # 8.192 ms of two threads; the second one begins at 128 ms
        text = golden_report("-q", "--view", "timeline", "--from", "96ms", "--to", "150ms", *rows, "traced").stdout
        assert b"\nFor 10.8 % of their time threads were ready" in text, text


@case
def a_legend_is_one_line_without_the_option(_):
    for view in VIEWS:
        for name in ("blame", "graph", "recorded", "units", "basic", "plain", "constructs"):
            short, full = (known_report("-q", "--view", view, *more, name).stdout.decode().splitlines()
                           for more in ((), ("--legend",)))
            hints = [line for line in short if line.endswith(("; see --legend", "(--legend explains the columns)"))]
            assert len(hints) <= 1 and not any("--legend" in line for line in full), (view, name)
            assert (len(full) > len(short)) == bool(hints), (view, name)
            assert max(map(len, short + full)) <= 80, (view, name)


@case
def text_fits_80_columns(_):
    for name in SOUND + BAD[:3]:
        for view in VIEWS:
            for settings in ({"LC_ALL": "C"}, {}):  # C.UTF-8
                done = known_report("-q", "--view", view, name, **settings)
                for line in done.stdout.decode("utf-8").splitlines():
                    assert len(line) <= 80 and line == line.rstrip(), (view, line)
                assert b"\x1b" not in done.stdout
                assert not settings or done.stdout.isascii()


@case
def names_have_enough_columns(_):
    for names in (("blame",), ("--merge", "blame", "two"), ("two",)):
        for view in TREES:
            lines = known_report("-q", "--view", view, *names).stdout.decode().splitlines()
            assert 0 < lines[0].index(" Name") < 50, lines[0]
            assert ("Idle%  Rel%" in lines[0] and "Lock%" in lines[0]) == ("blame" in names)
            assert any("need more width than there is" in line for line in lines) == ("--merge" in names)


def update():
    """Writes the expected files."""
    for name, (arguments, _, stream) in expected().items():
        with open(golden_file(name), "wb") as file:
            file.write(getattr(golden_report(*arguments), stream))


if "--update" in sys.argv:
    update()
else:
    main()
