#!/usr/bin/env python3
"""Ranks of a job, from the golden measurement `ranks` and copies of it: sums, efficiencies, and jobs of many ranks."""
import math
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file
from report import golden_files, rows
from tap import REPORT, case, main, must

DIGITS = 2e-6  # efficiencies have six decimals


def job(directory, ranks, **fields):
    """A job whose ranks are copies of the golden ones, in turn; fields: of the processes."""
    paths = golden_files(".hpcrun", "ranks")["ranks"]
    for number in range(ranks):
        path = os.path.join(directory, f"node1-{10000 + number}-1.hpcrun")
        with open(path, "wb") as file:
            for part in measurement_file.extents(paths[number % len(paths)]):
                data = part.data
                if part.table == measurement_file.PROCESS:
                    record = part.parsed()[0]
                    for name, value in dict(fields, rank=number, pid=10000 + number).items():
                        setattr(record, name, value)
                    data = bytes(record)
                file.write(measurement_file.extent(part.table, len(data) if part.table == measurement_file.PROCESS
                                                   else part.size, data, part.owner, first=part.first))
    return directory


def total(table, column):
    return math.fsum(float(row[column] or 0) for row in table)


def efficiencies(directory):
    return {row["metric"]: row for row in rows("efficiency", directory)}


@case
def sums_of_ranks_are_those_of_the_job(directory):
    run = job(directory, 5)
    ranks, threads, calls, tree = (rows(view, run) for view in ("ranks", "threads", "mpi", "topdown"))
    for column in ("work_s", "idle_s", "lockwait_s", "mpi_s", "mpi_calls", "mpi_sent_bytes", "mpi_received_bytes"):
        assert abs(total(ranks, column) - total(threads, column)) < 1e-6, column
    assert total(calls, "calls") == total(threads, "mpi_calls") > 0
    assert total(calls, "sent_bytes") == total(threads, "mpi_sent_bytes") > 0
    assert abs(total(calls, "time_s") - total(threads, "mpi_s")) < 1e-6
    assert abs(total(tree, "mpi_excl_s") - float(tree[0]["mpi_incl_s"])) < 1e-6
    # the tree is without the time in which a thread had no core: 5 ms of each rank
    assert abs(total(calls, "time_s") - float(tree[0]["mpi_incl_s"]) - 5 * 0.005) < 1e-6
    summary = {row["item"]: row["value"] for row in rows("summary", run) if row["section"] == "categories"}
    assert abs(float(summary["mpi"]) - total(ranks, "mpi_s")) < 1e-6, summary


@case
def efficiencies_multiply_and_their_gains_add_up(directory):
    run = job(directory, 3, mpi_size=3)
    found = efficiencies(run)
    value = {name: float(row["value"]) for name, row in found.items() if row["value"] and row["unit"] == "ratio"}
    gain = {name: float(row["gain_s"]) for name, row in found.items() if row["gain_s"]}
    for whole, parts in (("global_efficiency", ("mpi_parallel_efficiency", "openmp_efficiency")),
                         ("mpi_parallel_efficiency", ("mpi_load_balance", "mpi_communication"))):
        assert abs(value[whole] - value[parts[0]] * value[parts[1]]) < DIGITS, (whole, value)
        assert abs(gain[whole] - gain[parts[0]] - gain[parts[1]]) < 1e-6, (whole, gain)
    assert value["openmp_efficiency"] == value["parallel_efficiency"]
    for name in ("mpi_serialisation", "mpi_transfer"):  # they need the log
        assert found[name]["value"] == found[name]["gain_s"] == "", found[name]
    ranks = rows("ranks", run)
    for row in ranks:
        product = float(row["mpi_efficiency"]) * float(row["openmp_efficiency"])
        assert abs(float(row["global_efficiency"]) - product) < DIGITS, row
    # all ranks have two threads: the job's are the means
    assert abs(total(ranks, "global_efficiency") / len(ranks) - value["global_efficiency"]) < DIGITS, ranks
    assert abs(total(ranks, "mpi_efficiency") / len(ranks) - value["mpi_parallel_efficiency"]) < DIGITS, ranks


@case
def a_job_is_the_first_row_of_several_ranks_only(directory):
    several, alone = (os.path.join(directory, name) for name in ("several", "alone"))
    os.makedirs(several)
    os.makedirs(alone)
    job(several, 2)
    job(alone, 1)
    assert [row["kind"] for row in rows("efficiency", several)][0] == "job"
    assert not [row for row in rows("efficiency", alone) if row["kind"] == "job"]
    assert "mpi_efficiency" in rows("ranks", alone)[0] and not rows("ranks", alone)[0]["mpi_efficiency"]


@case
def ranks_that_were_not_measured_are_named(directory):
    text = must(REPORT, "-q", "--view", "efficiency", job(directory, 2, mpi_size=7))
    assert "2 of the 7 ranks" in text, text


@case
def bytes_and_facts_that_are_not_known_are_empty(directory):
    run = job(directory, 2, mpi_decoded=0, mpi_threads=9, mpi_state=1)
    for row in rows("ranks", run):
        assert row["mpi_sent_bytes"] == row["mpi_received_bytes"] == row["mpi_thread_level"] == "", row
        assert row["finalized"] == "no", row


@case
def a_thousand_ranks_fold(directory):
    run = job(directory, 1000)
    for width in ("80", "120"):
        text = must(REPORT, "-q", "--view", "ranks", run, COLUMNS=width)
        lines = text.splitlines()
        assert len(lines) <= 60 and max(map(len, lines)) <= int(width), text
        strip, = (line for line in lines if line.startswith("Work") and "|" in line)
        each = -(-1000 // (int(width) - 11))
        assert len(strip.split("|")[1]) == -(-1000 // each), strip
    most = max(rows("ranks", run), key=lambda row: float(row["work_s"]))
    assert f"rank {most['rank']}" in text, (most, text)
    assert len(rows("ranks", "--max-rows", "7", "--sort", "mpi_s", run)) == 7


@case
def a_late_rank_is_the_first_advice(directory):
    first = rows("advice", job(directory, 2))[0]
    assert first["class"] == "mpi" and first["name"] == "MPI_Barrier", first
    assert "Rank 1 is outside MPI" in first["evidence"] and float(first["gain_low_s"]) <= float(first["gain_s"]), first
    assert not [row for row in rows("advice", directory) if "MPI" in row["name"] and row["class"] == "serial"]


@case
def many_small_messages_are_found(directory):
    run = job(directory, 2)
    assert not [row for row in rows("advice", run) if "messages" in row["evidence"]]
    paths = [os.path.join(run, name) for name in sorted(os.listdir(run))]
    for path in paths:
        parts = list(measurement_file.extents(path))
        with open(path, "wb") as file:
            for part in parts:
                data = part.data
                if part.table == measurement_file.TABLES["mpi"]:
                    records = part.parsed()
                    for record in records:
                        if record.sent:
                            record.calls = record.decoded = 20000
                    data = b"".join(map(bytes, records))
                file.write(measurement_file.extent(part.table, part.size, data, part.owner, first=part.first))
    found = [row for row in rows("advice", run) if "messages" in row["evidence"]]
    assert found and "40000 messages of 40 bytes" in found[0]["evidence"], found


if __name__ == "__main__":
    main()
