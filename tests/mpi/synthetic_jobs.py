"""Jobs whose logs tests/support/synthesize writes: messages, waits, work and span are exact, in extents of any size, and
a report by several ranks of hpcprof-lite equals that of one."""
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from jobs import mpirun
from measured import tap
from report import rows

SYNTHESIZE = os.path.join(tap.BUILD, "tests", "synthesize")
VIEWS = ("messages", "wait-states", "ranks", "efficiency", "parallelism")


def constants():
    """Those of tests/support/synthetic_job.h."""
    with open(os.path.join(tap.SUPPORT, "synthetic_job.h"), encoding="utf-8") as file:
        return {name: int(value) for name, value in re.findall(r"SYNTHETIC_(\w+) = (\d+)", file.read())}


class Job:
    """A synthetic job, with what is known of it."""

    def __init__(self, directory, ranks, threads, steps, cycles):
        self.ranks, self.threads, self.steps, self.cycles = ranks, threads, steps, cycles
        self.path = os.path.join(directory, "job")
        tap.must(SYNTHESIZE, "--processes", str(ranks), "--threads", str(threads), "--steps", str(steps), "--messages",
                 str(2 * steps * cycles), self.path)

    def late(self, cycle, sender, receiver):
        """How often and how long the receiver waits for the sender in a cycle, in ns."""
        late, call = constants()["LATE"], constants()["CALL"]
        delay = [0] * self.ranks
        delay[cycle % self.ranks] = late
        often = total = 0
        for _ in range(self.steps):
            after = [max(delay[rank], delay[rank - 1] - call, delay[(rank + 1) % self.ranks] - 2 * call)
                     for rank in range(self.ranks)]
            wait = after[receiver] - delay[receiver]
            to_right = receiver == (sender + 1) % self.ranks
            if wait and after[receiver] == delay[sender] - call * (1 if to_right else 2):
                often, total = often + 1, total + wait
            delay = after
        return often, total


def check_messages(job):
    found = {(int(row["from"]), int(row["to"])): row for row in rows("messages", job.path)}
    pairs = {(rank, (rank + by) % job.ranks) for rank in range(job.ranks) for by in (1, job.ranks - 1)}
    assert set(found) == pairs
    for (sender, receiver), row in found.items():
        waits = [job.late(cycle, sender, receiver) for cycle in range(job.cycles)]
        assert int(row["messages"]) == job.steps * job.cycles, row
        assert int(row["bytes"]) == job.steps * job.cycles * constants()["BYTES"], row
        assert int(row["late_senders"]) == sum(often for often, _ in waits), (row, waits)
        assert round(float(row["late_sender_s"]) * 1e9) == sum(total for _, total in waits), (row, waits)
        assert row["late_receivers"] == "0" and float(row["late_receiver_s"]) == 0, row


def check_waits(job):
    """Each cycle, each rank but the late one waits for as long as that is late, for messages or at the MPI_Allreduce."""
    late, call = constants()["LATE"], constants()["CALL"]
    assert job.ranks > 2 * job.steps
    for_messages = job.cycles * sum(late - k * call + late - 2 * k * call for k in range(1, job.steps + 1))
    sums, often = {}, {}
    for row in rows("wait-states", job.path):
        sums[row["state"]] = sums.get(row["state"], 0) + round(float(row["wait_s"]) * 1e9)
        often[row["state"]] = often.get(row["state"], 0) + int(row["waits"] or 0)
    assert set(sums) == {"late sender", "wait at all-to-all"}, sums
    assert abs(sums["late sender"] - for_messages) < 10, (sums, for_messages)
    assert abs(sum(sums.values()) - job.cycles * (job.ranks - 1) * late) < 10, sums
    assert often == {"late sender": job.cycles * 2 * job.steps, "wait at all-to-all": job.cycles * (job.ranks - 1)}, often


def check_span(job):
    known = constants()
    serial, region = job.steps * known["STEP"], known["REGION"]
    work = job.cycles * (job.ranks * (serial + job.threads * region) + known["LATE"])
    span = job.cycles * (serial + region + known["LATE"])
    whole, program, construct = rows("parallelism", job.path)
    assert [row["kind"] for row in (whole, program, construct)] == ["job", "program", "parallel"]
    for row in (whole, program):
        assert round(float(row["work"]) * 1e9) == work and round(float(row["span"]) * 1e9) == span, row
    assert round(float(program["critical_path"]) * 1e9) == span - job.cycles * region, program
    assert round(float(construct["critical_path"]) * 1e9) == job.cycles * region, construct
    assert int(construct["instances"]) == job.cycles * job.ranks, construct


def check_efficiency(job):
    """Without waiting for messages, a cycle takes its region and steps, with the late rank's."""
    known = constants()
    cycle = known["REGION"] + 2 + job.steps * known["STEP"]
    begin, late = 1000, -(-job.cycles // job.ranks) * known["LATE"]
    found = {row["metric"]: row["value"] for row in rows("efficiency", job.path)}
    expected = (begin + job.cycles * cycle + late) / (begin + job.cycles * (cycle + known["LATE"]))
    assert abs(float(found["mpi_serialisation"]) - expected) < 2e-6, (found, expected)


def check(job):
    check_messages(job)
    check_efficiency(job)
    check_waits(job)
    check_span(job)
    for view in VIEWS:
        done = tap.run(tap.REPORT, "-q", "--view", view, job.path)
        assert done.returncode == 0 and not done.stderr, done


@tap.case
def messages_waits_and_span_are_exact(directory):
    check(Job(directory, 9, 3, 4, 20))


@tap.case
def many_steps_in_which_delays_spread(directory):
    check(Job(directory, 33, 1, 16, 3))


@tap.case
def a_long_extent_is_read_in_parts(directory):
    """Of each rank, more than 256 KB of records."""
    check(Job(directory, 3, 2, 1, 6000))


@tap.case
def several_ranks_report_what_one_does(directory):
    job = Job(directory, 9, 3, 4, 400)
    for ranks, form in ((2, "text"), (3, "csv"), (12, "csv")):
        for view in VIEWS:
            command = tap.REPORT, "-q", "--view", view, "-f", form, job.path
            alone, done = tap.run(*command), mpirun("openmpi", ranks, *command, cwd=directory)
            assert (done.returncode, done.stdout) == (0, alone.stdout), (ranks, view, form, done, alone)


@tap.case
def a_missing_log_is_missed_by_all(directory):
    job = Job(directory, 9, 2, 2, 5)
    os.remove(os.path.join(job.path, "node0-1004-1.graph"))
    for view in VIEWS:
        command = tap.REPORT, "-q", "--view", view, "-f", "csv", job.path
        alone = tap.run(*command)
        for ranks in (2, 4):
            done = mpirun("openmpi", ranks, *command, cwd=directory)
            assert (done.returncode, done.stdout) == (alone.returncode, alone.stdout), (ranks, view, done, alone)


tap.main()
