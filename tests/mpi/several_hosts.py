"""Jobs whose ranks seem to have run on several hosts with clocks of their own: measurements of one host, rewritten.
What the reports say is what they say of the job as it was measured, within what they say that the clocks leave open."""
import glob
import os
import random
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import trace_formats as formats
from jobs import Job, LIBRARIES, build, change_logs, mpirun
from measured import tap
from report import report, rows
from shifted_hosts import Clock, on_hosts, rank_of

MODULE = os.path.join(os.path.dirname(tap.LIBRARY), "hpcprof-lite-otf2.so")
SYNTHESIZE = os.path.join(tap.BUILD, "tests", "synthesize")
TICKS = 12345 << 24
HERE, AHEAD = Clock(), Clock(5.0, 1, TICKS)
SLOW, FAST = Clock(-3.0, 1 - 50e-6, -TICKS // 64), Clock(70.0, 1.01, TICKS * 7)
CONTRADICTS = re.compile(r"arrive\s+too\s+early\s+by\s+them:\s+by\s+up\s+to\s+([\d.]+) us")
OPEN = re.compile(r"^Clocks of (\d+) hosts are corrected by their messages: if they are linear, times are exact to "
                  r"\+-([\d.]+) us, each wait between hosts to \+-([\d.]+) us\.$".replace(" ", r"\s+"), re.M)


def measure(directory, library, ranks, source, *arguments, options=(), flags=(), name="job"):
    job = Job(directory, library, ranks, build(directory, source, library, *flags), *arguments,
              options=("-p", "log", *options), output=name)
    assert job.done.returncode == 0, job.done
    return job.output


def text_of(view, measurement):
    return tap.must(tap.REPORT, "-q", "--view", view, measurement)


def open_s(measurement, hosts):
    """By how much times, and each wait between hosts, can be wrong, as the view says.  Nothing is moved; on a busy
    machine, a rank can lose its core between a call and the record of its send."""
    text = text_of("messages", measurement)
    found = OPEN.search(text)
    assert found and int(found[1]) == hosts and "not corrected" not in text, text
    tap.timed("Moved" not in text, text)
    return float(found[2]) / 1e6, float(found[3]) / 1e6


def metrics(measurement):
    return {row["metric"]: float(row["value"] or "nan") for row in rows("efficiency", "-q", measurement)
            if row["kind"] == "job"}


@tap.case
def counted_work_and_span_are_those_of_one_host(directory):
    for library, ranks, forms in (("openmpi", 3, ("ring", "overlap", "collectives", "scan", "waitany", "cancelled",
                                                  "creation", "synchronous", "neighbours")),
                                  ("mpich", 4, ("master", "halo", "wavefront", "later", "probe", "split",
                                                "two_groups", "window", "both_ways", "repeated_collectives"))):
        job = measure(directory, library, ranks, "job_forms.c", "2", *forms, options=("--work", "user"),
                      flags=("-fopenmp",), name=library)
        wanted = rows("parallelism", job)
        assert wanted[0]["kind"] == "job"
        for number, hosts in enumerate((((0, HERE), (1, AHEAD), (2, SLOW), (1, AHEAD)),
                                        ((0, FAST), (0, FAST), (1, HERE), (2, SLOW)))):
            clocks = hosts[:ranks]
            copy = on_hosts(job, os.path.join(directory, f"{library}-{number}"), clocks)
            found = rows("parallelism", copy)
            assert found == wanted, (library, clocks, found[:3], wanted[:3])
            tap.timed(rows("messages", copy) and open_s(copy, len({host for host, _ in clocks}))[0] < 0.1)
            scenario = "whatif", "--what-if", "work_in_region=3"
            assert rows(*scenario, copy) == rows(*scenario, job)


def work_of(measurement, kind):
    """The work of the row of a kind.  That of the log is the same, else the report fails."""
    return next(float(row["work"]) for row in rows("parallelism", measurement) if row["kind"] == kind)


@tap.case
def time_that_ranks_work_is_counted_on_their_own_clocks(directory):
    """Of a host whose seconds are longer by 1 %, it is more; the ticks of the logs are those of several counters."""
    job = measure(directory, "mpich", 3, "job_forms.c", "2", "ring", "halo", "collectives", flags=("-fopenmp",))
    alone = []
    for rank in range(3):
        path, = [path for path in glob.glob(os.path.join(job, "*.hpcrun")) if rank_of(path) == rank]
        own = os.path.join(directory, f"rank-{rank}")
        os.mkdir(own)
        for file in glob.glob(path.replace(".hpcrun", ".*")):
            shutil.copy(file, own)
        alone.append(work_of(own, "program"))
    assert abs(work_of(job, "job") / sum(alone) - 1) < 1e-6
    for number, fast in enumerate(((1, 2), (0,))):
        hosts = [(1, FAST) if rank in fast else (0, AHEAD) for rank in range(3)]
        copy = on_hosts(job, os.path.join(directory, f"hosts-{number}"), hosts)
        wanted = sum(work * hosts[rank][1].rate for rank, work in enumerate(alone))
        table = rows("parallelism", copy)
        assert abs(float(table[0]["work"]) / wanted - 1) < 1e-6, (table[0], wanted)
        path = sum(float(row["critical_path"]) for row in table[1:])
        assert 0 < float(table[0]["span"]) <= wanted and abs(path - float(table[0]["span"])) < 1e-7 * len(table), table
        spans = [float(rows("parallelism", measured)[0]["span"]) for measured in (job, copy)]
        assert 1 - 1e-6 < spans[1] / spans[0] < 1.01 + 1e-6, spans


@tap.case
def waits_are_those_of_one_host_within_what_is_stated(directory):
    """However busy the machine is: so the sums are off by no more than all their waits together."""
    steps = 6

    def check(library, form, waits, what):
        """what(measurement): how long calls waited, of which so many can wait in each step and before the first one."""
        job = measure(directory, library, 3, "late_ranks.c", form, str(steps), name=f"{library}-{form}")
        wanted = what(job)
        for number, hosts in enumerate(([(0, HERE), (1, AHEAD), (2, SLOW)], [(1, FAST), (0, SLOW), (1, FAST)])):
            copy = on_hosts(job, os.path.join(directory, f"{library}-{form}-{number}"), hosts)
            times_s, wait_s = open_s(copy, len({host for host, _ in hosts}))
            assert 0 < times_s <= wait_s <= 2 * times_s + 1e-8
            found = what(copy)
            assert sum(wanted.values()) > steps * 0.1 and set(found) == set(wanted), (found, wanted)
            for key, seconds in wanted.items():
                seconds *= next(clock.rate for host, clock in hosts if not host)  # those of the first host
                assert abs(found[key] - seconds) <= waits * (steps + 1) * wait_s + 1e-6, \
                    (library, form, key, found[key], seconds, wait_s)

    def all_waits(measurement):
        return {"all": sum(float(row["wait_s"]) for row in rows("wait-states", "-q", measurement))}

    def of_pairs(measurement):
        return {(row["from"], row["to"]): float(row["late_sender_s"]) for row in rows("messages", "-q", measurement)}
    for library in LIBRARIES:
        check(library, "barrier", 3, all_waits)
        check(library, "chain", 1, of_pairs)


@tap.case
def a_wait_before_the_first_message_is_as_exact(directory):
    """The messages say little of rates: so much is stated, as the first one was waited for since long before."""
    messages = 6

    def wait_of(measurement):
        return next(float(row["late_sender_s"]) for row in rows("messages", measurement) if row["from"] == "0")
    for library in LIBRARIES:
        job = measure(directory, library, 2, "late_first.c", name=library)
        wanted = wait_of(job)
        assert wanted > 0.2, wanted
        for number, clock in enumerate((FAST, SLOW, AHEAD)):
            copy = on_hosts(job, os.path.join(directory, f"{library}-{number}"), [(0, HERE), (1, clock)])
            _, wait_s = open_s(copy, 2)
            found = wait_of(copy)
            assert abs(found - wanted) <= messages * wait_s + 1e-6, (library, number, found, wanted, wait_s)


@tap.case
def waits_of_synthetic_jobs_are_exact_to_what_is_stated(directory):
    """Any clocks of up to 9 hosts."""
    ranks, steps, cycles, generator = 9, 4, 20, random.Random(1)
    job = os.path.join(directory, "job")
    tap.must(SYNTHESIZE, "--processes", str(ranks), "--threads", "1", "--steps", str(steps),
             "--messages", str(2 * steps * cycles), job)
    for path in glob.glob(os.path.join(job, "node0-*")):  # the files' own name of their host is another one
        os.rename(path, path.replace("node0-", "node1-"))
    pairs, states = rows("messages", job), rows("wait-states", job)
    for number in range(16):
        count = generator.randint(2, ranks)
        clocks = [Clock(generator.uniform(-9, 9), 1 + generator.uniform(-1, 1) / 10 ** generator.uniform(1.7, 6),
                        generator.randrange(1 << 40)) for _ in range(count)]
        hosts = [rank if rank < count else generator.randrange(count) for rank in range(ranks)]
        copy = on_hosts(job, os.path.join(directory, str(number)), [(host, clocks[host]) for host in hosts])
        _, wait_s = open_s(copy, count)
        found = {(row["from"], row["to"]): float(row["late_sender_s"]) for row in rows("messages", copy)}
        for row in pairs:
            wanted = float(row["late_sender_s"]) * clocks[0].rate
            off = abs(found[row["from"], row["to"]] - wanted)
            assert off <= int(row["messages"]) * wait_s + 1e-8, (number, row, off, wait_s)
        waited = sum(float(row["wait_s"]) for row in rows("wait-states", copy))
        wanted = sum(float(row["wait_s"]) for row in states) * clocks[0].rate
        allowed = (2 * steps + 1) * cycles * ranks * wait_s + 1e-8
        assert abs(waited - wanted) <= allowed, (number, waited, wanted, wait_s)


def last_calls(measurement):
    """When each rank has called MPI last, from the lanes of the timeline."""
    calls = [row for row in rows("timeline", measurement) if row["category"] == "mpi"]
    return sorted({int(row["rank"]): float(row["start_s"]) for row in calls}.items())


@tap.case
def efficiencies_and_elapsed_time_are_those_of_one_host(directory):
    def elapsed(measurement):
        return next(float(row["value"]) for row in rows("summary", "-q", measurement) if row["item"] == "elapsed")
    job = measure(directory, "openmpi", 3, "late_ranks.c", "chain", "5", options=("-t",))
    copy = on_hosts(job, os.path.join(directory, "hosts"), [(0, HERE), (1, AHEAD), (2, FAST)])
    residue, _ = open_s(copy, 3)
    wanted, found = metrics(job), metrics(copy)
    allowed = 4 * residue + 1e-3  # clocks are known best where messages are, which do not begin with the processes
    assert abs(elapsed(copy) - elapsed(job)) < allowed, (elapsed(copy), elapsed(job), residue)
    for (rank, at), (_, corrected) in zip(last_calls(job), last_calls(copy)):
        assert abs(corrected - at) < allowed, (rank, corrected, at, residue)
    for name, value in wanted.items():
        same = value != value and found[name] != found[name]
        assert same or abs(found[name] - value) < 0.01, (name, value, found)
    if wanted["mpi_serialisation"] != wanted["mpi_serialisation"]:
        raise tap.Skip("threads had no core in calls of MPI")


def backwards(archive):
    """The messages that an archive shows as arriving before they were sent, and how many there are."""
    messages = formats.Otf2Messages(archive)
    pairs = [(sent, got) for queue in messages._queues.values() for sent, got in zip(queue["sent"], queue["got"])]
    return [(sent, got) for sent, got in pairs if got[1] < sent[1]], len(pairs)


@tap.case
def no_message_arrives_before_it_was_sent(directory):
    """Nor in the exports of the timeline; a clock that is corrected is needed for that."""
    for library in LIBRARIES:
        job = measure(directory, library, 3, "message_forms.c", options=("-t",), name=library)
        copy = on_hosts(job, os.path.join(directory, f"{library}-hosts"), [(0, HERE), (1, AHEAD), (2, FAST)])
        open_s(copy, 3)
        trace = os.path.join(directory, f"{library}.json")
        tap.must(tap.REPORT, "-q", "-f", "perfetto", "-o", trace, copy)
        messages = formats.perfetto_messages(trace)
        assert len(messages) > 20 and min(length for *_, length in messages) >= 0, sorted(messages)[:3]
        if os.path.exists(MODULE):
            archive = os.path.join(directory, f"{library}-archive")
            tap.must(tap.REPORT, "-q", "-f", "otf2", "-o", archive, copy)
            early, count = backwards(os.path.join(archive, "traces.otf2"))
            assert not early and count > 20, early


def check_uncorrected(measurement):
    text = text_of("messages", measurement)
    assert "Clocks of several hosts are not corrected" in text, text
    first = (rows("parallelism", measurement) or [None])[0]
    assert not first or "span of a job is not known" in first["note"] and not float(first["span"] or 0), first
    assert metrics(measurement)["mpi_serialisation"] != metrics(measurement)["mpi_serialisation"]  # not known


@tap.case
def clocks_that_nothing_relates_are_not_corrected(directory):
    """Messages in one direction; and a host without a log."""
    job = measure(directory, "openmpi", 3, "one_way.c")
    check_uncorrected(on_hosts(job, os.path.join(directory, "one-way"), [(0, HERE), (1, AHEAD), (1, AHEAD)]))
    again = measure(directory, "mpich", 3, "job_forms.c", "2", "halo", options=("--work", "user"), flags=("-fopenmp",),
                    name="again")
    assert "not known" not in rows("parallelism", again)[0]["note"]
    copy = on_hosts(again, os.path.join(directory, "less"), [(0, HERE), (1, AHEAD), (2, SLOW)])
    last, = [path for path in glob.glob(os.path.join(copy, "*.hpcrun")) if rank_of(path) == 2]
    os.remove(last.replace(".hpcrun", ".graph"))
    check_uncorrected(copy)


@tap.case
def contradictory_clocks_keep_the_order_of_messages(directory):
    """Two ranks of one host, with different clocks: no line is right, which is stated.  The span only needs the order."""
    def hosts(ahead):
        """By so many millions of ticks."""
        return [(0, HERE), (1, AHEAD), (1, Clock(5.0, 1, TICKS + (ahead << 20)))]
    job = measure(directory, "mpich", 3, "job_forms.c", "2", "ring", "halo", "collectives", "scan",
                  options=("--work", "user"), flags=("-fopenmp",))
    copy = on_hosts(job, os.path.join(directory, "hosts"), hosts(8000))
    text = text_of("wait-states", copy)
    assert CONTRADICTS.search(text) and re.search(r"Moved, so that nothing arrives before it was sent: \d+", text), text
    assert rows("parallelism", copy) == rows("parallelism", job)
    job = measure(directory, "openmpi", 3, "late_ranks.c", "halo", "4", options=("-t",), name="late")
    copy = on_hosts(job, os.path.join(directory, "late-hosts"), hosts(40))
    tap.timed(CONTRADICTS.search(text_of("messages", copy)), text_of("messages", copy))
    trace = os.path.join(directory, "trace.json")
    tap.must(tap.REPORT, "-q", "-f", "perfetto", "-o", trace, copy)
    if os.path.exists(MODULE):
        archive = os.path.join(directory, "archive")
        tap.must(tap.REPORT, "-q", "-f", "otf2", "-o", archive, copy)
        early, count = backwards(os.path.join(archive, "traces.otf2"))
        assert not early and count == 4 * 4, early
    lengths = [length for *_, length in formats.perfetto_messages(trace)]
    assert len(lengths) == 4 * 4 and min(lengths) >= 0, sorted(lengths)


@tap.case
def several_ranks_report_what_one_does(directory):
    job = measure(directory, "openmpi", 3, "job_forms.c", "2", "ring", "halo", "collectives", flags=("-fopenmp",))
    for ahead in 0, 8000 << 20:  # these clocks contradict each other
        hosts = [(0, HERE), (1, AHEAD), (1, Clock(5.0, 1, TICKS + ahead))]
        copy = on_hosts(job, os.path.join(directory, f"hosts-{ahead}"), hosts)
        for view in "messages", "wait-states", "efficiency", "parallelism", "ranks":
            command = tap.REPORT, "-q", "--view", view, copy
            alone, done = tap.run(*command), mpirun("openmpi", 3, *command, cwd=directory)
            assert done.returncode == alone.returncode == 0 and done.stdout == alone.stdout, (view, done, alone)


@tap.case
def damaged_logs_do_no_harm(directory):
    """Bytes that were changed: a report or a message."""
    job = measure(directory, "openmpi", 3, "job_forms.c", "2", "halo", "collectives", options=("-t", "--work", "user"),
                  flags=("-fopenmp",))
    generator = random.Random(7)
    for number in range(8):
        copy = on_hosts(job, os.path.join(directory, f"copy-{number}"), [(0, HERE), (1, AHEAD), (2, SLOW)])
        change_logs(copy, 1 + number, generator)
        for view in "parallelism", "wait-states", "timeline":
            done = report("-q", "--view", view, copy)
            assert done.returncode in (0, 1) and (done.stdout or done.stderr), (number, view, done)


tap.main()
