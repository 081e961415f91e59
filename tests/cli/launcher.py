"""The launcher: options, exit statuses, environment, directories, scripts, refusals, the OpenMP runtime, --diagnose."""
import collections
import glob
import json
import os
import re
import shlex
import shutil
import signal
import stat
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from measured import build
from measurement_file import extents
from report import table as csv_table
from tap import (DEPS, LAUNCHER, LIBRARY, OTHER_USER, REPORT, Skip, case, compile_c, main, must, need_program, need_root, run,
                 small_disk, start)

PRIVATE_LIBOMP = os.path.join(os.path.dirname(LIBRARY), "omp", "libomp.so.5")


def launch(directory, *arguments, **settings):
    return run(LAUNCHER, *arguments, cwd=directory, **settings)


def fails(result, status, *parts):
    """The launcher failed: its status, nothing on stdout, one line on stderr with all the parts."""
    assert result.returncode == status, (result.returncode, result.stderr)
    assert result.stdout == "", result.stdout
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("hpcrun-lite: "), result.stderr
    for part in parts:
        assert part in lines[0], (part, lines[0])


def settings_of(text):
    """What the output of --env sets in a shell."""
    output = must("sh", "-c", text + "\nenv -0", only_environment={"PATH": os.environ["PATH"]})
    pairs = [entry.split("=", 1) for entry in output.split("\0") if "=" in entry]
    return dict(pairs)


def found_in(result):
    """The output of --diagnose in one line.  No line of it is wider than 80 columns, unless it is one word."""
    for line in result.stdout.splitlines():
        assert len(line) <= 80 or len(line[13:].split()) == 1, line
    return " ".join(result.stdout.split())


def measurements(directory):
    return sorted(name for name in os.listdir(directory) if name.startswith("hpcrun-lite-"))


# ---- options ----

@case
def help_names_every_option(directory):
    text = launch(directory, "--help").stdout
    for option in ("--output", "--overwrite", "--trust-directory", "--event", "--count", "--list-events", "--trace", "--parallelism", "--work", "--overhead-limit", "--task-context",
                   "--omp-runtime", "--memory-limit", "--paused", "--control", "--scaling", "--repeat", "--scale-with", "--config", "--print-config", "--env", "--diagnose", "-q", "-v", "--version", "--help"):
        assert option in text, option
    assert launch(directory, "-h").stdout == text
    assert max(len(line) for line in text.splitlines()) <= 80


@case
def version_is_printed(directory):
    result = launch(directory, "--version")
    assert result.returncode == 0 and re.fullmatch(r"hpcrun-lite \d+\.\d+\.\d+, build (\w+(-dirty)?)\n", result.stdout), result


@case
def libraries_of_rare_options_are_loaded_when_needed(directory):
    """Their relocations would be most of what a launch costs."""
    loaded = must(LAUNCHER, "--version", LD_TRACE_LOADED_OBJECTS="1")
    assert "libelf" in loaded and "libpfm" not in loaded and "libdwarf" not in loaded, loaded
    shutil.copytree(os.path.dirname(os.path.dirname(LAUNCHER)), os.path.join(directory, "copy"))
    launcher = os.path.join(directory, "copy", "bin", os.path.basename(LAUNCHER))
    with open(os.path.join(directory, "filter.ini"), "w", encoding="utf-8") as file:
        file.write("[filter]\nfunctions = nothing_of_that_name\n")
    options = ("-o", "m", "--overwrite", "--config", "filter.ini", "true")
    done = run(launcher, *options, cwd=directory)
    assert done.returncode == 0 and "'nothing_of_that_name' is not in" in done.stderr, done
    os.unlink(glob.glob(os.path.join(directory, "copy", "lib*", "**", "hpcrun-lite-symbols.so"), recursive=True)[0])
    fails(run(launcher, *options, cwd=directory), 125, "incomplete installation", "hpcrun-lite-symbols.so")
    fails(run(launcher, "--find-code", sys.executable, os.path.join(directory, "code"),  # as a process starts it
              HPCRUN_LITE_FILTER="functions nothing_of_that_name\n"), 125, "incomplete installation", "hpcrun-lite-symbols.so")


@case
def bad_options_end_in_125(directory):
    fails(launch(directory, "--no-such", "true"), 125, "--no-such")
    for name, meant in (("--evnet", "--event"), ("--overwrit=x", "--overwrite"), ("--pasued", "--paused")):
        fails(launch(directory, name, "true"), 125, f"unknown option {name}: did you mean {meant}?")
    fails(launch(directory, "-x", "true"), 125, "-x")
    fails(launch(directory, "-qx", "true"), 125, "-x")
    fails(launch(directory, "-o"), 125, "-o")
    fails(launch(directory, "--output="), 125, "--output")
    fails(launch(directory), 125, "COMMAND")
    fails(launch(directory, "--"), 125, "COMMAND")
    assert measurements(directory) == []


@case
def words_of_options_are_checked(directory):
    fails(launch(directory, "--trace=all", "true"), 125, "unknown kind of trace 'all'")
    fails(launch(directory, "-t", "--trace-keep", "all", "true"), 125, "unknown part 'all'")
    for size in ("", "x", "1T", "-1M", "63K", "0", "1MM", "99999999999G"):
        fails(launch(directory, "-t", "--trace-limit", size, "true"), 125, "--trace-limit")
    for option in (["--trace-limit", "64K"], ["--trace-keep", "last"]):
        fails(launch(directory, *option, "true"), 125, f"option {option[0]} needs -t")
    for word in ("samples", "states"):
        fails(launch(directory, "-t", word, "true"), 127, f"(did you mean -t{word}?)")
    for options in (["-t"], ["--trace"], ["-qt"], ["-tsamples"], ["--trace=states", "--trace-limit", "64K"]):
        assert launch(directory, "-q", *options, "true").returncode == 0
    fails(launch(directory, "-p", "on", "true"), 125, "unknown mode 'on'")
    fails(launch(directory, "--work=days", "true"), 125, "unknown unit 'days'")
    for mode in ("off", "online", "log"):
        assert launch(directory, "-q", "-p", mode, "--task-context", "region", "true").returncode == 0
    fails(launch(directory, "--task-context=task", "true"), 125, "unknown context 'task'")


@case
def without_samples_there_is_a_remedy(directory):
    for event, reason, remedy in (("task-clock", "the program used too little CPU time", "or -e wall"),
                                  ("wall", "the program ran too briefly", "-e wall@f1000")):
        assert launch(directory, "-q", "--overwrite", "-o", "none", "-e", event + "@f1", "true").returncode == 0
        text = must(REPORT, os.path.join(directory, "none"))
        assert reason in text and remedy in " ".join(text.split()) and max(map(len, text.splitlines())) <= 80, text


@case
def every_form_of_an_option(directory):
    forms = (["-o", "{}"], ["-o{}"], ["--output", "{}"], ["--output={}"], ["-qvo", "{}"], ["-qo{}"])
    for number, form in enumerate(forms):
        name = f"dir{number}"
        result = launch(directory, *[word.format(name) for word in form], "--", "true")
        assert result.returncode == 0, result.stderr
        assert os.path.isdir(os.path.join(directory, name)), form


@case
def unknown_events_are_refused(directory):
    fails(launch(directory, "-e", "nonsense", "true"), 125, "unknown event 'nonsense'")
    for option in ("-e", "-c"):
        for name, meant in (("cylces", "cycles"), ("branchmisses", "branch-misses"), ("page-fault", "page-faults")):
            fails(launch(directory, option, name, "true"), 125, f"unknown event '{name}': did you mean '{meant}'?")
    fails(launch(directory, "-e", "walk@f10", "true"), 125, "unknown event 'walk': did you mean 'wall'?")
    fails(launch(directory, "-c", "LLC-load", "true"), 125, "did you mean 'LLC-loads'?")
    fails(launch(directory, "-e", "wall", "-e", "REALTIME@f10", "true"), 125, "twice")
    fails(launch(directory, "-e", "task-clock@f0", "true"), 125, "bad frequency")
    assert measurements(directory) == []


@case
def impossible_events_fail_before_the_program_runs(directory):
    result = launch(directory, "-q", "-e", "r7fffffff@100000", "touch", "ran")
    if result.returncode == 0:
        raise Skip("this machine counts raw events")
    fails(result, 125, "r7fffffff", "task-clock")
    assert not os.path.exists(os.path.join(directory, "ran"))


@case
def work_without_a_counter_fails_before_the_program_runs(directory):
    for unit in ("instructions", "cycles"):
        result = launch(directory, "-q", "-p", "online", "--work", unit, "touch", "ran")
        if result.returncode == 0:
            assert settings_of(launch(directory, "--env", "--work", unit, "true").stdout)["HPCRUN_LITE_WORK"] == unit
            assert f"ok work {unit}" in found_in(launch(directory, "--diagnose", "--work", unit, "true"))
            raise Skip("this machine counts work")
        fails(result, 125, f"--work {unit}", "use --work cpu-time")
        assert not os.path.exists(os.path.join(directory, "ran"))
        found = launch(directory, "--diagnose", "--work", unit, "true")
        assert found.returncode == 1 and f"--work {unit}" in found_in(found), found


@case
def forbidden_counters_are_distinguished_from_missing_ones(directory):
    deny = build("deny_perf_event.c", openmp=False)
    result = run(deny, LAUNCHER, "-q", "--work", "instructions", "true", cwd=directory)
    fails(result, 125, "--work instructions is forbidden", "use --work cpu-time")
    assert run(deny, LAUNCHER, "-q", "-p", "online", "--work", "cpu-time", "true", cwd=directory).returncode == 0


# ---- the program's status, arguments and environment ----

@case
def exit_status_is_that_of_the_program(directory):
    for status in (0, 1, 7, 125, 255):
        assert launch(directory, "-q", "sh", "-c", f"exit {status}").returncode == status


@case
def fatal_signal_is_that_of_the_program(directory):
    for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL):
        assert launch(directory, "-q", "sh", "-c", f"kill -{int(number)} $$").returncode == -number


@case
def stdout_and_stdin_are_left_to_the_program(directory):
    result = run(LAUNCHER, "-v", "cat", cwd=directory, stdin="through\n")
    assert result.stdout == "through\n" and result.returncode == 0, result


@case
def arguments_arrive_unchanged(directory):
    words = ["", " two  words ", "it's", '"', "$HOME", "`id`", "*", "-o", "--", "a\nb", "\\n", "é"]
    result = launch(directory, "-q", sys.executable, "-c", "import sys; print(sys.argv[1:])", *words)
    assert result.stdout == f"{words}\n", result


@case
def environment_is_kept(directory):
    script = "import os; print(sorted(item for item in os.environb.items()))"
    command = [sys.executable, "-c", script]
    odd = {"BASH_FUNC_module%%": "() { echo \"it's\"; }", "a.b": "2", "dir": "kept", "multi": "one\ntwo"}
    for settings in ({}, odd):
        plain = eval(run(*command, cwd=directory, **settings).stdout)
        tool = eval(launch(directory, "-q", *command, **settings).stdout)
        ours = (b"HPCRUN_LITE_", b"LD_PRELOAD", b"OMP_TOOL_LIBRARIES")
        assert [item for item in tool if not item[0].startswith(ours)] == plain


@case
def environment_gets_no_pwd(directory):
    bare = {"PATH": os.environ["PATH"]}
    output = must(LAUNCHER, "-q", "env", cwd=directory, only_environment=bare)
    assert not [line for line in output.splitlines() if line.startswith("PWD=")], output


@case
def process_id_is_the_launchers(directory):
    process = start(LAUNCHER, "-q", "sh", "-c", "echo $$ $HPCRUN_LITE_PID", cwd=directory)
    output = process.communicate()[0].split()
    assert output == [str(process.pid)] * 2, (output, process.pid)


@case
def settings_reach_the_program(directory):
    result = launch(directory, "-q", "-e", "wall@f50", "-e", "page-faults@5", "-o", "here", "env",
                    LD_PRELOAD="/usr/lib/x86_64-linux-gnu/libz.so.1", OMP_TOOL_LIBRARIES="/no/such/tool.so")
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    assert seen["HPCRUN_LITE_EVENTS"] == "wall@f50,page-faults@5"
    assert seen["HPCRUN_LITE_DIR"] == os.path.join(os.path.realpath(directory), "here")
    assert seen["HPCRUN_LITE_LOG"] == "0"
    assert seen["LD_PRELOAD"] == LIBRARY + ":/usr/lib/x86_64-linux-gnu/libz.so.1", seen["LD_PRELOAD"]
    assert seen["OMP_TOOL_LIBRARIES"] == "/no/such/tool.so:" + LIBRARY


@case
def nested_launches_replace_each_other(directory):
    result = launch(directory, "-q", "-o", "outer", LAUNCHER, "-q", "-o", "inner", "env")
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    assert seen["LD_PRELOAD"] == LIBRARY and seen["OMP_TOOL_LIBRARIES"] == LIBRARY
    assert seen["HPCRUN_LITE_DIR"].endswith("/inner")


@case
def env_round_trip(directory):
    os.mkdir(os.path.join(directory, "it's a dir"))
    result = launch(os.path.join(directory, "it's a dir"), "--env", "-o", "m'1", "-e", "wall", "true")
    assert result.returncode == 0, result.stderr
    assert all(line.startswith("export ") for line in result.stdout.splitlines()), result.stdout
    seen = settings_of(result.stdout)
    assert seen["HPCRUN_LITE_DIR"] == os.path.join(os.path.realpath(directory), "it's a dir", "m'1")
    assert seen["LD_PRELOAD"] == LIBRARY and seen["HPCRUN_LITE_EVENTS"] == "wall"
    assert "HPCRUN_LITE_PID" not in seen
    assert os.path.isdir(seen["HPCRUN_LITE_DIR"])
    assert launch(directory, "--env").returncode == 0


@case
def launches_need_no_working_directory(directory):
    """Nor many descriptors.  No shell complains."""
    gone = os.path.join(directory, "gone")
    for arguments, status in ((["-q", "-o", os.path.join(directory, "m"), "echo", "x"], 0), (["echo", "x"], 125)):
        os.mkdir(gone)
        script = 'cd gone && rmdir ../gone && exec "$@"'
        result = run("sh", "-c", script, "sh", LAUNCHER, *arguments, cwd=directory)
        assert (result.returncode, result.stdout) == (status, "" if status else "x\n"), result
        assert ("give an absolute path with -o" if status else "") in result.stderr, result.stderr
        assert result.stderr.count("\n") == (1 if status else 0), result.stderr
    for limit in (8, 6):
        result = launch(directory, "--overwrite", "-o", "m", "echo", "x", limits={"NOFILE": limit})
        assert (result.returncode, result.stdout) == (0, "x\n"), result
        assert [name for name in os.listdir(os.path.join(directory, "m")) if name.endswith(".hpcrun")], limit


@case
def messages_are_lines(directory):
    result = launch(directory, "-o", "a\nb", "true")
    assert result.returncode == 0 and re.fullmatch(r"hpcrun-lite: .*/a\\u\{a\}b: \d+ samples? .*\n", result.stderr), result
    fails(launch(directory, "-o", "a\nb", "true"), 125, "a\\u{a}b' holds measurements already")


SECRETS = """
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
  volatile double sum = 0;
  pid_t child = !strcmp(argv[1], "--kill") ? 0 : fork();
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 30000000; i++)
    sum += i;
  if (!strcmp(argv[1], "--kill"))
    raise(SIGKILL);
  if (child)
    waitpid(child, NULL, 0);
  else
    execl(argv[0], argv[0], "--kill", "--key=SeCrEt", (char *)NULL);
  (void)argc;
  return 0;
}
"""


def stored_in(directory):
    """All bytes of the files of a directory and of those below, also unpacked ones; how many files there are of each
    kind."""
    found, kinds = b"", collections.Counter()
    for path in glob.glob(os.path.join(directory, "**"), recursive=True):
        if os.path.isdir(path):
            continue
        kinds[os.path.splitext(path)[1]] += 1
        with open(path, "rb") as file:
            found += os.path.basename(path).encode() + file.read()
        if path.endswith((".hpcrun", ".graph", ".trace")):
            found += b"".join(extent.data for extent in extents(path))
    return found, kinds


@case
def arguments_are_not_stored_on_request(directory):
    """Neither those of COMMAND, of processes that it forks, of programs that these execute, and of killed ones, nor in a
    series; by the option, by a file, and for one program.  By default they are.  The environment never is."""
    program = compile_c(directory, "secrets", SECRETS, "-fopenmp", "-g")
    for name, text in ("all.ini", "[measure]\narguments = no\n"), ("one.ini", "[program secrets]\narguments = no\n"):
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            file.write(text)
    ways = {"stored": (), "option": ("--no-arguments",), "file": ("--config", "all.ini"), "section": ("--config", "one.ini")}
    for name, how in ways.items():
        launch(directory, "-q", "-t", "-p", "log", *how, "-o", name, program, "--password", "SeCrEt", SECRET="EnViRoNmEnT")
        found, kinds = stored_in(os.path.join(directory, name))
        assert b"EnViRoNmEnT" not in found, name
        assert kinds[".hpcrun"] == 2 and kinds[".live"] == 1, (name, kinds)
        assert program.encode() in found and (b"SeCrEt" in found) == (name == "stored"), name
        assert (b"--password" in found) == (b"--key" in found) == (name == "stored"), name
        for view in "summary", "topdown", "threads", "timeline", "phases":
            done = run(REPORT, "--view", view, "-f", "json", name, cwd=directory)
            assert ("SeCrEt" in done.stdout + done.stderr) == (name == "stored"), (name, view, done)
            command = json.loads(done.stdout)["run"]["command"]
            assert name == "stored" or command == os.path.basename(program), (name, view, command)
    for name, how in ("stored-series", ()), ("series", ("--no-arguments",)):
        launch(directory, "-q", "--scaling", "1,2", "--scale-with", "SeCrEt,SeCrEtToo", *how, "-o", name,
               "sh", "-c", "exec env >/dev/null", "{}")
        found, kinds = stored_in(os.path.join(directory, name))
        assert kinds[".hpcrun"] >= 2 and (b"SeCrEt" in found) == (name == "stored-series"), (name, kinds)


@case
def daemons_of_mpi_libraries_are_not_measured(directory):
    """But what they start is, and they are if they are COMMAND."""
    work = "timeout 0.1 yes >/dev/null; true"
    for name, measured in (("orted", False), ("other", True)):
        shutil.copy(os.path.realpath("/bin/sh"), os.path.join(directory, name))
        path = f"./{name}"
        for command, expected in (([path, "-c", work], True), (["sh", "-c", f"{path} -c '{work}'; true"], measured)):
            result = launch(directory, "-q", "--overwrite", "-o", "m", "-e", "wall@f1000", *command)
            assert result.returncode == 0, result
            seen = must(REPORT, "-q", "--view", "threads", os.path.join(directory, "m"), COLUMNS="300")
            assert (f"{path} -c" in seen.replace(f"sh -c {path} -c", "")) == expected and "yes" in seen, (name, seen)


@case
def gdb_runs_the_launcher(directory):
    need_program("gdb")
    program = compile_c(directory, "program", "int main(void) { return 3; }", "-g")
    output = must("gdb", "-batch", "-ex", "break main", "-ex", "run", "-ex", "continue", "-ex", "continue", "--args", LAUNCHER, "-o", "m", program, cwd=directory)
    assert "program.c:1" in output and "exited with code 03" in output, output


# ---- finding COMMAND ----

@case
def missing_commands_end_in_127(directory):
    fails(launch(directory, "no-such-command-anywhere"), 127, "no-such-command-anywhere': command not found in PATH")
    for name, mode, hint in (("tool", 0o755, "did you mean './tool'?"), ("script.py", 0o644, "'./script.py' is not executable")):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(file.name, mode)
        fails(launch(directory, name), 127, hint)
    fails(launch(directory, "./none"), 127, "./none")
    fails(launch(directory, "/etc/passwd/none"), 127)
    fails(launch(directory, ""), 127)
    assert measurements(directory) == []


@case
def unusable_commands_end_in_126(directory):
    fails(launch(directory, "/etc/passwd"), 126, "Permission denied")
    fails(launch(directory, directory), 126)
    path = os.path.join(directory, "garbage")
    with open(path, "wb") as file:
        file.write(b"\0\1\2\3garbage")
    os.chmod(path, 0o755)
    fails(launch(directory, path), 126, "neither")
    with open(path, "wb") as file:
        file.write(b"#!/no/such/interpreter\n")
    fails(launch(directory, path), 126, "/no/such/interpreter")


@case
def path_is_searched_as_execvp_does(directory):
    for name, mode in (("one", 0o644), ("two", 0o755)):
        os.mkdir(os.path.join(directory, name))
        with open(os.path.join(directory, name, "prog"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho \"$0\"\n")
        os.chmod(os.path.join(directory, name, "prog"), mode)
    path = f"{directory}/one:{directory}/two:{os.environ['PATH']}"
    result = launch(directory, "-q", "prog", PATH=path)
    assert result.stdout == f"{directory}/two/prog\n", result
    fails(launch(directory, "prog", PATH=f"{directory}/one:/usr/bin:/bin"), 126)
    fails(launch(directory, "prog"), 127)


@case
def script_commands_run(directory):
    cases = {"env-script": "#!/usr/bin/env python3\nprint('hello')\n", "sh-script": "#!/bin/sh\necho hello\n",
             "no-header": "echo hello\n"}
    for name, text in cases.items():
        path = os.path.join(directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        result = launch(directory, "-q", path)
        assert (result.returncode, result.stdout) == (0, "hello\n"), result


@case
def commands_with_a_leading_dash(directory):
    path = os.path.join(directory, "-odd")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho \"$1\"\n")
    os.chmod(path, 0o755)
    result = launch(directory, "-q", "--", "-odd", "-q", PATH=f"{directory}:{os.environ['PATH']}")
    assert (result.returncode, result.stdout) == (0, "-q\n"), result


# ---- programs that cannot be measured ----

@case
def static_programs_are_refused(directory):
    program = compile_c(directory, "static", "int main(void) { return 0; }", "-static")
    fails(launch(directory, program), 125, "statically linked", "without -static")
    assert measurements(directory) == []


@case
def programs_for_other_machines_are_refused(directory):
    program = compile_c(directory, "plain", "int main(void) { return 0; }")
    with open(program, "r+b") as file:
        file.seek(18)
        file.write(b"\xb7\0")  # e_machine: AArch64
    fails(launch(directory, program), 125, "another machine")
    with open(program, "r+b") as file:
        file.seek(4)
        file.write(b"\1")  # EI_CLASS: 32 bits
    fails(launch(directory, program), 125, "32-bit")


@case
def setuid_programs_are_refused(directory):
    need_root()
    program = shutil.copy("/bin/true", os.path.join(directory, "setuid"))
    os.chown(program, 65534, 65534)
    os.chmod(program, 0o4755)
    fails(launch(directory, program), 125, "setuid")


@case
def damaged_programs_do_no_harm(directory):
    with open("/bin/true", "rb") as file:
        whole = file.read()
    path = os.path.join(directory, "damaged")
    for length in (4, 20, 64, 100, 1000, len(whole) // 2):
        with open(path, "wb") as file:
            file.write(whole[:length])
        os.chmod(path, 0o755)
        result = launch(directory, "-q", path)
        assert result.returncode != 0 and "Traceback" not in result.stderr, (length, result)
        assert launch(directory, "--diagnose", path).returncode in (0, 1), length


# ---- directories ----

@case
def default_names_count_up(directory):
    for _ in range(3):
        assert launch(directory, "-q", "true").returncode == 0
    assert measurements(directory) == ["hpcrun-lite-true-measurements" + end for end in ("", "-2", "-3")]
    assert launch(directory, "-q", "true", SLURM_JOB_ID="77").returncode == 0
    assert launch(directory, "-q", "true", PBS_JOBID="8.host").returncode == 0
    assert {"hpcrun-lite-true-measurements-77", "hpcrun-lite-true-measurements-8.host"} <= set(measurements(directory))


@case
def directories_are_private(directory):
    assert launch(directory, "-q", "-o", "m", "true").returncode == 0
    assert stat.S_IMODE(os.stat(os.path.join(directory, "m")).st_mode) == 0o700


@case
def measurements_are_replaced_only_on_request(directory):
    assert launch(directory, "-q", "-o", "m", "true").returncode == 0
    fails(launch(directory, "-o", "m", "true"), 125, "holds measurements already", "--overwrite")
    open(os.path.join(directory, "m", "host-1-2.part"), "w", encoding="utf-8").close()
    assert launch(directory, "-q", "--overwrite", "-o", "m/", "true").returncode == 0
    assert "host-1-2.part" not in os.listdir(os.path.join(directory, "m"))


@case
def other_directories_are_never_touched(directory):
    for name in ("file", "sub", "link"):
        place = os.path.join(directory, name + ".d")
        os.mkdir(place)
        inside = os.path.join(place, "precious")
        if name == "file":
            open(inside, "w", encoding="utf-8").close()
        elif name == "sub":
            os.mkdir(inside + ".hpcrun")
        else:
            os.symlink("/etc/passwd", inside + ".hpcrun")
        before = os.listdir(place)
        fails(launch(directory, "--overwrite", "-o", place, "true"), 125, "not measurements")
        assert os.listdir(place) == before


@case
def any_file_in_place_of_the_marker(directory):
    """If `launch` is not a regular file, it is left alone and not read.  One with other contents than ours is foreign,
    and one of another job does not match."""
    place = os.path.join(directory, "m")
    marker = os.path.join(place, "launch")
    made = (lambda: os.mkfifo(marker), lambda: os.symlink("/dev/zero", marker), lambda: os.symlink(marker, marker),
            lambda: os.mkdir(marker), lambda: os.link(os.path.join(directory, "fifo"), marker))
    os.mkfifo(os.path.join(directory, "fifo"))
    for make in made:
        os.mkdir(place)
        make()
        before = os.lstat(marker)
        fails(launch(directory, "--overwrite", "-o", "m", "true"), 125, "not measurements")
        assert os.lstat(marker).st_ino == before.st_ino
        shutil.rmtree(place)
    random_bytes = bytes(range(256)) * 40
    for content, ours in ((b"x", False), (b"\n", False), (b"\0", False), (random_bytes, False),
                          (b"launch=" + b"y" * 1000000, False), (b"%s%n" * 100, False), (b"PMIX_NAMESPACE=a1\n", True)):
        os.mkdir(place)
        with open(marker, "wb") as file:
            file.write(content)
        fails(launch(directory, "-o", "m", "true"), 125, "holds measurements already" if ours else "not measurements")
        with open(marker, "rb") as file:
            assert file.read() == content
        assert (launch(directory, "-q", "--overwrite", "-o", "m", "true").returncode == 0) == ours
        shutil.rmtree(place)


@case
def links_and_files_in_the_way(directory):
    os.mkdir(os.path.join(directory, "target"))
    os.symlink("target", os.path.join(directory, "link"))
    for name in ("link", "link/", "link//"):
        fails(launch(directory, "--overwrite", "-o", name, "true"), 125, "links are not followed")
    assert os.listdir(os.path.join(directory, "target")) == []
    open(os.path.join(directory, "file"), "w", encoding="utf-8").close()
    fails(launch(directory, "-o", "file", "true"), 125)
    fails(launch(directory, "-o", "none/below", "true"), 125, "does not exist")
    # a default name that something else has taken is skipped
    os.symlink("/nowhere", os.path.join(directory, "hpcrun-lite-true-measurements"))
    assert launch(directory, "-q", "true").returncode == 0
    assert "hpcrun-lite-true-measurements-2" in measurements(directory)


@case
def refused_launches_leave_no_directory(directory):
    launch(directory, "-o", "m", "no-such-command-anywhere")
    launch(directory, "-o", "m", "-e", "nonsense", "true")
    assert os.listdir(directory) == []


def start_many(directory, count, *arguments, **settings):
    """Starts launches at the same time; returns the directories that they used."""
    started = [start(LAUNCHER, "-q", *arguments, "sh", "-c", "echo $HPCRUN_LITE_DIR", cwd=directory, **settings)
               for _ in range(count)]
    ended = [process.communicate() + (process.returncode,) for process in started]
    assert all(entry[2] == 0 for entry in ended), ended
    return [entry[0].strip() for entry in ended]


@case
def concurrent_launches_get_directories_of_their_own(directory):
    used = start_many(directory, 20)
    assert len(set(used)) == 20 and "" not in used, used


@case
def ranks_of_a_job_share_a_directory(directory):
    jobs = ({"PMIX_NAMESPACE": "a1"}, {"OMPI_MCA_ess_base_jobid": "b2"}, {"OMPI_MCA_orte_ess_jobid": "c3"},
            {"PMI_JOBID": "d4"}, {"SLURM_JOB_ID": "5", "SLURM_STEP_ID": "0", "SLURM_PROCID": "3"})
    for job in jobs:
        assert len(set(start_many(directory, 8, **job))) == 1, job
    assert len(measurements(directory)) == len(jobs)
    assert len(set(start_many(directory, 8, "-o", "m", **jobs[0]))) == 1
    # a later job replaces the measurements of an earlier one, all ranks at once
    assert len(set(start_many(directory, 8, "--overwrite", "-o", "m", **jobs[1]))) == 1
    fails(launch(directory, "-o", "m", "true", **jobs[0]), 125, "holds measurements already")


@case
def job_steps_without_ranks_are_launches_of_their_own(directory):
    assert len(set(start_many(directory, 4, SLURM_JOB_ID="5"))) == 4


# ---- the OpenMP runtime ----

GOMP_PROGRAM = """#include <stdio.h>
#include <omp.h>
int main(void) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 100; i++)
    sum += i;
  printf("%d\\n", sum);
  return 0;
}
"""


def need_private_libomp():
    if not os.path.exists(PRIVATE_LIBOMP):
        raise Skip("no libomp beside the library: run scripts/setup")


def runtime_settings(directory, *arguments, **settings):
    """What --env sets, without the directory's number, and what it prints on standard error."""
    result = launch(directory, "--env", "-o", "m", "--overwrite", *arguments, **settings)
    assert result.returncode == 0, result
    return settings_of(result.stdout), result.stderr


@case
def gcc_programs_stay_on_libgomp(directory):
    """And are measured there; the line at exit and the summary name the runtime."""
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    seen, said = runtime_settings(directory, program)
    assert seen["LD_PRELOAD"] == LIBRARY and said == "", (seen, said)
    assert not {"HPCRUN_LITE_RUNTIME", "HPCRUN_LITE_GOMP", "HPCRUN_LITE_NOTE", "KMP_LOCK_KIND"} & set(seen), seen
    for settings in ({}, {"OMP_PROC_BIND": "true"}, {"OMP_NUM_THREADS": "abc"}):
        plain, result = (run(*command, program, cwd=directory, **settings)
                         for command in ((), (LAUNCHER, "-o", "m", "--overwrite")))
        assert (result.returncode, result.stdout) == (plain.returncode, plain.stdout), result
        assert "OpenMP attached (libgomp of GCC " in result.stderr, result.stderr
        assert "OpenMP runtime: libgomp of GCC " in must(REPORT, "-q", "--legend", "m", cwd=directory)


@case
def gcc_programs_run_on_libomp_on_request(directory):
    need_private_libomp()
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    result = launch(directory, "-o", "m", "--omp-runtime", "exchange", program)
    assert (result.returncode, result.stdout) == (0, "4950\n"), result
    lines = result.stderr.splitlines()
    assert len(lines) == 2 and "instead of libgomp" in lines[0] and "4 to 30 times" in lines[0], result.stderr
    assert "OpenMP attached (LLVM libomp)" in lines[1], result.stderr
    summary = " ".join(must(REPORT, "-q", "--legend", "m", cwd=directory).split())
    assert "OpenMP runtime replaced: the program runs on LLVM's libomp " in summary and "4 to 30 times" in summary, summary
    seen, said = runtime_settings(directory, "--omp-runtime=exchange", program)
    assert seen["LD_PRELOAD"] == f"{LIBRARY}:{PRIVATE_LIBOMP}" and seen["HPCRUN_LITE_RUNTIME"] == PRIVATE_LIBOMP
    assert (seen["HPCRUN_LITE_GOMP"], seen["KMP_LOCK_KIND"]) == ("off", "tas") and "libgomp" in said, seen
    assert "libgomp" in seen["HPCRUN_LITE_NOTE"]
    seen, said = runtime_settings(directory, "--omp-runtime=exchange", program, KMP_LOCK_KIND="futex")
    assert "KMP_LOCK_KIND" not in seen, seen
    # a program that may load libgomp later
    seen, said = runtime_settings(directory, "--omp-runtime=exchange", "sh")
    assert seen["HPCRUN_LITE_RUNTIME"] == PRIVATE_LIBOMP and "risks" not in said, (seen, said)
    assert "is preloaded" in said and "replaced" not in said, said


@case
def the_new_runtime_prints_no_more_than_the_old(directory):
    need_private_libomp()
    # libomp warns that it is deprecated
    source = GOMP_PROGRAM.replace("int sum = 0;", "int sum = 0; omp_set_nested(1);")
    program = compile_c(directory, "nested", source, "-fopenmp", "-w")
    exchange = ("-q", "--omp-runtime", "exchange")
    assert launch(directory, *exchange, program).stderr == ""
    assert "omp_set_nested" in launch(directory, *exchange, program, KMP_WARNINGS="1").stderr


@case
def libgomp_is_not_measured_on_request(directory):
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    for settings in ({"OMP_TOOL": "Disabled"}, {}):
        options = [] if settings else ["--omp-runtime=keep"]
        seen, said = runtime_settings(directory, *options, program, **settings)
        assert seen["LD_PRELOAD"] == LIBRARY and "HPCRUN_LITE_RUNTIME" not in seen, seen
        assert seen["HPCRUN_LITE_GOMP"] == "off", seen
        assert ("OMP_TOOL=disabled" in said) == bool(settings), said
        result = launch(directory, *options, program, **settings)
        assert result.stdout == "4950\n" and "OpenMP attached" not in result.stderr, result
    # the choice of an outer launch is not that of an inner one
    result = launch(directory, "-q", "-o", "outer", "--omp-runtime", "keep", LAUNCHER, "-q", "-o", "inner", "env")
    assert "HPCRUN_LITE_GOMP" not in result.stdout and "libgomp" not in result.stdout, result.stdout
    result = launch(directory, "--env", "-o", "again", "true", HPCRUN_LITE_GOMP="off")
    assert "unset HPCRUN_LITE_GOMP\n" in result.stdout, result.stdout


@case
def a_symbol_that_libomp_lacks_forbids_the_exchange(directory):
    need_private_libomp()
    source = "extern void GOMP_error(const char *, unsigned long);\n" + GOMP_PROGRAM.replace(
        "int sum = 0;", "int sum = 0; if (omp_get_num_threads() > 99) GOMP_error(\"x\", 1);")
    program = compile_c(directory, "lacks", source, "-fopenmp")
    assert runtime_settings(directory, program)[1] == ""
    for which in ("exchange", PRIVATE_LIBOMP):
        fails(launch(directory, "--omp-runtime", which, program), 125, "libomp lacks GOMP_error", "--omp-runtime", "use auto")


@case
def calls_to_libgomp_that_are_not_seen_are_named(directory):
    """Functions of a newer libgomp; a libgomp that is linked statically."""
    newer = GOMP_PROGRAM.replace("int main", """extern void GOMP_new_one(void) __attribute__((weak));
extern void GOMP_cancel(void) __attribute__((weak)), GOMP_target_new(void) __attribute__((weak));
int main""").replace("return 0", "if (GOMP_new_one && GOMP_cancel && GOMP_target_new) GOMP_new_one(); return 0")
    program = compile_c(directory, "newer", newer, "-fopenmp", "-fPIE", "-pie")
    seen, said = runtime_settings(directory, program)
    assert "of a newer libgomp, which are not measured: GOMP_new_one\n" in said, said
    assert said in f"hpcrun-lite: {seen['HPCRUN_LITE_NOTE']}\n", said
    assert "HPCRUN_LITE_GOMP" not in seen and "GOMP_cancel" not in said and "GOMP_target" not in said, (seen, said)
    static = compile_c(directory, "static", GOMP_PROGRAM, "-fopenmp", "-l:libgomp.a", "-Wl,--as-needed", "-ldl", "-lpthread")
    result = launch(directory, static)
    assert (result.returncode, result.stdout) == (0, "4950\n"), result
    lines = result.stderr.splitlines()
    assert len(lines) == 2 and "static contains libgomp" in lines[0], lines
    assert "libgomp is linked statically" in lines[1], lines
    assert "libgomp is linked statically" not in launch(directory, "sh", "-c", static).stderr
    finds(launch(directory, "--diagnose", static), "!! runtime static contains libgomp")
    # one that binds its calls itself: known when the program has run
    source = "#include <dlfcn.h>\nint main(void) { void *work = dlopen(WORK, RTLD_NOW | RTLD_DEEPBIND);\n" \
             "return ((int (*)(void))dlsym(work, \"work\"))(); }\n"
    loop = GOMP_PROGRAM.replace("main", "work").replace("i < 100", "i < 50000000").replace("sum += i", "sum += i & 1")
    library = compile_c(directory, "work.so", loop, "-shared", "-fPIC", "-fopenmp")
    program = compile_c(directory, "deep", source, f'-DWORK="{library}"')
    for options in ((), ("--omp-runtime", "keep")):
        said = launch(directory, *options, program).stderr
        assert ("libgomp is not measured" if options else "calls to libgomp were not seen") in said, said
    # a library that has one of its own, and does not export it; one that does, whose calls are seen
    source = "__attribute__((visibility(WHICH))) void GOMP_parallel(void) {}\n" \
             "__attribute__((visibility(WHICH))) void omp_get_num_threads(void) {}\n"
    for which in ("hidden", "default"):
        library = compile_c(directory, f"{which}.so", source, "-shared", "-fPIC", f'-DWHICH="{which}"')
        user = compile_c(directory, f"user-{which}", GOMP_PROGRAM, "-fopenmp", "-Wl,--no-as-needed", library)
        assert (f"{which}.so contains libgomp" in runtime_settings(directory, user)[1]) == (which == "hidden"), which


def forms_of_gomp_program(directory):
    """Programs that libomp would change; reduced to the construct."""
    loop = GOMP_PROGRAM.replace("+ : sum)", "+ : sum) schedule(runtime)")
    teams = GOMP_PROGRAM.replace("parallel for", "teams distribute parallel for num_teams(3)")
    tasks = GOMP_PROGRAM.replace("parallel for reduction(+ : sum)", "parallel\n#pragma omp single\n#pragma omp taskloop "
                                 "reduction(+ : sum)").replace("i++", "i += 1 + (sum > 9999)")
    scan = GOMP_PROGRAM.replace("reduction(", "reduction(inscan, ").replace(
        "    sum += i;", "  {\n    sum += i;\n#pragma omp scan inclusive(sum)\n    if (sum < 0) puts(\"x\");\n  }")
    places = GOMP_PROGRAM.replace("return 0", "return omp_get_num_places() == 99")
    schedule = GOMP_PROGRAM.replace("return 0", "omp_sched_t kind; int chunk; omp_get_schedule(&kind, &chunk); return 0")
    affinity = GOMP_PROGRAM.replace("return 0", 'omp_display_affinity(0); omp_display_affinity("%A\\n"); '
                                    'omp_display_affinity("%n of %N"); return 0')
    capture = GOMP_PROGRAM.replace("return 0", "char text[200]; omp_capture_affinity(text, 200, 0); puts(text); return 0")
    form = GOMP_PROGRAM.replace("return 0", "char text[200]; omp_get_affinity_format(text, 200); puts(text); return 0")
    forms = {"affinity": affinity, "capture": capture, "form": form, "plain": GOMP_PROGRAM, "loop": loop, "teams": teams, "tasks": tasks, "scan": scan, "places": places, "schedule": schedule}
    return {name: compile_c(directory, name, source, "-fopenmp") for name, source in forms.items()}


@case
def texts_of_affinity_differ_on_libomp(directory):
    """As the risks of the exchange say, and not with the remedy that they name."""
    need_private_libomp()
    programs = forms_of_gomp_program(directory)

    def texts(name, *options, **settings):
        done = launch(directory, "-q", *options, programs[name], **settings)
        assert done.returncode == 0, done
        return done.stdout.removeprefix("4950\n").splitlines(), done.stderr.splitlines()

    exchange = ("--omp-runtime", "exchange")
    own, other = texts("affinity"), [lines for lines in texts("affinity", *exchange)]
    assert own[0] == [] and "0 of 1" in own[1], own
    assert "0 of 1" in other[0] and set(other[0]) != set(own[1]), (own, other)
    for name in ("capture", "form"):
        assert texts(name)[0] != texts(name, *exchange)[0], name
        remedy = {"OMP_AFFINITY_FORMAT": "%n of %N in %P"}
        own, other = (texts(name, *options, **remedy)[0] for options in ((), exchange))
        assert [re.sub("[0-9]{2,}", "", line) for line in own] == [re.sub("[0-9]{2,}", "", line) for line in other], name


@case
def risks_of_the_exchange_are_printed(directory):
    need_private_libomp()
    programs = forms_of_gomp_program(directory)
    risky = [("tasks", {}, "taskloops"), ("scan", {}, "scans"), ("teams", {}, "teams constructs"),
             ("loop", {}, "schedule(runtime)"), ("places", {}, "omp_get_num_places"),
             ("schedule", {}, "schedule(runtime)"), ("affinity", {}, "omp_display_affinity() prints on standard output"),
             ("capture", {}, "omp_capture_affinity()"), ("form", {}, "omp_get_affinity_format()")]
    risky += [("loop", {"OMP_SCHEDULE": value}, "schedule(runtime)") for value in ("auto", "guided", "dynamic , 2", "x")]
    risky += [("plain", {name: value}, name) for name, value in (
        ("OMP_PROC_BIND", "true"), ("OMP_PROC_BIND", "spread"), ("OMP_PLACES", "cores"), ("OMP_PLACES", "x"),
        ("GOMP_CPU_AFFINITY", "0"), ("KMP_AFFINITY", "scatter"), ("OMP_THREAD_LIMIT", "0"), ("OMP_DISPLAY_ENV", "true"),
        ("OMP_DISPLAY_AFFINITY", "TRUE"))]
    risky += [("plain", {"OMP_NUM_THREADS": value}, "OMP_NUM_THREADS is malformed")
              for value in ("", "abc", "0", "-3", "4x", "1.5", "2,", "1" * 20)]
    safe = [("plain", {"OMP_PROC_BIND": "false", "OMP_PLACES": "cores"}), ("plain", {"OMP_NUM_THREADS": " 3 , 2"}),
            ("plain", {"OMP_DISPLAY_ENV": "false"}), ("plain", {"OMP_THREAD_LIMIT": "2"}), ("plain", {})]
    safe += [("loop", {"OMP_SCHEDULE": value}) for value in ("dynamic", "static,2", "DYNAMIC,16")]
    for name, settings, risk in risky + [(*entry, None) for entry in safe]:
        seen, said = runtime_settings(directory, "--omp-runtime", "exchange", programs[name], **settings)
        assert seen["HPCRUN_LITE_RUNTIME"] == PRIVATE_LIBOMP and "replaced" in said, (name, settings)
        assert risk in said if risk else "risks" not in said, (name, settings, said)
    seen, said = runtime_settings(directory, "--omp-runtime", "exchange", programs["teams"], OMP_PLACES="cores")
    assert "hpcrun-lite: risks: with OMP_PLACES" in said and "(unset it); teams" in said, said
    assert "risks: with OMP_PLACES" in seen["HPCRUN_LITE_NOTE"], seen
    finds(launch(directory, "--diagnose", "--omp-runtime", "exchange", programs["plain"], OMP_PROC_BIND="true"),
          "ok runtime OpenMP runtime replaced", "!! runtime risks: with OMP_PROC_BIND", "ok attach tested")
    result = launch(directory, "--omp-runtime", PRIVATE_LIBOMP, programs["teams"])
    assert (result.returncode, result.stdout) == (0, "4950\n") and "OpenMP attached" in result.stderr, result
    assert "risks" not in result.stderr, result.stderr


TOOL = """#include <stdio.h>
#include <stdlib.h>
typedef void (*function)(void);
struct tool { int (*start)(function (*)(const char *), int, void *); void (*end)(void *); void *data; };
static int start(function (*look_up)(const char *), int device, void *data) { (void)device, (void)data;
  puts("tool started"); return look_up("ompt_set_callback") != NULL; }
static void end(void *data) { (void)data; puts("tool ended"); fflush(stdout); }
struct tool *ompt_start_tool(unsigned version, const char *runtime) { (void)version, (void)runtime;
  static struct tool tool = {start, end, NULL};
  puts("tool asked"); return getenv("REFUSE") ? NULL : &tool; }
"""


@case
def the_programs_own_tool_comes_first(directory):
    """In the executable, preloaded, or in OMP_TOOL_LIBRARIES; if it does not start, hpcrun-lite's does."""
    tool = compile_c(directory, "tool.so", TOOL, "-shared", "-fPIC")
    source = "extern int omp_get_max_threads(void);\nint main(void) { return omp_get_max_threads() < 1; }\n"
    for version in (14, 19):
        place = os.path.join(DEPS, f"libomp-{version}")
        if not os.path.exists(os.path.join(place, "libomp.so.5")):
            raise Skip(f"no libomp {version} in build-deps")
        flags = (os.path.join(place, "libomp.so.5"), f"-Wl,-rpath,{place}")
        plain = compile_c(directory, f"plain{version}", source, *flags)
        own = compile_c(directory, f"own{version}", TOOL + source, *flags)
        for program, settings in ((own, {}), (plain, {"LD_PRELOAD": tool}), (plain, {"OMP_TOOL_LIBRARIES": tool})):
            expected = run(program, cwd=directory, **settings)
            assert expected.stdout == "tool asked\ntool started\ntool ended\n", expected
            result = launch(directory, program, **settings)
            assert (result.returncode, result.stdout) == (0, expected.stdout), result
            name = os.path.basename(tool if settings else own)
            assert f"OMPT tool of its own, {name}" in result.stderr, result.stderr
            assert "OpenMP attached" not in result.stderr and "replaced" not in result.stderr, result.stderr
            finds(launch(directory, "--diagnose", program, **settings), "!! runtime", f"own, {name}", "!! attach")
            assert run(LAUNCHER, "-q", "sh", "-c", program, cwd=directory, **settings).stdout == expected.stdout
            result = launch(directory, program, REFUSE="1", **settings)
            assert result.stdout == "tool asked\n" and "OpenMP attached" in result.stderr, result


@case
def a_tool_for_another_runtime_does_not_start(directory):
    tool = compile_c(directory, "tool.so", TOOL, "-shared", "-fPIC")
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    result = launch(directory, program, OMP_TOOL_LIBRARIES=tool)
    assert result.stdout == "4950\n" and "OpenMP attached (libgomp" in result.stderr, result
    assert "OMPT tool" not in result.stderr, result.stderr
    need_private_libomp()
    result = launch(directory, "--omp-runtime", "exchange", program, OMP_TOOL_LIBRARIES=tool)
    assert result.stdout == "tool asked\ntool started\n4950\ntool ended\n", result
    assert "risks: libomp starts the program's own OMPT tool, tool.so" in result.stderr, result.stderr


@case
def a_libgomp_by_another_name_is_a_libgomp(directory):
    """As in Python wheels: libgomp-HASH.so."""
    with open(must("gcc", "-print-file-name=libgomp.so.1").strip(), "rb") as file:
        copied = file.read().replace(b"libgomp.so.1", b"libgomp-1.so")
    library = os.path.join(directory, "libgomp-1.so")
    with open(library, "wb") as file:
        file.write(copied)
    program = os.path.join(directory, "gomp")
    must("gcc", compile_c(directory, "gomp.o", GOMP_PROGRAM, "-c", "-fopenmp"), library, f"-Wl,-rpath,{directory}", "-o",
         program)
    result = launch(directory, program)
    assert result.stdout == "4950\n" and "OpenMP attached (libgomp of GCC " in result.stderr, result
    finds(launch(directory, "--diagnose", program), "libgomp-1.so: measured", "ok attach tested")


@case
def a_libomp_by_the_name_of_libgomp_is_a_libomp(directory):
    need_private_libomp()
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    os.symlink(PRIVATE_LIBOMP, os.path.join(directory, "libgomp.so.1"))
    result = launch(directory, program, LD_LIBRARY_PATH=directory)
    assert result.stdout == "4950\n" and "OpenMP attached (LLVM libomp)" in result.stderr, result
    finds(launch(directory, "--diagnose", program, LD_LIBRARY_PATH=directory), "ok runtime", "supports what is measured")


@case
def a_given_runtime_is_checked(directory):
    need_private_libomp()
    fails(launch(directory, "--omp-runtime", "/no/such/libomp.so", "true"), 125, "/no/such/libomp.so")
    fails(launch(directory, "--omp-runtime", "/etc/passwd", "true"), 125, "not a readable shared library")
    fails(launch(directory, "--omp-runtime", LIBRARY, "true"), 125, "not an OpenMP runtime")
    seen, _ = runtime_settings(directory, "--omp-runtime", PRIVATE_LIBOMP, "true")
    assert seen["HPCRUN_LITE_RUNTIME"] == os.path.realpath(PRIVATE_LIBOMP) and seen["HPCRUN_LITE_GOMP"] == "off"


@case
def programs_stay_on_their_own_libomp(directory):
    """Also where another one is installed, and asked for in the place of libgomp."""
    source = """#include <stdio.h>
extern int omp_get_max_threads(void);
int main(void) { printf("%d\\n", omp_get_max_threads() > 0); return 0; }
"""
    for version in (14, 15, 16, 19):
        place = os.path.join(DEPS, f"libomp-{version}")
        if not os.path.exists(os.path.join(place, "libomp.so.5")):
            raise Skip(f"no libomp {version} in build-deps")
        program = compile_c(directory, f"on{version}", source, os.path.join(place, "libomp.so.5"),
                            f"-Wl,-rpath,{place}")
        for options in ((), ("--omp-runtime=keep",), ("--omp-runtime=exchange",)):
            seen, said = runtime_settings(directory, *options, program)
            assert seen["LD_PRELOAD"] == LIBRARY and said == "" and "HPCRUN_LITE_RUNTIME" not in seen, (seen, said)
        result = launch(directory, program)
        assert (result.returncode, result.stdout) == (0, "1\n"), result
        assert "replaced" not in result.stderr and "OpenMP attached (LLVM libomp)" in result.stderr, result.stderr
        chunks = "does not report chunks of loops, which are measured at the program's calls"
        finds(launch(directory, "--diagnose", program), f"ok runtime {place}/libomp.so.5 is kept", "ok attach tested",
              chunks if version == 14 else "it supports what is measured")


@case
def an_old_libomp_in_the_place_of_libgomp_is_said_to_report_no_chunks(directory):
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    for version in (14, 19):
        library = os.path.join(DEPS, f"libomp-{version}", "libomp.so.5")
        if not os.path.exists(library):
            raise Skip(f"no libomp {version} in build-deps")
        result = launch(directory, "--diagnose", "--omp-runtime", library, program)
        assert ("which does not report the chunks of GCC's loops" in found_in(result)) == (version == 14), result.stdout


@case
def an_older_libomp_is_refused_for_a_newer_program(directory):
    source = """extern void __kmpc_dispatch_deinit(void *, int);
int main(int c, char **v) { if (c > 9) __kmpc_dispatch_deinit(v, c); return 0; }
"""
    new, old = (os.path.join(DEPS, f"libomp-{version}") for version in (19, 16))
    if not os.path.exists(os.path.join(new, "libomp.so.5")) or not os.path.exists(os.path.join(old, "libomp.so.5")):
        raise Skip("no libomp 16 and 19 in build-deps")
    program = compile_c(directory, "newer", source, os.path.join(new, "libomp.so.5"), f"-Wl,-rpath,{new}")
    fails(launch(directory, "--omp-runtime", os.path.join(old, "libomp.so.5"), program), 125, "__kmpc_dispatch_deinit")


# ---- diagnose and the installation ----

@case
def diagnose_names_every_topic(directory):
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    result = launch(directory, "--diagnose", program)
    assert result.returncode == 0 and result.stderr == "", result
    topics = [line.split()[1] for line in result.stdout.splitlines() if not line.startswith(" ")]
    for topic in ("program", "preload", "events", "cores", "limits", "directory", "runtime", "attach", "unwinding",
                  "symbols",
                  "verdict"):
        assert topic in topics, (topic, result.stdout)
    assert len(topics) <= 14
    finds(result, "ok runtime", "libgomp.so.1: measured", "ok attach tested: the tool attaches to")
    assert sorted(os.listdir(directory)) == ["gomp", "gomp.c"]
    assert launch(directory, "--diagnose", "no-such-command-anywhere").returncode == 1


def finds(result, *parts):
    found = found_in(result)
    for part in parts:
        assert part in found, (part, found)


def limited(directory, *arguments, **limits):
    """--diagnose under limits."""
    return launch(directory, "--diagnose", *arguments, limits=limits)


@case
def diagnose_finds_limits(directory):
    finds(launch(directory, "--diagnose", "true"), "ok limits sufficient")
    finds(limited(directory, "true", AS=500 << 20), "!! limits 500 MB of address space")
    finds(limited(directory, "true", FSIZE=1 << 20), "!! limits files of 1024 KB at most", "ok directory tested")
    finds(limited(directory, "true", FSIZE=1000), "!! directory not tested")
    finds(limited(directory, "true", NOFILE=20), "!! limits 20 descriptors at most")
    finds(limited(directory, "-e", "wall", "true", SIGPENDING=0), "!! limits only 0 timers are available")


@case
def diagnose_finds_little_memory_for_perf(directory):
    need_root()
    need_program("setpriv")
    os.chmod(directory, 0o1777)
    if run(*OTHER_USER, "test", "-x", LAUNCHER).returncode != 0:
        raise Skip("other users cannot run the installed launcher")
    result = run("sh", "-c", 'ulimit -l 0; exec "$@"', "sh", *OTHER_USER, LAUNCHER, "--diagnose", "true", cwd=directory)
    if "perf_event, time" not in result.stdout or os.cpu_count() > 3:
        raise Skip("other users may not use perf_event here, or have enough memory for it")
    finds(result, "!! limits perf_event for", "perf_event_mlock_kb")


@case
def diagnose_finds_too_few_cores(directory):
    cores = len(os.sched_getaffinity(0))
    finds(launch(directory, "--diagnose", "true", OMP_NUM_THREADS=str(4 * cores)),
          f"!! cores OMP_NUM_THREADS={4 * cores} on")
    group = f"/sys/fs/cgroup/cpu/hpcrun-lite-test-{os.getpid()}"
    try:
        os.mkdir(group)
        with open(os.path.join(group, "cpu.cfs_quota_us"), "w", encoding="ascii") as file:
            file.write("50000")
    except OSError as error:
        raise Skip(f"may not make a control group of the first version: {error}") from error
    try:
        result = run("sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", LAUNCHER, "--diagnose", "true",
                     cwd=directory)
        finds(result, "but a quota of 0.5", "OMP_NUM_THREADS=1")
    finally:
        os.rmdir(group)


@case
def diagnose_tries_the_directory(directory):
    finds(launch(directory, "--diagnose", "true"), "ok directory tested: measurements in . survive a kill")
    finds(launch(directory, "--diagnose", "-o", "/proc/m", "true"), "!! directory cannot create a directory in /proc")
    finds(launch(directory, "--diagnose", "-o", "none/m", "true"), "!! directory", "its parent directory does not exist")
    with small_disk(directory, "200k") as small:
        finds(launch(directory, "--diagnose", "-o", "small/m", "true"), "!! directory 0 MB left")
        with open(os.path.join(small, "filler"), "wb") as file:
            file.write(bytes(180 << 10))
        finds(launch(directory, "--diagnose", "-o", "small/m", "true"), "a killed process would leave no measurement")
        assert os.listdir(small) == ["filler"]


@case
def diagnose_finds_other_tools(directory):
    program = compile_c(directory, "gomp", GOMP_PROGRAM, "-fopenmp")
    zlib = "/usr/lib/x86_64-linux-gnu/libz.so.1"
    finds(launch(directory, "--diagnose", program, LD_PRELOAD=zlib),
          f"ok others LD_PRELOAD is kept, after hpcrun-lite's library: {zlib}")
    finds(launch(directory, "--diagnose", program, OMP_TOOL="disabled"), "!! attach", "unset OMP_TOOL")
    finds(launch(directory, "--diagnose", "--omp-runtime", "keep", program), "!! runtime libgomp is not measured",
          "!! attach", "--omp-runtime auto")
    for options, which in (((), "it"), (("--omp-runtime", "keep"), "only LLVM's or Intel's")):
        finds(launch(directory, "--diagnose", *options, "true"), "ok runtime no OpenMP runtime", f"later, {which} is measured")


def sanitized(directory, kind):
    try:
        return compile_c(directory, kind, GOMP_PROGRAM, "-fopenmp", f"-fsanitize={kind}")
    except AssertionError as error:
        raise Skip(f"no -fsanitize={kind}") from error


@case
def programs_with_address_sanitizer_are_measured(directory):
    """Its library must come first, or must not mind."""
    program = sanitized(directory, "address")
    finds(launch(directory, "--diagnose", program), "ok sanitizer", "ok verdict will be measured")
    for options in ({}, {"ASAN_OPTIONS": "verify_asan_link_order=1:exitcode=7"}):
        result = launch(directory, program, **options)
        assert (result.returncode, result.stdout) == (0, "4950\n"), result
        assert "OpenMP attached" in result.stderr, result.stderr


@case
def programs_with_thread_sanitizer_are_left_alone(directory):
    program = sanitized(directory, "thread")
    result = launch(directory, "--diagnose", program)
    finds(result, "!! sanitizer built with -fsanitize=thread: nothing is measured", "!! verdict will not be measured")
    assert result.returncode == 1 and "runtime" not in result.stdout.replace("its runtime", ""), result
    result = launch(directory, "--env", program)
    assert settings_of(result.stdout)["LD_PRELOAD"] == LIBRARY and result.stderr == "", result


@case
def diagnose_finds_that_perf_event_is_denied(directory):
    deny = build("deny_perf_event.c", openmp=False)
    finds(run(deny, LAUNCHER, "--diagnose", "true", cwd=directory), "!! events task-clock: CPU-time timers",
          "perf_event" if os.geteuid() else "denied by a container's seccomp")


@case
def diagnose_finds_missing_unwind_tables_and_symbols(directory):
    source = "int f(int x) { return x; } int main(int c, char **v) { (void)v;" + " f(c);" * 100 + " return 0; }"
    bare = compile_c(directory, "bare", source, "-O0", "-s", "-fno-asynchronous-unwind-tables", "-Wl,--no-eh-frame-hdr")
    finds(launch(directory, "--diagnose", bare), "!! unwinding 1 of", "(bare)", "!! symbols bare is stripped")
    static = compile_c(directory, "static", "int main(void) { return 0; }", "-static")
    result = launch(directory, "--diagnose", static)
    finds(result, "!! preload", "without -static", "!! verdict will not be measured")
    assert result.returncode == 1


@case
def installation_can_be_moved(directory):
    prefix = os.path.dirname(os.path.dirname(LAUNCHER))
    moved = os.path.join(directory, "elsewhere")
    shutil.copytree(prefix, moved, symlinks=True)
    link = os.path.join(directory, "link-to-launcher")
    os.symlink(os.path.join(moved, "bin", "hpcrun-lite"), link)
    for launcher in (os.path.join(moved, "bin", "hpcrun-lite"), link):
        result = run(launcher, "-q", "--env", "true", cwd=directory)
        assert settings_of(result.stdout)["LD_PRELOAD"].startswith(os.path.realpath(moved) + "/"), result
    libdir = os.path.dirname(os.path.dirname(LIBRARY)).replace(prefix, moved)
    flags = run("pkg-config", "--cflags", "hpcrun-lite", PKG_CONFIG_PATH=os.path.join(libdir, "pkgconfig"))
    assert flags.returncode == 0, flags.stderr
    include = shlex.split(flags.stdout)[0][2:]
    assert os.path.samefile(include, os.path.join(moved, "include")), flags.stdout


@case
def a_prefix_that_ld_preload_cannot_name_is_used_through_a_link(directory):
    """In a private directory: tests/safety/hostile_paths.py attacks it."""
    moved = os.path.join(directory, "with space: $ORIGIN")
    prefix, temporary = os.path.dirname(os.path.dirname(LAUNCHER)), os.path.join(directory, "tmp")
    shutil.copytree(prefix, moved, symlinks=True)
    os.mkdir(temporary, 0o700)
    launcher = os.path.join(moved, "bin", "hpcrun-lite")
    report = os.path.join(moved, "bin", "hpcprof-lite")
    program = compile_c(directory, "program", """
        #include <omp.h>
        #include <stdio.h>
        #include <stdlib.h>
        int main(void) {
          #pragma omp parallel
          { for (double end = omp_get_wtime() + 0.1; omp_get_wtime() < end;); }
          puts(getenv("LD_PRELOAD"));
          return 0;
        }""", "-fopenmp")

    def moved_launch(*arguments):
        return run(launcher, *arguments, cwd=directory, TMPDIR=temporary)

    runtimes = {"auto": "libhpcrun-lite.so"}
    if os.path.exists(PRIVATE_LIBOMP): # scripts/setup fetches it
        runtimes["exchange"] = "omp/libomp.so.5"
    for runtime, preloaded in runtimes.items():
        done = moved_launch("-o", "measured", "--overwrite", "--omp-runtime", runtime, program)
        assert done.returncode == 0 and "OpenMP attached" in done.stderr, done
        first, *others = done.stdout.strip().split(":")
        assert re.fullmatch(re.escape(os.path.realpath(temporary)) + r"/hpcrun-lite-\d+-[0-9a-f]{16}/installation/"
                            "libhpcrun-lite.so", first), done
        assert ([first] + others)[-1].endswith("/installation/" + preloaded), done
        assert "parallel" in must(report, "regions", "measured", cwd=directory)
        finds(moved_launch("--diagnose", "--omp-runtime", runtime, program), "ok attach", "tested: the tool attaches")
    series = moved_launch("-o", "series", "--scaling=1,2", program)
    assert series.returncode == 0 and "threads-2" in os.listdir(os.path.join(directory, "series")), series
    assert "2" in must(report, "--scaling", "series", cwd=directory)
    assert moved_launch("-o", "series", "--overwrite", program).returncode == 0
    assert moved_launch("-o", "a: $b", program).returncode == 0 # LD_PRELOAD does not name the measurement
    assert len(os.listdir(temporary)) == 1 # all launches use the same link


@case
def a_runtime_that_ld_preload_cannot_name_is_refused_before_anything_is_replaced(directory):
    need_private_libomp()
    moved = os.path.join(directory, "with space")
    os.mkdir(moved)
    runtime = shutil.copy(PRIVATE_LIBOMP, moved)
    program = compile_c(directory, "program", "int main(void) { return 0; }", "-fopenmp")
    fails(launch(directory, "-o", "x", "--omp-runtime", runtime, program), 125, "copy it to another path")
    assert "x" not in os.listdir(directory)
    assert launch(directory, "-q", "-o", "measured", "true").returncode == 0
    before = os.listdir(os.path.join(directory, "measured"))
    fails(launch(directory, "--overwrite", "-o", "measured", "--omp-runtime", runtime, program), 125, "LD_PRELOAD")
    assert os.listdir(os.path.join(directory, "measured")) == before


@case
def the_peak_of_memory_is_that_of_the_kernel(directory):
    """What the program reads of itself at its end, to which only the writing of the measurement is added."""
    program = compile_c(directory, "memory", """
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        int main(void) {
          enum { BYTES = 96 << 20 };
          char line[256], *memory = malloc(BYTES);
          FILE *status = fopen("/proc/self/status", "r");
          memset(memory, 1, BYTES);
          free(memory);
          while (fgets(line, sizeof line, status))
            if (!strncmp(line, "VmHWM:", 6))
              puts(line + 6);
        }""")
    done = launch(directory, "-o", "measured", program)
    assert done.returncode == 0, done
    peak = int(done.stdout.split()[0]) * 1024
    found = csv_table(must(REPORT, "-q", "-f", "csv", "processes", os.path.join(directory, "measured")))
    assert len(found) == 1 and peak <= int(found[0]["peak_memory_bytes"]) <= peak + (16 << 20), (peak, found)

main()
