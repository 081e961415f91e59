"""hpcrun-lite --control: commands to programs while they run."""
import contextlib
import glob
import os
import re
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from jobs import OPEN_MPI
from measured import Phased, Running, control, control_id, controlled, cpu_of, send_control_signal, write
from report import report, rows
from screen_model import Terminal
from tap import (LAUNCHER, LIBRARY, OTHER_USER, REPORT, Skip, case, children, main, must, need_program, need_root,
                 other_users_launcher, run, small_disk, start, timed, wait_until)

MPIRUN = shutil.which("mpirun.openmpi")


def more_samples(program, least=20):
    before = program.status()["samples"]
    wait_until(lambda: program.status()["samples"] >= before + least, "more samples")


# ---- what a program does ----

@case
def stop_outlasts_the_time_that_a_filter_skips(directory):
    settings = os.path.join(directory, "skip.ini")
    with open(settings, "w", encoding="ascii") as file:
        file.write("[filter]\nskip-first = 1500 ms\n")
    program = Running(directory, "regions", "--config", settings)
    wait_until(lambda: "state" in program.status(), "an answer")
    assert " s by skip-first or only, level off," in control(program.pid, "status").stdout
    assert program.command("stop") == "paused" and program.command("stop") == "paused already"
    wait_until(lambda: program.status()["elapsed"] > 2, "the skipped time")
    status = program.status()
    assert status["state"] == "paused" and status["samples"] == 0, status
    assert program.command("start") == "running"
    program.wait_sampled().end()



@case
def status_names_state_level_threads_and_samples(directory):
    program = Running(directory, "regions").wait_sampled()
    first = program.status()
    assert first["state"] == "running" and first["level"] == "samples" and first["threads"] == 2, first
    assert first["lost"] == 0 and first["since"] == first["elapsed"], first
    more_samples(program)
    assert program.end() == "SIGURG 0\n"


@case
def samples_stop_and_go_on(directory):
    program = Running(directory, "regions").wait_sampled()
    assert program.command("stop") == "paused"
    assert program.command("stop") == "paused already"
    paused = program.status()
    assert paused["state"] == "paused" and paused["level"] == "off", paused
    assert " s by a command, an option or the program, level off," in control(program.pid, "status").stdout
    time.sleep(0.5)
    after = program.status()
    assert after["samples"] == paused["samples"] and after["since"] >= 0.4, (paused, after)
    assert program.command("start") == "running"
    more_samples(program)
    program.end()


@case
def exact_work_excludes_the_pause(directory):
    """Also of threads that are in one piece of work from before the pause until after it."""
    for what, compiler in (("long", "gcc"), ("long", "clang"), ("serial", "gcc"), ("regions", "gcc")):
        if not shutil.which(compiler):
            continue
        with_one = os.path.join(directory, compiler)
        os.makedirs(with_one, exist_ok=True)
        program = Running(with_one, what, compiler=compiler).wait_sampled()
        time.sleep(0.5)
        program.command("stop")
        before = cpu_of(program.pid)
        wait_until(lambda: cpu_of(program.pid) > before + 0.5, "half a second of CPU time")
        paused = cpu_of(program.pid) - before
        program.command("start")
        time.sleep(0.3)
        program.end()
        threads = rows("threads", program.output)
        cpu, sampled = (sum(float(row[column]) for row in threads) for column in ("cpu_s", "work_s"))
        timed(sampled <= cpu - paused + 0.1, what, cpu, paused, sampled)
        if what != "serial": # without OpenMP there is no work
            work = float(rows("parallelism", program.output)[0]["work"])
            timed(cpu - paused - 0.25 * cpu <= work <= cpu - paused + 0.1, what, cpu, paused, work)


@case
def level_summary_takes_no_samples_but_exact_times(directory):
    program = Running(directory, "regions").wait_sampled()
    settings = os.path.join(directory, "settings.ini")
    for level in ("summary", "samples", "summary", "off", "samples"):
        write(settings, f"# a comment\n[measure]\nlevel = {level}\n")
        assert program.command("config", settings).split(";")[0] == f"level {level}", level
        status = program.status()
        assert status["level"] == level, status
        if level == "samples":
            more_samples(program)
            continue
        time.sleep(0.3)
        assert program.status()["samples"] <= status["samples"] + 2, (level, status, program.status())
    before = program.status()
    program.end()
    threads = rows("threads", program.output)
    assert sum(int(row["samples"]) for row in threads) >= before["samples"]
    row, = (row for row in rows("topdown", program.output) if row["name"].startswith("[not sampled"))
    assert float(row["work_excl_s"]) > 0, row


@case
def what_cannot_change_is_refused_with_file_line_and_reason(directory):
    """Before anything changes: also in a file that has something else that could."""
    program = Running(directory, "regions").wait_sampled()
    path = os.path.join(directory, "settings.ini")
    change = "[filter]\nthreads = 0\n[measure]\npaused = yes\n" # the next line is number 5
    for text, *parts in (("level = loud\n", ":5: level: unknown level"),
                         ("\nevents = wall\n", ":6: events:", "has the events task-clock"),
                         ("events = task-clock@f100,wall\n", ":5: events:", "such as task-clock@f50"),
                         ("trace = states\n", ":5: trace:", "has trace = off", "-t at the start"),
                         ("parallelism = off\n", ":5: parallelism:", "has parallelism = online", "task graph"),
                         ("work = user\n", ":5: work:", "has work = cpu-time"),
                         ("overhead-limit = 7\n", ":5: overhead-limit:", "has overhead-limit = 5", "when you start it"),
                         ("task-context = creation\n", ":5: task-context:", "has task-context = region"),
                         ("arguments = no\n", ":5: arguments:", "has arguments = yes"),
                         ("counters = page-faults\n", ":5: counters:", "give -c at the start"),
                         ("output = elsewhere\n", ":5: output:", "writes to"),
                         ("omp-runtime = exchange\n", ":5: omp-runtime:", "has omp-runtime = auto", "already"),
                         ("omp-runtime = keep\n", ":5: omp-runtime:", "has omp-runtime = auto"),
                         ("[buffers]\nmemory-limit = 2M\n", ":6: memory-limit:", "has memory-limit = none"),
                         ("[filter]\nskip-first = 1 s\n", ":6: skip-first:", "from its start"),
                         ("nonsense\n", ":5: the line is neither"), ("colour = red\n", ":5: colour: unknown key"),
                         ("work = cpu-time" + 2000 * " " + "\n", ":5:", "longer than"), ("\x01\xff\x00\x02", ":5:")):
        done = control(program.pid, "config", write(path, change + text))
        assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, (text, done)
        for part in parts:
            assert part in done.stderr, (text, part, done.stderr)
    done = control(program.pid, "config", write(path, "level = states\n"))
    assert done.returncode == 1 and ":1: level: stands before the first section" in done.stderr, done
    done = control(program.pid, "config", write(path, "[measure]\nlevel = states\n"))
    assert done.returncode == 1 and ":2: level:" in done.stderr and "-t at the start" in done.stderr, done
    done = control(program.pid, "config", os.path.join(directory, "none"))
    assert done.returncode == 1 and "No such file" in done.stderr, done
    assert program.command("config", write(path, "# nothing\n")) == "all that the file says is in force already"
    assert program.status()["state"] == "running" and not glob.glob(os.path.join(program.output, "*.filter"))
    program.end()
    assert not [row for row in rows("summary", program.output) if row["item"] == "filtered"]


@case
def a_section_holds_for_the_name_that_was_executed(directory):
    """That of a symbolic link, or of a script; also when its settings are changed."""
    settings = write(os.path.join(directory, "settings.ini"), "[measure]\nlevel = samples\n"
                     "[program linked]\nlevel = off\n[program script]\nlevel = off\n")
    os.symlink(controlled(), os.path.join(directory, "linked"))
    os.chmod(write(os.path.join(directory, "script"), "#!/bin/bash\nwhile :; do :; done\n"), 0o755)
    for name in "linked", "script":
        program = start(LAUNCHER, "-q", "--config", settings, "-o", name + ".dir", "./" + name, "regions", cwd=directory)
        wait_until(lambda pid=program.pid: control(pid, "status").returncode == 0, "an answer")
        done = control(program.pid, "config", settings)
        assert done.returncode == 0 and "all that the file says is in force already" in done.stdout, (name, done)
        program.kill()
        program.communicate()


@case
def a_file_that_repeats_what_is_in_force_is_accepted(directory):
    path = write(os.path.join(directory, "settings.ini"), f"""[measure]
events = task-clock@f500
parallelism = log
work = cpu-time
trace = states
task-context = creation
counters = page-faults
level = all
output = {directory}/regions
omp-runtime = auto
[filter]
functions = !main
only = 100 min
[buffers]
trace-limit = 20M
trace-keep = first
memory-limit = 512M
[program another]
work = user
[program controlled-gcc]
trace-limit = 4M
trace-keep = last
memory-limit = 256M
""")
    with open(path, encoding="ascii") as file:
        text = file.read()
    started = write(os.path.join(directory, "start.ini"), text.replace("output", "#"))
    program = Running(directory, "regions", "--config", started)
    program.wait_sampled()
    same = "all that the file says is in force already"
    assert program.command("config", path) == same
    assert program.command("config", write(path, text.replace("f500", "f200"))) == "events task-clock@f200"
    assert program.command("config", path) == same
    own = text.replace("f500", "f200").replace("[program controlled-gcc]",
                                               "[program controlled-gcc]\nevents = task-clock@f300")
    assert program.command("config", write(path, own)) == "events task-clock@f300"
    for key, here, other in (("trace-limit", "4M", "20M"), ("trace-keep", "last", "first"),
                             ("memory-limit", "256M", "512M")):
        done = control(program.pid, "config", write(path, text.replace(f"{key} = {here}", f"{key} = {other}")))
        assert done.returncode == 1 and f": {key}: process {program.pid} has {key} = " in done.stderr, done
    program.end()


# ---- filters ----

class Phases(Phased):
    """The program of three phases, whose constructs are counted exactly."""
    STEPS = 100

    def snapshot(self, name):
        """The work below left() and in what is filtered, until now."""
        path = os.path.join(os.path.dirname(self.output), name)
        must(LAUNCHER, "--control", self.output, "snapshot", path)
        return self.work(path)

    def work(self, path):
        return [sum(float(row["work_incl_s"]) for row in rows("flat", path) if row["name"] == name)
                for name in ("left", "[filtered]")]

    def counts(self):
        return {(row["kind"], row["name"]): int(row["executions"]) for row in rows("regions", self.output)
                if row["thread"] == "SUM"}


@case
def filters_change_while_the_program_runs(directory):
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        folder = os.path.join(directory, compiler)
        os.mkdir(folder)
        path = os.path.join(folder, "settings.ini")
        program = Phases(folder, "phases", compiler=compiler).wait_sampled()
        program.wait_done(0)
        filtered = "functions !left,constructs !critical"
        assert program.command("config", write(path, "[filter]\nfunctions = !left\nconstructs = !critical\n")) == \
            f"filter: {filtered}", compiler
        before = program.snapshot("first")
        program.go(0)
        program.wait_done(1)
        between = program.snapshot("second")
        assert before[0] > 0 and between[0] == before[0] and between[1] > before[1], (compiler, before, between)
        assert program.command("config", write(path, "[measure]\nlevel = samples\n")) == "filter: none"
        program.go(1)
        program.wait_done(2)
        program.go(2)
        output, errors = program.process.communicate(timeout=60)
        assert program.process.returncode == 0, (output, errors)
        assert program.work(program.output)[0] > before[0], compiler
        counts, all_steps = program.counts(), 3 * program.STEPS
        assert counts["parallel", "kept"] == counts["parallel", "left"] == all_steps, (compiler, counts)
        assert counts["for", "kept"] == all_steps, (compiler, counts)
        assert counts["critical", "kept"] == 2 * program.STEPS * 2, (compiler, counts) # in two phases, of two threads
        text = next(row["value"] for row in rows("summary", program.output) if row["item"] == "filtered")
        assert re.fullmatch(r"functions !left; constructs !critical \(from [\d.]+ s to [\d.]+ s\)", text), text
        snapshot = next(row["value"] for row in rows("summary", os.path.join(folder, "second"))
                        if row["item"] == "filtered")
        assert re.fullmatch(r"functions !left; constructs !critical \(from [\d.]+ s on\)", snapshot), snapshot
        assert not glob.glob(os.path.join(program.output, "*.filter")), os.listdir(program.output)


@case
def a_filter_of_paths_takes_effect_at_once_one_of_constructs_at_the_next_region(directory):
    program = Running(directory, "long").wait_sampled()
    path = os.path.join(directory, "settings.ini")
    more_samples(program)
    assert program.command("config", write(path, "[filter]\nfunctions = !burn\n")) == "filter: functions !burn"
    must(LAUNCHER, "--control", program.output, "stop")
    first = {row["name"]: float(row["work_incl_s"]) for row in rows("flat", program.output)}
    must(LAUNCHER, "--control", program.output, "start")
    more_samples(program)
    later = {row["name"]: float(row["work_incl_s"]) for row in rows("flat", program.output)}
    assert later["burn"] == first["burn"] and later["[filtered]"] > first.get("[filtered]", 0), (first, later)
    assert "filter: none" == program.command("config", write(path, "[measure]\n"))
    done = control(program.pid, "config", write(path, "[filter]\nfunctions = !nowhere\n"))
    assert done.returncode == 0 and "'nowhere' is not in '" in done.stderr and "/controlled-gcc'" in done.stderr, done
    answer = program.command("config", write(path, "[filter]\nconstructs = !for\n"))
    assert answer.startswith("filter: constructs !for; the filter takes effect at the next parallel region"), answer
    program.end()


@case
def threads_and_rates_change_while_the_program_runs(directory):
    program = Running(directory, "regions").wait_sampled()
    path = os.path.join(directory, "settings.ini")
    more_samples(program)
    samples = lambda: {row["thread"]: int(row["samples"]) for row in rows("threads", program.output)}
    assert program.command("config", write(path, "[filter]\nthreads = 1\n")) == "filter: threads 1"
    first = samples()
    more_samples(program)
    last = samples()
    changed = {thread for thread, count in last.items() if count != first[thread]}
    assert len(changed) == 1, (first, last)
    assert program.command("config", write(path, "[measure]\nevents = task-clock@f50\n")) == \
        "events task-clock@f50; filter: none"
    before, cpu = program.status()["samples"], cpu_of(program.pid)
    wait_until(lambda: cpu_of(program.pid) > cpu + 1, "a second of CPU time")
    taken = program.status()["samples"] - before
    cpu = cpu_of(program.pid) - cpu
    timed(25 * cpu < taken < 100 * cpu, (taken, cpu)) # 50 for each second; 500 before
    program.end()
    assert len({thread for thread, count in samples().items() if count > last[thread]}) == 2, (last, samples())
    text = " ".join(report("--view=summary", "--legend", "--no-pager", program.output).stdout.split())
    assert "threads 1 (from" in text, text
    text = " ".join(report("--view=threads", "--no-pager", program.output).stdout.split())
    assert re.search(r"Samples: task-clock, 50 samples .*\(from [\d.]+ s on; 500 a second", text), text
    assert "One sample for" not in text, text


@case
def each_event_whose_rate_has_changed_is_named(directory):
    program = Running(directory, "regions", "-e", "page-faults@1000,context-switches@1").wait_sampled()
    settings = os.path.join(directory, "settings.ini")
    events = "task-clock@f500,page-faults@500,context-switches@f20"
    assert program.command("config", write(settings, f"[measure]\nevents = {events}\n")) == f"events {events}"
    program.end()
    text = " ".join(report("--view=threads", "--no-pager", program.output).stdout.split())
    assert "Samples: task-clock, 500 samples a second for each thread One sample for every 2.000 ms" in text, text
    text = " ".join(report("--view=summary", "--legend", "--no-pager", program.output).stdout.split())
    assert re.search(r"page-faults: one sample every 500 \(from [\d.]+ s on; one every 1000 at the start\)", text), text
    assert re.search(r"context-switches: 20 samples a second for each thread \(from [\d.]+ s on; one every 1 at", text), text


@case
def a_long_filter_is_taken_like_one_of_the_start(directory):
    """60 KB of it: more than a command or an answer has room for."""
    def long_filter(last):
        names = [f"!library-of-a-program-{number:0100}" for number in range(500)] + [last]  # few take less time
        return write(path, "[filter]\nmodules = " + ",\n ".join(names) + "\nonly = 100 min\n")
    path = os.path.join(directory, "settings.ini")
    same = "all that the file says is in force already"
    program = Running(directory, "regions", "--config", long_filter("!one")).wait_sampled()
    assert program.command("config", path) == same
    for last in "!two", "!controlled-gcc":
        answer = program.command("config", long_filter(last))
        assert answer.startswith("filter: modules !lib") and answer.endswith("..."), answer
        assert program.command("config", path) == same
    more_samples(program)
    program.end()
    assert sum(float(row["work_incl_s"]) for row in rows("flat", program.output) if row["name"] == "[filtered]") > 0


@case
def a_damaged_filter_is_refused(directory):
    """Written by somebody else than the commander: the process checks it, too."""
    program = Running(directory, "regions").wait_sampled()
    path = os.path.join(program.output, "x.filter")
    for text, mode, part in (("nonsense 1\n", 0o600, "damaged"), ("code x 5 1 include function\n", 0o600, "damaged"),
                             ("threads 0\n", 0o644, "cannot be read"), ("threads 0\0", 0o600, "cannot be read"),
                             ("code-file /etc/passwd\n", 0o600, "damaged")):
        os.chmod(write(path, text), mode)
        answer = raw_command(program, f"config\nfilter {len(text)} x.filter")
        assert part in answer, (text, answer)
    for command in ("config\nfilter 9 ../x.filter", "config\nfilter 99 x.filter", "config\nevent 9 1 1",
                    "config\nevent 0 0 0", "config\nnonsense"):
        answer = raw_command(program, command)
        assert not answer.startswith("threads="), (command, answer)
    os.remove(path)
    assert program.status()["state"] == "running"
    program.end()
    assert not [row for row in rows("summary", program.output) if row["item"] == "filtered"]


def raw_command(program, text):
    """Sends a command as the commander does, and returns the answer."""
    number = control_id()
    path = os.path.join(program.output, f"control-{os.uname().nodename}-{program.pid}")
    encoded = text.encode()
    with open(path, "wb") as file:
        file.write((b"hpcctl02" + number.to_bytes(4, "little") + len(encoded).to_bytes(4, "little") + bytes(8) + encoded)
                   .ljust(8192, b"\0"))
    os.chmod(path, 0o600)
    answer = b""
    def answered():
        nonlocal answer
        send_control_signal(program.pid, number)
        with open(path, "rb") as file:
            answer = file.read()[4096:]
        return int.from_bytes(answer[:4], "little") == number and int.from_bytes(answer[4:8], "little") >= 3
    wait_until(answered, "an answer")
    os.remove(path)
    return answer[24:24 + int.from_bytes(answer[8:12], "little")].decode()


@case
def marks_are_on_the_timeline(directory):
    program = Running(directory, "regions").wait_sampled()
    long_name = 255 * "m"
    for name in ("half way", "ü", long_name):
        assert program.command("mark", name) == "marked"
    for name, part in ((256 * "m", "has 256 bytes"), ("a\nb", "byte 2"), ("\x7f", "byte 1"), ("", "wrong arguments")):
        done = control(program.output, "mark", name)
        assert done.returncode == 125 and part in done.stderr and done.stderr.count("\n") == 1, (name, done)
    program.end()
    assert [row["name"] for row in rows("marks", program.output)] == ["half way", "ü", long_name]


# ---- files ----

@case
def a_flush_makes_work_and_span_readable(directory):
    for compiler in ("gcc", "clang"):
        if not shutil.which(compiler):
            continue
        folder = os.path.join(directory, compiler)
        os.mkdir(folder)
        program = Running(folder, "regions", compiler=compiler).wait_sampled()
        assert not rows("parallelism", program.output)
        wait_until(lambda p=program: p.command("flush") == "everything until now can be read", "a flush")
        first = float(rows("parallelism", program.output)[0]["work"])
        more_samples(program)
        wait_until(lambda p=program: p.command("flush") == "everything until now can be read", "a flush")
        second = float(rows("parallelism", program.output)[0]["work"])
        program.end()
        last = float(rows("parallelism", program.output)[0]["work"])
        assert 0 < first < second < last, (first, second, last)
        summary = report("--view=summary", "--legend", "--no-pager", program.output).stdout
        assert "work and span" not in summary and "incomplete" not in summary, summary


@case
def a_killed_program_keeps_what_was_flushed(directory):
    program = Running(directory, "regions").wait_sampled()
    wait_until(lambda: program.command("flush") == "everything until now can be read", "a flush")
    flushed = rows("parallelism", program.output)[0]
    os.kill(program.pid, signal.SIGKILL)
    program.process.communicate()
    assert rows("parallelism", program.output)[0]["span"] == flushed["span"]


@case
def a_flush_goes_on_where_the_measurement_cannot_be_written(directory):
    program = Running(directory, "ending threads").wait_sampled()
    parts = os.path.join(program.output, "*.part")
    # once something is in the file: until then the message could be that it cannot be created
    wait_until(lambda: any(os.path.getsize(part) for part in glob.glob(parts)), "a thread's end")
    os.unlink(glob.glob(parts)[0])
    assert any("cannot open" in line for line in program.process.stderr)
    wait_until(lambda: program.command("flush") == "everything until now can be read", "a flush")
    os.kill(program.pid, signal.SIGKILL)
    program.process.communicate()
    row = rows("parallelism", program.output)[0]
    assert float(row["work"]) > 0 and float(row["span"]) > 0, row


@case
def a_flush_loses_nothing_that_a_thread_says(directory):
    program = Running(directory, "beside").wait_sampled()
    for _ in range(12):
        wait_until(lambda: program.command("flush") == "everything until now can be read", "a flush")
    spoken = int(re.match(r"spoken (\d+)\n", program.end())[1])
    counted = next(row for row in rows("user-counters", program.output) if row["counter"] == "values")
    region = next(row for row in rows("regions", program.output)
                  if row["name"] == "beside" and row["kind"] != "parallel" and row["executions"])
    marks = len(rows("marks", program.output))
    health = {row["item"]: row["value"] for row in rows("summary", program.output) if row["section"] == "health"}
    lost = int(health["marks or counter values not kept"])  # the thread waits for a flush, but not for ever
    assert marks + int(counted["sum"]) + lost == 5 * spoken, (spoken, marks, counted, lost)
    assert int(region["executions"]) == spoken, (spoken, region)


@case
def a_flush_does_not_show_in_the_limits_of_the_program(directory):
    below_the_hard_limit = "bash", "-c", 'ulimit -Sn 100 && exec "$@"', "bash"
    program = Running(directory, "watched", prefix=below_the_hard_limit).wait_sampled()
    for _ in range(3):
        wait_until(lambda: program.command("flush") == "everything until now can be read", "a flush")
    output = program.end()
    assert output.startswith("other limits 0\n"), output


@case
def a_flush_in_a_region_is_pending_until_the_next_one(directory):
    program = Running(directory, "long").wait_sampled()
    began = time.monotonic()
    assert program.command("flush") == "samples can be read now; work and span follow at the next parallel region"
    assert 1.5 < time.monotonic() - began < 60
    program.end()


@case
def a_snapshot_is_a_measurement_of_its_own(directory):
    program = Running(directory, "regions", "-t", "-p", "log").wait_sampled()
    more_samples(program)
    copy = os.path.join(directory, "copy")
    assert "copy; read it with: hpcprof-lite " in must(LAUNCHER, "--control", program.output, "snapshot", copy)
    inside = run(LAUNCHER, "--control", program.output, "snapshot", os.path.join(program.output, "inside"))
    assert inside.returncode != 0 and "lies in the measurement" in inside.stderr, inside
    again = must(LAUNCHER, "--control", program.output, "snapshot")
    assert again.rstrip().endswith("regions-snapshot"), again
    refused = control(program.output, "snapshot", copy)
    assert refused.returncode == 1 and "cannot create" in refused.stderr, refused
    more_samples(program)
    program.end()
    taken, whole = ([sum(float(row[column]) for row in rows("threads", path)) for column in ("samples", "cpu_s")]
                    for path in (copy, program.output))
    assert 0 < taken[0] < whole[0] and 0 < taken[1] < whole[1], (taken, whole)
    summary = report("--view=summary", "--legend", "--no-pager", copy)
    text = " ".join(summary.stdout.split())
    assert summary.returncode == 0 and "1 process was running when the snapshot was taken: reported" in text, summary
    assert "still running" not in text and "killed" not in text, summary
    facts = {row["item"]: row["value"] for row in rows("summary", copy)}
    assert facts["processes that were running when the snapshot was taken"] == "1", facts
    screen = Terminal(REPORT, "--live", copy)
    assert re.search(r"copy: snapshot [\d.]+ s$", screen.see("Whole run:").splitlines()[0]), screen.screen.text()
    assert screen.end() == 0
    assert "was running when the snapshot was taken" in summary.stderr, summary
    assert "graph log" not in summary.stderr and "last flush" in summary.stdout, summary
    part, all_work = (float(rows("parallelism", path)[0]["work"]) for path in (copy, program.output))
    assert 0 < part < all_work, (part, all_work)
    assert report("timeline", copy).returncode == 0
    assert os.stat(copy).st_mode & 0o777 == 0o700
    must(LAUNCHER, "--overwrite", "-o", copy, "true")


@case
def a_snapshot_says_how_long_was_measured(directory):
    program = Running(directory, "regions").wait_sampled()
    program.command("stop")
    time.sleep(0.5)  # of the pause
    program.command("start")
    more_samples(program)
    copy = os.path.join(directory, "copy")
    must(LAUNCHER, "--control", program.output, "snapshot", copy)
    text = " ".join(report("--view=summary", "--legend", "--no-pager", copy).stdout.split())
    measured, (paused, whole) = re.search(r"was measured for ([\d.]+) s", text), re.search(
        r"paused for ([\d.]+) s of ([\d.]+) s", text).groups()
    assert abs(float(measured[1]) - (float(whole) - float(paused))) < 0.002 and float(paused) > 0.4, text
    program.end()


@case
def a_snapshot_knows_which_process_was_killed(directory):
    killed = Running(directory, "regions").wait_sampled()
    os.kill(killed.pid, signal.SIGKILL)
    killed.process.communicate(timeout=60)
    os.rename(killed.output, os.path.join(directory, "killed"))
    program = Running(directory, "regions").wait_sampled()
    for name in glob.glob(os.path.join(directory, "killed", "*.live")):
        shutil.copy(name, program.output)
    copy = os.path.join(directory, "copy")
    must(LAUNCHER, "--control", program.output, "snapshot", copy)
    program.end()
    lines = report("flat", copy).stderr.splitlines()
    for pid, why in ((killed.pid, "was killed"), (program.pid, "was running when the snapshot was taken")):
        assert any(f"process {pid}" in line and why in line for line in lines), (pid, why, lines)


@case
def a_snapshot_on_a_full_disk_leaves_nothing(directory):
    program = Running(directory, "regions").wait_sampled()
    with small_disk(directory, "20k") as small:
        done = control(program.output, "snapshot", os.path.join(small, "copy"))
        assert done.returncode == 1 and "No space left" in done.stderr, done
        assert os.listdir(small) == []
    program.end()


@case
def a_full_disk_is_named_and_the_program_goes_on(directory):
    with small_disk(directory, "400k") as small:
        program = Running(small, "regions").wait_sampled()
        with contextlib.suppress(OSError), open(os.path.join(small, "filler"), "wb", buffering=0) as file:
            while True:
                file.write(b"x" * 1000)
        done = control(program.output, "status")
        assert done.returncode == 1 and "cannot write its control file: No space left" in done.stderr, done
        assert not glob.glob(os.path.join(program.output, "control-*"))
        os.remove(os.path.join(small, "filler"))
        assert program.status()["state"] == "running"
        program.end()


# ---- signals ----

@case
def the_programs_own_signals_reach_it(directory):
    """Also those that look like the commander's; but none of a commander's whose command is over."""
    program = Running(directory, "handler").wait_sampled()
    for _ in range(3):
        assert program.status()["state"] == "running"
    program.command("stop")
    program.command("start")
    os.kill(program.pid, signal.SIGURG)
    time.sleep(0.3)
    for number in (1, control_id()):
        send_control_signal(program.pid, number)
        time.sleep(0.3)
    assert program.end() == "SIGURG 2\n"


@case
def a_program_that_blocks_all_signals_hears_commands(directory):
    program = Running(directory, "blocked").wait_sampled()
    assert program.command("stop") == "paused"
    assert program.end() == "SIGURG 0\n"


@case
def commands_do_not_interrupt_a_call(directory):
    program = Running(directory, "sleeping", "-e", "wall@f200")
    wait_until(lambda: "state" in program.status(), "an answer")
    for _ in range(10):
        assert program.status()["state"] == "running"
    assert program.end() == "interrupted 0\nSIGURG 0\n"


def blocked_signals(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return int(re.search(r"SigBlk:\s*(\w+)", file.read())[1], 16)


@case
def a_program_that_cannot_hear_is_named(directory):
    program = Running(directory, "deaf")
    able = sum(1 << (number - 1) for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP))
    wait_until(lambda: blocked_signals(program.pid) == 2**64 - 1 - able, "it is deaf")
    began = time.monotonic()
    done = run(LAUNCHER, "--control", str(program.pid), "status")
    assert done.returncode == 1 and f"process {program.pid} does not answer within 2 s" in done.stderr, done
    assert 1.5 < time.monotonic() - began < 60
    program.end()


@case
def a_stopped_process_is_named_and_forgets_the_command(directory):
    program = Running(directory, "handler").wait_sampled()
    os.kill(program.pid, signal.SIGSTOP)
    done = control(program.output, "stop")
    assert done.returncode == 1 and "it is stopped; kill -CONT" in done.stderr, done
    os.kill(program.pid, signal.SIGCONT)
    wait_until(lambda: not glob.glob(os.path.join(program.output, "control-*")), "the file is removed")
    assert program.status()["state"] == "running"
    assert program.end() == "SIGURG 0\n"


# ---- processes ----

@case
def a_paused_program_without_files_hears_commands(directory):
    program = Running(directory, "regions", "--paused")
    wait_until(lambda: "state" in program.status(), "an answer")
    assert program.status()["state"] == "paused" and not glob.glob(os.path.join(program.output, "*.hpcrun"))
    assert program.command("start") == "running"
    program.wait_sampled()
    program.end()


def is_pending(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        masks = re.findall(r"(?:SigPnd|ShdPnd):\s*(\w+)", file.read())
    return any(int(mask, 16) >> (signal.SIGURG - 1) & 1 for mask in masks)


def has_answered(pid, path):
    """Repeats the commander's signal, which may have met the tool at work."""
    with open(path, "rb") as file:
        content = file.read()
    send_control_signal(pid, int.from_bytes(content[8:12], "little"))
    return any(content[4096:4100])


@case
def forked_children_hear_commands(directory):
    program = Running(directory, "fork").wait_sampled(2)
    done = control(program.output, "stop")
    assert done.returncode == 0 and done.stdout.count(": paused\n") == 2, done
    done = control(program.output, "status")
    assert done.stdout.count(": paused for") == 2, done
    program.end()


@case
def a_process_that_ends_meanwhile_is_no_failure(directory):
    """Its parent, which goes on, has not waited for it."""
    settings = write(os.path.join(directory, "settings.ini"), "[measure]\nlevel = summary\n")
    for command in (("status",), ("config", settings)):
        program = Running(directory, "fork").wait_sampled(2)
        child, = children(program.pid)
        os.kill(child, signal.SIGSTOP)
        commander = start(LAUNCHER, "--control", program.output, *command)
        wait_until(lambda: glob.glob(os.path.join(program.output, f"control-*-{child}")), "its control file")
        os.kill(child, signal.SIGKILL)
        output, errors = commander.communicate(timeout=60)
        assert commander.returncode == 0 and errors == "", (command, output, errors)
        lines = output.splitlines()
        assert len(lines) == 2 and f"process {child}: has ended" in lines, lines
        assert any(line.startswith(f"process {program.pid}: ") for line in lines), lines
        program.end()
        shutil.rmtree(program.output)


def command_to_a_stopped_program(directory):
    """Returns the program and the commander, which has written its control file and waits."""
    program = Running(directory, "regions").wait_sampled()
    os.kill(program.pid, signal.SIGSTOP)
    commander = start(LAUNCHER, "--control", program.output, "stop")
    wait_until(lambda: glob.glob(os.path.join(program.output, "control-*")), "a control file")
    return program, commander


@case
def a_process_that_ends_and_was_the_only_one_is_named(directory):
    program, commander = command_to_a_stopped_program(directory)
    program.process.kill()
    output, errors = commander.communicate(timeout=60)
    assert commander.returncode == 1 and output == "", output
    assert errors == f"hpcrun-lite: process {program.pid} has ended\n", errors


@case
def an_answer_of_the_last_moment_counts(directory):
    """The commander is stopped until its time is up, and does not see before that the process has answered."""
    program = Running(directory, "regions").wait_sampled()
    os.kill(program.pid, signal.SIGSTOP)
    commander = start(LAUNCHER, "--control", program.output, "status")
    path, = wait_until(lambda: glob.glob(os.path.join(program.output, "control-*")), "its control file")
    wait_until(lambda: is_pending(program.pid), "its signal")
    os.kill(commander.pid, signal.SIGSTOP)
    os.kill(program.pid, signal.SIGCONT)
    wait_until(lambda: has_answered(program.pid, path), "an answer")
    time.sleep(2)
    os.kill(commander.pid, signal.SIGCONT)
    output, errors = commander.communicate(timeout=60)
    assert commander.returncode == 0 and f"process {program.pid}: running" in output, (output, errors)
    program.end()


@case
def many_threads_are_paused_and_sampled_again(directory):
    program = Running(directory, "long", threads=64).wait_sampled()
    wait_until(lambda: program.status()["threads"] == 64, "all threads")
    settings = os.path.join(directory, "settings.ini")
    for level in ("summary", "samples"):
        with open(settings, "w", encoding="ascii") as file:
            file.write(f"[measure]\nlevel = {level}\n")
        assert program.command("config", settings).startswith(f"level {level}")
    more_samples(program)
    assert program.command("stop").startswith("paused")

    def sampled(seconds):
        before = program.status()["samples"]
        time.sleep(seconds)
        return program.status()["samples"] > before
    wait_until(lambda: not sampled(0.3), "no samples")  # threads that were taking one when the command came count it
    program.end()


@case
def commanders_take_turns(directory):
    program = Running(directory, "regions").wait_sampled()
    others = [start(LAUNCHER, "--control", program.output, "stop" if i % 2 else "start") for i in range(10)]
    for other in others:
        output, errors = other.communicate(timeout=60)
        assert other.returncode == 0 and errors == "", (output, errors)
    program.command("start")
    more_samples(program)
    program.end()


@case
def a_commander_that_was_killed_blocks_no_other(directory):
    program, other = command_to_a_stopped_program(directory)
    time.sleep(0.2)
    other.kill()
    other.communicate()
    os.kill(program.pid, signal.SIGCONT)
    assert program.command("start") in ("running", "running already")
    program.end()


@case
def hostile_control_files_change_nothing(directory):
    """Neither in the program, nor are they changed by a commander: tests/safety/hostile_paths.py has more of them."""
    program = Running(directory, "handler").wait_sampled()
    path = os.path.join(program.output, f"control-{os.uname().nodename}-{program.pid}")
    head, number = b"hpcctl02", control_id()
    for content in (b"\0" * 8192, os.urandom(8192), os.urandom(100000), head + b"\xff" * 8184,
                    head + number.to_bytes(4, "little") + (4).to_bytes(4, "little") + bytes(8) + b"st\0p" + bytes(8164)):
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, 0o600)
        send_control_signal(program.pid, number)
        time.sleep(0.1)
        if not content.startswith(head): # that of a commander is used again
            done = control(program.output, "status")
            assert done.returncode == 1 and "another file has that name" in done.stderr, done
            with open(path, "rb") as file:
                assert file.read() == content
            os.remove(path)
        assert program.status()["state"] == "running", content[:20]
    program.end()


@case
def a_command_for_an_earlier_process_of_that_number_is_removed(directory):
    """One that was deferred, and whose process was killed: a process with the same number and host removes it when it
    starts.  The number is 1 in a namespace of its own."""
    need_root()
    need_program("unshare")
    must(LAUNCHER, "-q", "-o", "m", "true", cwd=directory)
    output = os.path.join(directory, "m")
    path = os.path.join(output, f"control-{os.uname().nodename}-1")
    text = b"stop"
    with open(path, "wb") as file:
        file.write((b"hpcctl02" + control_id().to_bytes(4, "little") + len(text).to_bytes(4, "little") +
                    (1).to_bytes(4, "little") + bytes(4) + text).ljust(8192, b"\0"))
    os.chmod(path, 0o600)
    done = run("unshare", "--pid", "--fork", "env", f"LD_PRELOAD={LIBRARY}", f"HPCRUN_LITE_DIR={output}", "HPCRUN_LITE_LOG=0",
               "sh", "-c", 'test -e "$0" && echo left || echo removed', path)
    if "Operation not permitted" in done.stderr:
        raise Skip("may not make a namespace of processes")
    assert done.stdout == "removed\n", done


@case
def a_half_written_command_is_removed_at_the_end(directory):
    output = os.path.join(directory, "m")
    prefix = os.path.join(output, f"control-{os.uname().nodename}-")
    for text in ("", "half"):
        must(LAUNCHER, "-q", "--overwrite", "-o", output, "sh", "-c", f"umask 077; printf '{text}' >\"$0$$\"; test -e \"$0$$\"",
             prefix)
        assert not glob.glob(prefix + "*"), os.listdir(output)


@case
def what_is_not_measured_is_named(directory):
    ended = start("true")
    ended.communicate()
    other = start("sleep", "60")
    for which, part in ((ended.pid, "does not exist"), (other.pid, "is not measured"), (0, "is not a process id"),
                        ("99999999999999", "is not a process id"), ("none", "cannot find"),
                        (directory, "is not a measurement directory")):
        done = control(which, "status", cwd=directory)
        assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1 and part in done.stderr, done


@case
def a_process_of_another_user_is_named(directory):
    need_root()
    program = Running(directory, "regions").wait_sampled()
    done = run(*OTHER_USER, other_users_launcher(), "--control", str(program.pid), "status")
    assert done.returncode == 1 and "another user" in done.stderr, done
    program.end()


@case
def processes_of_other_hosts_are_named_with_the_command(directory):
    program = Running(directory, "regions").wait_sampled()
    with open(os.path.join(program.output, "far-away-17-1234abcd.live"), "wb"):
        pass
    settings = write(os.path.join(directory, "it's new.ini"), "[measure]\npaused = no\n")
    for words, shown in ((("status",), "status"), (("mark", "step 1"), "mark 'step 1'"),
                         (("config", settings), "config '" + settings.replace("'", "'\\''") + "'")):
        done = control(program.output, *words)
        assert done.returncode == 0 and f"process {program.pid}: " in done.stdout, done
        assert done.stderr == (f"hpcrun-lite: processes on host far-away hear commands only there: hpcrun-lite "
                               f"--control {program.output} {shown}\n"), done
    program.process.kill()
    program.process.wait()
    done = control(program.output, "status")
    assert done.returncode == 1 and "host far-away" in done.stderr and done.stdout == "", done


@case
def wrong_command_lines_are_refused(directory):
    for words, part in ((("--control",), "needs a value"), (("--control", "."), "needs a command"),
                        (("--control", ".", "jump"), "there is no 'jump'"),
                        (("--control", ".", "status", "x"), "wrong arguments"),
                        (("--control", ".", "config"), "config FILE"),
                        (("--control", "", "status"), "needs a measurement directory"),
                        (("-q", "--control", ".", "status"), "no other option"),
                        (("--control", ".", "--paused", "status"), "no other option")):
        done = run(LAUNCHER, *words, cwd=directory)
        assert done.returncode == 125 and part in done.stderr and done.stderr.count("\n") == 1, (words, done)


@case
def ranks_of_a_job_hear_commands(directory):
    if not MPIRUN:
        raise Skip("no Open MPI: run scripts/setup")
    output = os.path.join(directory, "job")
    job = start(MPIRUN, "-n", "2", LAUNCHER, "-o", output, controlled(), "regions", cwd=directory,
                OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive", OMPI_MCA_orte_tmpdir_base=directory, **OPEN_MPI)
    wait_until(lambda: len(glob.glob(os.path.join(output, "*.live"))) == 2, "both ranks")
    for command, answer in (("stop", ": paused\n"), ("status", ": paused for"), ("start", ": running\n")):
        done = control(output, command)
        assert done.returncode == 0 and done.stdout.count(answer) == 2, done
    ranks = write(os.path.join(directory, "ranks.ini"), "[filter]\nranks = 1\nfunctions = !burn\n")
    done = control(output, "config", ranks)
    assert done.returncode == 0 and done.stdout.count("its rank is left out") == 1, done
    assert done.stdout.count(": filter: functions !burn,ranks 1") == 2, done
    states = control(output, "status").stdout
    assert states.count(": paused for") == 1 and states.count(": running for") == 1, states
    done = control(output, "config", write(ranks, "[measure]\n"))
    assert done.stdout.count(": filter: none\n") == 2, done
    must(LAUNCHER, "--control", output, "snapshot", os.path.join(directory, "copy"))
    assert len({row["process"] for row in rows("threads", os.path.join(directory, "copy"))}) == 2
    pids = re.findall(r"process (\d+)", control(output, "status").stdout)
    for pid in pids:
        os.kill(int(pid), signal.SIGTERM)
    job.communicate(timeout=60)
    assert not glob.glob(os.path.join(output, "control-*"))


if __name__ == "__main__":
    main()
