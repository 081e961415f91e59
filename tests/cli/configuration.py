#!/usr/bin/env python3
"""Configuration files: which is read, what they may say, which setting wins, bad ones, --print-config, levels, and
settings of single programs."""
import glob
import os
import re
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from tap import LAUNCHER, OTHER_USER, REPORT, case, compile_c, main, must, need_root, other_users_launcher, run, timed

NO_FILE = {"HPCRUN_LITE_CONFIG": "", "XDG_CONFIG_HOME": "", "HOME": "/nonexistent"}
WORK = """
#include <stdio.h>
#include <time.h>
int main(void)
{
  double sum = 0;
  int limit = 10000000;
  clock_t end = clock() + CLOCKS_PER_SEC / 5;
  while (clock() < end)
  #pragma omp parallel for
    for (int i = 0; i < 10000000; i++)
      if (*(volatile int *)&limit < i)
        sum += i;
  return 0;
}
"""


def launch(directory, *arguments, **settings):
    return run(LAUNCHER, *arguments, cwd=directory, **{**NO_FILE, **settings})


def write(directory, text, name="test.ini", mode=0o644):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(path, mode)
    return path


def refused(directory, text, *parts, options=()):
    """The file ends the launch with 125 and one line, which begins with its name, before anything else happens."""
    write(directory, text)
    before = sorted(os.listdir(directory))
    done = launch(directory, "--config", "test.ini", *options, "touch", "started")
    lines = done.stderr.splitlines()
    assert done.returncode == 125 and done.stdout == "" and len(lines) == 1, (text, done)
    assert lines[0].startswith("hpcrun-lite: ") and "test.ini" in lines[0], (text, lines)
    for part in parts:
        assert part in lines[0], (text, part, lines)
    assert sorted(os.listdir(directory)) == before, os.listdir(directory)


def printed(directory, *options, **settings):
    done = launch(directory, "--print-config", *options, **settings)
    assert done.returncode == 0 and not done.stderr, done
    return done.stdout


def in_force(text):
    """Section and key → value, and where it comes from: both from the output of --print-config."""
    values, origin, section = {}, {}, ""
    above = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line
        elif line.startswith("# "):
            above = line[2:]
            continue
        elif "=" in line and not line.startswith(" "):
            key, rest = line.split(" = ", 1)
            value, _, comment = rest.partition(" ; ")
            values[section, key] = value.rstrip()
            origin[section, key] = comment or above
        elif line:
            values[section, key] += line.strip()
        above = ""
    return values, origin


def variables(directory, *options, **settings):
    """What --env exports."""
    done = launch(directory, *options, "--env", **settings)
    assert done.returncode == 0, done
    output = must("sh", "-c", done.stdout + "\nenv -0", only_environment={"PATH": os.environ["PATH"]})
    return dict(entry.split("=", 1) for entry in output.split("\0") if "=" in entry)


def samples(directory):
    """Process → its samples."""
    header, *rows = must(REPORT, "--view", "threads", "-f", "csv", directory).splitlines()
    columns = header.split(",")
    process, count = columns.index("process"), columns.index("samples")
    found = {}
    for row in rows:
        cells = row.split(",")
        found[cells[process]] = found.get(cells[process], 0) + int(cells[count])
    return found


# ---- bad files ----

BAD = (
    ("[measure]\nfoo = 1\n", ":2: foo: unknown key", "events, parallelism"),
    ("events = wall\n", ":1: events: stands before the first section", "[measure]"),
    ("foo = wall\n", ":1: foo: stands before the first section"),
    ("\n\n[measur]\n", ":3: unknown section [measur]", "[program NAME]"),
    ("[Measure]\nevents = wall\n", ":1: unknown section [Measure]"),
    ("[" + "m" * 150 + "]\n", ":1: unknown section"),
    ("[measure\nevents = wall\n", ":1: '[' without ']'"),
    ("[measure] events = wall\n", ":1: there is text behind"),
    ("[measure]\nevents\n", "the line is neither [SECTION] nor KEY = VALUE"),
    ("[measure]\nevents =\n", ":2: events: has no value"),
    ("[measure]\nevents = ; wall\n", ":2: events: has no value"),
    ("[measure]\nevents = wal\n", ":2: events: unknown event 'wal'"),
    ("[measure]\nevents = wall@f0\n", ":2: events: "),
    ("[measure]\nevents = wall,\n  wall\n", ":3: events: "),
    ("[measure]\nparallelism = on\n", ":2: parallelism: unknown mode 'on'; write one of off, online, log"),
    ("[measure]\noverhead-limit = 101\n", ":2: overhead-limit: '101' is not a whole percentage from 0 to 100"),
    ("[measure]\noverhead-limit = 5%\n", ":2: overhead-limit: '5%' is not a whole percentage from 0 to 100"),
    ("[buffers]\noverhead-limit = 5\n", ":2: overhead-limit: does not belong to [buffers]; move it to [measure]"),
    ("[measure]\nwork = seconds\n", ":2: work: unknown unit 'seconds'"),
    ("[measure]\ntrace = all\n", ":2: trace: unknown kind of trace 'all'"),
    ("[measure]\ntask-context = here\n", ":2: task-context: unknown context 'here'"),
    ("[measure]\nomp-runtime = /nonexistent.so\n", ":2: omp-runtime: ", "/nonexistent.so"),
    ("[measure]\npaused = 1\n", ":2: paused: unknown answer '1'; write one of yes, no"),
    ("[measure]\nlevel = full\n", ":2: level: unknown level 'full'; write one of off, summary, samples, states, all"),
    ("[measure]\nlevel = states\ntrace = off\n", ":2: level: 'states' contradicts trace = off in line 3"),
    ("[measure]\nparallelism = online\nlevel = all\n", ":3: level: 'all' contradicts parallelism = online in line 2"),
    ("[measure]\nlevel = off\npaused = no\n", ":2: level: 'off' contradicts paused = no"),
    ("[measure]\nlevel = summary\nevents = wall\n", ":2: level: 'summary' takes no samples, which events in line 3"),
    ("[measure]\nlevel = summary\n[filter]\nfunctions = f\n", ":2: level: 'summary' takes no samples"),
    ("[measure]\nlevel = summary\n[filter]\nmodules = f\n", ":2: level: 'summary' takes no samples, which modules"),
    ("[program x]\nthreads = 1\nlevel = summary\n", ":3: level: 'summary' takes no samples, which threads in line 2"),
    ("[measure]\ncounters = page-faults, none\n", ":2: counters: 'none' stands alone"),
    ("[measure]\nlevel = summary\ntrace = samples\n", ":2: level: 'summary' contradicts trace = samples"),
    ("[program x]\nlevel = samples\ntrace = states\n", ":2: level: 'samples' contradicts trace = states"),
    ("[measure]\ncounters = nonsense\n", ":2: counters: unknown event 'nonsense'", "--list-events"),
    ("[measure]\ncounters = page-faults,\n nonsense\n", ":3: counters: unknown event 'nonsense'"),
    ("[measure]\ncounters = page-faults,,minor-faults\n", ":2: counters: an empty name"),
    ("[measure]\ncounters = page-faults@10\n", ":2: counters: ", "leave out '@'"),
    ("[measure]\ncounters = page-faults, page-faults\n", ":2: counters: event 'page-faults' is given twice"),
    ("[measure]\ncounters = task-clock\n", ":2: counters: task-clock is a time"),
    ("[measure]\ncounters = none, page-faults\n", ":2: counters: 'none' stands alone"),
    ("[measure]\ncounters = page-faults\nevents = page-faults\n", ":2: counters: event 'page-faults' is also sampled"),
    ("[measure]\nlevel = off\n[program p]\ncounters = nonsense\n", ":4: counters: unknown event 'nonsense'"),
    ("[filter]\ncounters = none\n", ":2: counters: does not belong to [filter]; move it to [measure]"),
    ("[measure]\nlevel = off\nlevel = off\n", ":3: level: is given in line 2 already"),
    ("[measure]\nlevel = off\n[measure]\nlevel = off\n", ":4: level: is given in line 2 already"),
    ("[measure]\ntrace-limit = 1G\n", ":2: trace-limit: does not belong to [measure]; move it to [buffers]"),
    ("[filter]\nevents = wall\n", ":2: events: does not belong to [filter]; move it to [measure]"),
    ("[buffers]\ntrace-limit = 63K\n", ":2: trace-limit: '63K' is not a size of at least 64K"),
    ("[buffers]\ntrace-limit = 18446744073709551616\n", ":2: trace-limit: '18446744073709551616' is not a size"),
    ("[buffers]\nmemory-limit = 1000K\n", ":2: memory-limit: '1000K' is neither a size of at least 2M", "'none'"),
    ("[measure]\nmemory-limit = 4M\n", ":2: memory-limit: does not belong to [measure]; move it to [buffers]"),
    ("[buffers]\ntrace-keep = middle\n", ":2: trace-keep: unknown part 'middle'"),
    ("[measure]\nlevel = off\n  trace = off\n", ":3: ", "remove the spaces before 'trace = off'"),
    ("[measure]\nlevel = off\n  states\n", ":3: level: has one value"),
    ("[measure]\nlevel = off\n  [filter]\n", ":3: ", "remove the spaces before '[filter]'"),
    ("[filter]\nfunctions = solve # only this\n", ":2: functions: '#' begins a comment only at the start of a line"),
    ("[measure]\noutput = # x\n", ":2: output: '#' begins a comment"),
    ("[filter]\nthreads = 3-1\n", ":2: threads: '3-1' is an empty range"),
    ("[filter]\nranks = 0-\n", ":2: ranks: '0-' is no number"),
    ("[filter]\nranks = 1000000\n", ":2: ranks: '1000000' is no number up to 999999"),
    ("[filter]\nranks = -1\n", ":2: ranks: '-1' is no number"),
    ("[filter]\nfunctions = a,,b\n", ":2: functions: the list has an empty item"),
    ("[filter]\nfunctions = a,\n  !\n", ":3: functions: nothing stands behind '!'"),
    ("[filter]\nfunctions = a, [b-\n", ":2: functions: '[b-' has '[' without ']'; write", "[[]"),
    ("[filter]\nfunctions = a,\n  ![b]*[c\n", ":3: functions: '[b]*[c' has '[' without ']'"),
    ("[filter]\nmodules = lib[\n", ":2: modules: 'lib[' has '[' without ']'"),
    ("[filter]\nconstructs = for, loop\n", ":2: constructs: unknown construct 'loop'"),
    ("[filter]\nconstructs = a.c:0\n", ":2: constructs: unknown construct 'a.c:0'"),
    ("[filter]\nregions = a, !b\n", ":2: regions: '!b': '!' excludes functions, modules and constructs only"),
    ("[filter]\nskip-first = 10\n", ":2: skip-first: '10' is not a time", "10 s"),
    ("[filter]\nonly = 0 s\n", ":2: only: '0 s' is not a time above 0"),
    ("[filter]\nonly = 1e3 s\n", ":2: only: '1e3 s' is not a time"),
    ("[program]\nlevel = off\n", ":1: [program ]: not the name"),
    ("[program a/b]\nlevel = off\n", ":1: [program a/b]: not the name", "41 bytes"),
    ("[program " + "x" * 42 + "]\nlevel = off\n", ":1: [program xxx", "not the name"),
    ("[program a]\n[program a]\n", ":2: [program a]: there is such a section already"),
    ("".join(f"[program p{i}]\n" for i in range(33)), ":33: [program p32]: more than 32 programs"),
    ("[program a]\noutput = x\n", ":2: output: holds for the whole launch", "[measure]"),
    ("[program a]\nomp-runtime = keep\n", ":2: omp-runtime: holds for the whole launch"),
    ("[program a]\nfoo = x\n", ":2: foo: unknown key; [program] has events"),
    ("[program a]\nfunctions =" + " " + "f" * 180 + ("," + "\n " + "f" * 190) * 30 + "\n",
     ":2: functions: [program a] has more than 4096 bytes", "shorter lists"),
    ("[measure]\nevents = " + "x" * 190 + "\n", ":2: the line is longer than 198 bytes"),
    (b"[measure]\nevents = wall\0\n", ":2: byte 14 is a control character (0x00)"),
    (b"\x7fELF\x02\x01\x01\0", ":1: byte 1 is a control character (0x7f)"),
    (bytes(range(256)) * 4, "is a control character"),
    ("[measure]\n" + "# comment\n" * 7000, "is larger than 64 KB"),
)


@case
def bad_files_are_refused(directory):
    for text, *parts in BAD:
        refused(directory, text, *parts)
    write(directory, "[filter]\nfunctions = operator[], [[]*, [a-z], []], [!]], x]\n")
    assert "functions = operator[],[[]*,[a-z],[]],[!]],x]" in printed(directory, "--config", "test.ini")
    # also what an option replaces
    refused(directory, "[measure]\nwork = seconds\n", ":2: work: ", options=["--work", "user"])


@case
def what_is_no_readable_file_is_refused(directory):
    os.mkdir(os.path.join(directory, "folder"))
    os.mkfifo(os.path.join(directory, "pipe"))
    for name, part in (("folder", "is a directory"), ("pipe", "is not a regular file"), ("/dev/zero", "is not a regular file"),
                       ("absent", "No such file"), ("x" * 300, "too long")):
        for how in ({"options": ["--config", name]}, {"options": [], "env": {"HPCRUN_LITE_CONFIG": name}}):
            done = launch(directory, *how["options"], "true", **how.get("env", {}))
            assert done.returncode == 125 and part in done.stderr and done.stderr.count("\n") == 1, (name, done)
    assert "a file is needed" in launch(directory, "--config", "", "true").stderr


@case
def unreadable_files_are_refused(directory):
    need_root()
    os.chmod(directory, 0o755)
    path = write(directory, "[measure]\nlevel = off\n", mode=0o600)
    done = run(*OTHER_USER, other_users_launcher(), "--config", path, "true", cwd="/tmp")
    assert done.returncode == 125 and "Permission denied" in done.stderr, done


# ---- which file, which setting ----

@case
def the_first_file_that_exists_is_read(directory):
    def trace_limit(*options, **env):
        values, origin = in_force(printed(directory, *options, **env))
        return values["[buffers]", "trace-limit"], origin["[buffers]", "trace-limit"]

    def say(limit):
        return f"[buffers]\n\ntrace-limit = {limit}\n"
    home = os.path.join(directory, "home")
    user = {"HOME": home}
    assert trace_limit(**user) == ("1G", "default")
    path = write(directory, say("1M"), "home/.config/hpcrun-lite/config.ini")
    assert trace_limit(**user) == ("1M", f"{path}:3")
    path = write(directory, say("2M"), "xdg/hpcrun-lite/config.ini")
    user["XDG_CONFIG_HOME"] = os.path.join(directory, "xdg")
    assert trace_limit(**user) == ("2M", f"{path}:3")
    assert trace_limit(**{**user, "XDG_CONFIG_HOME": "xdg"})[0] == "1M"  # no absolute path: ignored
    write(directory, say("3M"), ".hpcrun-lite.ini")
    assert trace_limit(**user) == ("3M", "./.hpcrun-lite.ini:3")
    write(directory, say("4M"), "by-variable")
    user["HPCRUN_LITE_CONFIG"] = "by-variable"
    assert trace_limit(**user) == ("4M", "by-variable:3")
    write(directory, say("5M"), "by-option")
    assert trace_limit("--config", "by-option", **user) == ("5M", "by-option:3")
    assert trace_limit("--config", "by-option", "-t", "--trace-limit", "6M", **user) == ("6M", "option --trace-limit")
    assert trace_limit("--config", "none", **user) == ("1G", "default")
    assert trace_limit(**{**user, "HPCRUN_LITE_CONFIG": "none"}) == ("1G", "default")


@case
def the_file_of_the_current_directory_is_restricted(directory):
    name = ".hpcrun-lite.ini"

    def refused_here(part):
        done = launch(directory, "touch", "started")
        assert done.returncode == 125 and part in done.stderr and name in done.stderr, (part, done)
        assert not os.path.exists(os.path.join(directory, "started"))
        assert launch(directory, "--config", "none", "--print-config").returncode == 0

    good = "[measure]\nevents = wall\nomp-runtime = keep\n"
    for mode in (0o664, 0o646, 0o666):
        path = write(directory, good, name, mode)
        refused_here("may be written by others")
    write(directory, good, name)
    assert "events = wall" in printed(directory)
    for text, part in (("[measure]\noutput = /tmp/x\n", ":2: output: a file that is found in the current directory"),
                       ("[measure]\nomp-runtime = ./evil.so\n", ":2: omp-runtime: a file that is found")):
        write(directory, text, name)
        refused_here(part)
        assert launch(directory, "--config", name, "--print-config").returncode == 0
    write(directory, good, "elsewhere")
    os.unlink(path)
    os.symlink("elsewhere", path)
    refused_here("symbolic link")
    os.unlink(path)
    os.mkdir(path)
    refused_here("is a directory")
    os.rmdir(path)
    os.symlink("/nonexistent", path)
    refused_here("symbolic link")


@case
def a_file_of_another_user_is_not_trusted(directory):
    need_root()
    path = write(directory, "[measure]\nevents = wall\n", ".hpcrun-lite.ini")
    os.chown(path, 65534, 65534)
    done = launch(directory, "true")
    assert done.returncode == 125 and "belongs to another user" in done.stderr, done


@case
def options_win_over_the_file(directory):
    write(directory, "[measure]\nevents = wall\nparallelism = log\ntrace = states\ntask-context = creation\nwork = user\n"
                     "[buffers]\ntrace-keep = last\n[program p]\nevents = wall@f7\npaused = yes\n")
    values, origin = in_force(printed(directory, "--config", "test.ini", "-e", "task-clock", "-e", "page-faults", "-toff",
                                      "-p", "off"))
    assert values["[measure]", "events"] == "task-clock,page-faults", values
    assert origin["[measure]", "events"] == "option --event"
    assert values["[measure]", "trace"] == "off" and values["[measure]", "parallelism"] == "off"
    assert values["[measure]", "task-context"] == "creation" and origin["[measure]", "task-context"] == "test.ini:5"
    assert values["[program p]", "events"] == "task-clock,page-faults" and values["[program p]", "paused"] == "yes"
    exported = variables(directory, "--config", "test.ini", "-e", "task-clock")
    assert exported["HPCRUN_LITE_EVENTS"] == "task-clock" and exported["HPCRUN_LITE_TRACE"] == "states"
    assert exported["HPCRUN_LITE_TRACE_KEEP"] == "last" and exported["HPCRUN_LITE_WORK"] == "user"
    assert exported["HPCRUN_LITE_PROGRAMS"] == "program p\nPAUSED=1\n", exported
    # what a program does not say holds for it, too
    write(directory, "[buffers]\ntrace-limit = 1M\ntrace-keep = last\n[program p]\ntrace = states\n")
    exported = variables(directory, "--config", "test.ini")
    assert exported["HPCRUN_LITE_TRACE_LIMIT"] == "1048576" and exported["HPCRUN_LITE_TRACE_KEEP"] == "last", exported
    assert exported["HPCRUN_LITE_PROGRAMS"] == "program p\nOVERHEAD_LIMIT=100\nTRACE=states\nLEVEL=states\n", exported
    # a budget in a file needs no trace; as an option it does
    write(directory, "[buffers]\ntrace-limit = 1M\n")
    assert "hpcrun-lite: settings from test.ini\n" in launch(directory, "-v", "--config", "test.ini", "true").stderr
    assert "settings from" not in launch(directory, "--config", "test.ini", "true").stderr
    assert "needs -t" in launch(directory, "--config", "test.ini", "--trace-keep", "last", "true").stderr


@case
def all_is_followed_where_that_is_asked_for(directory):
    def limit(*options, text=""):
        write(directory, text)
        values, origin = in_force(printed(directory, "--config", "test.ini", *options))
        found = values["[measure]", "overhead-limit"], origin["[measure]", "overhead-limit"]
        assert variables(directory, "--config", "test.ini", *options)["HPCRUN_LITE_OVERHEAD_LIMIT"] == found[0]
        return found
    follows, section = ("100", "follows from the other settings"), "[measure]\n"
    assert limit() == limit("-p", "off") == ("5", "default")
    assert limit("--overhead-limit", "0") == ("0", "option --overhead-limit")
    assert limit(text=section + "overhead-limit = 20\n") == ("20", "test.ini:2")
    for options in (["-p", "online"], ["-p", "log"], ["-t"], ["-tsamples"], ["-c", "page-faults"]):
        assert limit(*options) == limit(*options, text=section + "overhead-limit = 20\n") == follows, options
    for key in ("parallelism = online", "parallelism = log", "trace = states", "counters = page-faults", "level = all"):
        assert limit(text=section + key + "\n") == follows, key
    # a limit beside it, or before it, holds
    both = section + "parallelism = online\noverhead-limit = 20\n"
    assert limit(text=both) == ("20", "test.ini:3") and limit("-p", "online", text=both) == follows
    assert limit("--overhead-limit", "7", text=both)[0] == limit("-p", "online", "--overhead-limit", "7")[0] == "7"
    write(directory, printed(directory))  # what is printed means the same
    assert in_force(printed(directory, "--config", "test.ini"))[0]["[measure]", "overhead-limit"] == "5"
    for options, what in ((["-p", "off"], "-p off, which computes"), (["-p", "log"], "-p log, which follows all"),
                          (["-t"], "-t, which follows all"), (["-c", "page-faults"], "-c, which follows all")):
        done = launch(directory, *options, "--overhead-limit", "3", "true")
        assert done.returncode == 125 and f"option --overhead-limit has no effect with {what}" in done.stderr, done


# ---- how it is written ----

@case
def lines_may_be_written_in_several_ways(directory):
    text = ("\ufeff# a comment\r\n; another\r\n[measure] ; of a section\r\n  \r\nevents=wall@f50,   ; a list\r\n\tpage-faults@10\r\n"
            "parallelism : log\r\n" + "# " + "long " * 100 + "\r\n[filter]\r\nfunctions = operator==, a b ,!c*\r\n"
            "   d\r\n[buffers]\r\n[filter]\r\nthreads = 1\r\n[program  a b.x]\r\nskip-first=1.5 min")
    write(directory, text)
    values, origin = in_force(printed(directory, "--config", "test.ini"))
    assert values["[measure]", "events"] == "wall@f50,page-faults@10", values
    assert origin["[measure]", "events"] == "test.ini:5" and values["[measure]", "parallelism"] == "log"
    assert values["[program a b.x]", "skip-first"] == "1.5 min"
    exported = variables(directory, "--config", "test.ini")
    assert exported["HPCRUN_LITE_FILTER"] == "functions operator==,a b,!c*,d\nthreads 1", exported
    assert exported["HPCRUN_LITE_PROGRAMS"] == ("program a b.x\nFILTER=functions operator==,a b,!c*,d\nthreads 1\n"
                                                "skip-first 90000000000\n"), exported
    write(directory, "")
    assert printed(directory, "--config", "test.ini") == printed(directory).replace(": none", ": test.ini")


@case
def spaces_around_commas_do_not_count(directory):
    write(directory, "[measure]\nevents = task-clock , wall,\n  page-faults@5 ,\n"
                     "counters = minor-faults,\tcontext-switches\n[filter]\nfunctions = a b , !c\n")
    values, _ = in_force(printed(directory, "--config", "test.ini"))
    assert values["[measure]", "events"] == "task-clock,wall,page-faults@5", values
    assert values["[measure]", "counters"] == "minor-faults,context-switches", values
    assert values["[filter]", "functions"] == "a b,!c", values


@case
def what_is_printed_is_a_file_that_says_the_same(directory):
    names = ",".join(f"function_with_a_long_name_{i}*" for i in range(100))
    lines = names.replace(",", ",\n  ")
    files = ("", "[measure]\nlevel = off\n", "[measure]\nlevel = summary\n", "[measure]\nlevel = all\nomp-runtime = keep\n",
             "[measure]\nlevel = states\npaused = yes\noutput = a b\noverwrite = yes\n",
             f"[filter]\nfunctions = {lines}\nranks = 0-3, 8\nonly = 250 ms\nconstructs = for,!a.c:12\nregions = x y, z\n"
             "modules = !libm.so*\n[program p]\nlevel = all\nthreads = 1\n[program q]\ntrace = samples\nevents = wall\n")
    options = ((), ("-t",), ("-tsamples",), ("-p", "log"), ("--paused",), ("-e", "wall"), ("-toff", "-p", "off"))
    for i, text in enumerate(files):
        for given in options if text == files[-1] else options[i % 2::2]:
            write(directory, text)
            first = printed(directory, "--config", "test.ini", *given)
            write(directory, first, "again.ini")
            second = printed(directory, "--config", "again.ini")
            ours, theirs = ({key: value for key, value in in_force(output)[0].items() if "program" not in key[0]}
                            for output in (first, second))
            assert ours == theirs, (set(ours.items()) ^ set(theirs.items()), text, given)
            assert max(map(len, first.splitlines())) <= 198
            ours, theirs = (variables(directory, "-o", "x", "--config", name, *more)
                            for name, more in (("test.ini", given), ("again.ini", ()))
                            if not shutil.rmtree(os.path.join(directory, "x"), ignore_errors=True))
            for name in set(ours) | set(theirs):
                if name.startswith("HPCRUN_LITE_") and name != "HPCRUN_LITE_DIR_INODE":  # of two directories
                    assert ours.get(name) == theirs.get(name), (name, text, given)
    assert sorted(os.listdir(directory)) == ["again.ini", "test.ini", "x"], os.listdir(directory)


@case
def values_that_no_file_can_contain_are_printed_as_comments(directory):
    for output in ("a ;b", "a #b", "a\nb", " a", "a ", ";", "x" * 200):
        text = printed(directory, "-o", output)
        assert "# (a file cannot contain this value) output = " in text, text
        write(directory, text, "again.ini")
        assert ("[measure]", "output") not in in_force(printed(directory, "--config", "again.ini"))[0]


@case
def printing_runs_nothing(directory):
    assert "events" in printed(directory, "touch", "started")
    assert os.listdir(directory) == []
    for option in ("--report", "--scaling=1,2"):
        done = launch(directory, option, "--print-config", "true")
        assert done.returncode == 125 and "--print-config runs nothing" in done.stderr, done


# ---- levels and programs ----

def measured(directory, text, *command):
    write(directory, text)
    done = launch(directory, "--config", "test.ini", "--overwrite", "-o", "run", *command, OMP_NUM_THREADS="2")
    assert done.returncode == 0, done
    return done.stderr


@case
def levels_measure_more_and_more(directory):
    compile_c(directory, "work", WORK, "-fopenmp")
    run_path = os.path.join(directory, "run")
    for level, sampled, ends in (("off", False, {".hpcrun"}), ("summary", False, {".hpcrun"}),
                                 ("samples", True, {".hpcrun"}), ("states", True, {".hpcrun", ".trace"}),
                                 ("all", True, {".hpcrun", ".trace", ".graph"})):
        line = measured(directory, f"[measure]\nlevel = {level}\n", "./work")
        found = {os.path.splitext(path)[1] for path in glob.glob(run_path + "/*.*")}
        assert found == ends, (level, found)
        assert (sum(samples(run_path).values()) > 0) == sampled, (level, line)
        assert ": 0 samples of 2 threads" in line or sampled, (level, line)


@case
def without_samples_times_are_known_and_reports_say_so(directory):
    compile_c(directory, "work", WORK, "-fopenmp")
    run_path = os.path.join(directory, "run")
    measured(directory, "[measure]\nlevel = summary\n", "./work")
    summary = must(REPORT, run_path)
    assert "No samples were taken, because the level is summary" in summary, summary
    unreliable = [line for line in summary.splitlines() if line.startswith("Unreliable: ")]
    assert all("threads had no core" in line for line in unreliable), summary  # beside other tests
    assert "Most work" not in summary, summary
    assert "Samples: none, because the level is summary" in must(REPORT, "threads", run_path)
    header, *rows = [line.split(",") for line in must(REPORT, "threads", "-f", "csv", run_path).splitlines()]
    cells = [dict(zip(header, row)) for row in rows]
    work, cpu = (sum(float(cell[name]) for cell in cells) for name in ("work_s", "cpu_s"))
    timed(0.02 < work < cpu, cells)
    for cell in cells:
        parts = sum(float(cell[name] or 0) for name in ("work_s", "overhead_s", "lockwait_s", "idle_s", "tool_s",
                                                       "core_wait_s", "waiting_no_core_s", "blocked_s"))
        timed(abs(parts - float(cell["wall_s"])) < 0.1 * float(cell["wall_s"]), cell)
    for view in ("topdown", "bottomup", "flat"):
        text = must(REPORT, view, run_path)
        assert re.search(r"^ +[\d.]+ .*\[not sampled\]", text, re.M) and "*" not in text, text
    assert "parallel" in must(REPORT, "regions", run_path) and "No samples" in must(REPORT, "advice", run_path)


@case
def a_section_holds_for_one_program_of_a_script(directory):
    compile_c(directory, "solver", WORK, "-fopenmp")
    shutil.copy(os.path.join(directory, "solver"), os.path.join(directory, "mesher"))
    write(directory, "#!/bin/sh\n./solver\n./mesher\nsh -c ./solver.old\n", "both.sh", 0o755)
    shutil.copy(os.path.join(directory, "solver"), os.path.join(directory, "solver.old"))
    run_path = os.path.join(directory, "run")
    measured(directory, "[measure]\nlevel = off\n[program solver]\nlevel = states\nevents = wall@f100\n[program mesher]\n"
                        "level = samples\n", "./both.sh")
    by_process = sorted(count for count in samples(run_path).values() if count)
    assert len(by_process) == 2, by_process  # not the shells, and not solver.old
    traces = [name for name in os.listdir(run_path) if name.endswith(".trace")]
    assert len(traces) == 1, traces
    notes = must(REPORT, "threads", run_path)
    notes = " ".join(notes.split())
    assert re.search(r"Samples of solver \(process \d+\): wall, 100 samples a second", notes), notes
    assert re.search(r"Samples of sh \(process \d+\), mesher \(process \d+\),? .*: task-clock, 200 samples", notes), notes
    assert "One sample for" not in notes, notes
    # the program that is launched, and a script by its own name
    measured(directory, "[measure]\nlevel = off\n[program solver]\nlevel = samples\n", "./solver")
    assert sum(samples(run_path).values()) > 0
    measured(directory, "[program both.sh]\ntrace = states\n", "./both.sh")
    assert len([name for name in os.listdir(run_path) if name.endswith(".trace")]) == 1


@case
def keys_and_levels_of_a_program_win_over_those_of_all(directory):
    compile_c(directory, "solver", WORK, "-fopenmp")
    for text, sampled in (("[measure]\nlevel = summary\n[program solver]\nevents = task-clock@f200\n", True),
                          ("[measure]\nlevel = summary\n[program solver]\nfunctions = main\n", True),
                          ("[measure]\nlevel = summary\n[program solver]\nwork = cpu-time\n", False),
                          ("[measure]\nevents = wall\ntrace = states\n[program solver]\nlevel = summary\n", False),
                          ("[filter]\nfunctions = main\n[program solver]\nlevel = summary\n", False)):
        measured(directory, text, "./solver")
        assert (sum(samples(os.path.join(directory, "run")).values()) > 0) == sampled, (text, sampled)


def counted(directory):
    """The columns of counters in the view of tasks."""
    header = must(REPORT, "--view", "tasks", "-f", "csv", directory).splitlines()[0].split(",")
    return header[header.index("untimed") + 1:]


@case
def counters_are_a_setting_like_others(directory):
    compile_c(directory, "work", WORK, "-fopenmp")
    run_path, text = os.path.join(directory, "run"), "[measure]\ncounters = page-faults,\n context-switches\n"
    measured(directory, text, "./work")
    assert counted(run_path) == ["page-faults", "context-switches", "counted_pct"], counted(run_path)
    measured(directory, text, "-c", "none", "./work")
    assert counted(run_path) == [], counted(run_path)
    measured(directory, text, "-c", "minor-faults", "./work")
    assert counted(run_path) == ["minor-faults", "counted_pct"], counted(run_path)
    for options, expected in (((), ("page-faults,context-switches", "test.ini:2")),
                              (("-c", "none"), ("none", "option --count"))):
        values, origin = in_force(printed(directory, "--config", "test.ini", *options))
        found = values["[measure]", "counters"], origin["[measure]", "counters"]
        assert found == expected, found


@case
def a_program_may_have_other_counters(directory):
    compile_c(directory, "solver", WORK, "-fopenmp")
    text = ("[measure]\ncounters = page-faults, context-switches\n[program mesher]\ncounters = minor-faults\n"
            "[program writer]\ncounters = none\n[program sh]\ncounters = none\n")
    for name, expected in (("solver", ["page-faults", "context-switches", "counted_pct"]),
                           ("mesher", ["minor-faults", "counted_pct"]), ("writer", [])):
        if name != "solver":
            shutil.copy(os.path.join(directory, "solver"), os.path.join(directory, name))
        measured(directory, text, "sh", "-c", f"./{name}; true")
        assert counted(os.path.join(directory, "run")) == expected, (name, counted(os.path.join(directory, "run")))


@case
def an_inner_launch_does_not_inherit_settings(directory):
    write(directory, "[measure]\nlevel = summary\n[filter]\nranks = 1\n[program env]\npaused = yes\n")
    inner = f"{LAUNCHER} --config none -q -o inner env"
    done = launch(directory, "--config", "test.ini", "-q", "-o", "outer", "sh", "-c", inner)
    assert done.returncode == 0, done
    for name in ("LEVEL", "FILTER", "PROGRAMS"):
        assert f"HPCRUN_LITE_{name}=" not in done.stdout, done.stdout
    assert stat.S_ISDIR(os.stat(os.path.join(directory, "inner")).st_mode)


main()
