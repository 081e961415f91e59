"""Calls of MPI, with Open MPI and MPICH: programs print the same measured and alone, and their calls are counted."""
import collections
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file
from jobs import LIBRARIES, build, mpirun, need
from measured import source_file, tap
from report import rows

INITIALIZED, FINALIZED, SESSIONS = 1, 2, 4
PER_BUSY, OF_MPI = 5, 12  # a role of metrics, a kind of nodes


def functions():
    """The names of the functions, by number."""
    with open(os.path.join(tap.SOURCE, "common", "mpi_functions.def"), encoding="utf-8") as file:
        return ["", *re.findall(r"^MPI_FUNCTION\((\w+), \w+, \d+\)$", file.read(), re.M)]


NAMES = functions()
BLOCKING = ("Send", "Ssend", "Recv", "Sendrecv", "Sendrecv_replace")


class Rank:
    """The file of a rank."""

    def __init__(self, path):
        self.extents = list(measurement_file.extents(path))
        self.process = next(self.of(measurement_file.PROCESS))
        self.threads = list(self.of(measurement_file.THREAD))
        self.live = path.endswith(".live")

    def of(self, table):
        return (record for extent in self.extents if extent.table == table for record in extent.parsed())

    def text(self, offset):
        strings = b"".join(extent.data for extent in self.extents if extent.table == measurement_file.STRINGS)
        return strings[offset:strings.index(b"\0", offset)].decode()

    def rows(self):
        return [row for row in self.of(measurement_file.TABLES["mpi"]) if row.calls or row.since]

    def calls(self):
        """How often each function was called; one that has not ended counts."""
        found = collections.Counter()
        for row in self.rows():
            found[NAMES[row.function]] += row.calls + bool(row.since)
        return found

    def seconds(self, row):
        return row.ticks * self.process.tick_scale / 2 ** 32 / 1e9

    def idleness_of_calls(self):
        """What nodes of calls have of the column per busy, in ns."""
        roles = [metric.role for metric in self.of(measurement_file.METRICS)]
        column = roles.index(PER_BUSY)
        values = {extent.owner: b"".join(other.data for other in self.extents
                                         if (other.table, other.owner) == (extent.table, extent.owner))
                  for extent in self.extents if extent.table == measurement_file.VALUES}
        found = 0
        for extent in self.extents:
            for node in extent.parsed() if extent.table == measurement_file.NODES else ():
                if node.kind_what >> 24 == OF_MPI and node.value:
                    at = 8 * (node.value * len(roles) + column)
                    found += int.from_bytes(values[extent.owner][at:at + 8], "little")
        return found

    def master(self):
        return max(self.threads, key=lambda thread: thread.mpi_calls)


# The operands of operations of the trace (doc/format.md); a sample has two, and one for each of bits 2 to 4.
OPERANDS = {32: 2, 33: 0, 34: 0, 35: 2, 36: 1, 37: 1, 38: 5, 40: 4, 41: 4, 42: 6, 43: 2, 44: 2}
STATE_OWN, OTHER, MPI_STATE, UNIT_TICKS = 2, 3, 44, 32


def traced_calls(data):
    """The ticks and the number of states in MPI, in a part of a thread's stream."""
    ticks = states = at = 0
    while at < len(data):
        form, rest, at = data[at] & 3, data[at] >> 2, at + 1
        if form == OTHER:
            count = OPERANDS[rest] if rest >= 32 else 2 + bin(rest & 28).count("1")
        else:
            count = 1 + (rest == 63) + (form == STATE_OWN)
        operands = []
        for _ in range(count):
            operand, at = measurement_file.leb128(data, at)
            operands.append(operand)
        if form == OTHER and rest == MPI_STATE:
            ticks, states = ticks + operands[1] * UNIT_TICKS, states + 1
    return ticks, states


class Job:
    """A measured job: what it has printed, and the files of its ranks."""

    def __init__(self, directory, library, ranks, *command, options=(), name="job", **settings):
        self.output = os.path.join(directory, name)
        tool = (tap.LAUNCHER, "-q", "--overwrite", "-o", self.output, *options)
        if library == "mpich":  # its ranks do not say which job they belong to
            self.done = mpirun(library, ranks, *command, cwd=directory, before=tool, **settings)
        else:
            self.done = mpirun(library, ranks, *tool, *command, cwd=directory, **settings)

    def ranks(self):
        files = [Rank(path) for path in glob.glob(os.path.join(self.output, "*.hpcrun")) +
                 glob.glob(os.path.join(self.output, "*.live"))]
        return sorted((rank for rank in files if rank.process.mpi_size), key=lambda rank: rank.process.mpi_rank)


def printed_calls(output):
    """What all ranks together have printed of their calls."""
    found = collections.Counter()
    for name, count in re.findall(r"^calls (\w+) (\d+)$", output, re.M):
        found[name] += int(count)
    return found


def without_loops(calls):
    """Without the calls that are repeated until something has happened."""
    return {name: count for name, count in calls.items() if name not in ("Test", "Iprobe")}


def other_lines(output):
    return sorted(line for line in output.splitlines() if not line.startswith("calls "))


def counts_hold(measured, ranks):
    """The calls of all ranks are those that they have printed."""
    assert measured.done.returncode == 0, measured.done
    found = measured.ranks()
    assert [rank.process.mpi_rank for rank in found] == list(range(ranks)), measured.done
    assert sum((rank.calls() for rank in found), collections.Counter()) == printed_calls(measured.done.stdout)
    for rank in found:
        assert rank.process.mpi_size == ranks and rank.process.rank == rank.process.mpi_rank
        assert sum(thread.mpi_calls for thread in rank.threads) == sum(rank.calls().values())
        for thread in rank.threads:
            parts = thread.mpi_ns + thread.idle_ns + thread.lockwait_ns + thread.blocked_ns
            assert parts <= thread.wall_ns * 1.001, (parts, thread.wall_ns)
    return found


@tap.case
def calls_return_what_they_do_alone_and_are_counted(directory):
    for library in LIBRARIES:
        program = build(directory, "called.c", library, "-fopenmp")
        alone = mpirun(library, 2, program, "all", os.path.join(directory, "alone"), cwd=directory)
        assert alone.returncode == 0 and "returns" not in alone.stdout, alone
        for options in ((), ("-p", "off"), ("-p", "log", "-t"), ("-e", "wall")):
            measured = Job(directory, library, 2, program, "all", os.path.join(directory, "file"), options=options)
            assert other_lines(measured.done.stdout) == other_lines(alone.stdout), (options, measured.done)
            assert without_loops(printed_calls(measured.done.stdout)) == without_loops(printed_calls(alone.stdout))
            for rank in counts_hold(measured, 2):
                process, thread = rank.process, rank.master()
                assert process.mpi_state == INITIALIZED | FINALIZED and process.mpi_threads == 1
                assert rank.text(process.mpi_library).startswith({"openmpi": "Open MPI v", "mpich": "MPICH "}[library])
                assert 0 < process.mpi_init_ns < process.mpi_finalize_ns < process.wall_ns
                ticks = sum(row.ticks for row in rank.rows())
                assert abs(rank.seconds(rank.rows()[0]) * ticks / rank.rows()[0].ticks - thread.mpi_ns / 1e9) < 0.01
                assert all(row.node and row.longest <= row.ticks and not row.since for row in rank.rows())
                assert all(row.preempted <= row.ticks for row in rank.rows())


@tap.case
def contexts_are_those_of_the_calls(directory):
    """Sendrecv is called by one line three times, and by another once: that makes two rows."""
    program = build(directory, "called.c", "openmpi", "-fopenmp")
    for rank in counts_hold(Job(directory, "openmpi", 2, program, "all", os.path.join(directory, "file")), 2):
        rows = collections.defaultdict(list)
        for row in rank.rows():
            rows[NAMES[row.function]].append(row.calls)
        assert rows["Sendrecv"] == [3] and rows["Startall"] == [4] and rows["Request_free"] == [1, 1], rows
        assert sorted(rows["Wait"]) == [1, 1, 1, 1] and sorted(rows["Waitall"]) == [1, 1, 4], rows


@tap.case
def traces_have_a_state_for_calls(directory):
    """Of a thread's trace with the same time as its rows, but for what is shorter than a unit of its clock."""
    program = build(directory, "called.c", "mpich", "-fopenmp")
    for mode in ("online", "off"):
        measured = Job(directory, "mpich", 2, program, "late", options=("-t", "-p", mode))
        ranks, traces = counts_hold(measured, 2), 0
        for path in glob.glob(os.path.join(measured.output, "*.trace")):
            rank = next((rank for rank in ranks if f"-{rank.process.pid}-" in path), None)
            if rank:
                master = rank.master()
                found = [traced_calls(extent.data) for extent in measurement_file.extents(path)
                         if extent.table == measurement_file.TABLES["trace"] and extent.owner == master.index]
                ticks, states = (sum(parts) for parts in zip(*found))
                expected = sum(row.ticks for row in rank.rows())
                assert abs(ticks - expected) <= UNIT_TICKS * (states + 3), (ticks, expected, states)
                assert 0 < states <= master.mpi_calls
                traces += 1
        assert traces == 2, os.listdir(measured.output)


@tap.case
def threads_have_rows_of_their_own(directory):
    for library in LIBRARIES:
        program = build(directory, "called.c", library, "-fopenmp")
        for rank in counts_hold(Job(directory, library, 2, program, "threads"), 2):
            assert rank.process.mpi_threads == 4
            assert sorted(thread.mpi_calls for thread in rank.threads if thread.mpi_calls)[1:] == [200, 200]


@tap.case
def fortran_is_counted_once(directory):
    for library in LIBRARIES:
        for f08 in ((), ("-DF08",)):
            need(library, "mpifort")
            name = f"fortran-{library}{len(f08)}"
            program = build(directory, "called.f90", library, "-cpp", *f08, compiler="mpifort", name=name)
            alone = mpirun(library, 2, program, cwd=directory)
            measured = Job(directory, library, 2, program)
            assert sorted(alone.stdout.splitlines()) == sorted(measured.done.stdout.splitlines()), measured.done
            counts_hold(measured, 2)


@tap.case
def a_tool_of_the_program_is_counted_once(directory):
    """It is in the executable, or in a library: then its functions, which this tool calls, call MPI once more."""
    for library in LIBRARIES:
        tool = build(directory, "profiles.c", library, "-shared", "-fPIC", name=f"tool-{library}.so")
        for name, part in (("inside", source_file("profiles.c")), ("beside", tool)):
            program = build(directory, "profiled.c", library, part, name=f"{name}-{library}")
            measured = Job(directory, library, 2, program)
            assert other_lines(measured.done.stdout) == ["the tool of 0 has seen 10 and 10",
                                                         "the tool of 1 has seen 0 and 10"], measured.done
            counts_hold(measured, 2)


@tap.case
def programs_without_mpi_find_none(directory):
    out = os.path.join(directory, "probes")
    tap.must("gcc", source_file("probes_mpi.c"), "-o", out, "-ldl")
    for settings in ({}, {"PMI_RANK": "0", "OMPI_COMM_WORLD_RANK": "0"}):
        done = tap.run(tap.LAUNCHER, "-q", "--overwrite", "-o", "probed", out, cwd=directory, **settings)
        assert done.returncode == 0 and done.stdout == "MPI is not there\n", done


@tap.case
def a_library_that_is_loaded_late_is_counted(directory):
    for library in LIBRARIES:
        out = os.path.join(directory, "loads")
        tap.must("gcc", source_file("loads_mpi.c"), "-o", out, "-ldl")
        plugin = build(directory, "communicates.c", library, "-shared", "-fPIC", name=f"plugin-{library}.so")
        measured = Job(directory, library, 2, out, plugin)
        assert other_lines(measured.done.stdout) == ["sum 1", "sum 1"], measured.done
        counts_hold(measured, 2)


@tap.case
def a_library_that_jumps_to_mpi_is_counted_and_unloaded(directory):
    for library in LIBRARIES:
        out = os.path.join(directory, "closes")
        tap.must("gcc", source_file("closes_plugin.c"), "-o", out, "-ldl")
        plugin = build(directory, "jumps_to_mpi.c", library, "-O2", "-shared", "-fPIC", name=f"jumps-{library}.so")
        measured = Job(directory, library, 1, out, plugin)
        assert other_lines(measured.done.stdout) == ["closed", "results 0 0", "unloaded"], measured.done
        assert measured.done.stdout.index("unloaded") < measured.done.stdout.index("closed"), measured.done
        counts_hold(measured, 1)


@tap.case
def functions_that_no_library_has_fail(directory):
    """No MPI library, with the environment of a rank; and one without sessions."""
    alone = os.path.join(directory, "lacking")
    tap.must("gcc", source_file("lacking_mpi.c"), "-o", alone, "-ldl")
    done = tap.run(tap.LAUNCHER, "-q", "--overwrite", "-o", "lacked", alone, "MPI_Send", cwd=directory, PMI_RANK="0")
    assert done.returncode == 0 and done.stdout == "failed\nfailed\n", done
    assert done.stderr.count("no library has") == 1, done
    program = build(directory, "lacking_mpi.c", "openmpi", "-Wl,--no-as-needed")
    measured = Job(directory, "openmpi", 1, program, "MPI_Session_init")
    assert measured.done.returncode == 0 and measured.done.stdout == "failed\nfailed\n", measured.done


@tap.case
def no_group_is_left_to_the_library(directory):
    """Open MPI creates no communicator of MPI_GROUP_NULL; others report an error."""
    need("openmpi", "mpicc")
    program = tap.compile_c(directory, "no_group", """
        #include <mpi.h>
        #include <stdio.h>
        int main(int count, char **arguments)
        {
          MPI_Comm made = MPI_COMM_WORLD;
          MPI_Init(&count, &arguments);
          MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &made);
          printf("%d\\n", made == MPI_COMM_NULL);
          return MPI_Finalize();
        }""", compiler="mpicc.openmpi")
    measured = Job(directory, "openmpi", 1, program)
    assert measured.done.returncode == 0 and measured.done.stdout == "1\n", measured.done


@tap.case
def settings_and_other_libraries_are_not_mpi(directory):
    """Variables that users set, and a library whose name begins as MPI's do, do not make a program one of MPI."""
    program, library = os.path.join(directory, "other"), os.path.join(directory, "libmpir.so")
    tap.must("gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", library)
    tap.must("gcc", source_file("lacking_mpi.c"), "-o", program, "-Wl,--no-as-needed", library, "-ldl")
    done = tap.run(tap.LAUNCHER, "-q", "--overwrite", "-o", "others", program, "MPI_Send", cwd=directory,
                   OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_MCA_btl="self", PMIX_MCA_gds="hash")
    assert done.returncode == 0 and done.stdout == "not there\nnot there\n", done


@tap.case
def nothing_above_the_arguments_is_read(directory):
    for library in LIBRARIES:
        program = build(directory, "on_small_stack.c", library)
        measured = Job(directory, library, 1, program)
        assert other_lines(measured.done.stdout) == ["received 1"], measured.done
        counts_hold(measured, 1)


@tap.case
def calls_may_be_left_by_a_jump(directory):
    """Time after it is work: 5 times 0.02 s."""
    for library in LIBRARIES:
        program = build(directory, "called.c", library, "-fopenmp")
        measured = Job(directory, library, 1, program, "left")
        assert other_lines(measured.done.stdout) == ["5 jumps"], measured.done
        rank, = counts_hold(measured, 1)
        tap.timed(rank.master().work > 0.09e9, rank.master().work)


@tap.case
def calls_may_be_left_by_an_exception(directory):
    """A sample finds that, by what the program has called since: of 5 times 0.05 s, a part counts as MPI."""
    for library in LIBRARIES:
        program = build(directory, "thrown_calls.cc", library, compiler="mpicxx")
        measured = Job(directory, library, 1, program, options=("-e", "task-clock@f1000"))
        assert other_lines(measured.done.stdout) == ["caught 35"], measured.done
        rank, = counts_hold(measured, 1)
        tap.timed(rank.master().work > 0.2e9, rank.master().work)


@tap.case
def a_rank_waits_for_a_late_one(directory):
    for library in LIBRARIES:
        program = build(directory, "called.c", library, "-fopenmp")
        late, waiting = counts_hold(Job(directory, library, 2, program, "late"), 2)
        seconds = [sum(rank.seconds(row) for row in rank.rows() if NAMES[row.function] == "Barrier")
                   for rank in (late, waiting)]
        tap.timed(seconds[1] > 0.25 > seconds[0], seconds)
        tap.timed(late.master().work > 0.25e9 > 10 * waiting.master().work, waiting.master().work)


@tap.case
def locks_of_mpi_do_not_count(directory):
    """MPICH takes about a thousand in MPI_Init alone."""
    job = Job(directory, "mpich", 2, build(directory, "late_ranks.c", "mpich"), "ring", "10")
    taken = [int(row["locks_taken"]) for row in rows("threads", job.output)]
    assert job.done.returncode == 0 and taken and max(taken) < 100, (job.done, taken)


@tap.case
def idle_threads_are_charged_to_the_call(directory):
    """The other thread waits at a barrier while the master does in MPI; its waiting has a share in a call's node."""
    program = build(directory, "called.c", "mpich", "-fopenmp")
    measured = Job(directory, "mpich", 2, program, "hybrid", options=("-e", "task-clock@f1000"))
    idle_s = []
    for rank in counts_hold(measured, 2):
        assert rank.process.mpi_threads >= 2
        idle_s.append(rank.idleness_of_calls() / 1e9)
        calls = [row for row in rank.rows() if NAMES[row.function] == "Barrier"]
        assert [row.calls for row in calls] == [5], rank.calls()
    tap.timed(idle_s[1] > 0.1, idle_s)  # of 5 * 0.04 s in which its master waits for the other rank


@tap.case
def calls_in_many_regions_have_contexts(directory):
    """Their number is far above that of the stacks that are unwound at once."""
    program = build(directory, "called.c", "mpich", "-fopenmp")
    for mode in ("online", "off"):
        rank, = counts_hold(Job(directory, "mpich", 1, program, "regions", options=("-p", mode)), 1)
        assert all(row.node for row in rank.rows()), [(NAMES[row.function], row.node, row.calls) for row in rank.rows()]
        assert sorted(thread.mpi_calls for thread in rank.threads if thread.mpi_calls) == [2000, 2006]


@tap.case
def sessions_are_recorded(directory):
    program = build(directory, "called.c", "mpich", "-fopenmp")
    measured = Job(directory, "mpich", 1, program, "session")
    files = [Rank(path) for path in glob.glob(os.path.join(measured.output, "*.hpcrun"))]
    rank, = [rank for rank in files if rank.process.mpi_state]
    assert measured.done.returncode == 0 and rank.calls() == printed_calls(measured.done.stdout), measured.done
    assert rank.process.mpi_state == INITIALIZED | FINALIZED | SESSIONS
    assert rank.process.mpi_init_ns < rank.process.mpi_finalize_ns and rank.text(rank.process.mpi_library)


@tap.case
def sessions_do_not_end_the_decoding(directory):
    program = build(directory, "sessions_within.c", "mpich")
    rank, = counts_hold(Job(directory, "mpich", 1, program), 1)
    assert rank.process.mpi_state == INITIALIZED | FINALIZED
    reductions = [(row.calls, row.decoded) for row in rank.rows() if NAMES[row.function] == "Allreduce"]
    assert sum(calls for calls, _ in reductions) == sum(decoded for _, decoded in reductions) == 6, reductions


@tap.case
def what_a_killed_rank_did_is_kept(directory):
    for library in LIBRARIES:
        program = build(directory, "called.c", library, "-fopenmp")
        measured = Job(directory, library, 2, program, "killed")
        assert measured.done.returncode != 0, measured.done
        ranks = measured.ranks()
        killed = ranks[1]
        assert killed.live and killed.process.mpi_state == INITIALIZED and killed.process.mpi_init_ns
        assert killed.calls()["Barrier"] == 11 and sum(bool(row.since) for row in killed.rows()) == 1


@tap.case
def ends_without_finalize_are_kept(directory):
    for library in LIBRARIES:
        program = build(directory, "called.c", library, "-fopenmp")
        for how, status in (("exit", None), ("abort", 7)):
            alone = mpirun(library, 1, program, how, cwd=directory)
            measured = Job(directory, library, 1, program, how)
            if status:  # on a busy machine mpirun of MPICH ends such a process by SIGHUP, before its status is known
                tap.timed(measured.done.returncode == alone.returncode == status, measured.done, alone)
            assert measured.done.returncode == alone.returncode, (measured.done, alone)
            rank, = measured.ranks()
            assert rank.process.mpi_state == INITIALIZED and not rank.process.mpi_finalize_ns
            assert rank.calls() == {"Init": 1}, rank.calls()


def requests(directory, library, ranks, *arguments):
    """Runs request_forms.c: what it prints, and of each rank, the calls of a function, and how many are known."""
    program = build(directory, "request_forms.c", library)
    measured = Job(directory, library, ranks, program, *arguments, options=("-p", "log"))
    assert measured.done.returncode == 0, (library, measured.done)
    found = []
    for rank in measured.ranks():
        found.append({})
        for row in rank.rows():
            calls, decoded = found[-1].get(NAMES[row.function], (0, 0))
            found[-1][NAMES[row.function]] = calls + row.calls, decoded + row.decoded
    return measured.done.stdout, found


@tap.case
def requests_of_several_threads_may_share_a_handle(directory):
    for library in LIBRARIES:
        printed, ranks = requests(directory, library, 2, "shared")
        assert printed == "0 bytes are overwritten\n", (library, printed)
        assert ranks[0]["Waitall"] == ranks[0]["Wait"] == (1, 1), (library, ranks)


@tap.case
def completions_of_small_messages_are_known(directory):
    for library in LIBRARIES:
        for rank in requests(directory, library, 2, "many")[1]:
            assert rank["Waitany"] == rank["Waitsome"] == rank["Waitall"] == (1, 1), (library, rank)


@tap.case
def counts_of_a_reduction_are_those_of_the_own_group(directory):
    for library in LIBRARIES:
        printed, ranks = requests(directory, library, 3, "groups")
        assert sorted(printed.splitlines()) == ["rank 0 has 2", "rank 1 has 1", "rank 2 has 1"], (library, printed)
        assert all(rank["Reduce_scatter"] == (1, 1) for rank in ranks), (library, ranks)


@tap.case
def threads_that_end_leave_no_memory(directory):
    for library in LIBRARIES:
        printed, _ = requests(directory, library, 1, "threads")
        assert printed == "threads leave nothing\n", (library, printed)


@tap.case
def completions_of_requests_that_are_not_followed_are_not_known(directory):
    for library in LIBRARIES:
        _, (rank,) = requests(directory, library, 1, "file", os.path.join(directory, "written"))
        assert rank["Wait"] == (1, 0) and rank["Waitall"] == (1, 1), (library, rank)


@tap.case
def bytes_are_the_same_without_a_log(directory):
    """Messages that end with their call are decoded in another way then."""
    for library in LIBRARIES:
        program, found = build(directory, "message_forms.c", library), {}
        for mode in ("log", "online", "off"):
            measured = Job(directory, library, 2, program, options=("-p", mode))
            assert measured.done.returncode == 0, measured.done
            found[mode] = [sorted((NAMES[row.function], row.calls, row.decoded, row.sent, row.received)
                                  for row in rank.rows() if NAMES[row.function] in BLOCKING) for rank in measured.ranks()]
        assert found["log"] == found["online"] == found["off"], (library, found)
        first, second = found["log"]
        assert {name for name, *_ in first + second} == set(BLOCKING), (library, found)
        assert all(calls == decoded and (sent or received) for name, calls, decoded, sent, received in first + second
                   if name not in ("Send", "Recv")), (library, found)  # some of these are of MPI_PROC_NULL


if __name__ == "__main__":
    tap.main()
