#!/usr/bin/env python3
"""hpcrun-lite --scaling: runs with several numbers of threads; hpcprof-lite --scaling: what they show together."""
import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import table
from tap import INCLUDE, LAUNCHER, REPORT, case, compile_c, main, must, run, start, wait_until

# 1,000 units of serial work, then 90 tasks of 100: the span is 1,100 of 10,000 units, whatever the threads.
PROGRAM = r"""
#include <hpcrun-lite.h>
#include <stdlib.h>
static volatile double sink;
__attribute__((noinline)) static void spend(int times)
{
  for (int i = 0; i < times; i++)
    sink = sink * 1.0000001 + 0.5;
}
int main(int argc, char **argv)
{
  int tasks = argc > 1 ? atoi(argv[1]) : 90;
#pragma omp parallel
#pragma omp single
  {
    hpcrun_lite_add_work(1000);
    spend(20000000);
    for (int i = 0; i < tasks; i++)
#pragma omp task
    {
      spend(500000);
      hpcrun_lite_add_work(100);
    }
  }
  return 0;
}
"""
PARTS = ("inflation_s", "overhead_s", "lockwait_s", "idleness_s")


def series(directory, *arguments, **how):
    return run(LAUNCHER, "-q", "--scaling", *arguments, cwd=directory, **how)


def program(directory, name="amdahl", **how):
    return compile_c(directory, name, PROGRAM, "-fopenmp", "-I", INCLUDE, **how)


def refused(directory, *arguments, **how):
    done = run(LAUNCHER, *arguments, cwd=directory, **how)
    assert done.returncode == 125 and not done.stdout and done.stderr.count("\n") == 1, done
    assert not [name for name in os.listdir(directory) if name.startswith("hpcrun-lite-")], os.listdir(directory)
    return done.stderr


def shown(*arguments, **how):
    return must(REPORT, *arguments, **how)


# ---- hpcrun-lite ----

@case
def runs_alternate_and_have_directories_of_their_own(directory):
    done = run(LAUNCHER, "--scaling", "1,3", "--repeat", "2", "sh", "-c", "echo $OMP_NUM_THREADS", cwd=directory)
    assert done.returncode == 0 and done.stdout.split() == ["1", "3", "1", "3"], done
    place = os.path.join(directory, "hpcrun-lite-sh-scaling")
    assert sorted(os.listdir(place)) == ["launch", "threads-1", "threads-1-2", "threads-3", "threads-3-2"]
    assert done.stderr.splitlines()[-1].endswith("hpcprof-lite --scaling hpcrun-lite-sh-scaling"), done.stderr
    again = series(directory, "2", "true")
    assert again.returncode == 0 and not again.stderr, again
    assert "hpcrun-lite-true-scaling" in os.listdir(directory)


@case
def the_environment_makes_the_number_effective(directory):
    done = series(directory, "1,8", "sh", "-c", "echo $OMP_NUM_THREADS $OMP_DYNAMIC",
                  OMP_NUM_THREADS="4,2", OMP_DYNAMIC="true")
    assert done.stdout == "1,2 false\n8,2 false\n", done


@case
def arguments_are_replaced(directory):
    done = series(directory, "1,2", "--scale-with", "a b,c", "echo", "{}:{N}", "{}{}", "{n}")
    assert done.stdout == "a b:1 a ba b {n}\nc:2 cc {n}\n", done
    done = series(directory, "2", "-o", "plain", "echo", "{}", "{N}")
    assert done.stdout == "{} 2\n", done


@case
def each_run_reads_the_same_input(directory):
    path = os.path.join(directory, "input")
    with open(path, "w", encoding="ascii") as file:
        file.write("first\nsecond\n")
    with open(path, encoding="ascii") as file:
        os.lseek(file.fileno(), 6, os.SEEK_SET)
        done = must("sh", "-c", "exec \"$@\" <&" + str(file.fileno()), "sh", LAUNCHER, "-q", "--scaling", "1,2", "cat",
                    cwd=directory, pass_fds=[file.fileno()])
    assert done == "second\nsecond\n", done


@case
def a_failing_run_ends_the_series(directory):
    done = series(directory, "1,2,4", "sh", "-c", "echo $OMP_NUM_THREADS; exit $((OMP_NUM_THREADS - 1))")
    assert done.returncode == 1 and done.stdout == "1\n2\n", done
    assert done.stderr == "hpcrun-lite: --scaling ends here: 'sh' ended with status 1 on 2 threads (threads-2)\n"
    done = series(directory, "1,2", "-o", "killed", "sh", "-c", "kill -TERM $$")
    assert done.returncode == -signal.SIGTERM and "signal 15 on 1 thread (threads-1)" in done.stderr, done
    assert series(directory, "1", "./nosuch").returncode == 127


@case
def a_signal_ends_the_series(directory):
    for number_, status in ((signal.SIGINT, 0), (signal.SIGTERM, 7)):  # whatever the program makes of it
        code = f"import signal, sys, time\nsignal.signal({int(number_)}, lambda *_: sys.exit({status}))\n" \
               "open('ready', 'w').close()\nwhile True: time.sleep(0.01)"
        process = start(LAUNCHER, "-q", "--overwrite", "-o", "run", "--scaling", "1,2", sys.executable, "-c", code,
                        cwd=directory)
        ready = os.path.join(directory, "ready")
        wait_until(lambda at=ready: os.path.exists(at), "the program runs")
        process.send_signal(number_)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == (status or -number_) and errors.count("\n") == 1, (process.returncode, errors)
        assert sorted(os.listdir(os.path.join(directory, "run"))) == ["launch", "threads-1"]
        os.remove(ready)


@case
def every_run_ignores_what_the_first_one_did(directory):
    code = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, " \
           "signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    done = run("sh", "-c", "trap '' HUP; exec \"$@\"", "sh", LAUNCHER, "-q", "--scaling", "1,2", sys.executable, "-c",
               code, cwd=directory)
    assert done.stdout == "True True\n" * 2, done


@case
def series_are_replaced_only_when_asked(directory):
    assert series(directory, "1,2,4", "-o", "run", "true").returncode == 0
    done = series(directory, "1,2", "-o", "run", "true")
    assert done.returncode == 125 and "holds measurements already" in done.stderr, done
    assert series(directory, "2,3", "--overwrite", "-o", "run", "true").returncode == 0
    assert sorted(os.listdir(os.path.join(directory, "run"))) == ["launch", "threads-2", "threads-3"]
    precious = os.path.join(directory, "run", "threads-2", "notes.txt")
    with open(precious, "w", encoding="ascii"):
        pass
    done = series(directory, "1", "--overwrite", "-o", "run", "true")
    assert done.returncode == 125 and "not measurements" in done.stderr and os.path.exists(precious), done


@case
def bad_lists_are_refused(directory):
    for bad in ("0", "", "a", "1,", ",1", "1,,2", "-1", "1.5", "4097", "99999999999999999999", "1 2", "01x"):
        assert "such as 1,2,4" in refused(directory, "--scaling", bad, "true"), bad
    assert "twice" in refused(directory, "--scaling", "1,2,1", "true")
    assert "more than 64" in refused(directory, "--scaling", ",".join(map(str, range(1, 66))), "true")
    for bad in ("0", "", "x", "1001", "2x"):
        assert "--repeat" in refused(directory, "--scaling", "1", "--repeat", bad, "true"), bad
    for values in ("1", "1,2,3", "1,", "", ",2"):
        assert "--scale-with" in refused(directory, "--scaling", "1,2", "--scale-with", values, "echo", "{}"), values
    assert "{}" in refused(directory, "--scaling", "1,2", "--scale-with", "1,2", "echo", "{N}")
    assert "OMP_THREAD_LIMIT=2" in refused(directory, "--scaling", "1,4", "true",
                                           OMP_THREAD_LIMIT="2")


@case
def what_makes_no_sense_is_refused(directory):
    assert "needs --scaling" in refused(directory, "--repeat", "2", "true")
    assert "needs --scaling" in refused(directory, "--scale-with", "2", "echo", "{}")
    assert "--env runs nothing" in refused(directory, "--scaling", "1,2", "--env", "true")
    assert "--diagnose runs nothing" in refused(directory, "--scaling", "1,2", "--diagnose", "true")
    assert "ranks" in refused(directory, "--scaling", "1,2", "true", PMI_SIZE="2")


# ---- hpcprof-lite ----

def check_sums(found):
    """Losses are the sums of their parts, and the program's loss that of all contexts and `other`."""
    for threads in {row["threads"] for row in found if row["kind"] == "run"}:
        program_row, = (row for row in found if row["kind"] == "run" and row["threads"] == threads)
        contexts = [row for row in found if row["kind"] == "context" and row["threads"] == threads]
        for row in contexts + [program_row]:
            parts = sum(float(row[part]) for part in PARTS + ("other_s",))
            assert abs(parts - float(row["loss_s"])) < 1e-6, row
        for part in PARTS:
            assert abs(sum(float(row[part]) for row in contexts) - float(program_row[part])) < 1e-6, (threads, part)
        assert all(float(row["other_s"]) == 0 for row in contexts)
    estimates = [row for row in found if row["kind"] == "estimate"]
    assert len({row["threads"] for row in estimates}) == 3, estimates


@case
def the_forecast_is_amdahls(directory):
    binary = program(directory)
    done = run(LAUNCHER, "-q", "-o", "run", "--scaling", "1,2,4", "--repeat", "2", "--work", "user", binary,
               cwd=directory)
    assert done.returncode == 0, done
    place = os.path.join(directory, "run")
    found = table(shown("-q", "--scaling", "-f", "csv", place))
    runs = {int(row["threads"]): row for row in found if row["kind"] == "run"}
    assert list(runs) == [1, 2, 4] and all(row["runs"] == "2" for row in runs.values()), runs
    share = 1100 / 10000
    for threads, row in runs.items():
        law = 1 / (share + (1 - share) / threads)
        for column in ("forecast_base", "forecast"):
            assert abs(float(row[column]) - law) < 1e-4, (threads, column, row[column], law)
        assert int(row["threads_used"]) == threads, row
        assert float(row["elapsed_least_s"]) <= float(row["elapsed_s"]) <= float(row["elapsed_most_s"])
        speedup = float(runs[1]["elapsed_s"]) / float(row["elapsed_s"])
        assert abs(float(row["speedup"]) - speedup) < 1e-3 and abs(float(row["efficiency"]) - speedup / threads) < 1e-3
        if threads > 1:
            serial = (1 / speedup - 1 / threads) / (1 - 1 / threads)
            assert abs(float(row["serial_fraction"]) - serial) < 1e-3, row
        loss = threads * float(row["elapsed_s"]) - float(runs[1]["elapsed_s"])
        assert abs(float(row["loss_s"]) - loss) < 1e-6, row
        check_charges(place, found, threads, 2)
    check_sums(found)
    assert {"spend"} <= {row["name"] for row in found}
    check_outputs(place, found)


def check_charges(place, found, threads, repetitions):
    """What contexts are charged with is what the runs with that many threads show by themselves, on average."""
    columns = ("work", "overhead", "lockwait", "idleness")
    expected = 0
    for repetition in range(repetitions):
        name = f"threads-{threads}" + (f"-{repetition + 1}" if repetition else "")
        root = table(shown("-q", "--view", "topdown", "-f", "csv", os.path.join(place, name)))[0]
        expected += sum(float(root[f"{column}_incl_s"]) - float(root[f"{column}_excl_s"]) for column in columns)
    charged = sum(float(row["time_s"]) for row in found if row["kind"] == "context" and row["threads"] == str(threads))
    assert expected > 0 and abs(charged - expected / repetitions) < 1e-6, (threads, charged, expected)


def check_outputs(place, found):
    """JSON has the same rows; text fits, and names the same contexts first; by function, the losses are the same."""
    document = json.loads(shown("-q", "--scaling", "-f", "json", place))
    assert document["view"] == "scaling" and len(document["rows"]) == len(found), document["run"]
    flat = table(shown("-q", "--scaling", "-f", "csv", "--view", "flat", place))
    check_sums(flat)
    assert [row for row in flat if row["kind"] == "run"][-1]["loss_s"] == \
        [row for row in found if row["kind"] == "run"][-1]["loss_s"]
    for columns in ("80", "120"):
        text = shown("-q", "--scaling", "--max-rows", "3", place, COLUMNS=columns)
        assert max(map(len, text.splitlines())) <= int(columns), text
        assert "Strong scaling, against 1 thread\n" in text and "omitted" in text, text
        assert [line.split()[0] for line in text.splitlines() if " est. " in line] == ["8", "16", "64"], text
    short = table(shown("-q", "--scaling", "--max-rows", "1", "-f", "csv", place))
    assert len({row["context"] for row in short if row["context"]}) == 1
    assert "Karp" in shown("-q", "--scaling", "--legend", place)


@case
def weak_scaling_is_recognised(directory):
    binary = program(directory)
    done = run(LAUNCHER, "--report", "-q", "-o", "run", "--scaling", "1,2", "--scale-with", "90,180", binary, "{}",
               cwd=directory)
    assert done.returncode == 0 and "\nWeak scaling, against 1 thread\n" in done.stderr, done
    place = os.path.join(directory, "run")
    found = table(shown("-q", "--scaling", "-f", "csv", place))
    one, two = (row for row in found if row["kind"] == "run")
    assert abs(float(two["speedup"]) - 2 * float(one["elapsed_s"]) / float(two["elapsed_s"])) < 1e-3
    assert abs(float(two["loss_s"]) - float(two["elapsed_s"]) + float(one["elapsed_s"])) < 1e-6
    assert not two["serial_fraction"] and not two["forecast_base"] and two["forecast"], two
    check_sums(found)


@case
def runs_that_were_measured_one_by_one(directory):
    binary = program(directory)
    for threads in (2, 1):
        must(LAUNCHER, "-q", "-o", f"t{threads}", binary, cwd=directory,
             OMP_NUM_THREADS=str(threads))
    names = [os.path.join(directory, f"t{threads}") for threads in (2, 1)]
    found = table(shown("-q", "--scaling", "-f", "csv", *names))
    assert [row["threads"] for row in found if row["kind"] == "run"] == ["1", "2"]
    done = run(REPORT, "--scaling", names[0], names[0])
    assert done.returncode == 2 and "different numbers of threads" in done.stderr and not done.stdout, done
    other = program(directory, "other", compiler="clang")
    must(LAUNCHER, "-q", "-o", "other1", other, cwd=directory, OMP_NUM_THREADS="1")
    done = run(REPORT, "--scaling", names[0], os.path.join(directory, "other1"))
    assert done.returncode == 2 and "different programs" in done.stderr and done.stderr.count("\n") == 1, done


@case
def fewer_threads_than_asked_for_are_said(directory):
    source = PROGRAM.replace("#pragma omp parallel\n", "#pragma omp parallel num_threads(1)\n")
    binary = compile_c(directory, "one", source, "-fopenmp", "-I", INCLUDE)
    must(LAUNCHER, "-q", "-o", "run", "--scaling", "1,3", binary, cwd=directory)
    text = shown("-q", "--scaling", os.path.join(directory, "run"))
    assert "With 3 threads asked for, at most 1 was in use at once." in text, text


@case
def programs_that_set_their_number_of_threads_have_no_forecast(directory):
    """One uses two threads whatever is asked for.  Of one without OpenMP, nothing is known."""
    source = PROGRAM.replace("#pragma omp parallel\n", "#pragma omp parallel num_threads(2)\n")
    binary = compile_c(directory, "two", source, "-fopenmp", "-I", INCLUDE)
    must(LAUNCHER, "-q", "-o", "run", "--scaling", "1,2,4", binary, cwd=directory)
    place = os.path.join(directory, "run")
    text = " ".join(shown("-q", "--scaling", place).split())
    assert "There is no forecast: the program does not use more threads where more are asked for." in text, text
    assert "est." not in text and "@" not in text.split("Lost with")[1].split("(the program)")[0], text
    found = table(shown("-q", "--scaling", "-f", "csv", place))
    assert {row["kind"] for row in found} == {"run", "context"}, found
    for row in found[:3]:
        assert row["threads_used"] == "2" and row["speedup"], row
        assert not row["forecast"] and not row["forecast_base"] and not row["serial_fraction"], row
    check_charges(place, found, 4, 1)
    must(LAUNCHER, "-q", "-o", "none", "--scaling", "1,2", "sleep", "0.1", cwd=directory)
    place = os.path.join(directory, "none")
    assert "There is no forecast" not in shown("-q", "--scaling", place)
    found = table(shown("-q", "--scaling", "-f", "csv", place))
    assert not found[0]["threads_used"] and "estimate" in {row["kind"] for row in found}, found


@case
def runs_without_samples_of_time(directory):
    assert series(directory, "1,2", "-o", "run", "-e", "page-faults@1", program(directory)).returncode == 0
    place = os.path.join(directory, "run")
    text = shown("-q", "--scaling", place)
    assert "Contexts are not known" in text and " - " in text.split("(the program)")[0].splitlines()[-1], text
    found = table(shown("-q", "--scaling", "-f", "csv", place))
    assert {row["kind"] for row in found} == {"run", "estimate"} and len(found) == 5, found
    assert not any(row["idleness_s"] for row in found) and found[1]["speedup"], found


@case
def a_series_is_not_one_measurement(directory):
    assert series(directory, "1,2", "-o", "run", "true").returncode == 0
    done = run(REPORT, os.path.join(directory, "run"))
    assert done.returncode == 1 and "use hpcprof-lite --scaling" in done.stderr, done
    assert must(REPORT, os.path.join(directory, "run", "threads-2")).count("Scaling: 2 threads, run 1") == 1


@case
def options_without_effect_are_refused(directory):
    assert series(directory, "1,2", "-o", "run", "true").returncode == 0
    place = os.path.join(directory, "run")
    for words in (["--merge", place], ["--compare", place], ["--fail-if", "elapsed > 1 s"], ["--from", "1"],
                  ["--sort", "name"], ["--depth", "2"], ["--root", "main"], ["--lines"], ["--idleness", "core"],
                  ["--percent-limit", "1"], ["--view", "threads"], ["-f", "markdown"], ["--per-thread"],
                  ["--what-if", "main=2"]):
        done = run(REPORT, "--scaling", *words, place)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout, (words, done)
    done = run(REPORT, "--scaling", cwd=directory)
    assert done.returncode == 2 and "needs the runs" in done.stderr, done
    done = run(REPORT, "--scaling", directory)
    assert done.returncode == 1 and "no measurements" in done.stderr, done


if __name__ == "__main__":
    main()
