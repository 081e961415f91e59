"""What a killed program leaves: everything that was sampled, with full calling contexts.

Usage: kill.py [--long N] [-k CASE]     (--long: N rounds instead of 2; 4 combine every form, mode and compiler)"""
import contextlib
import glob
import os
import random
import shlex
import shutil
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import report
from measured import build, clocks, tap

ROUNDS = int(sys.argv[sys.argv.index("--long") + 1]) if "--long" in sys.argv else 2
SEED = random.SystemRandom().randrange(1 << 32)
RANDOM = random.Random(SEED)
PASSIVE = {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}
FORMS = ("iterations", "endless", "tasks", "single", "asleep", "locked", "threads")
TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """CPU time of a process, including threads that have ended."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def files(output, suffix):
    return sorted(glob.glob(os.path.join(output, "*" + suffix)))


def wait_for(output, *suffixes):
    """Waits until the process has written one of these files."""
    tap.wait_until(lambda: any(files(output, suffix) for suffix in suffixes), f"a file {suffixes} in {output}")


class Victim:
    """A program under measurement that is going to be killed.  Its CPU time counts from the beginning of main()."""

    def __init__(self, directory, *command, options=("-e", "task-clock@f1000"), **settings):
        self.output = os.path.join(directory, "victim")
        shutil.rmtree(self.output, ignore_errors=True)
        self.process = tap.start(tap.LAUNCHER, "-o", self.output, *options, "--", *command, cwd=directory,
                                 **{**PASSIVE, **settings})
        self.before = 0.0

    def wait_begin(self):
        """Waits until main() begins."""
        line = self.process.stdout.readline()
        assert line.startswith("began "), (line, self.process.communicate(timeout=60))
        self.before = clocks(line)["began"]

    def kill(self):
        """Kills the program; returns the CPU time that it has used."""
        cpu = cpu_of(self.process.pid) - self.before
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=100)
        return cpu

    def kill_after(self, seconds):
        """Kills the program after so many seconds, but not before it has worked: a few samples are of its start."""
        self.wait_begin()
        time.sleep(seconds)
        tap.wait_until(lambda: cpu_of(self.process.pid) - self.before >= 0.3, "the program works")
        return self.kill()


def view(output, name, form="csv"):
    legend = ("--legend",) if (name, form) == ("summary", "text") else ()  # all lines
    return report.report("--view", name, "-f", form, *legend, output)


def rows(output, name):
    """The rows of a view, and the messages."""
    done = view(output, name)
    assert done.returncode == 0, done.stderr
    assert "damaged" not in done.stderr and "lacks" not in done.stderr, done.stderr
    return report.table(done.stdout), done.stderr


def spent(row):
    """The CPU time of a row: work and overhead."""
    return float(row["work_incl_s"] or 0) + float(row["overhead_incl_s"] or 0)


def all_of(output):
    """Seconds in the report, those below main or the start of a thread, samples, messages."""
    tree, said = rows(output, "topdown")
    root = next(row for row in tree if row["kind"] == "root")
    top = [row for row in tree if row["parent_id"] == root["id"]]
    return spent(root), sum(spent(row) for row in top if row["name"] in ("main",
                                                                         "short_lived")), int(root["samples"]), said


def check(victim, cpu, what):
    """The report has at least the CPU time since the beginning of main(), the tool's included, and at most that and the time
    before.  Samples of a waiting thread are in no context: each is a millisecond."""
    output = victim.output
    found, whole, kept, said = all_of(output)
    threads, _ = rows(output, "threads")
    waits = (sum(int(row["samples"]) for row in threads) - kept) * 0.001 + sum(float(row["tool_s"]) for row in threads)
    tap.timed(found + waits >= 0.98 * cpu - 0.01, f"{what}: {found:.3f} s + {waits:.3f} s of {cpu:.3f} s, seed {SEED}")
    tap.timed(found <= 1.05 * cpu + 0.05 + victim.before, f"{what}: {found:.3f} s of {cpu:.3f} s: too much, seed {SEED}")
    tap.timed(whole >= 0.98 * found - victim.before, f"{what}: {whole:.3f} s of {found:.3f} s below main, seed {SEED}")
    assert "was killed" in said, said
    assert not files(output, ".hpcrun") and files(output, ".live"), os.listdir(output)


def programs():
    for compiler in ("gcc", "clang-19"):
        try:
            yield build("kill.c", compiler)
        except tap.Skip:
            print(f"# no {compiler}")


def killed_at_a_random_moment(directory, program, form, mode):
    """The CPU time of the process includes that of the tool, which takes long on a loaded machine."""
    victim = Victim(directory, program, form, options=("-e", "task-clock@f1000", "-p", mode))
    cpu = victim.kill_after(RANDOM.uniform(0.6, 1.2))
    check(victim, cpu, f"{os.path.basename(program)} {form} -p {mode}")


@tap.case
def nothing_sampled_is_lost(directory):
    made = list(programs())
    for number in range(ROUNDS):
        mode = ("off", "online")[number % 2]
        for place, form in enumerate(FORMS):
            program = made[(place + number // 2) % len(made)]
            tap.again(killed_at_a_random_moment, directory, program, form, mode)


@tap.case
def a_killed_program_has_no_span(directory):
    victim = Victim(directory, build("kill.c"), "endless", options=("-p", "online"))
    victim.kill_after(1)
    for name in ("parallelism", "critical-path"):
        assert "Work and span are not known" in view(victim.output, name, "text").stdout
    said = view(victim.output, "summary", "text").stdout
    assert "1 process was killed" in said and "because the process was killed" in said, said


@tap.case
def a_program_that_still_runs_is_reported_as_running(directory):
    victim = Victim(directory, build("kill.c"), "endless")
    victim.wait_begin()
    wait_for(victim.output, ".live")
    tap.wait_until(lambda: "OpenMP runtime: libgomp" in view(victim.output, "summary", "text").stdout, "OpenMP begins")
    said = view(victim.output, "summary", "text")
    victim.kill()
    assert "no call to it was seen" not in said.stdout, said
    assert "is still running" in said.stderr and "1 process is still running" in said.stdout, said
    assert "was killed" in view(victim.output, "summary", "text").stderr


@tap.case
def killed_as_it_starts(directory):
    program = build("kill.c")
    for _ in range(10 * ROUNDS):
        victim = Victim(directory, program, "endless")
        time.sleep(RANDOM.uniform(0, 0.08))
        victim.kill()
        if not os.path.isdir(victim.output):
            continue
        done = view(victim.output, "summary")
        if files(victim.output, ".live"):
            nothing = "killed when it started" in done.stderr  # while the file was made
            assert done.returncode == nothing and (nothing or "was killed" in done.stderr), (done, SEED)
        else:
            empty = not os.path.exists(os.path.join(victim.output, "launch"))  # killed when the directory was made
            said = "it holds no file" if empty else "ended before measuring began"
            assert done.returncode == 1 and said in done.stderr, (done.stderr, SEED)


@tap.case
def killed_before_the_first_sample(directory):
    """A program that ends at once leaves a report: that of its constructs, where it has come to any."""
    for made in programs():
        for form, constructs in (("before main", 0), ("at once", 0), ("criticals", 3)):
            for options in ((), ("-p", "log"), ("-t",), ("-p", "off")):
                settings = {"KILL_BEFORE_MAIN": "1"} if form == "before main" else {}
                victim = Victim(directory, made, form, options=("-e", "task-clock@3600000000", *options), **settings)
                victim.process.communicate(timeout=100)
                assert victim.process.returncode == -signal.SIGABRT, (form, victim.process.returncode)
                done = view(victim.output, "summary", "text")
                assert done.returncode == 0 and "it has no samples" in done.stderr, (form, options, done)
                assert "1 process was killed" in done.stdout and "0 samples" in done.stdout, (form, options, done)
                if options != ("-p", "off"):
                    found = sum(int(row["exec_count"]) for row in rows(victim.output, "regions")[0]
                                if row["kind"] == "critical" and row["thread"] == "SUM")
                    assert found == constructs, (form, options, found)


@tap.case
def killed_before_measuring_began(directory):
    """Then the directory holds nothing but the launcher's marker."""
    output = os.path.join(directory, "m")
    done = tap.run(tap.LAUNCHER, "-q", "-o", output, "--", "/bin/sh", "-c", "true", cwd=directory)
    assert done.returncode == 0, done
    for name in os.listdir(output):
        if name != "launch":
            os.unlink(os.path.join(output, name))
    done = view(output, "summary", "text")
    assert done.returncode == 1 and "ended before measuring began" in done.stderr, done
    assert "hpcrun-lite --diagnose COMMAND" in done.stderr, done


def works(output):
    """The CPU time of each thread."""
    return [float(row["work_s"]) for row in rows(output, "threads")[0]]


@tap.case
def killed_as_it_ends(directory):
    """Each of six threads works for 0.05 s, or less if it is killed; none counts twice.  On a slow machine not each run has
    a sample by then."""
    program, seen = build("kill.c"), set()
    for _ in range(10 * ROUNDS):
        victim = Victim(directory, program, "fixed")
        victim.wait_begin()
        time.sleep(RANDOM.uniform(0.2, 0.4))
        cpu = victim.kill()
        seen.add(tuple(name.rsplit(".", 1)[-1] for name in sorted(os.listdir(victim.output))))
        assert files(victim.output, ".hpcrun") or files(victim.output, ".live"), os.listdir(victim.output)
        found = works(victim.output)
        assert len(found) <= 6, (found, SEED)
        tap.timed(found and found[0] < 0.09 + victim.before and max(found[1:], default=0) < 0.09, (found, SEED))
        tap.timed(sum(found) > 0 or cpu < 0.03, (found, cpu, SEED))
    print("# left:", *seen)


END_BEGINS = "NOFILE, {"  # before the files are written, the limit of descriptors is raised
# Those that change what is in the directory: between others it is as before the next of these.
CALLS = ("openat", "pwrite64", "write", "ftruncate", "fallocate", "renameat", "renameat2", "linkat", "unlinkat",
         "exit_group")


def settings_for(output, program, mode):
    """What a launch would set, as options of strace.  So strace does not count the launcher's own calls."""
    exports = tap.must(tap.LAUNCHER, "--env", "-q", "-o", output, "-e", "task-clock@f200", "-p", mode, program)
    return [word for line in exports.splitlines() for word in ("-E", shlex.split(line)[1])]


def traced(directory, program, mode, *inject, name="traced"):
    """Runs the fixed work under strace.  Returns its result; the system calls that the main thread made while the
    program ended, each with its number among the calls of that name; and the measurement directory."""
    output, log = os.path.join(directory, name), os.path.join(directory, name + ".calls")
    shutil.rmtree(output, ignore_errors=True)
    settings = settings_for(output, program, mode)
    done = tap.run("strace", "-o", log, "-e", "trace=prlimit64," + ",".join(CALLS), *inject, *settings, program,
                   "fixed", "2", **PASSIVE)
    seen, ends, ending = {}, [], False
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            name = line.split("(", 1)[0]
            seen[name] = seen.get(name, 0) + 1
            ending = ending or END_BEGINS in line
            if ending and name in CALLS and (name != "openat" or "O_CREAT" in line):
                ends.append((name, seen[name]))
    return done, ends, output


def killed_before(directory, program, mode, call, number):
    """strace kills the program before one call of its end; returns what kinds of files it leaves."""
    done, reached, output = traced(directory, program, mode, "-e", f"inject={call}:signal=KILL:when={number}",
                                   name=f"{mode}-{call}-{number}")
    found = works(output)
    state = tuple(sorted(file.split(".", 1)[-1] for file in os.listdir(output)))
    where = f"-p {mode}, {call} {number}: {found}, {state}"
    # the number of calls before the end varies from run to run: the signal may come too early, or never
    if reached:
        tap.timed(len(found) == 3 and sum(0.03 < seconds < 0.09 for seconds in found) >= 2 and max(found) < 0.09, where)
    assert sum(found) < 0.27, where
    assert done.returncode != 0 or state == ("graph", "hpcrun", "launch")[mode == "off":], where
    return state


@tap.case
def killed_at_each_call_of_its_end(directory):
    """strace kills the program before a call that changes a file.  What ended threads did is in the files by then, and
    must be found once: 0.05 s of each.  Of the main thread it is what its samples have told, which strace delays."""
    tap.need_program("strace")
    program, states = build("kill.c"), {}
    for mode in ("off", "log"):
        done, calls, output = traced(directory, program, mode)
        if not calls:
            raise tap.Skip(f"strace cannot trace here: {done.stderr}")
        assert done.returncode == 0 and files(output, ".hpcrun"), (done, os.listdir(output))
        with ThreadPoolExecutor(2) as pool:  # one thread of each program runs at a time
            ends = [pool.submit(tap.again, killed_before, directory, program, mode, *call) for call in calls]
        for end in ends:
            states[end.result()] = states.get(end.result(), 0) + 1
    print("# left:", states)
    for suffixes in (("live", "part"), ("hpcrun", "live"), ("hpcrun",), ("graph", "hpcrun", "packing.graph")):
        assert any(set(suffixes) | {"launch"} == set(state) for state in states), (suffixes, states)


def samples(output):
    facts, said = rows(output, "summary")
    return int(next(row["value"] for row in facts if row["item"] == "samples")), said


def copy_in_middle(directory, program):
    """The measurement directory that a program leaves at its end, and a copy made while it ran.  On a busy machine only a
    longer run has whole threads."""
    output, copy = os.path.join(directory, "both"), os.path.join(directory, "copy")
    for seconds in ("1", "4", "16"):
        shutil.rmtree(output, ignore_errors=True)
        running = tap.start(tap.LAUNCHER, "-o", output, "--", program, "threads", seconds, cwd=directory, **PASSIVE)
        wait_for(output, ".part", ".hpcrun")
        sizes = set()
        while len(sizes - {0}) < 3 and files(output, ".part"):  # by then it holds whole threads
            with contextlib.suppress(IndexError, FileNotFoundError):  # it has ended
                sizes.add(os.path.getsize(files(output, ".part")[0]))
        os.kill(running.pid, signal.SIGSTOP)  # it is ours, and not waited for yet
        whole = files(output, ".part") and files(output, ".live")
        if whole:
            shutil.copytree(output, copy)
        os.kill(running.pid, signal.SIGCONT)
        running.communicate(timeout=100)
        assert running.returncode == 0
        if whole:
            break
    return output, copy


@tap.case
def nothing_counts_twice(directory):
    output, copy = copy_in_middle(directory, build("kill.c"))
    assert not files(output, ".live") and not files(output, ".part"), os.listdir(output)
    assert sum(os.path.getsize(os.path.join(output, name)) for name in os.listdir(output)) <= 30000
    whole, said = samples(output)
    assert "was killed" not in said, said
    for name in os.listdir(copy):
        if not name.endswith("launch"):
            shutil.copy(os.path.join(copy, name), output)
    again, said = samples(output)
    assert again == whole and "is complete" in said, (again, whole, said)


@tap.case
def threads_that_ended_are_found_once(directory):
    """The packed form of a thread beside its live tables, and a truncated last extent."""
    _, copy = copy_in_middle(directory, build("kill.c"))
    before, said = samples(copy)
    live, part = files(copy, ".live")[0], files(copy, ".part")[0]
    with open(part, "rb") as file:
        packed = file.read()
    with open(part, "wb") as file:
        file.write(packed + packed)
    assert samples(copy)[0] == before
    with open(part, "wb") as file:
        file.write(packed + packed[:100])
    assert samples(copy)[0] == before
    os.remove(part)
    assert samples(copy)[0] < before, "the ended threads' samples are in .part"
    assert "was killed" in said and live


@tap.case
def a_failed_exec_loses_nothing(directory):
    victim = Victim(directory, build("kill.c"), "exec")
    check(victim, victim.kill_after(2), "exec")


@tap.case
def a_forked_child_has_files_of_its_own(directory):
    victim = Victim(directory, build("kill.c"), "forks")
    victim.wait_begin()
    time.sleep(2)
    child = sum(cpu_of(pid) for pid in tap.children(victim.process.pid))
    check(victim, victim.kill() + child, "forks")
    assert len(files(victim.output, ".live")) == 2, os.listdir(victim.output)
    assert "2 processes were killed" in view(victim.output, "summary", "text").stdout


def runs_unkept(directory, output, limits=None):
    done = tap.run(tap.LAUNCHER, "-o", output, "--", build("kill.c"), "endless", "0.5", cwd=directory, limits=limits,
                   **PASSIVE)
    assert done.returncode == 0, done
    assert "not kept on disk" in done.stderr, done.stderr
    return done


@tap.case
def a_file_that_may_not_grow_is_not_kept(directory):
    """The limit is above the packed file's size, below that of a live one."""
    output = os.path.join(directory, "limited")
    runs_unkept(directory, output, {"FSIZE": 50000})
    assert files(output, ".hpcrun") and not files(output, ".live"), os.listdir(output)
    done = view(output, "summary", "text")
    assert done.returncode == 0 and "not kept on disk: lost if the program is killed" in done.stdout, done


@tap.case
def a_full_disk_raises_no_signal(directory):
    with tap.small_disk(directory, "100k") as small:
        runs_unkept(directory, os.path.join(small, "m"))
        with open(os.path.join(small, "filler"), "wb") as file:  # leaves no room even for the first part
            file.write(bytes(80 << 10))
        runs_unkept(directory, os.path.join(small, "n"))


tap.main()
