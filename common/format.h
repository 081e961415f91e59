/* The measurement format, which hpcrun-lite writes and hpcprof-lite reads.  doc/format.md is normative.
 *
 * Context: RT uses the structures (records have the same layout in memory and in the file), CTL the encoder, BATCH the
 * decoder.  No state; all memory is the caller's.
 *
 * A file is a sequence of chunks, each a header of 64 bytes followed by its payload.  A chunk carries consecutive
 * records of one table of one owner.  A chunk has one of two forms: live (in a mapping of the running program: not
 * compressed, no checksum, `count` published by a release store after the record is complete) or packed (with a
 * checksum, the payload compressed with zstd).  One decoder reads both.
 *
 * Byte order is little-endian.  Later versions may add fields at the end of a record: the chunk's `record_size` is the
 * record's length in the file; a reader ignores fields that it does not know, and reads missing ones as 0.
 */
#ifndef COMMON_FORMAT_H
#define COMMON_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FORMAT_MAGIC 0x6574696c72637068ULL /* "hpcrlite" */
#define FORMAT_VERSION 1
#define FORMAT_SUFFIX ".hpcrun"
#define FORMAT_LIVE_SUFFIX ".live"        /* of a process that runs or was killed */
#define FORMAT_PART_SUFFIX ".part"        /* packed, but not complete yet */
#define FORMAT_FLUSH_SUFFIX ".flush"      /* work and span as of the last flush, beside .live */
#define FORMAT_SNAPSHOT_MARKER "snapshot" /* a file in a directory that was copied while processes ran */
#define FORMAT_SNAPSHOT_TITLE "hpcrun-lite snapshot on " /* how it begins */
#define FORMAT_GRAPH_SUFFIX ".graph"      /* of the graph log */
#define FORMAT_TRACE_SUFFIX ".trace"      /* of the trace */
#define FORMAT_INDEX_SUFFIX ".index"      /* of the index of a trace, which hpcprof-lite --index writes */
#define FORMAT_UNIT 64                    /* live chunks begin at multiples of this */
#define FORMAT_PAYLOAD_MAX (256u << 20)   /* bytes of one decoded chunk; larger ones are refused */

/* Does the name end in the suffix, with something before it? */
static inline bool format_has_suffix(const char *name, const char *suffix)
{
  size_t length = strlen(name), end = strlen(suffix);
  return length > end && strcmp(name + length - end, suffix) == 0;
}

/* Tables.  The owner of a process's table is 0, that of a thread's table the thread's index. */
enum format_table {
  FORMAT_FREE = 0,           /* live files only: memory that is not a table, skipped */
  FORMAT_PROCESS = 1,        /* struct format_process: one record */
  FORMAT_STRINGS = 2,        /* bytes: NUL-terminated strings, referred to by offset */
  FORMAT_METRICS = 3,        /* struct format_metric: the meaning of a value record's columns */
  FORMAT_MODULES = 4,        /* struct format_module: the load map */
  FORMAT_REGIONS = 5,        /* struct format_region: instances of parallel regions */
  FORMAT_THREAD = 6,         /* struct format_thread: one record for each thread */
  FORMAT_NODES = 7,          /* struct format_node: a thread's calling-context tree */
  FORMAT_VALUES = 8,         /* a record is uint64_t[number of metrics] */
  FORMAT_DIRECTIVES = 9,     /* struct format_directive: constructs at code addresses; record 0 is the program */
  FORMAT_CONTRIBUTIONS = 10, /* struct format_contribution: contributions to the span */
  FORMAT_GRAPH_LOG = 11,     /* bytes: a part of a thread's stream (common/graphlog.h) */
  FORMAT_WAITS = 12,         /* struct format_wait: a thread's waiting places; record 0: between regions */
  FORMAT_SHARES = 13,        /* struct format_share: lists of shares, which values refer to */
  FORMAT_CONSTRUCTS = 14,    /* struct format_construct: a thread's tree of constructs; record 0: outside all */
  FORMAT_TASKS = 15,         /* struct format_tasks: a thread's figures of each task construct */
  FORMAT_TRACE = 16,         /* bytes: a part of a thread's stream (common/tracelog.h) */
  FORMAT_INDEX = 17,         /* bytes: a part of the index of a trace; owner 0: struct format_index */
  FORMAT_MARKS = 18,         /* struct format_mark: what the program marked, in the order of time */
  FORMAT_USER_COUNTS = 19,   /* struct format_user_count: a thread's sums of the program's counters */
  FORMAT_COUNTS = 20,        /* a record is uint64_t[2 * number of counters + 1]: counts of a record of
                                FORMAT_CONSTRUCTS, see doc/format.md */
  FORMAT_TABLES
};

enum format_flag {
  FORMAT_LIVE = 1, /* live form: payload not compressed, crc not used, room for more records than count */
  FORMAT_ZSTD = 2  /* payload is one zstd frame */
};

struct format_chunk {
  uint64_t magic;
  uint16_t version;
  uint16_t table;       /* enum format_table */
  uint32_t flags;       /* enum format_flag */
  uint32_t owner;       /* thread index, 0 for tables of the process */
  uint32_t first;       /* index of the chunk's first record within its table */
  uint32_t count;       /* records; live: stored with release order after the records are complete */
  uint32_t record_size; /* bytes */
  uint64_t stored_size; /* bytes of payload that follow this header */
  uint32_t crc;         /* CRC-32 of this header with crc = 0, then of the payload */
  uint32_t reserved[5]; /* 0 */
};

/* Loss and health counters of a process or thread, by index into `lost`.  Causes and remedies: doc/reliability.md. */
enum format_loss {
  FORMAT_LOST_MEMORY,     /* samples dropped: no memory for a node or value */
  FORMAT_LOST_IN_TOOL,    /* samples taken in the tool's own code, or throttled: their time is tool time */
  FORMAT_LOST_UNKNOWN,    /* samples of threads that were never measured */
  FORMAT_LOST_PARTIAL,    /* unwinds cut short (kept below a node of kind partial) */
  FORMAT_LOST_UNRESOLVED, /* samples in regions whose creation context was never found (kept below partial) */
  FORMAT_LOST_MODULES,    /* frames in code that belongs to no module, or for which the module table was full */
  FORMAT_LOST_EVENTS,     /* events that could not be armed for a thread */
  FORMAT_LOST_THREADS,    /* threads that could not be registered (no memory) */
  FORMAT_LOST_WRITES,     /* bytes that could not be written */
  FORMAT_LOST_BLAME, /* samples of lock waits that no release was charged with: two locks in one slot, or never released
                      */
  FORMAT_LOST_STATES,     /* thread states that contradicted the runtime's state and were repaired */
  FORMAT_LOST_TASKS,      /* samples in tasks whose creation context could not be kept (shown below their region) */
  FORMAT_LOST_PATHS,      /* fragments whose place on a critical path could not be kept */
  FORMAT_LOST_DIRECTIVES, /* constructs counted with the one around them: too many, or no memory */
  FORMAT_LOST_GRAPH,      /* tasks, joins or regions without a record: work and span are incomplete */
  FORMAT_LOST_WORK,       /* intervals that a hardware counter did not count completely: work and span are too small */
  FORMAT_LOST_LOG,        /* streams of the graph log that end early */
  FORMAT_LOST_UNKEPT,     /* blocks of tables that were not in the live file while the program ran */
  FORMAT_LOST_RATE,  /* samples of elapsed time left out because of many threads: the next sample includes their time */
  FORMAT_LOST_TRACE, /* windows of the trace that could not be written, or were dropped at its limit; and times of which
                        the states are not known */
  FORMAT_LOST_MARKS, /* marks, phases and values of the program's counters: too many, no memory, or not valid */
  FORMAT_LOST_MAX = 24
};

enum format_process_flag {
  FORMAT_PROCESS_OMPT = 1,      /* the tool is attached to an OpenMP runtime */
  FORMAT_PROCESS_EXCHANGED = 2, /* the launcher preloaded another OpenMP runtime */
  FORMAT_PROCESS_TIMERS = 4,    /* CPU time sampled by timers: perf_event was not allowed */
  FORMAT_PROCESS_FIRST = 8,     /* the process that the launcher became */
  FORMAT_PROCESS_FORKED = 16,   /* child created by fork */
  FORMAT_PROCESS_ONLINE = 32    /* work and span were computed: known at its end */
};

struct format_process {
  uint32_t pid, parent_pid;
  int32_t rank; /* MPI rank; -1 if there is none */
  uint32_t flags;
  uint64_t start_ns;    /* CLOCK_REALTIME at the start */
  uint64_t wall_ns;     /* elapsed until the end of its last thread, or until the record was written */
  uint64_t cpu_ns;      /* CPU time of the whole process, user + system */
  uint32_t cpus;        /* CPUs that the process may run on */
  uint32_t threads;     /* threads ever registered */
  uint32_t threads_max; /* most OpenMP threads at once that were not blocked; 1 without OpenMP */
  uint32_t host, command,
      runtime;    /* strings: host name, command line, OpenMP runtime's description ("" if none is attached) */
  uint32_t notes; /* string: lines on how it was measured, separated by '\n'; may be "" */
  uint32_t reserved;
  uint64_t regions; /* parallel regions begun */
  uint64_t lost[FORMAT_LOST_MAX];
  uint64_t span, span_burdened; /* longest chain of work, in `work_unit`; 0: not computed */
  uint32_t work_unit;           /* string: "s" (the numbers are nanoseconds) or the counted unit; "": not computed */
  uint32_t unseen;      /* bits: callbacks that the runtime lacks, in the order of graph[] in hpcrun-lite/rt/ompt.c */
  uint64_t tick_scale;  /* nanoseconds of a tick of the time-stamp counter, times 2^32 */
  uint64_t start_ticks; /* the counter at the process's start */
  uint64_t cost_fork, cost_task, cost_join; /* ns that the burdened clock adds, see doc/format.md */
  uint64_t paused_ns;                       /* of wall_ns: measuring was paused */
  uint64_t unsampled_ns; /* of wall_ns: no samples were taken, as the level was summary; without pauses */
};

/* The meaning of a column of the value table; its role decides how it is reported. */
enum format_role {
  FORMAT_ROLE_SAMPLES,  /* number of samples of the time event, or without one of the first event */
  FORMAT_ROLE_WORK,     /* nanoseconds of work */
  FORMAT_ROLE_OVERHEAD, /* nanoseconds of overhead */
  FORMAT_ROLE_EVENT,    /* a further event: counts, or nanoseconds where unit is "ns" */
  FORMAT_ROLE_LOCKWAIT, /* nanoseconds that other threads waited for a lock until it was released here */
  FORMAT_ROLE_PER_BUSY, /* sum of p/b: a sample of p ns, b busy threads (working or waiting for a lock) */
  FORMAT_ROLE_IN_USE,   /* sum of p t/b: t threads that exist (with FORMAT_ROLE_SHARES), or are in use (without) */
  FORMAT_ROLE_SHARES,   /* the first of a list of records of FORMAT_SHARES; 0: none */
  FORMAT_ROLE_COUNTED   /* counted between samples; also a column of FORMAT_COUNTS */
};

struct format_metric {
  uint32_t name; /* string: "samples", "work", "overhead", or the event's name */
  uint32_t unit; /* string: "ns" or "" for counts */
  uint32_t role; /* enum format_role */
  uint32_t reserved;
  uint64_t period; /* nominal period of the event, in the event's unit */
};

enum format_module_flag {
  FORMAT_MODULE_MAIN = 1,    /* the executable */
  FORMAT_MODULE_TOOL = 2,    /* hpcrun-lite's own library: frames are not shown */
  FORMAT_MODULE_RUNTIME = 4, /* the OpenMP runtime */
  FORMAT_MODULE_SYSTEM = 8,  /* libc and the dynamic loader: their outermost frames are not shown */
  FORMAT_MODULE_VDSO = 16,   /* the kernel's vdso: no file */
  FORMAT_MODULE_ANON = 32    /* code outside all modules (generated code): `base` is the start of its window */
};

struct format_module {
  uint64_t start, end;    /* addresses mapped */
  uint64_t base;          /* load bias: address − base = address in the ELF file = a node's offset */
  uint32_t path;          /* string */
  uint32_t flags;         /* enum format_module_flag */
  uint32_t build_id_size; /* bytes; 0 if there is none */
  uint8_t build_id[20];
};

/* An instance of a parallel region.  word = generation << 32 | running << 31 | users; the record is reused when users =
 * 0. The context that created the region is node `link_node` of thread `owner`. */
enum format_region_state {
  FORMAT_REGION_UNKNOWN = 0,     /* creation context not known */
  FORMAT_REGION_PROVISIONAL = 1, /* link valid, but its node lies below a placeholder and may still be moved */
  FORMAT_REGION_FINAL = 2,       /* link valid, its node does not move any more */
  FORMAT_REGION_REQUESTED = 3    /* not known; its master was requested to publish it */
};

struct format_region {
  uint64_t word;
  uint64_t enter_frame; /* stack address at which the owner entered the runtime */
  uint32_t owner;       /* thread index of the master */
  uint32_t state;       /* enum format_region_state */
  uint32_t link_node;
  uint32_t next;     /* while the program runs: next open region of the owner, or next free record */
  uint32_t team;     /* threads */
  uint32_t filtered; /* bits of enum format_filtered: of the path to the region; stored before `state` */
};

/* What a filter found on a path. */
enum format_filtered {
  FORMAT_FILTERED_OUT = 1,   /* code that is excluded: the path ends there */
  FORMAT_FILTERED_CODE = 2,  /* code that is included */
  FORMAT_FILTERED_REGION = 4 /* a user region to which the measurement is limited */
};

/* Kinds of nodes.  `what` is a module index unless stated otherwise. */
enum format_kind {
  FORMAT_KIND_FREE = 0,  /* unused: skipped */
  FORMAT_KIND_ROOT = 1,  /* node 0 */
  FORMAT_KIND_FRAME = 2, /* code at module `what` + `offset`; in a caller the offset is inside the call instruction */
  FORMAT_KIND_PARALLEL = 3, /* entry into a parallel region, below the frame that created it */
  FORMAT_KIND_TASK = 4,     /* entry into an explicit task; `offset`: of its directive, 0 if it is not known */
  FORMAT_KIND_RUNTIME = 5,  /* overhead: time in the OpenMP runtime that the parent entered */
  FORMAT_KIND_PARTIAL = 6,  /* the parent of contexts whose unwind was cut short */
  FORMAT_KIND_LINK = 7,     /* the same context as node `offset` of thread `what` */
  FORMAT_KIND_PLACEHOLDER =
      8,                   /* the same context as the link of region `offset`, if that is known; otherwise as PARTIAL */
  FORMAT_KIND_OUTSIDE = 9, /* a worker outside parallel regions */
  FORMAT_KIND_USER_REGION = 10, /* a user region with the name in string `offset`, below the frame that began it */
  FORMAT_KIND_FILTERED = 11,    /* all contexts below its parent that a filter leaves out */
  FORMAT_KINDS
};

#define FORMAT_WHAT_MAX 0xffffffu

struct format_node {
  uint32_t kind_what; /* enum format_kind << 24 | what; together with offset one aligned 64-bit word */
  uint32_t offset;
  uint32_t parent; /* node index, smaller or larger than the node's own; without cycles */
  uint32_t value;  /* index of the record in the value table, 0 = none */
};

struct format_thread {
  uint32_t index, tid; /* index: from 1, in order of start, never reused within the process */
  uint32_t flags;      /* enum format_thread_flag */
  uint32_t reserved;
  uint64_t start_ns, end_ns;                     /* since the process's start; end 0 = still alive when written */
  uint64_t samples;                              /* taken, all categories, of the event of FORMAT_ROLE_SAMPLES */
  uint64_t samples_idle, samples_lockwait;       /* of these, samples of an idle or lock-waiting thread */
  uint64_t idle_sampled_ns, lockwait_sampled_ns; /* the time that those samples represent */
  uint64_t idle_ns, lockwait_ns;                 /* exact, from the runtime's callbacks */
  uint64_t tool_ns;                              /* of samples inside the tool, and for setting up events */
  uint64_t cpu_ns, wall_ns;                      /* of the thread */
  uint64_t regions;                              /* parallel regions begun */
  uint64_t lost[FORMAT_LOST_MAX];
  uint64_t blocked_ns; /* exact: OpenMP thread in calls of the program that are known to block */
  uint64_t region_ns;  /* exact: between begin and end of the outermost regions whose master the thread is */
  uint64_t work;       /* in the unit of the process; 0: not computed */
  uint64_t per_busy_ns, in_use_ns; /* sums over all contexts, see FORMAT_ROLE_PER_BUSY and FORMAT_ROLE_IN_USE */
  uint64_t run_delay_ns;           /* time that the thread was ready to run and waited for a processor */
  uint64_t construct_since;        /* time-stamp counter: when the open interval of FORMAT_CONSTRUCTS began; 0: none */
  uint64_t construct_open;         /* to what it belongs: record * FORMAT_TIMES + enum format_construct_time */
  uint64_t blocked_since;          /* likewise: since when the thread sleeps in a call of the program; 0: it does not */
  uint64_t paused_ns;              /* of wall_ns: measuring was paused */
  uint64_t unsampled_ns;           /* no samples were taken (level = summary) and it did not wait; without pauses */
  uint64_t unsampled_cpu_ns, unsampled_delay_ns; /* CPU time at that level, and of run_delay_ns; without pauses */
};

/* Why a thread waits. */
enum format_wait_kind {
  FORMAT_WAIT_PARKED,     /* a worker outside parallel regions */
  FORMAT_WAIT_REGION_END, /* the barrier at the end of a region */
  FORMAT_WAIT_BARRIER,    /* any other barrier */
  FORMAT_WAIT_TASKS,      /* taskwait, taskgroup */
  FORMAT_WAIT_LOCK,       /* locks, critical, ordered, atomic */
  FORMAT_WAIT_KINDS
};

/* A place at which a thread waits: a construct at a code address.  Times are exact and in ticks of the time-stamp
 * counter; see doc/metrics.md for what counts as waiting, and what as work of the runtime. */
struct format_wait {
  uint32_t kind, module;   /* enum format_wait_kind; module 0: not known */
  uint64_t offset;         /* of the call instruction that enters the runtime, in the module */
  uint64_t key;            /* the place in the running program */
  uint32_t node;           /* the context in which the thread waited here first; 0: none */
  uint16_t context_sought; /* while the program runs: that context was looked for */
  uint16_t place;          /* likewise: the record's number */
  uint64_t count;          /* intervals of waiting */
  uint64_t idle, runtime;  /* ticks of waiting, and of the runtime's own work meanwhile */
  uint64_t since;          /* the counter when the current interval began; 0: none */
  uint64_t shared_ns;      /* sum over all shares that refer to this record */
  uint64_t tool_ns;        /* of `runtime`: sampled in the tool's own code */
};

/* A part of the waiting at a place that the samples of a context saw: only the proportions of the shares of one place
 * count, since the amounts are in struct format_wait. */
struct format_share {
  uint32_t wait, next; /* record of FORMAT_WAITS of the same thread; next record of the list, 0: none */
  uint64_t ns;
};

enum format_thread_flag {
  FORMAT_THREAD_OPENMP = 1 /* known to an OpenMP runtime: the thread's samples carry blame for idleness */
};

enum format_directive_kind {
  FORMAT_DIRECTIVE_PROGRAM,
  FORMAT_DIRECTIVE_PARALLEL,
  FORMAT_DIRECTIVE_FOR,
  FORMAT_DIRECTIVE_SECTIONS,
  FORMAT_DIRECTIVE_SINGLE,
  FORMAT_DIRECTIVE_MASKED,
  FORMAT_DIRECTIVE_TASK,
  FORMAT_DIRECTIVE_TASKLOOP,
  FORMAT_DIRECTIVE_TASKGROUP,
  FORMAT_DIRECTIVE_TASKWAIT,
  FORMAT_DIRECTIVE_BARRIER,
  FORMAT_DIRECTIVE_CRITICAL,
  FORMAT_DIRECTIVE_LOCK,
  FORMAT_DIRECTIVE_ORDERED,
  FORMAT_DIRECTIVE_TEAMS,
  FORMAT_DIRECTIVE_USER_REGION,
  FORMAT_DIRECTIVE_KINDS,

  /* only in struct format_construct: their directives are a task, a loop and a critical section */
  FORMAT_CONSTRUCT_TASK_EXEC = FORMAT_DIRECTIVE_KINDS,
  FORMAT_CONSTRUCT_DISTRIBUTE,
  FORMAT_CONSTRUCT_ATOMIC,
  FORMAT_CONSTRUCT_KINDS
};

/* A construct at a code address: sums over its outermost instances.  Work and span in the unit of the process. */
struct format_directive {
  uint32_t kind, module; /* enum format_directive_kind; module 0: not known */
  uint64_t offset;       /* of the call instruction that enters the runtime, in the module */
  uint32_t flags, name;  /* name: string, of a user region */
  uint64_t instances, work, span, iterations, lock_bound;
};

/* What a thread's time in a construct is spent on. */
enum format_construct_time {
  FORMAT_TIME_ENTER, /* until it is entered: startup of a region, waiting for a lock, creation of a task */
  FORMAT_TIME_BODY,
  FORMAT_TIME_WAIT, /* at its barrier, or for tasks */
  FORMAT_TIME_EXIT, /* shutdown of a region */
  FORMAT_TIMES
};

enum format_construct_flag {
  FORMAT_CONSTRUCT_LINK = 1,   /* the same construct as record `link` of thread `owner`, below which it stands there */
  FORMAT_CONSTRUCT_IN_WAIT = 2 /* it ran while its parent waited */
};

/* A construct as it nests in a thread; recursive executions are added to the outermost one.  Ticks of the time-stamp
 * counter, without those of the constructs inside; all ticks of a thread's records but those of a lock's body add up to
 * its life time. */
struct format_construct {
  uint32_t parent; /* record of the same thread */
  uint32_t kind;   /* enum format_directive_kind or FORMAT_CONSTRUCT_... */
  uint32_t directive, flags;
  uint32_t owner, link;          /* with FORMAT_CONSTRUCT_LINK */
  uint32_t node, context_sought; /* the context of its first execution, 0: none; as in struct format_wait */
  uint64_t count;                /* executions by this thread */
  uint64_t chosen;               /* of single and, with libgomp, sections: blocks that this thread executed */
  uint64_t ticks[FORMAT_TIMES];
  uint64_t wait_own;    /* of `wait`: after the last thread had arrived, the runtime's own time */
  uint64_t wait_spare;  /* of `wait`: at the end of sections of which the thread executed none */
  uint64_t unended;     /* executions whose end the thread did not see: their `wait` and `exit` are incomplete */
  uint32_t next, tasks; /* while the program runs: of the same hash, 0: none; record of FORMAT_TASKS + 1 */
};

/* Buckets of the histogram of a task's running time: eight for each factor of two.  A time of less than 8 ticks is its
 * own bucket; otherwise, with e the position of its highest bit, (e - 2) * 8 + the three bits below that. */
enum { FORMAT_TASK_BUCKETS = 360 };

/* What a thread has seen of the tasks of a construct.  Ticks; sums of moments wrap around. */
struct format_tasks {
  uint32_t directive, reserved;
  uint64_t created, undeferred, untied, dependent; /* created by this thread; of these with the property */
  uint64_t created_at, create_ticks, create_timed; /* sum of moments; time in the creation, of that many */
  uint64_t started, started_at, elsewhere;         /* begun by this thread; of these created by another one */
  uint64_t ended, ticks, shortest, longest;        /* ended in this thread; their running times */
  uint64_t suspended;                              /* how often this thread left one to run another task */
  uint32_t histogram[FORMAT_TASK_BUCKETS];         /* of the ended ones; does not wrap around */
};

/* A part of the process's span: work of a directive, with the context of a sample if it has one. */
struct format_contribution {
  uint32_t directive, thread, node, reserved; /* thread 0: no context */
  uint64_t amount;
};

enum format_mark_kind { FORMAT_MARK, FORMAT_PHASE };

/* A moment that the program marked, or at which it began a phase, which lasts until the next one or the end. */
struct format_mark {
  uint64_t ticks;                        /* time-stamp counter */
  uint32_t thread, kind, name, reserved; /* kind: enum format_mark_kind; name: string, 0: the phase ends */
};

/* What a thread counted in a context by a counter of the program.  Several records may have one context and name. */
struct format_user_count {
  uint32_t node, name;              /* name: string */
  uint64_t count, sum, least, most; /* values; their sum, at most UINT64_MAX; the smallest and the largest one */
  uint32_t next, reserved;          /* next: while the program runs, of the same node, + 1 */
};

/* The index of a trace. */
struct format_index {
  uint64_t digest;         /* of the trace's chunks: it is valid for no other */
  uint32_t shift, levels;  /* cells of the first level last 2^shift ns */
  uint32_t cell_size;      /* bytes */
  uint32_t critical_known; /* 1: cells tell what is on the critical path */
};

/* The phases of the process, in the second chunk of the index: this, then its phases, their steps and their tokens.
 * Times since the start of the process. */
struct format_index_phases {
  uint32_t phases, steps, tokens, regions; /* regions: in the chunks that follow */
  uint32_t threads, reserved;              /* threads: the most that lived at once, of those that count */
  uint64_t start_ns, end_ns;
};

/* A number of a thread, whose position in the file is thread - 1; thread 0: none.  up: of a node, so many rows of the
 * report above its own. */
struct format_index_number {
  uint32_t thread, number, up, reserved;
};

struct format_index_figures {
  uint64_t count, total_ns;                       /* of executions */
  uint64_t whole;                                 /* those whose length is known: the next five are theirs */
  uint64_t slowest, slowest_ns, slowest_start_ns; /* its number from 1 among all */
  double mean_ns, squares;                        /* squares: sum of squared differences to the mean */
  uint64_t ns[8];                                 /* of all threads, by category */
  struct format_index_number context;             /* node of the heaviest context */
};

struct format_index_phase {
  uint32_t kind, regions, steps, tokens; /* kind: serial, region, pattern, mixed, gap */
  uint64_t end_ns, repeated_ns;          /* it begins where the one before ends; end of the last repetition */
  struct format_index_figures figures;
};

enum format_index_step_kind { FORMAT_INDEX_SERIAL, FORMAT_INDEX_REGION, FORMAT_INDEX_JOINED };

struct format_index_step {
  struct format_index_number construct; /* record of FORMAT_CONSTRUCTS, of a region */
  uint32_t kind, reserved;              /* enum format_index_step_kind; JOINED: another step includes it */
  struct format_index_figures figures;
};

/* The order of a pattern's steps: step, beginning of a loop, end of a loop. */
struct format_index_token {
  uint32_t kind, step; /* step: number among all */
  double times;        /* of the begin of a loop: how often it repeats, on average */
};

/* An outermost region.  Chunks of FORMAT_INDEX_REGIONS follow that of the phases; the last one may have fewer. */
enum { FORMAT_INDEX_REGIONS = 8192 };

struct format_index_region {
  uint64_t before_ns, length_ns; /* before: since the end of the one before, in a chunk's first since the start of the
                                    process */
  uint32_t step, repetition;     /* step: number among all; repetition: of a pattern, from 1; in all but a chunk's first
                                    less that of the one before */
};

enum format_error {
  FORMAT_OK = 0,
  FORMAT_END = 1,  /* no further chunk */
  FORMAT_BAD = -1, /* damaged, or not a measurement: the message says what and where */
  FORMAT_NOMEM = -2
};

/* A decoded chunk.  `data` holds count × record_size bytes, aligned to 8, and belongs to the caller (free()). */
struct format_view {
  struct format_chunk head;
  void *data;
};

struct ZSTD_CCtx_s;

/* The most bytes that format_pack() needs for a payload of that size. */
size_t format_pack_bound(size_t payload_size);

/* Bytes of memory that a compression context for format_pack() needs. */
size_t format_pack_memory(void);

/* Writes one packed chunk to out.  head: table, owner, first, count and record_size; payload: the records.  cctx: NULL
 * to store the payload without compression.  Returns the bytes written, 0 if out is too small or zstd failed.  CTL. */
size_t format_pack(const struct format_chunk *head, const void *payload, struct ZSTD_CCtx_s *cctx, void *out,
                   size_t out_size);

/* Decodes the chunk at *offset, live or packed, checks everything, and moves *offset to its end.  On damage returns
 * FORMAT_BAD with a message, and moves *offset: to the end of the chunk if its header is valid, else to the next place
 * that looks like a header, or to size.  BATCH. */
enum format_error format_next(const uint8_t *file, size_t size, size_t *offset, struct format_view *view, char *message,
                              size_t message_size);

/* Copies record i of a view into a structure of record_size bytes; fields that the file lacks are 0. */
void format_record(const struct format_view *view, uint32_t i, void *record, size_t record_size);

const char *format_table_name(unsigned table);
const char *format_loss_name(unsigned loss);                 /* NULL after the last one in use */
const char *format_loss_text(unsigned loss, uint64_t count); /* the name as it reads after that count */
const char *format_loss_remedy(unsigned loss);               /* likewise */

#endif
