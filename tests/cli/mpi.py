"""MPI: the ranks of a real mpirun are measured into one directory; a report by many ranks equals that of one
process."""
import concurrent.futures
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from jobs import OPEN_MPI, mpirun as mpirun_of
from measured import Measurement, near, source_file, tap, work_of
from report import VIEWS, report, rows

MPIRUN = shutil.which("mpirun.openmpi")
OPENMP = {"OMP_WAIT_POLICY": "passive"}
UNIT = 0.04  # seconds, as in mpi.c


def need_mpi():
    if not MPIRUN:
        raise tap.Skip("no Open MPI: run scripts/setup")


def mpirun(ranks, *command, cwd, **settings):
    return mpirun_of("openmpi", ranks, *command, cwd=cwd, **settings)


def program(directory, compiler="gcc"):
    need_mpi()
    out = os.path.join(directory, "mpi-" + compiler)
    if not shutil.which(compiler) or not shutil.which("mpicc.openmpi"):
        raise tap.Skip(f"no mpicc for {compiler}")
    tap.must("mpicc.openmpi", "-O1", "-g", "-fopenmp", "-I", tap.SUPPORT, source_file("mpi.c"), "-o", out,
             OMPI_CC=compiler)
    return out


class Job(Measurement):
    """One mpirun whose ranks are measured."""

    def __init__(self, directory, ranks, *command, options=(), output="job", **settings):
        self.output = os.path.join(directory, output)
        self.done = mpirun(ranks, tap.LAUNCHER, "-o", self.output, *options, *command, cwd=directory, **settings)

    def files(self):
        return sorted(glob.glob(os.path.join(self.output, "*.hpcrun")) +
                      glob.glob(os.path.join(self.output, "*.live")))

    def ranks(self):
        """The rows of the threads view by rank."""
        found = {}
        for row in rows("threads", self.output):
            found.setdefault(int(row["rank"]), []).append(row)
        return found


def said(text):
    """The messages, without process ids, addresses and job numbers, which differ from run to run.  Left out is Open
    MPI's help on MPI_ABORT, instead of which it often prints an error of its own show_help.c."""
    text = re.sub(r"-+\nMPI_ABORT was invoked.*?\n-{9,}\n", "", text, flags=re.S)
    return sorted(re.sub(r"0x[0-9a-f]+|\d+", "#", line) for line in text.splitlines() if "show_help.c" not in line)


# ---- measuring ----

@tap.case
def every_rank_is_measured(directory):
    for compiler in ("gcc", "clang"):
        job = Job(directory, 4, program(directory, compiler), output=compiler)
        assert job.done.returncode == 0 and job.done.stdout == "4 ranks, sum 6\n", (job.done.stdout, job.done.stderr)
        assert len(job.files()) == 4, job.files()
        ranks = job.ranks()
        assert sorted(ranks) == [0, 1, 2, 3], ranks
        tap.timed(all(sum(int(row["samples"]) > 0 for row in threads) >= 2 for threads in ranks.values()), ranks)
        near(work_of(job.tree(), "rank_work"), 2 * (1 + 2 + 3 + 4) * UNIT, 0.25, compiler)
        # the first rank prints one line for all
        lines = [line for line in job.done.stderr.splitlines() if "samples of" in line]
        assert len(lines) == 1 and ": rank 0: " in lines[0], job.done.stderr
        assert f"OpenMP attached ({'libgomp of GCC ' if compiler == 'gcc' else 'LLVM libomp'}" in lines[0], lines[0]


@tap.case
def all_ranks_print_with_v_and_none_with_q(directory):
    job = Job(directory, 2, program(directory), options=("-v",))
    assert all(f": rank {rank}: " in job.done.stderr for rank in range(2)), job.done.stderr
    quiet = Job(directory, 2, program(directory), options=("-q",), output="quiet")
    assert quiet.done.stderr == "", quiet.done.stderr


def check_end(directory, binary, how):
    """A job whose ranks end in one way: the same as without the tool, and every rank's work is in the report."""
    plain = mpirun(3, binary, how, cwd=directory)
    job = Job(directory, 3, binary, how, options=("-q", "--overwrite"), output=how)
    assert job.done.returncode == plain.returncode, (how, plain.returncode, job.done.returncode, job.done.stderr)
    assert job.done.stdout == plain.stdout == "3 ranks, sum 3\n", (how, job.done.stdout)
    # which of its own messages mpirun prints depends on the order in which it notices the ends
    tap.timed(said(job.done.stderr) == said(plain.stderr), (how, job.done.stderr, plain.stderr))
    ranks = job.ranks()
    assert sorted(ranks) == [0, 1, 2], (how, ranks)
    for rank, threads in ranks.items():
        worked = [float(row["work_s"]) for row in threads]
        tap.timed(sum(worked) >= 2 * (rank + 1) * UNIT * 0.75, (how, rank, worked))


@tap.case
def ranks_that_die(directory):
    binary = program(directory)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:  # most of the time they wait
        ends = [pool.submit(tap.again, check_end, directory, binary, how)
                for how in ("kill", "abort", "fault", "mpi-abort", "exit", "unfinished")]
    for end in ends:
        end.result()


@tap.case
def many_ranks_take_one_directory(directory):
    show = ("sh", "-c", "echo $HPCRUN_LITE_DIR")
    launch = (tap.LAUNCHER, "-q")
    for ranks, number in ((16, ""), (4, "-2"), (4, "-3")):  # a later mpirun makes another directory
        done = mpirun(ranks, *launch, *show, cwd=directory)
        used = set(done.stdout.split())
        wanted = os.path.join(directory, f"hpcrun-lite-sh-measurements{number}")
        assert done.returncode == 0 and used == {wanted}, (done.stdout, done.stderr)
    binary = program(directory)
    again = ("-q", "--overwrite")
    for ranks in (8, 4):  # of the larger job nothing is left
        job = Job(directory, ranks, binary, options=again, OMP_NUM_THREADS="1")
        assert job.done.returncode == 0 and job.done.stderr == "", job.done.stderr
        assert len(job.files()) == ranks and sorted(job.ranks()) == list(range(ranks)), job.files()
    refused = Job(directory, 2, binary)
    assert refused.done.returncode == 125 and "holds measurements already" in refused.done.stderr, refused.done.stderr


@tap.case
def jobs_at_the_same_time_do_not_mix(directory):
    need_mpi()
    jobs = [tap.start(MPIRUN, "-n", "4", tap.LAUNCHER, "-q", "sh", "-c", "echo $HPCRUN_LITE_DIR", cwd=directory,
                      **OPEN_MPI)
            for _ in range(3)]
    used = []
    for job in jobs:
        output, errors = job.communicate(timeout=120)
        assert job.returncode == 0 and len(set(output.split())) == 1, (output, errors)
        used.append(output.split()[0])
    assert len(set(used)) == 3, used


@tap.case
def a_repeated_job_number_is_another_job(directory):
    def launch(key):
        done = tap.run(tap.LAUNCHER, "-q", "sh", "-c", "echo $HPCRUN_LITE_DIR", cwd=directory,
                       PMIX_NAMESPACE="1907032065",
                       OMPI_MCA_orte_precondition_transports=key)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    first, second = launch("07ae-7ad7"), launch("07ae-7ad8")
    assert first != second and launch("07ae-7ad7") == first and launch("07ae-7ad8") == second


@tap.case
def mpirun_itself_is_measured(directory):
    need_mpi()
    output = os.path.join(directory, "outer")
    done = tap.run(tap.LAUNCHER, "-o", output, MPIRUN, "-n", "2", program(directory, "clang"), cwd=directory,
                   **OPEN_MPI, **OPENMP)
    assert done.returncode == 0 and done.stdout == "2 ranks, sum 1\n", (done.stdout, done.stderr)
    assert done.stderr.count("samples of") == 1 and ": rank" not in done.stderr, done.stderr
    job = Job.__new__(Job)
    job.output = output
    threads = job.threads()
    assert {row["rank"] for row in threads} == {"", "0", "1"}, threads
    near(work_of(job.tree(), "rank_work"), 2 * (1 + 2) * UNIT, 0.25)


# ---- the report by many ranks ----

def has_ranks():
    """Whether the report was built with MPI."""
    place = os.path.dirname(os.path.dirname(tap.REPORT))
    return bool(glob.glob(os.path.join(place, "lib*", "**", "hpcprof-lite-mpi.so"), recursive=True))


def need_ranks():
    need_mpi()
    if not has_ranks():
        raise tap.Skip("hpcprof-lite was built without MPI")


def same(ranks, *arguments, cwd=tap.GOLDEN, **settings):
    """Compares a report by ranks with that of one process.  The ranks write to files, since mpirun loses parts of what
    it forwards where ranks fail."""
    alone = report(*arguments, cwd=cwd, **settings)
    with tempfile.TemporaryDirectory(prefix="ranks-") as directory:
        output, errors = (os.path.join(directory, name) for name in ("output", "errors"))
        done = mpirun(ranks, "sh", "-c", 'output=$1 errors=$2; shift 2; exec "$@" >> "$output" 2>> "$errors"', "sh",
                      output, errors, tap.REPORT, *arguments, cwd=cwd, **settings)
        with open(output, encoding="utf-8") as written, open(errors, encoding="utf-8") as said:
            by_ranks = written.read(), said.read(), done.returncode
    assert by_ranks == (alone.stdout, alone.stderr, alone.returncode), (ranks, arguments, alone, by_ranks, done.stderr)
    return alone


def same_all(jobs, **settings):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [future.result() for future in [pool.submit(same, *job, **settings) for job in jobs]]


@tap.case
def golden_measurements_by_ranks(_):
    need_ranks()
    # of traces the ranks read nothing; and mpirun loses parts of long messages where the status is not 0
    everything = sorted(name for name in os.listdir(tap.GOLDEN)
                        if os.path.isdir(os.path.join(tap.GOLDEN, name)) and not name.startswith("traced"))
    # all together, also the damaged ones: several units, many columns
    jobs = [(1 + number % 5, "--merge", "--view", view, "-f", ("text", "csv")[number % 2], *everything)
            for number, view in enumerate(VIEWS)]
    jobs += [(5, "--merge", "--view", "topdown", "-f", "json", *everything), (4, "-f", "csv", "foreign"), (2, "two"),
             (3, "--view", "parallelism", "-f", "csv", "graphs"), (2, "--view", "critical-path", "graphs"),
             (4, "--merge", "--view", "topdown", "-f", "csv", "two", "blames")]
    jobs += [(3, "--view", view, "-f", "csv", "./ranks") for view in ("ranks", "mpi", "efficiency", "advice", "topdown")]
    # the first rank alone writes, so one form of each is enough
    jobs += [(2 + number % 3, "--view", view, "-f", ("text", "csv")[(number + hostile) % 2], "messages" + "-hostile" * hostile)
             for number, view in enumerate(("messages", "wait-states", "ranks", "efficiency", "parallelism", "summary"))
             for hostile in (False, True)]
    done = same_all(jobs)
    assert all(one.stdout for one in done if "foreign" not in one.args[-1:])


@tap.case
def hybrid_measurements_by_ranks(directory):
    need_ranks()
    binary = program(directory, "clang")
    job = Job(directory, 5, binary, options=("-q", "-p", "log"))
    killed = Job(directory, 3, binary, "kill", options=("-q",), output="killed")
    both = ("--merge", job.output, killed.output)
    jobs = [(2 + number % 2, "-j", str(1 + number // 2 % 2), "--view", view, "-f", ("json", "text")[number % 2], *both)
            for number, view in enumerate(VIEWS)]
    jobs += [(8, "--view", "topdown", "-f", "csv", "--root", "rank_work", *both),
             (4, "--view", "flat", "-f", "csv", "--lines", *both),
             (3, "--view", "whatif", "--what-if", "rank_work=2", job.output),
             (2, "--view", "threads", "-f", "csv", "--sort", "work_s", *both)]
    for done in same_all(jobs):
        assert done.returncode == 0 and done.stdout, done.stderr
    # the statistics need a second reading of the files: the report has the differences between ranks and threads
    assert any(row["rank_work_max_rank"] == "4" and row["rank_work_min_rank"] == "0" for row in job.view("topdown"))


@tap.case
def pages_and_databases_by_ranks(directory):
    """Their tables are made by child processes, which get no help from the other ranks."""
    need_ranks()
    for form, name in ((form, name) for form in ("html", "sqlite") for name in ("./messages", "./ranks")):
        alone, shared = (os.path.join(directory, f"{name[2:]}-{by}.{form}") for by in ("alone", "ranks"))
        if report("-q", "-f", form, "-o", alone, name, cwd=tap.GOLDEN).returncode and form == "sqlite":
            continue  # built without SQLite
        done = mpirun(3, tap.REPORT, "-q", "-f", form, "-o", shared, name, cwd=tap.GOLDEN)
        assert done.returncode == 0, (form, name, done.stderr)
        with open(alone, "rb") as one, open(shared, "rb") as other:
            assert one.read() == other.read(), (form, name)


@tap.case
def failures_are_reported_once(directory):
    need_ranks()
    for arguments in (("nowhere",), ("--view", "nonsense", "basic"), ("basic", "nowhere"), ("basic", "two"),
                      ("--root", "nobody", "-f", "csv", "--view", "topdown", "basic"), ("--sort", "colour", "basic"),
                      ("--help",), ("-o", os.path.join(directory, "no", "report"), "basic")):
        same(3, *arguments)
    output = os.path.join(directory, "report.csv")
    alone = same(1, "--view", "topdown", "-f", "csv", "basic").stdout
    done = mpirun(3, tap.REPORT, "--view", "topdown", "-f", "csv", "-o", output, "basic", cwd=tap.GOLDEN)
    with open(output, encoding="utf-8") as file:
        assert done.stdout == "" and file.read() == alone, done.stderr


def indexes(path):
    """The indexes of traces by their names."""
    found = {}
    for name in os.listdir(path):
        if name.endswith(".index"):
            with open(os.path.join(path, name), "rb") as file:
                found[name] = file.read()
    return found


@tap.case
def every_rank_builds_the_indexes_of_its_processes(directory):
    need_ranks()
    path, view = os.path.join(directory, "run"), ("-q", "-j", "1", "--view", "timeline", "--index", "run")
    tap.must(os.path.join(tap.BUILD, "tests", "synthesize"), "--processes", "6", "--threads", "2", "--contexts", "20",
             "--events", "20000", path)
    for rank in range(3):
        shutil.copytree(path, os.path.join(directory, f"rank{rank}", "run"))
    alone = report(*view, cwd=directory)
    built = indexes(path)
    assert alone.returncode == 0 and len(built) == 6, alone
    for name in built:
        os.remove(os.path.join(path, name))
    done = mpirun(3, tap.REPORT, *view, cwd=directory)
    assert (done.returncode, done.stdout, done.stderr) == (0, alone.stdout, ""), done
    assert indexes(path) == built
    # each rank in a directory of its own, where it leaves what it has built
    done = mpirun(3, "sh", "-c", 'cd rank$OMPI_COMM_WORLD_RANK && exec "$@"', "sh", tap.REPORT, *view, cwd=directory)
    assert (done.returncode, done.stdout) == (0, alone.stdout), done
    parts = [indexes(os.path.join(directory, f"rank{rank}", "run")) for rank in range(3)]
    assert [len(part) for part in parts] == [2, 2, 2] and parts[0] | parts[1] | parts[2] == built, parts


def opens_to_write(pid):
    """Whether a process waits in openat(), for writing."""
    with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
        call = file.read().split()
    return call[0] == "257" and bool(int(call[3], 16) & os.O_WRONLY)


def killed_rank(directory, victim):
    """Kills a rank while the first one is blocked, because no process reads its report: all ranks have called
    MPI_Init() then, before which mpirun may not see a rank die.  Returns mpirun's exit status."""
    pipe = os.path.join(directory, f"report-{victim}")
    os.mkfifo(pipe)
    script = f"echo $$ >{pipe}.$OMPI_COMM_WORLD_RANK.new; mv {pipe}.$OMPI_COMM_WORLD_RANK.new " \
             f"{pipe}.$OMPI_COMM_WORLD_RANK; exec \"$@\""
    job = tap.start(MPIRUN, "-n", "3", "sh", "-c", script, "sh", tap.REPORT, "--view", "topdown", "-f", "csv", "-o",
                    pipe, "basic",
                    cwd=tap.GOLDEN, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **OPEN_MPI)
    pids = []
    for rank in range(3):
        tap.wait_until(lambda: os.path.exists(f"{pipe}.{rank}"), f"rank {rank} begins")
        with open(f"{pipe}.{rank}", encoding="ascii") as file:
            pids.append(int(file.read()))
    tap.wait_until(lambda: opens_to_write(pids[0]), "the first rank opens its report")
    os.kill(pids[victim], signal.SIGKILL)
    return job.wait(timeout=60)


@tap.case
def a_rank_that_dies_ends_the_job(directory):
    need_ranks()
    for victim in range(3):
        assert killed_rank(directory, victim) == 128 + signal.SIGKILL, victim


@tap.case
def programs_of_one_job_have_own_addresses_of_a_filter(directory):
    output, settings = os.path.join(directory, "job"), os.path.join(directory, "filter.ini")
    with open(settings, "w") as file:
        file.write("[filter]\nfunctions = !*e*\n")  # more addresses than an environment holds
    own = [tap.compile_c(directory, name, "int main(void) { return 0; }\n", "-fopenmp") for name in ("rank0", "rank1")]
    # not with ":" between the programs: mpirun 5.0.7 crashes then, also without the tool
    done = mpirun(2, "sh", "-c", 'exec "$@" ./rank$OMPI_COMM_WORLD_RANK', "sh", tap.LAUNCHER, "-q", "--config", settings,
                  "-o", output, cwd=directory)
    assert done.returncode == 0, done
    texts = [open(path).read() for path in glob.glob(os.path.join(output, "code-*.filter"))]
    assert len(texts) == 2 and all(sum(program + " " in text for text in texts) == 1 for program in
                                   map(os.path.basename, own)), [text[:200] for text in texts]


@tap.case
def without_mpi_the_first_rank_does_all_the_work(_):
    alone = report("--view", "topdown", "-f", "csv", "basic", cwd=tap.GOLDEN)
    # like a launcher that this MPI does not know: Open MPI does not see a job
    for rank in range(2):
        done = report("--view", "topdown", "-f", "csv", "basic", cwd=tap.GOLDEN, PMI_SIZE="2", PMI_RANK=str(rank),
                      **OPEN_MPI)
        assert done.returncode == alone.returncode == 0, done.stderr
        assert done.stdout == ("" if rank else alone.stdout), (rank, done.stdout)
        assert ("the first rank does all the work" in done.stderr) == (rank == 0), (rank, done.stderr)


tap.main()
