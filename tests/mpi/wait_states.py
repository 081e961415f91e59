"""Messages and wait states of MPI jobs, from the graph logs of their ranks: messages and bytes follow from the
programs, and are equal with Open MPI and MPICH; so does which rank is late."""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from jobs import LIBRARIES, build, mpirun
from measured import tap
from report import report, rows

DOUBLE = 8


class Logged:
    """A job with logs: its output, its directory."""

    def __init__(self, directory, library, ranks, source, *arguments, alone=False, options=()):
        self.path = os.path.join(directory, "job")
        program = build(directory, source, library)
        tool = () if alone else (tap.LAUNCHER, "-q", "--overwrite", "-p", "log", *options, "-o", self.path)
        self.done = mpirun(library, ranks, *tool, program, *arguments, cwd=directory)

    def pairs(self):
        """(from, to) → (messages, bytes)."""
        return {(int(row["from"]), int(row["to"])): (int(row["messages"]), int(row["bytes"]))
                for row in rows("messages", "-q", self.path)}

    def states(self):
        return rows("wait-states", "-q", self.path)

    def text(self, view, **environment):
        return tap.must(tap.REPORT, "-q", "--view", view, self.path, **environment)

    def late_s(self):
        """How long ranks were late for others: from when both the late one began its work and another waited, until the
        work ended, by the program's own clock.  The ranks of one machine share it, and no time limit is in it: ranks
        that wait for a processor change it as they change the report."""
        ranks = []
        for path in glob.glob(self.path + "-times-*"):
            with open(path, encoding="ascii") as file:
                ranks.append([tuple(map(float, line.split())) for line in file])
        steps = list(zip(*ranks))
        assert len(ranks) > 1 and steps, ranks
        late = [max(step, key=lambda times: times[1] - times[0]) for step in steps]
        return sum(max(ended - max(began, other), 0)
                   for (began, ended), step in zip(late, steps) for _, other in step if other != ended)

    def unmatched(self):
        """What the text says of operations that are not matched: text → number."""
        text = self.text("messages")
        return {what: int(number) for what, number in re.findall(r"^([A-Z][a-z, ]+): (\d+)$", text, re.M)}


def sum_of(states, state=None, late_rank=None, **cells):
    return sum(float(row["wait_s"]) for row in states if state in (None, row["state"]) and
               late_rank in (None, row["late_rank"] and int(row["late_rank"])) and
               all(row[name] == value for name, value in cells.items()))


def pattern(directory, library, ranks, name, steps, **how):
    job = Logged(directory, library, ranks, "late_ranks.c", name, str(steps), os.path.join(directory, "job-times-"), **how)
    assert job.done.returncode == 0, job.done
    assert not job.unmatched(), job.unmatched()
    return job


@tap.case
def messages_of_every_form_are_decoded(directory):
    for library in LIBRARIES:
        job = Logged(directory, library, 3, "message_forms.c")
        alone = Logged(directory, library, 3, "message_forms.c", alone=True)
        lines = sorted(job.done.stdout.splitlines())
        assert job.done.returncode == 0 and len(lines) == 2, job.done
        assert lines == sorted(alone.done.stdout.splitlines()), (job.done, alone.done)
        assert job.unmatched() == {"Operations that were cancelled, or failed": 3}, job.unmatched()  # receives
        ints = {(0, 0): (51,), (1, 1): (51,), (2, 2): (51,),
                (0, 1): (3, 5, 7, 11, 30, 30, 30, 41, 42, 71), (1, 0): (13, 11, 20, 21, 22, 23, 24, 25, 73)}
        expected = {pair: (len(counts), 4 * sum(counts)) for pair, counts in ints.items()}
        assert job.pairs() == expected, (library, job.pairs())


@tap.case
def messages_go_around_a_ring(directory):
    for library in LIBRARIES:
        for ranks in (2, 3, 4):
            job = pattern(directory, library, ranks, "ring", 5)
            one_way = (5, sum(10 + i for i in range(5)) * DOUBLE)
            assert job.pairs() == {(rank, (rank + 1) % ranks): one_way for rank in range(ranks)}, job.pairs()


@tap.case
def receives_from_any_source_are_matched(directory):
    for library in LIBRARIES:
        for ranks in (2, 4):
            found = pattern(directory, library, ranks, "master", 20).pairs()
            requests = sum(messages for (_, to), (messages, _) in found.items() if to == 0)
            assert requests == 20 + ranks - 1, found
            for rank in range(1, ranks):  # each request has an answer
                assert found[rank, 0][0] == found[0, rank][0], found


@tap.case
def neighbours_wait_for_the_rank_that_is_late(directory):
    for library in LIBRARIES:
        job = pattern(directory, library, 2, "halo", 4)
        assert job.pairs() == {pair: (4, 4 * 100 * DOUBLE) for pair in ((0, 1), (1, 0))}, job.pairs()
        in_work = sum_of(job.states(), late_function="late_work")
        tap.timed(abs(in_work / job.late_s() - 1) < 0.2, library, in_work, job.done)


@tap.case
def collective_operations_wait_for_the_rank_that_is_late(directory):
    for library in LIBRARIES:
        for name, state, late in (("barrier", "wait at barrier", 1), ("broadcast", "late broadcast", 0),
                                  ("reduce", "early reduce", 1), ("creation", "wait at all-to-all", 1),
                                  ("fence", "wait at barrier", 1), ("neighbours", "wait at neighbours", 1)):
            job = pattern(directory, library, 2, name, 3)
            states = job.states()
            in_work = sum_of(states, state, late, late_function="late_work")
            tap.timed(abs(in_work / job.late_s() - 1) < 0.2, library, name, states, job.done)
            assert not job.pairs(), job.pairs()
            assert job.text("messages").startswith("No messages between ranks were logged.\n"), job.text("messages")


@tap.case
def an_operation_that_fails_in_all_ranks_is_counted_once(directory):
    for library in LIBRARIES:
        job = Logged(directory, library, 3, "late_ranks.c", "failed", "4")
        assert job.done.returncode == 0, job.done
        assert job.unmatched() == {"Operations that were cancelled, or failed": 4}, (library, job.unmatched())


@tap.case
def without_samples_only_the_next_call_is_known(directory):
    """The late rank was in no call, and which code it ran is not claimed."""
    job = pattern(directory, "openmpi", 2, "barrier", 3, options=("-e", "task-clock@f1"))
    states = [row for row in job.states() if row["state"] == "wait at barrier" and row["late_rank"] == "1"]
    if any(row["late_function"] == "late_work" for row in states):
        raise tap.Skip("a sample fell into the work")
    late = sum_of(states, late_before="1", late_call="MPI_Barrier", late_function="barrier")
    tap.timed(abs(late / job.late_s() - 1) < 0.2, states, job.done)
    assert "    for rank 1, before MPI_Barrier in barrier at late_ranks.c:" in job.text("wait-states"), states


@tap.case
def text_names_shares_and_lines(directory):
    """Of the rank that was late: its share if it is not all.  A narrow line of a call has its place, not its caller."""
    job = pattern(directory, "openmpi", 2, "halo", 4)  # both are late in turn, in the same code
    lines = job.text("wait-states", COLUMNS="200").splitlines()
    row = max(job.states(), key=lambda row: float(row["wait_s"]))
    share = float(row["late_rank_pct"])
    assert share < 99 and f"    {share:.1f} % of it for rank {row['late_rank']}, in late_work" in lines[2], (row, lines)
    narrow, wide = (job.text("mpi", COLUMNS=width) for width in ("80", "160"))
    assert "MPI_Waitall at late_ranks.c:" in narrow and max(map(len, narrow.splitlines())) <= 80, narrow
    assert " at late_ranks.c:" in wide and "MPI_Waitall in " in wide, wide


@tap.case
def a_send_waits_for_its_receiver(directory):
    for library in LIBRARIES:
        job = pattern(directory, library, 2, "receiver", 3)
        states = job.states()
        in_work = sum_of(states, "late receiver", 1, call="MPI_Ssend", late_function="late_work")
        tap.timed(abs(in_work / job.late_s() - 1) < 0.2, library, states, job.done)


@tap.case
def a_chain_of_ranks_waits_for_its_first_one(directory):
    for library in LIBRARIES:
        job = pattern(directory, library, 3, "chain", 3)
        states = job.states()
        in_work = sum_of(states, "late sender", 0, call="MPI_Recv", late_function="late_work")
        tap.timed(abs(in_work / job.late_s() - 1) < 0.2, library, states, job.done)


@tap.case
def a_rank_that_is_killed_leaves_its_messages(directory):
    for library in LIBRARIES:
        job = Logged(directory, library, 2, "late_ranks.c", "killed", "10")
        assert job.done.returncode != 0 and glob.glob(os.path.join(job.path, "*.live")), job.done
        assert job.pairs() == {(0, 1): (10 + 1, (10 + 1) * 4 * DOUBLE)}, job.pairs()
        assert job.unmatched()["Messages whose receive is in no log"] == 10 // 2, job.unmatched()


@tap.case
def what_cannot_be_answered_is_refused(directory):
    job = pattern(directory, "openmpi", 2, "ring", 2)
    both = os.path.join(directory, "both")
    shutil.copytree(job.path, both)
    part = report("-q", "--from", "1ms", "--view", "messages", job.path)
    assert part.returncode == 1 and "part of the run" in part.stderr, part
    again = pattern(directory, "openmpi", 2, "ring", 2)
    for path in glob.glob(os.path.join(again.path, "*-*")):
        shutil.copy(path, both)
    several = report("-q", "--view", "messages", both)
    assert several.returncode == 1 and "several jobs are not matched" in several.stderr, several
    plain = report("-q", "--view", "wait-states", os.path.join(tap.GOLDEN, "basic"))
    assert plain.returncode == 1 and "no log of MPI" in plain.stderr, plain


if __name__ == "__main__":
    tap.main()
