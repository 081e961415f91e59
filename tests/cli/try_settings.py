#!/usr/bin/env python3
"""hpcrun-lite --try: what settings gain, measured by runs without measurement."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from report import contents, report, rows
from tap import LAUNCHER, REPORT, case, compile_c, environment, main, must, run, start, timed, wait_until

# Each run appends a line to the file LOG: its arguments, its standard input, its open files, and its environment.
PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
static int number(const char *name, int otherwise)
{
  return getenv(name) ? atoi(getenv(name)) : otherwise;
}
int main(void)
{
  char line[1000], input[64] = "";
  int tools = getenv("LD_PRELOAD") || getenv("OMP_TOOL_LIBRARIES"), open_files = 0;
  for (char **at = environ; *at; at++)
    tools |= !strncmp(*at, "HPCRUN_LITE_", 12);
  for (int fd = 3; fd < 100; fd++)
    open_files += fcntl(fd, F_GETFD) >= 0;
  if (getenv("READS"))
    scanf("%60s", input);
  snprintf(line, sizeof line, "%s %d %d %d %s\n", getenv("WAY") ? getenv("WAY") : "-", tools, open_files, getpid(), input);
  int log = open("LOG", O_WRONLY | O_CREAT | O_APPEND, 0600);
  write(log, line, strlen(line));
  close(log);
  printf("took %d ms in step 1\nsteps: %d\n", number("MS", 200), number("STEPS", 4));
  if (getenv("TEXT"))
    fprintf(stderr, "warning: %s\n", getenv("TEXT"));
  fflush(stdout);
  if (getenv("HANGS") && !fork())
    pause();
  if (getenv("HANGS"))
    pause();
  usleep(1000 * (number("MS", 200) + (getenv("VARIES") ? (getpid() * 2654435761u >> 20) % 50 : 0)));
  if (getenv("FAULT"))
    abort();
  return number("STATUS", 0);
}
"""


def attempt(directory, *arguments, **how):
    path = os.path.join(directory, "sleeper")
    if not os.path.exists(path):
        compile_c(directory, "sleeper", PROGRAM)
    return run(LAUNCHER, "-o", "run", *arguments, "./sleeper", cwd=directory, **how)


def log(directory):
    """The runs, without the measured one: what they were told, their process id, what they read."""
    with open(os.path.join(directory, "LOG"), encoding="ascii") as file:
        lines = [line.rstrip("\n").split(" ") for line in file]
    assert lines[0][:2] == ["-", "1"], lines
    assert all(tools == "0" and files == "0" for _, tools, files, *_ in lines[1:]), lines
    return [(way, int(pid), read) for way, _, _, pid, read in lines[1:]]


def tried(directory):
    return {row["setting"]: row for row in rows("try", "run", cwd=directory)}


def record(directory):
    with open(os.path.join(directory, "run", "try"), encoding="ascii") as file:
        return file.read().splitlines()


def status_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def gone(pid):
    return not os.path.exists(f"/proc/{pid}")


@case
def gains_and_costs_are_measured(directory):
    done = attempt(directory, "--try=WAY=half MS=100;WAY=same", "--try", "WAY=double MS=400")
    assert done.returncode == 127 and "(did you mean --try='WAY=double MS=400'?)" in done.stderr, done
    done = attempt(directory, "--try=WAY=half MS=100;WAY=same", "--try=  WAY=double   MS=400 ; ")
    assert done.returncode == 0 and done.stdout == "took 200 ms in step 1\nsteps: 4\n", done
    table = tried(directory)
    assert list(table) == ["WAY=half MS=100", "WAY=same", "WAY=double   MS=400"], table
    for row in table.values():
        assert row["pairs"] == "3" and row["class"] == row["forecast_s"] == "", row
        assert float(row["gain_low_s"]) <= float(row["gain_s"]) <= float(row["gain_high_s"]), row
        assert (row["other_lines"], row["number_lines"]) == ("0", "0" if row["setting"] == "WAY=same" else "1"), row
    gains = [float(row["gain_s"]) for row in table.values()]
    timed(abs(gains[0] - 0.1) < 0.02 and abs(gains[1]) < 0.02 and abs(gains[2] + 0.2) < 0.02, table)
    timed([row["verdict"] for row in table.values()] == ["gains", "no difference", "costs"], table)
    timed("no difference above " in done.stderr, done.stderr)
    timed(45 < float(table["WAY=half MS=100"]["gain_pct"]) < 55, table)
    # the text says the same, and stands at the end of what the launcher prints
    text = must(REPORT, "--view", "try", "run", cwd=directory)
    assert done.stderr.endswith(text) and "the program ran 12 times" in text, done.stderr
    assert re.search(r"^WAY=half MS=100\n +0\.\d{3} +\d+\.\d +\S+ to \S+ +- +gains\n +1 line differs in numbers only$",
                     text, re.M), text
    parsed = json.loads(must(REPORT, "--view", "try", "-f", "json", "run", cwd=directory))
    assert [row["setting"] for row in parsed["rows"]] == list(table), parsed
    assert os.stat(os.path.join(directory, "run", "try")).st_mode & 0o777 == 0o600


@case
def rounds_have_each_setting_once_in_random_order(directory):
    done = attempt(directory, "--try=WAY=a;WAY=b;WAY=c", "--try-time", "6", MS="60", VARIES="1")
    assert done.returncode == 0, done
    timed(not any("timed-out" in line for line in record(directory)), record(directory))
    ways = [way for way, *_ in log(directory)]
    orders = [tuple(ways[i:i + 4]) for i in range(0, len(ways), 4)]
    assert all(sorted(order) == ["-", "a", "b", "c"] for order in orders), orders
    assert len(orders) >= 8 and len(set(orders)) > 2, orders  # 24 orders
    assert record(directory)[-1] in ("stop spent", "stop known") and len(record(directory)) == 7 + len(ways)
    assert "now runs at least 12 times without measurement: 3 times unchanged, 3 times with each of 3 settings, then until " \
        "gains are known to 3 % or 6.00 s have passed; about " in done.stderr, done.stderr


@case
def default_budget_is_three_runs_of_each_and_is_announced(directory):
    done = attempt(directory, "--try=WAY=a;WAY=b", MS="100")
    announced = int(re.search(r"COMMAND now runs (\d+) times without measurement: 3 times unchanged, 3 times with each of 2 "
                              "settings; about ", done.stderr)[1])
    assert announced == 9 == len(log(directory)), done.stderr
    lines = done.stderr.splitlines()
    assert "setting 1: WAY=a" in lines[1] and "setting 2: WAY=b" in lines[2] and "files" in lines[4], lines
    # quiet: nothing but the record
    os.remove(os.path.join(directory, "LOG"))
    done = attempt(directory, "-q", "--overwrite", "--try=WAY=a", MS="100")
    assert done.stderr == "" and len(log(directory)) == 6 and len(tried(directory)) == 1, done


@case
def other_output_and_other_ends_are_reported(directory):
    done = attempt(directory, "--try=WAY=n STEPS=5;WAY=t TEXT=odd;WAY=s STATUS=3;WAY=f FAULT=1;WAY=h HANGS=1", MS="100")
    assert done.returncode == 0, done
    table = {setting.split(" ")[0]: row for setting, row in tried(directory).items()}
    assert {way: row["verdict"] for way, row in table.items() if way != "WAY=n"} == {
        "WAY=t": "prints other lines", "WAY=s": "fails", "WAY=f": "fails", "WAY=h": "timed out"}, table
    assert [(row["other_lines"], row["number_lines"]) for row in table.values()][:2] == [("0", "1"), ("1", "0")], table
    assert all(table[way]["gain_s"] == table[way]["other_lines"] == "" for way in ("WAY=s", "WAY=f", "WAY=h")), table
    ways = [way for way, *_ in log(directory)]
    assert {way: ways.count(way) for way in "-ntsfh"} == {"-": 3, "n": 3, "t": 3, "s": 1, "f": 1, "h": 1}, ways
    for words in ("  prints other lines", "fails: exit status 3", "fails: signal 6", "timed out after",
                  "1 line differs from the first unchanged run\n"):
        assert words in done.stderr, done.stderr
    # the whole process group was ended
    leader = next(pid for way, pid, _ in log(directory) if way == "h")
    processes = subprocess.run(("ps", "-eo", "pgid=,stat="), capture_output=True, text=True, check=True).stdout
    assert not re.search(rf"^ *{leader} +[^Z]", processes, re.M), processes


@case
def failing_programs_are_not_repeated(directory):
    done = attempt(directory, "--try=WAY=a", STATUS="3")
    assert done.returncode == 3 and "--try: './sleeper' ended with status 3 in the measured run: nothing is " \
        "tried; make it end with 0\n" in done.stderr, done
    done = attempt(directory, "--overwrite", "--try=WAY=a", FAULT="1")
    assert done.stderr.endswith("'./sleeper' was ended by signal 6 in the measured run: nothing is tried\n"), done
    os.remove(os.path.join(directory, "LOG"))
    attempt(directory, "--overwrite", "-q", "--try=WAY=a", STATUS="3")
    assert not log(directory) and not os.path.exists(os.path.join(directory, "run", "try"))
    # a program that fails only without measurement
    script = os.path.join(directory, "alone.sh")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nsleep 0.1\ntest -n \"$HPCRUN_LITE_DIR\"\n")
    os.chmod(script, 0o700)
    done = run(LAUNCHER, "-o", "alone", "--try=A=1", script, cwd=directory)
    assert done.returncode == 0 and "the unchanged program failed" in " ".join(done.stderr.split()), done
    with open(os.path.join(directory, "alone", "try"), encoding="ascii") as file:
        assert file.read().endswith("stop baseline\n")


@case
def a_program_whose_output_varies_is_no_difference(directory):
    script = os.path.join(directory, "date.sh")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\ntr -dc a-z < /dev/urandom | head -c 20\necho\nsleep 0.1\n")
    os.chmod(script, 0o700)
    done = run(LAUNCHER, "-o", "run", "--try=A=1", script, cwd=directory)
    row = tried(directory)["A=1"]
    assert row["verdict"] != "prints other lines" and row["other_lines"] == "1", row
    assert "1 line differs from the first unchanged run; unchanged runs differ, too" in " ".join(done.stderr.split()), done.stderr


@case
def an_interval_that_is_too_wide_is_not_known(directory):
    attempt(directory, "-q", MS="100")
    lines = ["hpcrun-lite try 1", "measured 2000000000", "limit 6000000000", "setting spinning 1000000 2000000 3000000 A=1"]
    for number, milliseconds in enumerate((1400, 500, 800), 1):
        lines += [f"run {number} 0 1000000000 - exited 0 0 0", f"run {number} 1 {milliseconds}000000 - exited 0 0 0"]
    with open(os.path.join(directory, "run", "try"), "w", encoding="ascii") as file:
        file.write("\n".join(lines + ["stop spent", ""]))
    row = tried(directory)["A=1"]
    assert row["verdict"] == "not known" and float(row["gain_low_s"]) < -0.9 < 1.2 < float(row["gain_high_s"]), row
    text = must(REPORT, "--view", "try", "run", cwd=directory)
    assert "  not known\n" in text and "too few runs to tell: try longer with --try-time\n" in text, text
    assert "forecast of the finding spinning: 0.002 s (0.001 to 0.003 s), 0.1 %" in text, text
    assert "took 2.000 s, not 1.000 s: compare gains and forecasts in percent." in " ".join(text.split()), text


@case
def the_result_is_also_printed_before_the_report(directory):
    done = attempt(directory, "--report", "--try=WAY=a", MS="100")
    result = done.stderr.find("What settings gain: the program ran 6 times")
    assert 0 < result < done.stderr.find(" ran for ") and done.stdout.count("\n") == 2, done
    assert os.path.exists(os.path.join(directory, "run.html"))


@case
def what_keeps_the_reporter_from_telling_settings_is_reported(directory):
    script = os.path.join(directory, "wrong.sh")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nsleep 0.1\necho wrong > run/try\n")
    os.chmod(script, 0o700)
    done = run(LAUNCHER, "-o", "run", "--try", script, cwd=directory)
    assert done.returncode == 0 and "hpcprof-lite, which tells what to try, ended with status 1: nothing is tried; see " \
        "why with hpcprof-lite try " in done.stderr, done


@case
def order_of_lines_is_no_difference(directory):
    script = os.path.join(directory, "lines.sh")
    with open(script, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nsleep 0.05\nif test -n \"$A\"; then echo two $$; echo one; else echo one; echo two $$; fi\n")
    os.chmod(script, 0o700)
    must(LAUNCHER, "-q", "-o", "run", "--try=A=1", script, cwd=directory)
    row = tried(directory)["A=1"]
    assert (row["other_lines"], row["number_lines"]) == ("0", "1"), row


@case
def standard_input_is_read_again(directory):
    with open(os.path.join(directory, "input"), "w+", encoding="ascii") as file:
        file.write("first\nsecond\n")
        file.flush()
        file.seek(6)
        compile_c(directory, "sleeper", PROGRAM)
        process = start(LAUNCHER, "-q", "-o", "run", "--try=WAY=a", "./sleeper", cwd=directory, stdin=file, MS="100",
                        READS="1")
        process.communicate()
    assert process.returncode == 0 and [read for *_, read in log(directory)] == ["second"] * 6, log(directory)


@case
def variables_come_before_a_wrapper(directory):
    compile_c(directory, "sleeper", PROGRAM)
    wrapper = os.path.join(directory, "wrap.sh")
    with open(wrapper, "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nWAY=\"$WAY-$1\"\nexport WAY\nshift\nexec \"$@\"\n")
    os.chmod(wrapper, 0o700)
    done = run(LAUNCHER, "-o", "run", "--try=WAY=x  ./wrap.sh y", "./sleeper", cwd=directory, MS="100")
    ways = [way for way, *_ in log(directory)]
    assert done.returncode == 0 and sorted(ways) == ["-"] * 3 + ["x-y"] * 3, done


REFUSED = [
    (("--try=",), "a setting is empty"),
    (("--try=A=1;;B=2",), "a setting is empty; write NAME=VALUE or a program to put before COMMAND"),
    (("--try=;",), "a setting is empty"),
    (("--try=A=1; ;",), "a setting is empty"),
    (("--try=A=1;A=1",), "'A=1' is in the list twice"),
    (("--try=A=1;A=2;A=3;A=4;A=5;A=6;A=7",), "more than 6 settings"),
    (("--try=no-such-program --flag",), "neither NAME=VALUE nor a program to put before COMMAND"),
    (("--try=A=1\nB=2",), "a control character"),
    (("--try=A=" + 600 * "x",), "longer than 511 bytes"),
    (("--try-time", "3"), "option --try-time needs --try"),
    (("--try", "--try-time", "0"), "a number of seconds above 0 and at most 10000000, not '0'"),
    (("--try", "--try-time", "1x"), "not '1x'"),
    (("--try", "--try-time", "nan"), "not 'nan'"),
    (("--try", "--env"), "option --try needs runs: --env runs nothing"),
    (("--try", "--diagnose"), "option --try needs runs: --diagnose runs nothing"),
]


@case
def what_cannot_be_tried_is_refused(directory):
    for arguments, words in REFUSED:
        done = attempt(directory, *arguments)
        assert done.returncode == 125 and words in done.stderr and done.stderr.count("\n") == 1, (arguments, done)
    for name in ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"):
        done = attempt(directory, "--try", **{name: "0"})
        assert done.returncode == 125 and f"({name} is set)" in done.stderr and "unset" in done.stderr, done
    for program in ("mpirun", "/usr/bin/srun"):
        done = run(LAUNCHER, "--try", program, "-n", "2", "./sleeper", cwd=directory)
        assert done.returncode == 125 and f"cannot be used with '{program}'" in done.stderr, done
    done = attempt(directory, "--try=A=1", stdin="text\n")
    assert done.returncode == 125 and "standard input is a pipe" in done.stderr and "/dev/null" in done.stderr, done
    assert not os.path.exists(os.path.join(directory, "run")) and not os.path.exists(os.path.join(directory, "LOG"))


@case
def a_terminal_as_standard_input_is_refused(directory):
    ours, its = pty.openpty()
    done = subprocess.run((LAUNCHER, "--try=A=1", "true"), cwd=directory, stdin=its, capture_output=True, text=True,
                          env=environment(), check=False)
    os.close(ours)
    os.close(its)
    assert done.returncode == 125 and "standard input is a terminal" in done.stderr, done


@case
def nothing_to_try_is_reported(directory):
    done = attempt(directory, "--try", MS="50")
    assert done.returncode == 0 and not log(directory), done
    assert "no finding of this run suggests a setting" in done.stderr.splitlines()[-1], done.stderr
    text = must(REPORT, "--view", "try", "run", cwd=directory)
    assert text.startswith("Nothing was tried, and no finding suggests a setting"), text
    assert rows("try", "run", cwd=directory) == []


@case
def a_signal_ends_the_runs_and_keeps_what_is_known(directory):
    """After two rounds: after three, the gain may be known, and the runs end."""
    compile_c(directory, "sleeper", PROGRAM)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = start(LAUNCHER, "-o", "run", "--try=WAY=a", "--try-time", "100", "./sleeper", cwd=directory, VARIES="1",
                        MS="60")
        path = os.path.join(directory, "run", "try")
        wait_until(lambda: os.path.exists(path) and len(record(directory)) >= 8, "two rounds")
        os.kill(process.pid, number)
        _, errors = process.communicate()
        assert process.returncode == -number, process.returncode
        assert "The runs were interrupted by a signal." in errors and "95 % interval" in errors, errors
        assert record(directory)[-1] == "stop interrupted", record(directory)
        assert int(tried(directory)["WAY=a"]["pairs"]) >= 2
        assert all(wait_until(lambda pid=pid: gone(pid), "its end") for _, pid, _ in log(directory))
        os.remove(os.path.join(directory, "LOG"))
        shutil.rmtree(os.path.join(directory, "run"))


@case
def a_run_that_was_stopped_is_repeated(directory):
    """The launcher and the run stop together, and continue together."""
    compile_c(directory, "sleeper", PROGRAM)
    launcher = subprocess.Popen((LAUNCHER, "-q", "-o", "run", "--try=WAY=a", "./sleeper"), cwd=directory,
                                env=environment(MS="300"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                process_group=0)
    path = os.path.join(directory, "LOG")
    wait_until(lambda: os.path.exists(path) and contents(path).count(b"\n") == 2, "the first run")
    launcher.send_signal(signal.SIGTSTP)
    wait_until(lambda: all(status_of(pid) == "T" for pid in (launcher.pid, log(directory)[0][1])), "their stop")
    launcher.send_signal(signal.SIGCONT)
    assert launcher.wait() == 0 and len(log(directory)) == 7 and len(record(directory)) == 11, record(directory)
    assert log(directory)[0][0] == log(directory)[1][0], log(directory)


@case
def a_killed_launcher_leaves_what_is_known(directory):
    compile_c(directory, "sleeper", PROGRAM)
    process = start(LAUNCHER, "-q", "-o", "run", "--try=WAY=a", "--try-time", "100", "./sleeper", cwd=directory, VARIES="1",
                    MS="60")
    path = os.path.join(directory, "run", "try")
    wait_until(lambda: os.path.exists(path) and len(record(directory)) >= 8, "two rounds")
    process.kill()
    process.communicate()
    assert int(tried(directory)["WAY=a"]["pairs"]) >= 2
    assert "hpcrun-lite was killed, or still runs" in must(REPORT, "try", "run", cwd=directory)
    # and the directory is still one that can be replaced
    done = attempt(directory, "-q", "--overwrite", MS="100")
    assert done.returncode == 0 and not os.path.exists(path), done


# What stands behind the title, and the line that is wrong.
HOSTILE = [
    ("run 1 0 100 - exited 0 0 0", 2),  # no end of the line
    ("run 1 1 100 - exited 0 0 0\n", 2),  # no such setting
    ("run 0 0 100 - exited 0 0 0\n", 2),
    ("run 1 0 9999999999999999999 - exited 0 0 0\n", 2),
    ("run 1 0 100 - vanished 0 0 0\n", 2),
    ("run 1 0 100 - exited 0 0 0 0\n", 2),
    ("run 1 0 100 - exited 0 0\n", 2),
    ("run 1 0 -100 - exited 0 0 0\n", 2),
    ("limit 1\nsetting - - - - \n", 3),
    ("limit 1\nsetting - - - 5 A=1\n", 3),
    ("limit 1\nsetting " + 40 * "c" + " - - - A=1\n", 3),
    ("setting - - - - A=" + 600 * "x" + "\n", 2),
    (7 * "setting - - - - A=1\n", 8),
    ("setting a 1 2 1e9 A=1\n", 2),
    ("stop known\nlimit 1\n", 3),
    ("stop\n", 2),
    ("\n", 2),
    ("\0", 0),
]


@case
def hostile_records_are_survived(directory):
    attempt(directory, "-q", MS="100")
    path = os.path.join(directory, "run", "try")
    sound = "setting kernel 1 2000000000 3 A=\x1b[31m,\"1\"\nrun 1 0 2000000000 - exited 0 0 0\nrun 1 1 1 5 exited 0 7 8\n"
    for text, line in HOSTILE:
        with open(path, "w", encoding="ascii") as file:
            file.write("hpcrun-lite try 1\n" + text)
        done = report("--view", "try", "-f", "csv", "run", cwd=directory)
        assert done.returncode == (1 if line else 0), (text, done)
        assert not line or f"line {line}: this is not what hpcrun-lite --try writes" in done.stderr, (text, done)
    for content in ("", "hpcrun-lite try 2\n", "\x7fELF"):
        with open(path, "w", encoding="ascii") as file:
            file.write(content)
        done = report("try", "run", cwd=directory)
        assert done.returncode == 1 and "line 1: this is not" in done.stderr, done
    with open(path, "w", encoding="ascii") as file:  # what is sound before a wrong line counts
        file.write("hpcrun-lite try 1\n" + sound + "run x\n")
    for form in ("text", "csv", "json"):
        done = report("--view", "try", "-f", form, "run", cwd=directory)
        assert done.returncode == 1 and "line 5" in done.stderr and "\x1b" not in done.stdout, done
    os.remove(path)
    os.mkfifo(path)
    done = report("try", "run", cwd=directory)
    assert done.returncode == 1 and "cannot read" in done.stderr, done


@case
def suggested_settings_are_tried_with_their_forecasts(directory):
    source = r"""
#include <omp.h>
int main(void)
{
  for (int k = 0; k < 150; k++)
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(8)
      for (volatile int i = 0; i < 20000; i++)
        ;
    }
  return 0;
}
"""
    compile_c(directory, "nested", source, "-fopenmp")
    done = run(LAUNCHER, "-o", "run", "--try", "./nested", cwd=directory, OMP_MAX_ACTIVE_LEVELS="2")
    assert done.returncode == 0, done
    timed(os.path.exists(os.path.join(directory, "run", "try")), done.stderr)
    table = tried(directory)
    advice = {row["class"]: row for row in rows("advice", "run", cwd=directory)}
    timed("OMP_MAX_ACTIVE_LEVELS=1" in table, table)
    row = table["OMP_MAX_ACTIVE_LEVELS=1"]
    assert row["forecast_s"] == advice[row["class"]]["gain_s"] and row["verdict"], (row, advice)
    text = must(REPORT, "--view", "advice", "run", cwd=directory)
    assert "Tried: OMP_MAX_ACTIVE_LEVELS=1: " in text, text
    # a listed setting has the forecast, too
    done = run(LAUNCHER, "-q", "--overwrite", "-o", "run", "--try=OMP_MAX_ACTIVE_LEVELS=1", "./nested", cwd=directory,
               OMP_MAX_ACTIVE_LEVELS="2")
    timed([row["class"] for row in tried(directory).values()] == ["oversubscription"], tried(directory))


@case
def settings_are_tried_with_each_number_of_threads(directory):
    compile_c(directory, "sleeper", PROGRAM.replace('getenv("WAY") : "-"', 'getenv("WAY") : getenv("OMP_NUM_THREADS")'))
    done = run(LAUNCHER, "-o", "series", "--scaling", "2,1", "--repeat", "2", "--try=MS=40;WAY=x STATUS=1", "./sleeper",
               cwd=directory, MS="80")
    assert done.returncode == 0, done
    with open(os.path.join(directory, "LOG"), encoding="ascii") as file:
        ways = [line.split(" ")[0] for line in file]
    # four measured runs, then three of each, but for the setting that fails
    assert ways[:4] == ["2", "1", "2", "1"] and [sorted(ways[4:11]), sorted(ways[11:])] == [
        ["2"] * 6 + ["x"], ["1"] * 6 + ["x"]], ways
    for name in ("threads-1", "threads-2"):
        row, failed = rows("try", os.path.join("series", name), cwd=directory)
        assert row["pairs"] == "3" and failed["verdict"] == "fails", row
        timed(row["verdict"] == "gains" and abs(float(row["gain_s"]) - 0.04) < 0.02, row)
        assert not os.path.exists(os.path.join(directory, "series", name + "-2", "try"))
    lines = done.stderr.splitlines()
    headings = [line for line in lines if "--try: with" in line]
    assert headings == ["hpcrun-lite: --try: with 2 threads", "hpcrun-lite: --try: with 1 thread"], lines
    assert done.stderr.count("What settings gain: the program ran 7 times") == 2 and "4 runs measured" in lines[-1], lines


if __name__ == "__main__":
    main()
