/* The data model of hpcprof-lite: what was measured.  Processes and threads have the fields of their stored records
 * (common/format.h), by the same names, and what is computed; stages after input/ do not depend on the format.
 *
 * Context: BATCH.  input/ fills it, ranks/ transfers it between MPI ranks, all later stages only read it.  Strings and
 * arrays belong to the structure that refers to them; profile_release() frees everything.
 */
#ifndef HPCPROF_LITE_MODEL_PROFILE_H
#define HPCPROF_LITE_MODEL_PROFILE_H

#include "common/format.h"
#include "hpcprof-lite/model/catalog.h"
#include "hpcprof-lite/model/construct_figures.h"
#include "hpcprof-lite/model/contexts.h"
#include "hpcprof-lite/model/problems.h"

/* The number of threads against which idleness is counted: the most that were ever in use at once in the process, the
 * cores on which it may run, or the threads in use at the time of each sample. */
enum profile_baseline { BASELINE_THREAD, BASELINE_CORE, BASELINE_SHARED };

/* Index into the `lost` counters of a process or thread.  Causes and names: common/format.h. */
#define PROFILE_LOSS(name) LOSS_##name,
enum profile_loss { FORMAT_LOSS_LIST(PROFILE_LOSS) LOSS_MAX = FORMAT_LOST_MAX };

enum thread_flag { THREAD_OPENMP = 1, THREAD_HELPER = 2, THREAD_OF_MPI = 4 };

enum { PROFILE_MASK_WORDS = FORMAT_MASK_WORDS }; /* of sets of CPUs: see cpu_list.h */

enum construct_time {
  CONSTRUCT_TIME_ENTER,
  CONSTRUCT_TIME_BODY,
  CONSTRUCT_TIME_WAIT,
  CONSTRUCT_TIME_EXIT,
  CONSTRUCT_TIMES
};

/* What the kernel counted for a thread: profile_thread.usage. */
#define PROFILE_USAGE(name) USAGE_##name,
enum profile_usage { FORMAT_USAGE_LIST(PROFILE_USAGE) USAGES };

/* All times but cpu_ns and run_delay_ns lack paused_ns.  Of a thread with THREAD_HELPER there is only what it has run
 * for the program.  construct_since, construct_open, blocked_since: of the
 * interval that was open when the process was killed. */
struct profile_thread {
  union {
    struct format_thread stored;
    struct {
      FORMAT_THREAD_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
    };
  };
  uint64_t estimated_delay_ns;   /* of run_delay_ns, what waits are without, where that is an estimate */
  uint64_t held_up_ns;           /* it would have got on faster by this, had each thread always had a processor */
  bool recorded;                 /* its switches were, all the time: otherwise that is not known */
  uint64_t no_core_ns;           /* it waited for a thread that was ready to run and had no processor */
  uint64_t core_wait_ns;         /* the part of run_delay_ns in none of the other categories */
  uint64_t work_ns, overhead_ns; /* sums over the thread's contexts */
  uint64_t caused_lock_ns, caused_idle_ns; /* likewise: other threads' lock wait and idleness charged to them */
  uint64_t mpi_outside_ns;                 /* of mpi_ns: outside parallel regions */
};

/* Fields of stored records that are numbers of strings, or have other names here. */
#define PROFILE_OTHER_FIELD(type, name) type stored_##name;

/* A construct at a code address, summed over its outermost instances.  Kind, module (its number in the catalog,
 * MODEL_NONE if not known), offset and name identify it in all processes.  Directive 0 is the program, whose figures
 * are in struct profile_workspan. */
struct profile_directive {
  union {
    struct format_directive stored;
    struct {
      FORMAT_DIRECTIVE_LIST(FORMAT_FIELD, FORMAT_ARRAY, PROFILE_OTHER_FIELD)
    };
  };
  char *name;             /* of a user region, else "" */
  uint64_t error_squares; /* the square of the standard error of the span, by light regions; UINT64_MAX: not known */
  uint32_t counted;       /* of the run: it has figures; else only construct times refer to it */
};

/* Bits: callbacks that the OpenMP runtime does not provide. */
enum workspan_unseen {
  UNSEEN_WAITS = 1,
  UNSEEN_WORK = 2,
  UNSEEN_CHUNKS = 4,
  UNSEEN_MASKED = 8,
  UNSEEN_DEPENDENCES = 16,
  UNSEEN_INLINED = 128, /* see doc/format.md */
  UNSEEN_OPERATIONS = 256,
  UNSEEN_NEEDED = 512
};

/* Work and span: of a process as measured, or of the run as merge/span_merge.h computes it. */
struct profile_workspan {
  bool known;
  char *unit;   /* "s": amounts are in ns; otherwise the counted unit */
  bool is_time; /* the unit is "s" */
  uint64_t work, span, burdened;
  double tick_ns;                       /* length of a tick of the graph log */
  uint32_t unseen;                      /* enum workspan_unseen */
  struct profile_directive *directives; /* [0] is the program */
  uint32_t directives_count;
};

/* A moment that the program marked, or at which it began a user phase, which lasts until the next one or the end. */
struct profile_mark {
  uint64_t at_ns;                /* since the start of the process */
  uint32_t thread;               /* index */
  uint32_t name;                 /* in the text; 0: none, a user phase ends */
  uint32_t user_phase, reserved; /* user_phase: 1, or 0 of a mark */
};

/* What a thread counted by a counter of the program, in all contexts. */
struct profile_user_count {
  uint32_t thread, name; /* index; in the text */
  uint64_t count, sum, least, most;
};

/* What the program says about itself (include/hpcrun-lite.h). */
struct profile_marks {
  struct profile_mark *marks;        /* in the order of time */
  struct profile_user_count *counts; /* by thread */
  char *text;                        /* names, each with its NUL; the first one is empty.  NULL: nothing is marked */
  uint32_t marks_count, counts_count, text_size, user_phases; /* user_phases: how many of the marks begin one */
};

/* A device for which a process had target constructs.  Numbers are far larger than any run has up to DEVICES_MOST. */
enum { DEVICE_TYPE_MAX = 64, DEVICES_MOST = 1 << 16 };
struct profile_device {
  uint32_t number;            /* the runtime's + 1 */
  uint32_t on_host;           /* 1: its regions run in threads of the host */
  uint64_t busy_ns;           /* a union: see struct format_device */
  uint64_t idle_ns;           /* since it was first busy, until the process ended */
  uint64_t beside_ns;         /* of busy_ns, sampled: threads of the host worked */
  uint64_t recorded_ns;       /* it copied or ran regions, by its own records */
  uint64_t rejected;          /* such records that could not be used, and refusals of memory for them */
  uint32_t traced, reserved;  /* traced: 1: it has such records */
  char type[DEVICE_TYPE_MAX]; /* as the runtime names it, cut; "": not known */
};

/* Why no sample saw that threads waited: the initial thread, for which they did, slept before they existed, had no
 * processor then, or slept between regions. */
enum profile_unseen { UNSEEN_ASLEEP_BEFORE, UNSEEN_NO_CORE_BEFORE, UNSEEN_ASLEEP_BETWEEN, PROFILE_UNSEEN_CAUSES };

/* Meanings: common/format.h. */
#define PROCESS_FLAG(name, value) PROCESS_##name = value,
enum process_flag { FORMAT_PROCESS_FLAG_LIST(PROCESS_FLAG) };

/* One process, which is one measurement file. */
struct profile_process {
  char *path;
  bool usable;     /* false: nothing could be read */
  bool unfinished; /* it was killed or still runs: its figures extend to its last sample */
  bool running;    /* unfinished, and it still runs on this machine, or its file was copied */
  bool copied;     /* running when its file was copied (--control snapshot) */
  bool superseded; /* a live file exists beside the complete one: it was killed after it had written that */
  bool in_part;    /* all figures are those between from_ticks and to_ticks, also its start and those of its threads */
  bool of_whole;   /* its columns get roles with COLUMN_OF_WHOLE */
  bool counts_about; /* in_part, and the part begins or ends between two readings of its counters */
  union {
    struct format_process stored;
    struct {
      FORMAT_PROCESS_LIST(FORMAT_FIELD, FORMAT_ARRAY, PROFILE_OTHER_FIELD)
    };
  };
  uint32_t threads_registered;
  uint64_t unblamed_idle_ns; /* charged to the root context, and to no thread: of threads that did not exist */
  uint64_t unseen_ns[PROFILE_UNSEEN_CAUSES]; /* of the root context's idleness; of the whole run, also in a part */
  uint64_t from_ticks, to_ticks; /* of work and span, or of all: from here to before there; 0, 0: of the whole run */
  char *host, *command, *runtime, *notes;
  char *limits;      /* lines NAME=VALUE: settings that limit its cores */
  char *mpi_library; /* name and version; "": it has not initialized MPI */
  struct profile_thread *threads;
  uint32_t threads_count;
  uint32_t number; /* position of the file before the processes are sorted */
  double
      clock_rate; /* its clock was corrected, start_ns, too: a second of it takes so long on the run's clock; else 0 */
  struct profile_workspan workspan;
  uint32_t *directive_map;           /* [directive of the process] directive of the run, after merging */
  struct construct_times constructs; /* after merging, its rows and tasks name nodes and directives of the run */
  struct profile_marks marks;
  struct profile_device *devices; /* by number; in a part of the run there are none */
  uint32_t devices_count;
};

/* Whether it is known what the kernel counted for the threads of a process.  Of a part of the run it is not. */
static inline bool profile_usage_known(const struct profile_process *process)
{
  return process->stored.tick_ns && !process->in_part;
}

/* Returns how many of these CPUs the process's quota allows: whole ones, since a thread that is stopped when the quota
 * is used up holds up its team, but at least 1 of them. */
static inline uint32_t profile_within_quota(const struct profile_process *process, uint32_t cpus)
{
  enum { MILLI = 1000 };
  uint32_t quota = process->quota_milli < MILLI ? 1 : (uint32_t)(process->quota_milli / MILLI);
  return process->quota_milli && quota < cpus ? quota : cpus;
}

/* The standard error of a system time that the kernel estimates.  Each tick of its clock that finds a thread running is
 * a sample of whether it is in the kernel. */
uint64_t profile_system_error_ns(uint64_t tick_ns, uint64_t system_ns, uint64_t user_ns);

/* The part of the run that is reported: what happened outside it costs nothing. */
struct profile_range {
  bool limited;              /* false: figures are those of all of it; the timeline alone may be that of the part */
  uint64_t from_ns, to_ns;   /* since the run's start; to_ns is at most run_ns */
  uint64_t begin_ns, run_ns; /* when the run's first process began, and how long the run took; 0: no part is wanted */
  bool log_differs;          /* a graph log is incomplete or differs from the measurement */
  bool traced;               /* all figures are those of the part, from traces; else those that the graph log has */
};

/* How the clocks of the hosts of an MPI job relate (messages/job_clocks.h). */
struct profile_clocks {
  uint32_t hosts; /* of the job */
  bool corrected; /* those of all hosts are related to that of the first one */
  double open_ns; /* by how much times can be wrong, at most, from the first to the last operation between hosts, if
                     clocks are linear; below 0: the most by which messages arrive early */
  double wait_ns; /* the same for a wait between two hosts */
};

/* All measurement files of some directories, merged. */
struct profile {
  struct catalog catalog;
  struct contexts contexts;
  struct profile_process *processes; /* by host, rank, start, pid and path; unusable ones last */
  struct problems *problems;         /* [process] */
  uint32_t processes_count, processes_usable;
  struct profile_workspan workspan; /* of the run, see merge/span_merge.h; contexts.shares are the shares of its span */
  uint32_t span_process;            /* the process whose span is the run's, or MODEL_NONE; of a job, the longest one */
  bool span_of_job;                 /* the span is that of all ranks of an MPI job together (recorded_graph_job()) */
  uint64_t span_unseen_calls; /* then: calls of MPI in which ranks can wait for each other, which are not joined */
  const uint32_t *span_rows;  /* the directive_map of that process */
  uint32_t span_processes;    /* number of processes with a span in the same unit */
  uint32_t span_threads;      /* sum of their threads_max */
  uint64_t span_elapsed_ns;   /* from the first one's start to the last one's end, without pauses */
  struct construct_times constructs; /* of the run, see merge/construct_merge.h: its nodes; rows are the processes' */
  struct profile_range range;        /* what --from and --to leave of the run */
  struct profile_clocks clocks;      /* of an MPI job */
};

/* Whether profile_usage_known() is true of any process. */
bool profile_any_usage(const struct profile *profile);

/* Whether a process is a rank of an MPI job of several ranks, with work and span. */
bool profile_in_job(const struct profile_process *process);

/* Returns the first usable process whose OpenMP runtime is known, NULL if there is none. */
const struct profile_process *profile_with_runtime(const struct profile *profile);

/* Returns the first OpenMP thread of a process, which runs what is outside its regions; NULL if there is none. */
const struct profile_thread *profile_initial_thread(const struct profile_process *process);

/* Returns the position of the thread with that index in a process, MODEL_NONE if there is none. */
uint32_t profile_thread_position(const struct profile_process *process, uint32_t index);

/* Whether the process was sampled by elapsed time, according to its notes. */
bool profile_by_wall(const struct profile_process *process);

/* Whether no samples were taken of the process, as its notes say (level = summary). */
bool profile_unsampled(const struct profile_process *process);

/* Of mutual exclusion of which not all executions were followed: `count` and `light` (model/construct_figures.h). */
struct construct_figures profile_light(const struct profile *profile);

/* The same of regions, with the error of their spans. */
struct construct_figures profile_light_regions(const struct profile *profile);

/* Tasks that were created without a reading of the clock, so that spans may be too short by `early`. */
struct profile_untimed {
  uint64_t tasks, early;
};
struct profile_untimed profile_untimed(const struct profile *profile);

/* Writes by how much spans may be too short because of them.  Returns false, and an empty text, if there are none. */
enum { PROFILE_UNTIMED_MAX = 256 };
bool profile_untimed_text(const struct profile *profile, char text[PROFILE_UNTIMED_MAX]);

/* Whether measuring was paused all the time, as its notes say. */
bool profile_paused(const struct profile_process *process);

/* The measured part of an elapsed time. */
static inline uint64_t profile_measured_ns(uint64_t wall_ns, uint64_t paused_ns)
{
  return model_difference(wall_ns, paused_ns);
}

/* Writes for how long measuring was paused (else: for how long no samples were taken, of processes that had some), such
 * as "2.600 s of 3.650 s", of several processes with their numbers.  Returns false, and an empty text, if never. */
enum { PROFILE_PAUSES_MAX = 512 }; /* bytes that are enough */
bool profile_pauses(const struct profile *profile, bool paused, char *text, size_t size);

/* Writes what filters of the measurement have left out, as the notes of the processes say, each filter once (with the
 * times of its first process; at most eight), and the names that none of its processes has found.  What does not fit is
 * "...".  Returns false, and an empty text, if there is none. */
bool profile_filtered(const struct profile *profile, char *text, size_t size);

/* How the lines of notes begin from which that follows. */
enum { PROFILE_FILTERED_MAX = 4096 }; /* bytes that are enough for what people write */
#define PROFILE_NOTE_FILTERED "Filtered: "
#define PROFILE_NOTE_MISSING "Not in the program: "
#define PROFILE_NOTE_PAUSED "Paused: "

/* Frees everything that the profile owns, but not the structure. */
void profile_release(struct profile *profile);

/* Frees everything that a process owns, but not the structure. */
void profile_release_process(struct profile_process *process);

/* The most threads that lived at once, of those that are meant; meant: NULL for all.  of: passed to it. */
typedef bool profile_thread_meant(const struct profile_thread *thread, const void *of);
uint32_t profile_most_at_once(const struct profile_process *process, profile_thread_meant *meant, const void *of);

/* When the user phase that begins at that mark ends, since the start of the process. */
uint64_t profile_user_phase_end(const struct profile_process *process, uint32_t mark);

/* Writes what the messages of a job leave open of the clocks that they have corrected, as a sentence without its full
 * stop, in small letters. */
void profile_clocks_text(const struct profile_clocks *clocks, char *text, size_t size);

/* Returns the static name of a kind of locks, LOCK_KINDS of them: "mutex", "critical", … */
#define PROFILE_LOCK(enumerator, name) LOCK_KIND_##enumerator,
enum profile_lock_kind { FORMAT_LOCK_LIST(PROFILE_LOCK) LOCK_KINDS };
const char *profile_lock_name(uint64_t kind);

/* Returns whether a kind of locks is of POSIX or C11, not of OpenMP. */
static inline bool profile_lock_of_posix(uint64_t kind)
{
  return kind >= LOCK_KIND_MUTEX && kind < LOCK_KIND_CONDITION;
}

/* Returns whether it is no lock, but an object at which threads of a pool wait for work. */
static inline bool profile_lock_of_pool(uint64_t kind)
{
  return kind >= LOCK_KIND_CONDITION;
}

/* What a process has done with MPI: bits of mpi_state. */
enum profile_mpi_state {
  PROFILE_MPI_INITIALIZED = FORMAT_MPI_INITIALIZED,
  PROFILE_MPI_FINALIZED = FORMAT_MPI_FINALIZED,
  PROFILE_MPI_SESSIONS = FORMAT_MPI_SESSIONS
};

/* Whether it is known how many bytes the calls of MPI of a process have sent and received. */
static inline bool profile_mpi_bytes_known(const struct profile_process *process)
{
  return process->mpi_decoded && !process->in_part;
}

/* Return the static name of a function of MPI, such as "MPI_Send", and what it does in one word; "" for a number that
 * is not known. */
const char *profile_mpi_name(uint32_t function);
const char *profile_mpi_kind(uint32_t function);

/* Whether a function of MPI sends single messages, or begins to; whether it begins or ends MPI. */
bool profile_mpi_sends(uint32_t function);
bool profile_mpi_begins_or_ends(uint32_t function);

/* Returns the static name of a kind of directives or constructs: "parallel", "for", … */
const char *profile_directive_name(uint32_t kind);

/* What limits the figures of a run with loops whose chunks are not known, as a sentence; NULL if there are none. */
const char *profile_chunks_note(const struct profile *profile);

/* Returns a time on the clock of the process as one on the run's clock. */
static inline uint64_t profile_corrected_ns(const struct profile_process *process, uint64_t ns)
{
  return process->clock_rate > 0 ? model_rounded((double)ns * process->clock_rate) : ns;
}

/* Returns when the process has ended. */
static inline uint64_t profile_end_ns(const struct profile_process *process)
{
  return model_sum(process->start_ns, profile_corrected_ns(process, process->wall_ns));
}

/* The length of a tick of its time-stamp counter on the run's clock. */
static inline double profile_tick_ns(const struct profile_process *process)
{
  return process->workspan.tick_ns * (process->clock_rate > 0 ? process->clock_rate : 1);
}

/* The value of a process's time-stamp counter so many ns after another value.  Only the difference is a double: values
 * of the counter may exceed 2^53. */
static inline uint64_t profile_ticks_after(const struct profile_process *process, uint64_t ticks, uint64_t ns)
{
  return model_sum(ticks, model_rounded((double)ns / process->workspan.tick_ns));
}

/* The same since the start of the process, or of its part. */
static inline uint64_t profile_ticks_at(const struct profile_process *process, uint64_t ns)
{
  return profile_ticks_after(process, process->in_part ? process->from_ticks : process->start_ticks, ns);
}

#endif
