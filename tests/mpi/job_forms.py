"""Work, span and critical path of MPI jobs whose result follows from their source (job_forms.c): exact, on Open MPI and
MPICH, for every number of ranks and threads."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from jobs import LIBRARIES, Job, build, mpirun
from measured import tap
from report import check_spans, report, rows

STEPS = 4
OPTIONS = "-p", "log", "--work", "user"


def exchange(ranks, other):
    """The work of one thread of each rank, and the longest chain, of steps in which neighbours exchange messages.  other:
    what a rank does while they are on their way."""
    clocks, work = [0] * ranks, 0
    for step in range(STEPS):
        done = [10 if step % ranks == rank else 1 for rank in range(ranks)]
        work += sum(done)
        clocks = [clock + more for clock, more in zip(clocks, done)]
        if other:  # all messages are sent at once, and awaited after more work
            others = [max([clocks[j] for j in (i - 1, i + 1) if 0 <= j < ranks], default=0) for i in range(ranks)]
            clocks = [max(clock + other, there) for clock, there in zip(clocks, others)]
        else:
            clocks = [max(clocks[i:i + 2]) for i in range(ranks)]  # from the right, then from the left
            clocks = [max(clocks[max(i - 1, 0):i + 1]) for i in range(ranks)]
    return work, max(clocks)


def halo(n, t):
    work, span = exchange(n, 0)
    return work * t, span


def overlap(n, t):
    work, span = exchange(n, 2)
    return work + STEPS * 2 * n * t, span


def neighbours(ranks, _):
    """Neighbours in a line, then in a ring in which each rank waits for the next one, after 2 units more."""
    done = [[10 if step % ranks == rank else 1 for rank in range(ranks)] for step in range(STEPS)]
    clocks, work = [0] * ranks, 2 * sum(map(sum, done)) + 2 * STEPS * ranks
    for more in done:
        clocks = [clock + units for clock, units in zip(clocks, more)]
        clocks = [max(clocks[max(i - 1, 0):i + 2]) for i in range(ranks)]
    for more in done:
        clocks = [clock + units for clock, units in zip(clocks, more)]
        clocks = [max(clocks[i] + 2, clocks[(i + 1) % ranks]) for i in range(ranks)]
    return work, max(clocks)


def halves_with_masters(n, t):
    work, spans = 0, []
    for size in ((n + 1) // 2, n // 2):
        steps = [[10 if step % size == own else 1 for own in range(1, size)] for step in range(STEPS)]
        work += t * sum(map(sum, steps)) + 2 * STEPS
        spans.append(sum(max(done, default=0) + 2 for done in steps))
    return work, max(spans)


def group(n, _):
    """All ranks with even numbers wait for each other."""
    even = range(0, n, 2)
    return sum(rank + 1 + n - rank + rank + 1 for rank in even), even[-1] + 1 + n + even[-1] + 1


def roots_of_groups(n, _):
    """The first one takes all that the others give it, then what the second one gives; each other one takes only what
    the first one has given."""
    first, others = 6 + max(1, n - 1) + 3, [6 + rank + (20 if rank == 1 else 3) for rank in range(1, n)]
    ends = [max(first, others[0]) + 1, others[0] + 1, *(other + 20 for other in others[1:])]
    work = n * (n + 1) // 2 + 6 + n - 1 + 1 + n * (n - 1) // 2 + 20 + 3 * (n - 1) + 2 + 20 * (n - 2)
    return work, n + max(ends)


# Work and span of each form, of n ranks with t threads in their regions.
FORMS = {
    "ring": lambda n, t: (t * sum(10 + r for r in range(n)) + 5, sum(10 + r for r in range(n)) + 5),
    "master": lambda n, t: (2 + t * sum(10 * r for r in range(n)) + 3, 2 + 10 * (n - 1) + 3),
    "halo": halo,
    "overlap": overlap,
    "collectives": lambda n, t: (t * n * (n + 1) // 2 + 5 + 2 * n, n + 7),
    "scan": lambda n, t: (n * (n + 1) // 2 + n, n + 1),
    "wavefront": lambda n, t: (3 * n * STEPS * t, 3 * (n + STEPS - 1)),
    "split": lambda n, t: (n * (n + 1) // 2 + 2 * n, n + 2),
    "to_self": lambda n, t: (9 * n, 9),
    "waitany": lambda n, t: (5 * n * (n - 1) // 2 + 1, 5 * (n - 1) + 1),
    "order": lambda n, t: (53, 33),
    "persistent": lambda n, t: (n // 2 * 15, 11),
    "cancelled": lambda n, t: (5 * n, 5),
    "later": lambda n, t: (n * (n - 1) // 2 + 7 * n, n + 6),
    "probe": lambda n, t: (9, 7),
    "by_threads": lambda n, t: (n * (n + 1) // 2 * t * (t + 1) // 2 + n * t, n * t + 1),
    "creation": lambda n, t: (2 * n * (n + 1) + 2 * n, max(3 * n + 3, 4 * n)),
    "synchronous": lambda n, t: (57 + 25, 57 + 6),
    "both_ways": lambda n, t: (4 * n + 38, 40),
    "repeated_collectives": lambda n, t: (STEPS * (9 + 3 * n), STEPS * 10 + 2),
    "neighbours": neighbours,
    "window": lambda n, t: (2 * n * (n + 1) + n * (n - 1) // 2, 5 * n - 1),
    "file": lambda n, t: (n * (n + 1), 2 * n),
    "halves_with_masters": halves_with_masters,
    "group": group,
    "two_groups": lambda n, t: (n * (n + 1) // 2 + 6 + n + 1 + 5 * (n - 1) + 2 * n, n + 7 + 5 + 2),
    "roots_of_groups": roots_of_groups,
}


def measure(directory, mpi, ranks, name, *command):
    job = Job(directory, mpi, ranks, *command, options=OPTIONS, output=f"{name}-{mpi}")
    assert job.done.returncode == 0, job.done
    return job


def check(directory, mpi, ranks, threads, *forms):
    """Runs the forms one after another, in one job."""
    job = measure(directory, mpi, ranks, f"{ranks}-{threads}-{len(forms)}-{forms[0]}",
                  build(directory, "job_forms.c", mpi, "-fopenmp"), str(threads), *forms)
    check_job(job, mpi, forms, ranks, threads)
    if len(forms) > 1:  # with regions; threads that MPI has created do not count
        assert len(rows("threads", job.output)) == ranks * threads, (mpi, ranks, threads)
    return job


def check_job(job, mpi, forms, ranks, threads):
    table = rows("parallelism", job.output)
    check_spans(table)
    wanted = [sum(column) for column in zip(*(FORMS[form](ranks, threads) for form in forms))]
    got = [float(table[0]["work"]), float(table[0]["span"])]
    assert table[0]["unit"] == "units" and got == wanted, (mpi, forms, ranks, threads, got, wanted)
    assert [row["kind"] for row in table[:2]] == ["job", "program"] and int(table[0]["instances"]) == ranks, table[:2]
    path = sum(float(row["critical_path"]) for row in table[1:])
    assert path == wanted[1], (mpi, forms, ranks, threads, path, wanted)


def check_all(directory, mpi, *sizes):
    """All forms at once, then, if that is wrong, each alone, so that it is known which one it is."""
    for ranks, threads in sizes:
        try:
            check(directory, mpi, ranks, threads, *FORMS)
        except AssertionError:
            for form in FORMS:
                check(directory, mpi, ranks, threads, form)
            raise


@tap.case
def what_if_of_a_job(directory):
    """A wavefront whose work takes a third: exactly a third of the chain through all ranks."""
    job = check(directory, "openmpi", 3, 2, "wavefront")
    scenario = rows("whatif", "--what-if", "work_in_region=3", job.output)[0]
    assert float(scenario["span"]) == 3 + STEPS - 1, scenario
    path = rows("critical-path", job.output)
    assert max(float(row["critical_path_incl"]) for row in path) == 3 * (3 + STEPS - 1), path[:3]


@tap.case
def parts_make_the_whole(directory):
    """The contexts' time in MPI is that of the threads; with a log, what communication costs is divided into
    dependences between ranks and the rest."""
    job = check(directory, "openmpi", 3, 1, "ring", "collectives")
    contexts, threads = (rows(view, job.output) for view in ("topdown", "threads"))
    parts = float(contexts[0]["mpi_incl_s"]), sum(float(row["mpi_s"]) for row in threads)
    assert abs(parts[0] - parts[1]) < 1e-6 * len(contexts), parts  # also where threads had no core
    value = {row["metric"]: float(row["value"] or 0) for row in rows("efficiency", job.output) if row["kind"] == "job"}
    if not value["mpi_serialisation"]:
        raise tap.Skip("threads had no core in calls of MPI")
    summary = rows("summary", "-q", "--compare", job.output, job.output)
    compared = {row["item"]: float(row["new"] or 0) for row in summary if row["section"] == "job"}
    assert all(abs(compared[name] - value[name]) < 1e-5 for name in ("mpi_serialisation", "mpi_transfer")), compared
    gate = "-q", "--compare", job.output, "--fail-if", "mpi_transfer > 0.1 %", "--fail-if", "mpi_serialisation < 0.1 %"
    assert report(*gate, job.output).returncode == 3
    product = value["mpi_serialisation"] * value["mpi_transfer"]
    assert abs(product - value["mpi_communication"]) < 1e-5 and value["mpi_transfer"] <= 1, value


@tap.case
def operations_on_files_join_ranks(directory):
    """Where the library makes ranks wait: Open MPI does so from three ranks on."""
    for mpi in LIBRARIES:
        job = measure(directory, mpi, 3, "files", build(directory, "job_forms.c", mpi, "-fopenmp"), "1", "use_of_file")
        table = rows("parallelism", job.output)
        assert [float(table[0]["work"]), float(table[0]["span"])] == [2 * 3 * 4, 4 * 3], (mpi, table)
        assert "wait for each other" not in table[1]["note"], (mpi, table)


@tap.case
def ranks_without_openmp(directory):
    """Each is one strand; also beside ranks with regions."""
    for mpi in LIBRARIES:
        plain = build(directory, "job_forms.c", mpi, name=f"without-openmp-{mpi}")
        job = measure(directory, mpi, 3, "plain", plain, "1", *FORMS)
        check_job(job, mpi, FORMS, 3, 1)
        report = tap.must(tap.REPORT, "-q", "parallelism", job.output)
        assert "OpenMP" not in report, report
        regions = build(directory, "job_forms.c", mpi, "-fopenmp")
        output = os.path.join(directory, f"mixed-{mpi}")
        # not with ":" between the programs: mpirun 5.0.7 crashes then, also without the tool
        choose = ('regions=$1 plain=$2; shift 2; [ ${PMI_RANK-$OMPI_COMM_WORLD_RANK} = 2 ] && exec "$@" $plain 1 collectives; '
                  'exec "$@" $regions 2 collectives')
        done = mpirun(mpi, 3, "sh", "-c", choose, "sh", regions, plain, tap.LAUNCHER, "-o", output, *OPTIONS, cwd=directory)
        assert done.returncode == 0, done
        table = rows("parallelism", output)
        check_spans(table)
        got = [float(table[0]["work"]), float(table[0]["span"])]
        assert got == [2 * (1 + 2) + 3 + 5 + 2 * 3, 3 + 7], (mpi, got)


@tap.case
def calls_in_regions_count_as_such_in_a_part_of_the_run(directory):
    """While one thread of a region is in MPI, the other one is not held up: the time of all threads outside MPI lacks
    that thread's only."""
    steps = 4
    job = Job(directory, "openmpi", 2, build(directory, "calls_in_regions.c", "openmpi", "-fopenmp"), str(steps),
              options=("-t",), output="regions")
    assert job.done.returncode == 0, job.done
    regions = [row for row in rows("timeline", job.output) if (row["category"], row["kind"]) == ("mpi", "parallel")]
    assert len(regions) == 2 * steps, regions
    begin, end = min(float(row["start_s"]) for row in regions), min(float(row["end_s"]) for row in regions[-2:])
    part = "-q", "--from", f"{begin:.9f}", "--to", f"{end:.9f}", job.output
    threads = [row for row in rows("threads", *part) if float(row["wall_s"])]
    in_mpi, tool = (sum(float(row[name] or 0) for row in threads) for name in ("mpi_s", "tool_s"))
    outside, = [float(row["value"]) for row in rows("efficiency", *part) if row["metric"] == "thread_time"]
    assert in_mpi > 0.1, threads
    assert abs(2 * 2 * (end - begin) - in_mpi - tool - outside) < 0.01, (begin, end, in_mpi, tool, outside)


@tap.case
def on_open_mpi(directory):
    check_all(directory, "openmpi", (2, 1), (3, 2))


@tap.case
def on_mpich(directory):
    check_all(directory, "mpich", (2, 2), (4, 1))


tap.main()
