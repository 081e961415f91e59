/* The measurement format, which hpcrun-lite writes and hpcprof-lite reads.  doc/format.md is normative.
 *
 * Context: RT uses the structures (records have the same layout in memory and in the file), CTL the encoder, BATCH the
 * decoder.  No state; all memory is the caller's.
 *
 * A file is a sequence of extents, each a header of 64 bytes followed by its payload.  An extent carries consecutive
 * records of one table of one owner.  An extent has one of two forms: live (in a mapping of the running program: not
 * compressed, no checksum, `count` published by a release store after the record is complete) or packed (with a
 * checksum, the payload compressed with zstd).  One decoder reads both.
 *
 * Byte order is little-endian.  Later versions may add fields at the end of a record: the extent's `record_size` is the
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
#define FORMAT_LIVE_SUFFIX ".live"                       /* of a process that runs or was killed */
#define FORMAT_PART_SUFFIX ".part"                       /* packed, but not complete yet */
#define FORMAT_FLUSH_SUFFIX ".flush"                     /* work and span as of the last flush, beside .live */
#define FORMAT_LAUNCH_MARKER "launch"                    /* the file that the launcher makes in its directory */
#define FORMAT_DEBUG_DATA_NAME "debug-data"              /* the file in which hpcprof-lite keeps what it has read */
#define FORMAT_SNAPSHOT_MARKER "snapshot"                /* a file in a directory that was copied while processes ran */
#define FORMAT_SNAPSHOT_TITLE "hpcrun-lite snapshot on " /* how it begins */
#define FORMAT_GRAPH_SUFFIX ".graph"                     /* of the graph log */
#define FORMAT_TRACE_SUFFIX ".trace"                     /* of the trace */
#define FORMAT_PERF_MAP_SUFFIX ".perfmap"                /* names of generated code, as text */
#define FORMAT_INDEX_SUFFIX ".index"    /* of the index of a trace, which hpcprof-lite --index writes */
#define FORMAT_UNIT 64                  /* live extents begin at multiples of this */
#define FORMAT_PAYLOAD_MAX (256u << 20) /* bytes of one decoded extent; larger ones are refused */

/* Does the name end in the suffix, with something before it? */
static inline bool format_has_suffix(const char *name, const char *suffix)
{
  size_t length = strlen(name), end = strlen(suffix);
  return length > end && strcmp(name + length - end, suffix) == 0;
}

/* Tables: T(enumerator, name, type of a record; of its elements where their number depends on the run: VALUES, COUNTS).
 * The owner of a process's table is 0, that of a thread's table the thread's index. */
#define FORMAT_TABLE_LIST(T)                                                                                           \
  T(FREE, "free", uint8_t)                             /* live files only: memory that is not a table, skipped */      \
  T(PROCESS, "process", struct format_process)         /* one record */                                                \
  T(STRINGS, "strings", uint8_t)                       /* bytes: NUL-terminated strings, referred to by offset */      \
  T(METRICS, "metrics", struct format_metric)          /* the meaning of a value record's columns */                   \
  T(MODULES, "modules", struct format_module)          /* the load map */                                              \
  T(REGIONS, "regions", struct format_region)          /* instances of parallel regions */                             \
  T(THREAD, "thread", struct format_thread)            /* one record for each thread */                                \
  T(NODES, "nodes", struct format_node)                /* a thread's calling-context tree */                           \
  T(VALUES, "values", uint64_t)                        /* a record is uint64_t[number of metrics] */                   \
  T(DIRECTIVES, "directives", struct format_directive) /* constructs at code addresses; record 0 is the program */     \
  T(CONTRIBUTIONS, "contributions", struct format_contribution) /* contributions to the span */                        \
  T(GRAPH_LOG, "graph log", uint8_t)                   /* bytes: a part of a thread's stream (common/graphlog.h) */    \
  T(WAITS, "waits", struct format_wait)                /* a thread's wait sites; record 0: parked */                   \
  T(SHARES, "shares", struct format_share)             /* lists of shares, which values refer to */                    \
  T(CONSTRUCTS, "constructs", struct format_construct) /* a thread's tree of constructs; record 0: outside all */      \
  T(TASKS, "tasks", struct format_tasks)               /* a thread's figures of each task construct */                 \
  T(TRACE, "trace", uint8_t)                           /* bytes: a part of a thread's stream (common/tracelog.h) */    \
  T(INDEX, "index", uint8_t)            /* bytes: a part of the index of a trace; owner 0: struct format_index */      \
  T(MARKS, "marks", struct format_mark) /* what the program marked, in the order of time */                            \
  T(USER_COUNTS, "user counts", struct format_user_count) /* a thread's sums of the program's counters */              \
  T(COUNTS, "counts", uint64_t)         /* a record is uint64_t[2 * number of counters + 1]: counts of a record of     \
                                    FORMAT_CONSTRUCTS, see doc/format.md */                                            \
  T(CODE, "code", struct format_code)   /* checksums of code of modules without a build id */                          \
  T(DEBUG_DATA, "debug data", uint8_t)  /* bytes: what was read of debug data (common/symbols/debug_store.h) */        \
  T(LOCKS, "locks", struct format_lock) /* locks of the thread; record 0: those without a record */                    \
  T(MPI, "mpi", struct format_mpi)      /* calls of MPI of the thread; record 0: those without a record */             \
  T(DEVICES, "devices", struct format_device) /* devices for which the program had target constructs */                \
  T(DEVICE_TIMES, "device times", struct format_device_times) /* operations by the devices' own records */

#define FORMAT_TABLE(enumerator, name, type) FORMAT_##enumerator,
enum format_table { FORMAT_TABLE_LIST(FORMAT_TABLE) FORMAT_TABLES };

enum format_flag {
  FORMAT_LIVE = 1, /* live form: payload not compressed, crc not used, room for more records than count */
  FORMAT_ZSTD = 2  /* payload is one zstd frame */
};

/* A record is described once, by the list of its fields: F(type, name), A(type, name, length of the array).  From the
 * list come the structure, what hpcprof-lite keeps of it (model/profile.h), and the layouts that tests read and compare
 * with doc/format.md (tests/support/record_layouts.c). */
#define FORMAT_FIELD(type, name) type name;
#define FORMAT_ARRAY(type, name, length) type name[length];

#define FORMAT_EXTENT_FIELDS(F, A)                                                                                     \
  F(uint64_t, magic)                                                                                                   \
  F(uint16_t, version)                                                                                                 \
  F(uint16_t, table)       /* enum format_table */                                                                     \
  F(uint32_t, flags)       /* enum format_flag */                                                                      \
  F(uint32_t, owner)       /* thread index, 0 for tables of the process */                                             \
  F(uint32_t, first)       /* index of the extent's first record within its table */                                   \
  F(uint32_t, count)       /* records; live: stored with release order after the records are complete */               \
  F(uint32_t, record_size) /* bytes */                                                                                 \
  F(uint64_t, stored_size) /* bytes of payload that follow this header */                                              \
  F(uint32_t, crc)         /* CRC-32 of this header with crc = 0, then of the payload */                               \
  A(uint32_t, reserved, 5) /* 0 */
struct format_extent {
  FORMAT_EXTENT_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Losses of a process or thread, by position in `lost`.  Causes and remedies: doc/reliability.md. */
#define FORMAT_LOSS_LIST(L)                                                                                            \
  L(MEMORY)     /* samples dropped: no memory for a node or value */                                                   \
  L(IN_TOOL)    /* samples taken in the tool's own code, or throttled: their time is tool time */                      \
  L(UNKNOWN)    /* samples of threads that were never measured */                                                      \
  L(PARTIAL)    /* unwinds cut short (kept below a node of kind partial) */                                            \
  L(UNRESOLVED) /* samples in regions whose creation context was never found (kept below partial) */                   \
  L(MODULES)    /* frames in code that belongs to no module, or for which the module table was full */                 \
  L(EVENTS)     /* events that could not be armed for a thread */                                                      \
  L(THREADS)    /* threads that could not be registered (no memory) */                                                 \
  L(WRITES)     /* bytes that could not be written */                                                                  \
  L(BLAME)      /* samples of lock waits that no release was charged with: two locks in one slot, or never released */ \
  L(STATES)     /* thread states that contradicted the runtime's state and were repaired */                            \
  L(TASKS)      /* samples in tasks whose creation context could not be kept (shown below their region) */             \
  L(PATHS)      /* fragments whose place on a critical path could not be kept */                                       \
  L(DIRECTIVES) /* constructs counted with the one around them: too many, or no memory */                              \
  L(GRAPH)      /* tasks, joins or regions without a record: work and span are incomplete */                           \
  L(WORK)       /* times that a hardware counter did not count completely: work and span are too small */              \
  L(LOG)        /* streams of the graph log that end early */                                                          \
  L(UNKEPT)     /* blocks of tables that were not in the live file while the program ran */                            \
  L(RATE)       /* samples of elapsed time left out because of many threads: the next sample includes their time */    \
  L(TRACE)      /* windows of the trace that were not written, or dropped at its limit; times of unknown state */      \
  L(MARKS)      /* marks, user phases and values of the program's counters: too many, no memory, or not valid */       \
  L(GUESSED)    /* unwinds with guessed callers (nodes with FORMAT_WHAT_GUESSED) */                                    \
  L(RELEASES)   /* waits for locks of POSIX, and releases that ended some, whose waiting is charged to no release */
#define FORMAT_LOST(name) FORMAT_LOST_##name,
enum format_loss { FORMAT_LOSS_LIST(FORMAT_LOST) FORMAT_LOST_MAX = 24 };

#define FORMAT_PROCESS_FLAG_LIST(P)                                                                                    \
  P(OMPT, 1)      /* the tool is attached to an OpenMP runtime */                                                      \
  P(EXCHANGED, 2) /* the launcher preloaded another OpenMP runtime */                                                  \
  P(TIMERS, 4)    /* CPU time sampled by timers: perf_event was not allowed */                                         \
  P(FIRST, 8)     /* the process that the launcher became */                                                           \
  P(FORKED, 16)   /* child created by fork */                                                                          \
  P(ONLINE, 32)   /* work and span were computed: known at its end */                                                  \
  P(OUTSIDE, 64)  /* threads that OpenMP does not know have shares in the waiting of others */                         \
  P(LOCKS, 128)   /* acquisitions of each lock are counted */
#define FORMAT_PROCESS_FLAG(name, value) FORMAT_PROCESS_##name = value,
enum format_process_flag { FORMAT_PROCESS_FLAG_LIST(FORMAT_PROCESS_FLAG) };

enum { FORMAT_MASK_WORDS = 16 }; /* sets of CPUs: bit n % 64 of word n / 64 is CPU n; larger numbers do not fit */

/* Work and span of a process, and what their unit is. */
#define FORMAT_WORKSPAN_FIELDS(F)                                                                                      \
  F(uint64_t, span)          /* longest chain of work, in `work_unit`; 0: not computed */                              \
  F(uint64_t, span_burdened) /* likewise, with the costs below */                                                      \
  F(uint32_t, work_unit)     /* string: "s" (the numbers are nanoseconds) or the counted unit; "": not computed */     \
  F(uint32_t, unseen) /* bits: callbacks that the runtime lacks, in the order of graph[] in hpcrun-lite/rt/ompt.c */   \
  F(uint64_t, tick_scale)  /* nanoseconds of a tick of the time-stamp counter, times 2^32 */                           \
  F(uint64_t, start_ticks) /* the counter at the process's start */                                                    \
  F(uint64_t, cost_fork)   /* ns that the burdened clock adds for a region, see doc/format.md */                       \
  F(uint64_t, cost_task)   /* likewise for a task */                                                                   \
  F(uint64_t, cost_join)   /* likewise for a join */

/* M: a field that model/profile.h declares itself, under the same name. */
#define FORMAT_PROCESS_LIST(F, A, M)                                                                                   \
  F(uint32_t, pid)                                                                                                     \
  F(uint32_t, parent_pid)                                                                                              \
  F(int32_t, rank) /* MPI rank; -1 if there is none */                                                                 \
  F(uint32_t, flags)                                                                                                   \
  F(uint64_t, start_ns)    /* CLOCK_REALTIME at the start */                                                           \
  F(uint64_t, wall_ns)     /* elapsed until the end of its last thread, or until the record was written */             \
  F(uint64_t, cpu_ns)      /* CPU time of the whole process, user + system */                                          \
  F(uint32_t, cpus)        /* CPUs that the process may run on */                                                      \
  M(uint32_t, threads)     /* threads ever registered */                                                               \
  F(uint32_t, threads_max) /* most OpenMP threads in use at once; 1 without OpenMP */                                  \
  M(uint32_t, host)        /* string: its name */                                                                      \
  M(uint32_t, command)     /* string: command line */                                                                  \
  M(uint32_t, runtime)     /* string: the OpenMP runtime's description; "": none is attached */                        \
  M(uint32_t, notes)       /* string: lines on how it was measured, separated by '\n'; may be "" */                    \
  F(uint32_t, write_error) /* errno: why it could not write its file, and left this live one; 0: it could */           \
  F(uint64_t, regions)     /* parallel regions begun */                                                                \
  A(uint64_t, lost, FORMAT_LOST_MAX)                                                                                   \
  FORMAT_WORKSPAN_FIELDS(F)                                                                                            \
  F(uint64_t, paused_ns)         /* of wall_ns: measuring was paused */                                                \
  F(uint64_t, unsampled_ns)      /* of wall_ns: no samples were taken, as the level was summary; without pauses */     \
  F(uint64_t, peak_memory_bytes) /* most memory in use at once, as the kernel counts it; 0: not known */               \
  F(uint32_t, overhead_limit)    /* percent of a thread's time, plus 1: --overhead-limit; 0: not known */              \
  F(uint32_t, reserved)                                                                                                \
  A(uint64_t, launch_mask, FORMAT_MASK_WORDS) /* CPUs on which the process could run when it was executed */           \
  F(uint32_t, machine_cpus)                   /* CPUs of the machine that are online; 0: not known */                  \
  F(uint32_t, quota_milli)       /* 1000 times the CPUs that its control groups allow on average; 0: no limit */       \
  F(uint64_t, quota_periods)     /* of the group that was throttled for longest: periods in the run */                 \
  F(uint64_t, throttled_periods) /* of these, in which it was throttled */                                             \
  F(uint64_t, throttled_ns)      /* for how long, summed over CPUs */                                                  \
  F(uint64_t, steal_ns)          /* CPU time that the host of the virtual machine gave to others, of all CPUs */       \
  F(uint64_t, machine_ns)        /* all time of all CPUs of the machine, of which that is a part; 0: not known */      \
  F(uint64_t, limits_ns)         /* since the start: when the last five were read; 0: never */                         \
  M(uint32_t, limits)            /* string: lines NAME=VALUE, of settings that limit the cores; may be "" */           \
  F(uint32_t, cores)             /* of launch_mask: each can be several CPUs; 0: not known */                          \
  F(uint64_t, tick_ns)           /* time of which a tick of the kernel decides whether it was system time; 0: usage    \
                                    is not known */                                                                    \
  M(uint32_t, mpi_library)       /* string: name and version of the MPI library; "": MPI was not initialized */        \
  F(int32_t, mpi_rank)           /* in MPI_COMM_WORLD; means something if mpi_size is not 0 */                         \
  F(uint32_t, mpi_size)          /* of MPI_COMM_WORLD; 0: not known */                                                 \
  F(uint32_t, mpi_threads)       /* what the library provides: 1 single, 2 funneled, 3 serialized, 4 multiple; 0: not  \
                                    known */                                                                           \
  F(uint32_t, mpi_state)         /* enum format_mpi_state */                                                           \
  F(uint32_t, mpi_decoded)       /* 1: a module decodes the arguments of calls, so that bytes are known */             \
  F(uint64_t, mpi_init_ns)     /* since the start: when the first call that initializes MPI had returned; 0: never */  \
  F(uint64_t, mpi_finalize_ns) /* likewise: when the last call that finalizes it began; 0: never */
#define FORMAT_PROCESS_FIELDS(F, A) FORMAT_PROCESS_LIST(F, A, F)
struct format_process {
  FORMAT_PROCESS_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* What a process has done with MPI. */
enum format_mpi_state {
  FORMAT_MPI_INITIALIZED = 1, /* a call that initializes it has returned */
  FORMAT_MPI_FINALIZED = 2,   /* a call of MPI_Finalize has returned */
  FORMAT_MPI_SESSIONS = 4     /* it uses sessions */
};

/* What the kernel has counted for a thread, as getrusage() reports it, without what the tool has caused; and threads
 * that it has created.  Times in ns; USER + SYSTEM is exact, its division into two is the kernel's estimate. */
#define FORMAT_USAGE_LIST(U)                                                                                           \
  U(USER)         /* CPU time in the program's code */                                                                 \
  U(SYSTEM)       /* CPU time in the kernel */                                                                         \
  U(MINOR_FAULTS) /* page faults without input */                                                                      \
  U(MAJOR_FAULTS) /* page faults with input */                                                                         \
  U(GIVEN_UP)     /* times that the thread gave up its processor, because it had to wait */                            \
  U(SWITCHED_OUT) /* times that it was switched out, although it could run */                                          \
  U(CREATED)      /* calls that have created a thread */                                                               \
  U(CREATING)     /* ns in these calls */
#define FORMAT_USAGE(name) FORMAT_USAGE_##name,
enum format_usage { FORMAT_USAGE_LIST(FORMAT_USAGE) FORMAT_USAGES };

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
  FORMAT_ROLE_COUNTED,  /* counted between samples; also a column of FORMAT_COUNTS */
  FORMAT_ROLE_USAGE,    /* this and the next ones, by enum format_usage: what the kernel did between samples */
  FORMAT_ROLE_BLOCKED = FORMAT_ROLE_USAGE + FORMAT_USAGES, /* ns asleep in calls of the program */
  FORMAT_ROLE_BLOCKED_NEAR,                                /* ns asleep elsewhere, before the next sample */
  FORMAT_ROLE_BLOCKED_BYTES,                               /* bytes that these calls have moved */
  FORMAT_ROLE_BLOCKED_LAST = FORMAT_ROLE_BLOCKED_BYTES
};

#define FORMAT_METRIC_FIELDS(F, A)                                                                                     \
  F(uint32_t, name) /* string: "samples", "work", "overhead", or the event's name */                                   \
  F(uint32_t, unit) /* string: "ns" or "" for counts */                                                                \
  F(uint32_t, role) /* enum format_role */                                                                             \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, period) /* nominal period of the event, in the event's unit */
struct format_metric {
  FORMAT_METRIC_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

enum format_module_flag {
  FORMAT_MODULE_MAIN = 1,     /* the executable */
  FORMAT_MODULE_TOOL = 2,     /* hpcrun-lite's own library: frames are not shown */
  FORMAT_MODULE_RUNTIME = 4,  /* the OpenMP runtime */
  FORMAT_MODULE_SYSTEM = 8,   /* libc and the dynamic loader: their outermost frames are not shown */
  FORMAT_MODULE_VDSO = 16,    /* the kernel's vdso: no file */
  FORMAT_MODULE_ANON = 32,    /* code outside all modules (generated code): `base` is the start of its window */
  FORMAT_MODULE_CHANGED = 64, /* without a build id: its code is changed where it is loaded, or cannot be read */
  FORMAT_MODULE_DEVICES = 128 /* part of the OpenMP runtime: the library for devices */
};

#define FORMAT_MODULE_FIELDS(F, A)                                                                                     \
  F(uint64_t, start)         /* address at which it is mapped */                                                       \
  F(uint64_t, end)           /* likewise, of its end */                                                                \
  F(uint64_t, base)          /* load bias: address − base = address in the ELF file = a node's offset */             \
  F(uint32_t, path)          /* string */                                                                              \
  F(uint32_t, flags)         /* enum format_module_flag */                                                             \
  F(uint32_t, build_id_size) /* bytes; 0 if there is none */                                                           \
  A(uint8_t, build_id, 20)                                                                                             \
  F(uint64_t, file_size)    /* bytes; 0: not known */                                                                  \
  F(uint64_t, file_time_ns) /* of its last change, CLOCK_REALTIME; 0: not known */                                     \
  F(uint64_t, headers)      /* without a build id: checksum of program headers and dynamic section; 0: not known */
struct format_module {
  FORMAT_MODULE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Code of a module without a build id (common/file_identity.h). */
#define FORMAT_CODE_FIELDS(F, A)                                                                                       \
  F(uint32_t, module)                                                                                                  \
  F(uint32_t, bytes)                                                                                                   \
  F(uint64_t, offset)   /* in the module, as in nodes: of the page, or of the first code in it */                      \
  F(uint64_t, checksum) /* of that many bytes */
struct format_code {
  FORMAT_CODE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* What is known of a region's creation context. */
enum format_region_state {
  FORMAT_REGION_UNKNOWN = 0,     /* creation context not known */
  FORMAT_REGION_PROVISIONAL = 1, /* link valid, but its node lies below a placeholder and may still be moved */
  FORMAT_REGION_FINAL = 2,       /* link valid, its node does not move any more */
  FORMAT_REGION_REQUESTED = 3    /* not known; its master was requested to publish it */
};

/* An instance of a parallel region.  word = generation << 32 | running << 31 | users; the record is reused when users =
 * 0.  The context that created the region is node `link_node` of thread `owner`. */
#define FORMAT_REGION_FIELDS(F, A)                                                                                     \
  F(uint64_t, word)                                                                                                    \
  F(uint64_t, enter_frame) /* stack address at which the owner entered the runtime */                                  \
  F(uint32_t, owner)       /* thread index of the master */                                                            \
  F(uint32_t, state)       /* enum format_region_state */                                                              \
  F(uint32_t, link_node)                                                                                               \
  F(uint32_t, next)     /* while the program runs: next open region of the owner, or next free record */               \
  F(uint32_t, team)     /* number of its threads */                                                                    \
  F(uint32_t, filtered) /* bits of enum format_filtered: of the path to the region; stored before `state` */
struct format_region {
  FORMAT_REGION_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
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
  FORMAT_KIND_MPI = 12,         /* the call of MPI function `offset` (common/mpi_functions.h), below its caller */
  FORMAT_KINDS
};

#define FORMAT_WHAT_MAX 0xffffffu
#define FORMAT_WHAT_GUESSED 0x800000u /* of a FRAME, beside its module: a caller that was guessed, without CFI */
#define FORMAT_MODULES_MAX FORMAT_WHAT_GUESSED

#define FORMAT_NODE_FIELDS(F, A)                                                                                       \
  F(uint32_t, kind_what) /* enum format_kind << 24 | what; together with offset one aligned 64-bit word */             \
  F(uint32_t, offset)                                                                                                  \
  F(uint32_t, parent) /* node index, smaller or larger than the node's own; without cycles */                          \
  F(uint32_t, value)  /* index of the record in the value table, 0 = none */
struct format_node {
  FORMAT_NODE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

#define FORMAT_THREAD_FIELDS(F, A)                                                                                     \
  F(uint32_t, index) /* from 1, in order of start, never reused within the process */                                  \
  F(uint32_t, tid)                                                                                                     \
  F(uint32_t, flags) /* enum format_thread_flag */                                                                     \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, start_ns)            /* since the process's start */                                                     \
  F(uint64_t, end_ns)              /* likewise; 0: still alive when written */                                         \
  F(uint64_t, samples)             /* taken, all categories, of the event of FORMAT_ROLE_SAMPLES */                    \
  F(uint64_t, samples_idle)        /* of these, samples of an idle thread */                                           \
  F(uint64_t, samples_lockwait)    /* likewise, of one that waits for a lock */                                        \
  F(uint64_t, idle_sampled_ns)     /* the time that samples_idle represent */                                          \
  F(uint64_t, lockwait_sampled_ns) /* likewise, samples_lockwait */                                                    \
  F(uint64_t, idle_ns)             /* exact, from the runtime's callbacks */                                           \
  F(uint64_t, lockwait_ns)         /* likewise */                                                                      \
  F(uint64_t, tool_ns)             /* of samples inside the tool, and for setting up events */                         \
  F(uint64_t, cpu_ns)              /* of the thread */                                                                 \
  F(uint64_t, wall_ns)             /* likewise */                                                                      \
  F(uint64_t, regions)             /* parallel regions begun */                                                        \
  A(uint64_t, lost, FORMAT_LOST_MAX)                                                                                   \
  F(uint64_t, blocked_ns)      /* exact: OpenMP thread in calls of the program that are known to block */              \
  F(uint64_t, region_ns)       /* exact: from start to end of the outermost regions whose master the thread is */      \
  F(uint64_t, work)            /* in the unit of the process; 0: not computed */                                       \
  F(uint64_t, per_busy_ns)     /* sum over all contexts, see FORMAT_ROLE_PER_BUSY */                                   \
  F(uint64_t, in_use_ns)       /* likewise, see FORMAT_ROLE_IN_USE */                                                  \
  F(uint64_t, run_delay_ns)    /* time that the thread was ready to run and waited for a processor */                  \
  F(uint64_t, construct_since) /* time-stamp counter: since when a time of FORMAT_CONSTRUCTS is open; 0: none */       \
  F(uint64_t, construct_open)  /* to what it belongs: record * FORMAT_TIMES + enum format_construct_time */            \
  F(uint64_t,                                                                                                          \
    blocked_since)       /* time-stamp counter: since when it sleeps in a call of the program; 0: it does not sleep */ \
  F(uint64_t, paused_ns) /* of wall_ns: measuring was paused */                                                        \
  F(uint64_t, unsampled_ns)       /* no samples were taken (level = summary) and it did not wait; without pauses */    \
  F(uint64_t, unsampled_cpu_ns)   /* CPU time at that level, without pauses */                                         \
  F(uint64_t, unsampled_delay_ns) /* likewise, of run_delay_ns */                                                      \
  F(uint64_t, events)             /* of OpenMP that work, span and construct times have followed */                    \
  F(uint64_t, events_ns)          /* estimate of what that has cost the thread; 0: not known */                        \
  F(uint64_t, period)             /* most instances of which one was followed as a whole; 0, 1: all were */            \
  A(uint64_t, mask, FORMAT_MASK_WORDS)      /* CPUs on which it could run when last asked for: at a sample, its end */ \
  A(uint64_t, cpus_seen, FORMAT_MASK_WORDS) /* CPUs on which it was sampled */                                         \
  F(uint32_t, mask_cpus)                    /* CPUs in the mask, with those that do not fit; 0: not known */           \
  F(uint32_t, cpus_beyond)                  /* samples on CPUs that do not fit into cpus_seen */                       \
  F(uint64_t, switched_seen)                /* ticks of its life that records of switches cover */                     \
  F(uint64_t, switched_preempted)   /* of these: it could run and had no processor, without the latency of waking */   \
  F(uint64_t, switched_wakes)       /* times in which it slept and was woken */                                        \
  F(uint64_t, call_preempted)       /* of switched_preempted: in the calls of blocked_ns */                            \
  F(uint64_t, call_wakes)           /* likewise, of switched_wakes */                                                  \
  A(uint64_t, usage, FORMAT_USAGES) /* since the thread's start, by enum format_usage */                               \
  A(uint64_t, tool_usage, FORMAT_USAGES) /* likewise: what the tool has caused in samples, and for memory */           \
  F(uint64_t, held_up)     /* 1 + ticks by which it would have got on faster, had all had processors; 0: not known */  \
  F(uint64_t, locks_taken) /* how often it has acquired a lock of POSIX or C11; in the OpenMP runtime: not counted */  \
  F(uint64_t,                                                                                                          \
    spun_ns) /* sampled: it had no work and spun, while a thread that had some was ready without a processor */        \
  F(uint64_t, outside_ns)        /* sampled, divided among the threads that ran: no region was open */                 \
  F(uint64_t, beside_ns)         /* of outside_ns: several threads ran, at least one of them not known to OpenMP */    \
  F(uint64_t, mpi_ns)            /* exact: in calls of MPI */                                                          \
  F(uint64_t, mpi_calls)         /* how often it has called MPI, from outside MPI */                                   \
  F(uint64_t, samples_mpi)       /* of `samples`: in these calls */                                                    \
  F(uint64_t, mpi_sampled_ns)    /* the time that samples_mpi represent */                                             \
  F(uint64_t, mpi_preempted)     /* of switched_preempted: in calls of MPI */                                          \
  F(uint64_t, mpi_wakes)         /* likewise, of switched_wakes */                                                     \
  F(uint64_t, mpi_sent)          /* bytes that it has sent, as far as they are known (mpi_decoded) */                  \
  F(uint64_t, mpi_received)      /* likewise */                                                                        \
  F(uint64_t, device_ns)         /* in target constructs, waiting for devices that are not the host: exact */          \
  F(uint64_t, samples_device)    /* of `samples`: meanwhile */                                                         \
  F(uint64_t, device_sampled_ns) /* the time that samples_device represent */                                          \
  F(uint64_t, initial_cpu_ns) /* of the process's initial thread, until this one began; 0: not known, or it is that */ \
  F(uint64_t, initial_delay_ns) /* likewise, as run_delay_ns; of that thread itself: before it was measured */
struct format_thread {
  FORMAT_THREAD_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Why a thread waits. */
enum format_wait_kind {
  FORMAT_WAIT_PARKED,     /* a worker outside parallel regions */
  FORMAT_WAIT_REGION_END, /* the barrier at the end of a region */
  FORMAT_WAIT_BARRIER,    /* any other barrier */
  FORMAT_WAIT_TASKS,      /* taskwait, taskgroup */
  FORMAT_WAIT_LOCK,       /* locks, critical, ordered, atomic; mutexes and other locks of POSIX and C11 */
  FORMAT_WAIT_POOL,       /* a thread of a pool outside OpenMP, at a condition variable or semaphore */
  FORMAT_WAIT_DEVICE,     /* no wait of a thread: that device has nothing to do; only shares refer to it */
  FORMAT_WAIT_KINDS
};

/* A wait site: a kind of wait at a code address.  Times are exact and in ticks of the time-stamp
 * counter; see doc/metrics.md for what counts as waiting, and what as work of the runtime. */
#define FORMAT_WAIT_FIELDS(F, A)                                                                                       \
  F(uint32_t, kind)                 /* enum format_wait_kind */                                                        \
  F(uint32_t, module)               /* 0: not known */                                                                 \
  F(uint64_t, offset)               /* of the call instruction that enters the runtime, in the module */               \
  F(uint64_t, key)                  /* the site in the running program */                                              \
  F(uint32_t, node)                 /* the context in which the thread waited here first; 0: none */                   \
  F(uint16_t, context_sought)       /* while the program runs: that context was looked for */                          \
  F(uint16_t, site)                 /* likewise: the record's number */                                                \
  F(uint64_t, count)                /* times in which the thread waited */                                             \
  F(uint64_t, idle)                 /* ticks of waiting, without the runtime's own work */                             \
  F(uint64_t, runtime)              /* ticks of that work */                                                           \
  F(uint64_t, since)                /* the counter when the present wait began; 0: none */                             \
  F(uint64_t, shared_ns)            /* sum over all shares that refer to this record */                                \
  F(uint64_t, tool_ns)              /* of `runtime`: sampled in the tool's own code */                                 \
  F(uint64_t, preempted)            /* of `idle`: ticks without a processor, by records of switches */                 \
  F(uint64_t, preempted_in_runtime) /* likewise, of `runtime` */                                                       \
  F(uint64_t, woken)   /* ticks asleep once the reason to wait was over; of `runtime`, where parked of `idle` */       \
  F(uint64_t, wakes)   /* times in which the thread was woken before that */                                           \
  F(uint64_t, no_core) /* of `idle`: a thread for which the thread waited had no processor before it arrived */
struct format_wait {
  FORMAT_WAIT_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* A part of the waiting at a site that the samples of a context saw: only the proportions of the shares of one site
 * count, since the amounts are in struct format_wait. */
#define FORMAT_SHARE_FIELDS(F, A)                                                                                      \
  F(uint32_t, wait) /* record of FORMAT_WAITS of the same thread */                                                    \
  F(uint32_t, next) /* next record of the list, 0: none */                                                             \
  F(uint64_t, ns)
struct format_share {
  FORMAT_SHARE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Kinds of locks: K(enumerator, name).  The first ones are OpenMP's, with OMPT's numbers; then those of POSIX and C11;
 * then the objects at which the threads of pools wait, which are no locks. */
#define FORMAT_LOCK_LIST(K)                                                                                            \
  K(OTHERS, "other")                                                                                                   \
  K(LOCK, "lock")                                                                                                      \
  K(TEST_LOCK, "lock")                                                                                                 \
  K(NEST_LOCK, "nest lock")                                                                                            \
  K(TEST_NEST_LOCK, "nest lock")                                                                                       \
  K(CRITICAL, "critical")                                                                                              \
  K(ATOMIC, "atomic")                                                                                                  \
  K(ORDERED, "ordered")                                                                                                \
  K(MUTEX, "mutex")                                                                                                    \
  K(RWLOCK, "rwlock")                                                                                                  \
  K(SPINLOCK, "spinlock")                                                                                              \
  K(CONDITION, "condition variable")                                                                                   \
  K(SEMAPHORE, "semaphore")
#define FORMAT_LOCK_KIND(enumerator, name) FORMAT_LOCK_##enumerator,
enum format_lock_kind { FORMAT_LOCK_LIST(FORMAT_LOCK_KIND) FORMAT_LOCK_KINDS };

/* A lock for which the thread has waited, or for which others waited until the thread released it; with -c locks, one
 * that it has acquired. */
enum { FORMAT_LOCK_HOLDERS = 8 };
#define FORMAT_LOCK_FIELDS(F, A)                                                                                       \
  F(uint64_t, id)                          /* its address, or the runtime's number; 0: of locks that have no record */ \
  F(uint32_t, kind)                        /* enum format_lock_kind */                                                 \
  F(uint32_t, module)                      /* in whose data it lies; 0: none */                                        \
  F(uint64_t, offset)                      /* in that module */                                                        \
  F(uint32_t, node)                        /* where it first waited for it, else first acquired it; 0: none */         \
  F(uint32_t, next)                        /* while the program runs: of the same hash, 0: none */                     \
  F(uint64_t, waits)                       /* times in which the thread waited */                                      \
  F(uint64_t, ticks)                       /* ticks of waiting, as in FORMAT_WAIT_FIELDS */                            \
  F(uint64_t, longest)                     /* the longest wait */                                                      \
  F(uint64_t, released)                    /* ns that others waited until the thread released it */                    \
  A(uint32_t, holder, FORMAT_LOCK_HOLDERS) /* the contexts of these releases; 0: none, the last one: all others */     \
  A(uint64_t, holder_ns, FORMAT_LOCK_HOLDERS) /* of `released` */                                                      \
  F(uint64_t, acquisitions)                   /* how often the thread has acquired it; -c locks */                     \
  F(uint64_t, held)                           /* ticks for which it held the lock alone after it had waited for it */  \
  F(uint64_t, since)                          /* the counter when the present wait began; 0: none */
struct format_lock {
  FORMAT_LOCK_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Calls of one MPI function in one context.  Only calls from outside MPI count. */
#define FORMAT_MPI_FIELDS(F, A)                                                                                        \
  F(uint32_t, function)  /* enum mpi_function (common/mpi_functions.h); 0: of record 0 */                              \
  F(uint32_t, node)      /* of kind FORMAT_KIND_MPI; 0: not known */                                                   \
  F(uint64_t, calls)     /* that have returned or, in packed form, begun */                                            \
  F(uint64_t, ticks)     /* in them, with those in which the thread had no processor */                                \
  F(uint64_t, longest)   /* the longest one */                                                                         \
  F(uint64_t, preempted) /* of `ticks`: without a processor, by records of switches */                                 \
  F(uint64_t, decoded)   /* of `calls`: those of which it is known what they have sent and received */                 \
  F(uint64_t, sent)      /* bytes, of these */                                                                         \
  F(uint64_t, received)  /* likewise */                                                                                \
  F(uint64_t, since)     /* the counter when the present call began; 0: none */                                        \
  F(uint32_t, next)      /* while the program runs: of the same hash, 0: none */                                       \
  F(uint32_t, reserved)
struct format_mpi {
  FORMAT_MPI_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

enum format_thread_flag {
  FORMAT_THREAD_OPENMP = 1, /* known to an OpenMP runtime: the thread's samples carry blame for idleness */
  FORMAT_THREAD_HELPER = 2, /* the OpenMP runtime's or MPI's own, never together with OPENMP: what it runs counts, and
                               its other time is in no figure */
  FORMAT_THREAD_OF_MPI = 4  /* a helper that is MPI's own */
};

/* Kinds of constructs: C(prefix, enumerator, name).  Those with the prefix CONSTRUCT are in struct format_construct
 * only: TASK_EXEC's directive is a task, DISTRIBUTE's a for, ATOMIC's a critical. */
#define FORMAT_CONSTRUCT_LIST(C)                                                                                       \
  C(DIRECTIVE, PROGRAM, "program")                                                                                     \
  C(DIRECTIVE, PARALLEL, "parallel")                                                                                   \
  C(DIRECTIVE, FOR, "for")                                                                                             \
  C(DIRECTIVE, SECTIONS, "sections")                                                                                   \
  C(DIRECTIVE, SINGLE, "single")                                                                                       \
  C(DIRECTIVE, MASKED, "masked")                                                                                       \
  C(DIRECTIVE, TASK, "task")                                                                                           \
  C(DIRECTIVE, TASKLOOP, "taskloop")                                                                                   \
  C(DIRECTIVE, TASKGROUP, "taskgroup")                                                                                 \
  C(DIRECTIVE, TASKWAIT, "taskwait")                                                                                   \
  C(DIRECTIVE, BARRIER, "barrier")                                                                                     \
  C(DIRECTIVE, CRITICAL, "critical")                                                                                   \
  C(DIRECTIVE, LOCK, "lock")                                                                                           \
  C(DIRECTIVE, ORDERED, "ordered")                                                                                     \
  C(DIRECTIVE, TEAMS, "teams")                                                                                         \
  C(DIRECTIVE, USER_REGION, "user-region")                                                                             \
  C(CONSTRUCT, TASK_EXEC, "task-exec")                                                                                 \
  C(CONSTRUCT, DISTRIBUTE, "distribute")                                                                               \
  C(CONSTRUCT, ATOMIC, "atomic")                                                                                       \
  C(CONSTRUCT, REDUCTION, "reduction")                                                                                 \
  C(DIRECTIVE, TARGET, "target")                                                                                       \
  C(DIRECTIVE, TARGET_DATA, "target-data")                                                                             \
  C(DIRECTIVE, TARGET_ENTER_DATA, "target-enter-data")                                                                 \
  C(DIRECTIVE, TARGET_EXIT_DATA, "target-exit-data")                                                                   \
  C(DIRECTIVE, TARGET_UPDATE, "target-update")                                                                         \
  C(CONSTRUCT, DEVICE_ALLOC, "device-alloc")                                                                           \
  C(CONSTRUCT, DEVICE_FREE, "device-free")                                                                             \
  C(CONSTRUCT, COPY_TO_DEVICE, "copy-to-device")                                                                       \
  C(CONSTRUCT, COPY_FROM_DEVICE, "copy-from-device")                                                                   \
  C(CONSTRUCT, SUBMIT, "target-submit")
#define FORMAT_CONSTRUCT(prefix, enumerator, name) FORMAT_##prefix##_##enumerator,
enum format_directive_kind { FORMAT_CONSTRUCT_LIST(FORMAT_CONSTRUCT) FORMAT_CONSTRUCT_KINDS };

/* A construct at a code address: sums over its outermost instances.  Work and span in the unit of the process.  M as in
 * FORMAT_PROCESS_LIST. */
#define FORMAT_DIRECTIVE_LIST(F, A, M)                                                                                 \
  F(uint32_t, kind)   /* enum format_directive_kind */                                                                 \
  F(uint32_t, module) /* 0: not known */                                                                               \
  F(uint64_t, offset) /* of the call instruction that enters the runtime, in the module */                             \
  F(uint32_t, flags)                                                                                                   \
  M(uint32_t, name) /* string, of a user region */                                                                     \
  F(uint64_t, instances)                                                                                               \
  F(uint64_t, work)                                                                                                    \
  F(uint64_t, span)                                                                                                    \
  F(uint64_t, iterations)                                                                                              \
  F(uint64_t, lock_bound)                                                                                              \
  F(uint64_t, light)         /* of `instances`, as in FORMAT_CONSTRUCT_FIELDS: `work` and `span` lack them */          \
  F(uint64_t, stood)         /* likewise */                                                                            \
  F(uint64_t, stood_work)    /* sum of v * work */                                                                     \
  F(uint64_t, stood_span)    /* of regions and what is in them: sum of v * span */                                     \
  F(uint64_t, stood_squares) /* likewise: sum of v * span * span, at most UINT64_MAX */                                \
  F(uint64_t, stood_spread)  /* likewise: sum of v * (v + 1) */                                                        \
  F(uint32_t, device)        /* of target constructs: number of the device + 1; FORMAT_DEVICE_NONE; 0: the host */     \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, device_time) /* for which tasks in it waited for a device: in the span, not in `work` */                 \
  F(uint64_t, untimed)     /* of a task construct: tasks created without a reading of the clock */                     \
  F(uint64_t, early)       /* by how much the span may be too short for that, at most */
#define FORMAT_DIRECTIVE_FIELDS(F, A) FORMAT_DIRECTIVE_LIST(F, A, F)
struct format_directive {
  FORMAT_DIRECTIVE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};
enum { FORMAT_DEVICE_NONE = 0xffffff }; /* on the host, since the runtime has no device for it; larger than any other */

/* What a thread's time in a construct is spent on. */
enum format_construct_time {
  FORMAT_TIME_ENTER, /* until it is entered: startup of a region, waiting for a lock, creation of a task */
  FORMAT_TIME_BODY,
  FORMAT_TIME_WAIT, /* at its barrier, or for tasks */
  FORMAT_TIME_EXIT, /* shutdown of a region */
  FORMAT_TIMES
};

enum format_construct_flag {
  FORMAT_CONSTRUCT_LINK = 1,    /* the same construct as record `link` of thread `owner`, below which it stands there */
  FORMAT_CONSTRUCT_IN_WAIT = 2, /* it ran while its parent waited */
  FORMAT_CONSTRUCT_WHOLE = 4    /* contains other constructs: from then on all executions are followed as a whole */
};

/* How the program has the iterations of a loop divided: S(enumerator, name).  MIXED: not always in the same way. */
#define FORMAT_SCHEDULE_LIST(S)                                                                                        \
  S(UNKNOWN, "")                                                                                                       \
  S(STATIC, "static")                                                                                                  \
  S(DYNAMIC, "dynamic")                                                                                                \
  S(GUIDED, "guided")                                                                                                  \
  S(AUTO, "auto")                                                                                                      \
  S(RUNTIME, "runtime")                                                                                                \
  S(MIXED, "mixed")
#define FORMAT_SCHEDULE(enumerator, name) FORMAT_SCHEDULE_##enumerator,
enum format_schedule { FORMAT_SCHEDULE_LIST(FORMAT_SCHEDULE) FORMAT_SCHEDULES };
#define FORMAT_CHUNKS_DIFFER UINT64_MAX

/* A construct as it nests in a thread; recursive executions are added to the outermost one.  Ticks of the time-stamp
 * counter, without those of the constructs inside.  The ticks of all records of a thread, except bodies of locks,
 * add up to its life time. */
#define FORMAT_CONSTRUCT_FIELDS(F, A)                                                                                  \
  F(uint32_t, parent) /* record of the same thread */                                                                  \
  F(uint32_t, kind)   /* enum format_directive_kind */                                                                 \
  F(uint32_t, directive)                                                                                               \
  F(uint32_t, flags)                                                                                                   \
  F(uint32_t, owner)          /* with FORMAT_CONSTRUCT_LINK */                                                         \
  F(uint32_t, link)           /* likewise */                                                                           \
  F(uint32_t, node)           /* the context of its first execution; 0: none */                                        \
  F(uint32_t, context_sought) /* as in struct format_wait */                                                           \
  F(uint64_t, count)          /* executions by this thread */                                                          \
  F(uint64_t, chosen)         /* of single and, with libgomp, sections: blocks that this thread executed */            \
  A(uint64_t, ticks, FORMAT_TIMES)                                                                                     \
  F(uint64_t, wait_own)   /* of ticks[FORMAT_TIME_WAIT]: after the last thread had arrived, the runtime's own time */  \
  F(uint64_t, wait_spare) /* likewise: at the end of sections of which the thread executed none */                     \
  F(uint64_t, unended) /* executions whose end the thread did not see: their ticks of FORMAT_TIME_WAIT and _EXIT are   \
                          incomplete */                                                                                \
  F(uint32_t, next)    /* while the program runs: of the same hash, 0: none */                                         \
  F(uint32_t, tasks)   /* while the program runs: record of FORMAT_TASKS + 1 */                                        \
  F(uint64_t, light)   /* of `count`: only counted; the others were followed as a whole */                             \
  F(uint64_t, stood)   /* sum of v: how many light ones one that was followed stands for */                            \
  F(uint64_t, stood_ticks)          /* sum of v * t: t are its ticks of FORMAT_TIME_BODY */                            \
  F(uint64_t, stood_squares)        /* sum of v * t * t, at most UINT64_MAX */                                         \
  F(uint64_t, stood_spread)         /* sum of v * (v + 1) */                                                           \
  F(uint32_t, gap)                  /* while the program runs: what the next one that is followed stands for */        \
  F(uint32_t, skip)                 /* likewise: light ones before that */                                             \
  A(uint64_t, usage, FORMAT_USAGES) /* between samples, at whose end the construct was open; by enum format_usage */   \
  F(uint64_t, longest)              /* of a loop: ticks of the thread's longest chunk, without waiting in it */        \
  F(uint64_t, longest_first)        /* its first iteration */                                                          \
  F(uint64_t, longest_iterations)   /* how many it has; 0: no chunk has ended */                                       \
  F(uint64_t, chunk_least)          /* iterations of the smallest chunk that has begun; 0: none was announced */       \
  F(uint64_t, chunk_most)           /* likewise, of the largest */                                                     \
  F(uint64_t, chunk_size)           /* that the program demands; 0: none; FORMAT_CHUNKS_DIFFER: not always this one */ \
  F(uint32_t, schedule)             /* enum format_schedule */                                                         \
  F(uint32_t, device_times)         /* of operations: what devices have recorded of them; 0: nothing is expected */    \
  F(uint64_t, light_ticks)          /* of a region: in light ones, with what is in them; `ticks` lack it */            \
  F(uint64_t, bytes)                /* that copies to and from devices move, and allocations there take */             \
  F(uint32_t, teams)                /* of target: the most teams that an execution asked for; 0: none */               \
  F(uint32_t, team_threads)         /* likewise, threads of a team */
struct format_construct {
  FORMAT_CONSTRUCT_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

enum format_device_flag {
  FORMAT_DEVICE_ON_HOST = 1, /* its regions run in threads of the host, or may do so: the runtime says nothing of it */
  FORMAT_DEVICE_TRACED = 2,  /* it records what it does */
  FORMAT_DEVICE_AWAITED = 4  /* threads wait for it in its target constructs: device_ns of struct format_thread */
};

/* What devices have recorded of the operations of one construct record.  Record 0: not used. */
#define FORMAT_DEVICE_TIMES_FIELDS(F, A)                                                                               \
  F(uint64_t, operations) /* that have a record of the device */                                                       \
  F(uint64_t, ticks)      /* from their begins to their ends, in ticks of the host */                                  \
  F(uint32_t, thread)     /* index of the thread that has the construct record, */                                     \
  F(uint32_t, record)     /* and its number there */
struct format_device_times {
  FORMAT_DEVICE_TIMES_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* A device.  Ticks as in constructs.  As the host sees it, it is busy while a target construct for it is open, except
 * target data, or an operation for it outside of these. */
#define FORMAT_DEVICE_FIELDS(F, A)                                                                                     \
  F(uint32_t, number) /* of the device + 1 */                                                                          \
  F(uint32_t, flags)  /* enum format_device_flag */                                                                    \
  F(uint32_t, type)   /* string, as the runtime names it; "": not known */                                             \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, busy)  /* ticks: a union, in which nothing counts twice */                                               \
  F(uint64_t, first) /* value of the counter when it was first busy */                                                 \
  F(uint64_t, last)  /* likewise, when it was last busy */                                                             \
  F(uint64_t, open)  /* while the program runs: how many intervals are open << 48 | since when, mod 2^48; 0: none */   \
  F(uint64_t, beside_ns) /* of `busy`, sampled: threads of the host worked; not with FORMAT_DEVICE_ON_HOST */          \
  F(uint64_t, recorded)  /* ticks: it copied or ran regions, by its own records; a union, likewise */                  \
  F(uint64_t, rejected)  /* records that could not be used, and buffers for records that were refused */
struct format_device {
  FORMAT_DEVICE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Buckets of the histogram of a task's running time: eight for each factor of two.  A time of less than 8 ticks is its
 * own bucket; otherwise, with e the position of its highest bit, (e - 2) * 8 + the three bits below that. */
enum { FORMAT_TASK_BUCKETS = 360 };

/* What a thread has seen of the tasks of a construct.  Ticks; sums of moments wrap around. */
#define FORMAT_TASKS_FIELDS(F, A)                                                                                      \
  F(uint32_t, directive)                                                                                               \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, created)                        /* created by this thread */                                             \
  F(uint64_t, undeferred)                     /* of these, with the property */                                        \
  F(uint64_t, untied)                         /* likewise */                                                           \
  F(uint64_t, dependent)                      /* likewise */                                                           \
  F(uint64_t, created_at)                     /* sum of moments */                                                     \
  F(uint64_t, create_ticks)                   /* time in the creation */                                               \
  F(uint64_t, create_timed)                   /* creations that create_ticks covers */                                 \
  F(uint64_t, started)                        /* begun by this thread */                                               \
  F(uint64_t, started_at)                     /* sum of moments */                                                     \
  F(uint64_t, elsewhere)                      /* of these, created by another thread */                                \
  F(uint64_t, ended)                          /* ended in this thread */                                               \
  F(uint64_t, ticks)                          /* their running times */                                                \
  F(uint64_t, shortest)                       /* the shortest of these */                                              \
  F(uint64_t, longest)                        /* the longest */                                                        \
  F(uint64_t, suspended)                      /* how often this thread left one to run another task */                 \
  A(uint32_t, histogram, FORMAT_TASK_BUCKETS) /* of the ended ones; does not wrap around */
struct format_tasks {
  FORMAT_TASKS_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* A part of the process's span: work of a directive, with the context of a sample if it has one. */
#define FORMAT_CONTRIBUTION_FIELDS(F, A)                                                                               \
  F(uint32_t, directive)                                                                                               \
  F(uint32_t, thread) /* 0: no context */                                                                              \
  F(uint32_t, node)                                                                                                    \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, amount)
struct format_contribution {
  FORMAT_CONTRIBUTION_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

enum format_mark_kind { FORMAT_MARK, FORMAT_USER_PHASE };

/* A moment that the program marked, or at which it began a user phase, which lasts until the next one or the end. */
#define FORMAT_MARK_FIELDS(F, A)                                                                                       \
  F(uint64_t, ticks)  /* time-stamp counter */                                                                         \
  F(uint32_t, thread) /* index */                                                                                      \
  F(uint32_t, kind)   /* enum format_mark_kind */                                                                      \
  F(uint32_t, name)   /* string; 0: the user phase ends */                                                             \
  F(uint32_t, reserved)
struct format_mark {
  FORMAT_MARK_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* What a thread counted in a context by a counter of the program.  Several records may have one context and name. */
#define FORMAT_USER_COUNT_FIELDS(F, A)                                                                                 \
  F(uint32_t, node)                                                                                                    \
  F(uint32_t, name)  /* string */                                                                                      \
  F(uint64_t, count) /* values */                                                                                      \
  F(uint64_t, sum)   /* of them, at most UINT64_MAX */                                                                 \
  F(uint64_t, least) /* the smallest one */                                                                            \
  F(uint64_t, most)  /* the largest one */                                                                             \
  F(uint32_t, next)  /* while the program runs: of the same node, + 1 */                                               \
  F(uint32_t, reserved)
struct format_user_count {
  FORMAT_USER_COUNT_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

enum { FORMAT_INDEX_CATEGORIES = 11 };

/* The index of a trace. */
#define FORMAT_INDEX_FIELDS(F, A)                                                                                      \
  F(uint64_t, digest) /* of the trace's extents: it is valid for no other */                                           \
  F(uint32_t, shift)  /* cells of the first level last 2^shift ns */                                                   \
  F(uint32_t, levels)                                                                                                  \
  F(uint32_t, cell_size)      /* bytes */                                                                              \
  F(uint32_t, critical_known) /* 1: cells have what is on the critical path */
struct format_index {
  FORMAT_INDEX_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* A cell of the index: times in ns of what a thread did in it. */
#define FORMAT_INDEX_CELL_FIELDS(F, A)                                                                                 \
  A(uint64_t, ns, FORMAT_INDEX_CATEGORIES) /* of each category */                                                      \
  F(uint64_t, critical_ns)                 /* on the critical path */                                                  \
  F(uint64_t, node_ns)                     /* of the heaviest context, node `node` of the thread; 0: none */           \
  F(uint64_t, record_ns)                   /* likewise, of the construct with the number `record` */                   \
  F(uint32_t, node)                                                                                                    \
  F(uint32_t, record)
struct format_index_cell {
  FORMAT_INDEX_CELL_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* The phases of the process, in the second extent of the index: this, then its phases, their steps and their tokens.
 * Times since the start of the process. */
#define FORMAT_INDEX_PHASES_FIELDS(F, A)                                                                               \
  F(uint32_t, phases)                                                                                                  \
  F(uint32_t, steps)                                                                                                   \
  F(uint32_t, tokens)                                                                                                  \
  F(uint32_t, regions) /* in the extents that follow */                                                                \
  F(uint32_t, threads) /* the most that lived at once, of those that count */                                          \
  F(uint32_t, reserved)                                                                                                \
  F(uint64_t, start_ns)                                                                                                \
  F(uint64_t, end_ns)
struct format_index_phases {
  FORMAT_INDEX_PHASES_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* Names a record of a thread: `number` in its table; `thread`: the thread's position in the file + 1, 0: none.  `up`:
 * the row of the report that is meant is so many parents above the node's row. */
#define FORMAT_INDEX_NUMBER_FIELDS(F, A)                                                                               \
  F(uint32_t, thread)                                                                                                  \
  F(uint32_t, number)                                                                                                  \
  F(uint32_t, up)                                                                                                      \
  F(uint32_t, reserved)
struct format_index_number {
  FORMAT_INDEX_NUMBER_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

#define FORMAT_INDEX_FIGURES_FIELDS(F, A)                                                                              \
  F(uint64_t, count) /* of executions */                                                                               \
  F(uint64_t, total_ns)                                                                                                \
  F(uint64_t, whole)   /* those whose length is known: the next five are theirs */                                     \
  F(uint64_t, slowest) /* its number from 1 among all */                                                               \
  F(uint64_t, slowest_ns)                                                                                              \
  F(uint64_t, slowest_start_ns)                                                                                        \
  F(double, mean_ns)                                                                                                   \
  F(double, squares)                       /* sum of squared differences to the mean */                                \
  A(uint64_t, ns, FORMAT_INDEX_CATEGORIES) /* of all threads, by category */                                           \
  F(struct format_index_number, context)   /* node of the heaviest context */
struct format_index_figures {
  FORMAT_INDEX_FIGURES_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

#define FORMAT_INDEX_PHASE_FIELDS(F, A)                                                                                \
  F(uint32_t, kind) /* serial, region, pattern, mixed, gap */                                                          \
  F(uint32_t, regions)                                                                                                 \
  F(uint32_t, steps)                                                                                                   \
  F(uint32_t, tokens)                                                                                                  \
  F(uint64_t, end_ns)      /* it begins where the one before ends */                                                   \
  F(uint64_t, repeated_ns) /* end of the last repetition */                                                            \
  F(struct format_index_figures, figures)
struct format_index_phase {
  FORMAT_INDEX_PHASE_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

enum format_index_step_kind { FORMAT_INDEX_SERIAL, FORMAT_INDEX_REGION, FORMAT_INDEX_INCLUDED };

#define FORMAT_INDEX_STEP_FIELDS(F, A)                                                                                 \
  F(struct format_index_number, construct) /* record of FORMAT_CONSTRUCTS, of a region */                              \
  F(uint32_t, kind)                        /* enum format_index_step_kind; INCLUDED: another step includes it */       \
  F(uint32_t, reserved)                                                                                                \
  F(struct format_index_figures, figures)
struct format_index_step {
  FORMAT_INDEX_STEP_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* The order of a pattern's steps: step, beginning of a loop, end of a loop. */
#define FORMAT_INDEX_TOKEN_FIELDS(F, A)                                                                                \
  F(uint32_t, kind)                                                                                                    \
  F(uint32_t, step) /* number among all */                                                                             \
  F(double, times)  /* at the start of a loop: how often it repeats, on average */
struct format_index_token {
  FORMAT_INDEX_TOKEN_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* An outermost region.  Extents of FORMAT_INDEX_REGIONS_PER_EXTENT follow that of the phases; the last one may have
 * fewer. */
enum { FORMAT_INDEX_REGIONS_PER_EXTENT = 8192 };

#define FORMAT_INDEX_REGION_FIELDS(F, A)                                                                               \
  F(uint64_t, before_ns) /* since the end of the one before, in an extent's first since the start of the process */    \
  F(uint64_t, length_ns)                                                                                               \
  F(uint32_t, step)       /* number among all */                                                                       \
  F(uint32_t, repetition) /* of a pattern, from 1; in all but an extent's first less that of the one before */
struct format_index_region {
  FORMAT_INDEX_REGION_FIELDS(FORMAT_FIELD, FORMAT_ARRAY)
};

/* All records: R(structure, list of fields). */
#define FORMAT_RECORDS(R)                                                                                              \
  R(format_extent, FORMAT_EXTENT_FIELDS)                                                                               \
  R(format_process, FORMAT_PROCESS_FIELDS)                                                                             \
  R(format_metric, FORMAT_METRIC_FIELDS)                                                                               \
  R(format_module, FORMAT_MODULE_FIELDS)                                                                               \
  R(format_code, FORMAT_CODE_FIELDS)                                                                                   \
  R(format_region, FORMAT_REGION_FIELDS)                                                                               \
  R(format_node, FORMAT_NODE_FIELDS)                                                                                   \
  R(format_thread, FORMAT_THREAD_FIELDS)                                                                               \
  R(format_wait, FORMAT_WAIT_FIELDS)                                                                                   \
  R(format_share, FORMAT_SHARE_FIELDS)                                                                                 \
  R(format_lock, FORMAT_LOCK_FIELDS)                                                                                   \
  R(format_mpi, FORMAT_MPI_FIELDS)                                                                                     \
  R(format_directive, FORMAT_DIRECTIVE_FIELDS)                                                                         \
  R(format_construct, FORMAT_CONSTRUCT_FIELDS)                                                                         \
  R(format_device, FORMAT_DEVICE_FIELDS)                                                                               \
  R(format_device_times, FORMAT_DEVICE_TIMES_FIELDS)                                                                   \
  R(format_tasks, FORMAT_TASKS_FIELDS)                                                                                 \
  R(format_contribution, FORMAT_CONTRIBUTION_FIELDS)                                                                   \
  R(format_mark, FORMAT_MARK_FIELDS)                                                                                   \
  R(format_user_count, FORMAT_USER_COUNT_FIELDS)                                                                       \
  R(format_index, FORMAT_INDEX_FIELDS)                                                                                 \
  R(format_index_cell, FORMAT_INDEX_CELL_FIELDS)                                                                       \
  R(format_index_phases, FORMAT_INDEX_PHASES_FIELDS)                                                                   \
  R(format_index_number, FORMAT_INDEX_NUMBER_FIELDS)                                                                   \
  R(format_index_figures, FORMAT_INDEX_FIGURES_FIELDS)                                                                 \
  R(format_index_phase, FORMAT_INDEX_PHASE_FIELDS)                                                                     \
  R(format_index_step, FORMAT_INDEX_STEP_FIELDS)                                                                       \
  R(format_index_token, FORMAT_INDEX_TOKEN_FIELDS)                                                                     \
  R(format_index_region, FORMAT_INDEX_REGION_FIELDS)

enum format_error {
  FORMAT_OK = 0,
  FORMAT_END = 1,  /* no further extent */
  FORMAT_BAD = -1, /* damaged, or not a measurement: the message says what and where */
  FORMAT_NOMEM = -2
};

/* A decoded extent.  `data` holds count × record_size bytes, aligned to 8, and belongs to the caller (free()). */
struct format_view {
  struct format_extent head;
  void *data;
};

struct ZSTD_CCtx_s;

/* The most bytes that format_pack() needs for a payload of that size. */
size_t format_pack_bound(size_t payload_size);

/* Bytes of memory that a compression context for format_pack() needs. */
size_t format_pack_memory(void);

/* Writes one packed extent to out.  head: table, owner, first, count and record_size; payload: the records.  cctx: NULL
 * to store the payload without compression.  Returns the bytes written, 0 if out is too small or zstd failed.  CTL. */
size_t format_pack(const struct format_extent *head, const void *payload, struct ZSTD_CCtx_s *cctx, void *out,
                   size_t out_size);

/* Decodes the extent at *offset, live or packed, checks everything, and moves *offset to its end.  On damage returns
 * FORMAT_BAD with a message, and moves *offset: to the end of the extent if its header is valid, else to the next place
 * that looks like a header, or to size.  BATCH. */
enum format_error format_next(const uint8_t *file, size_t size, size_t *offset, struct format_view *view, char *message,
                              size_t message_size);

/* Copies record i of a view into a structure of record_size bytes; fields that the file lacks are 0. */
void format_record(const struct format_view *view, uint32_t i, void *record, size_t record_size);

const char *format_table_name(unsigned table);
const char *format_loss_name(unsigned loss);                 /* NULL after the last one in use */
const char *format_loss_text(unsigned loss, uint64_t count); /* the name as it reads after that count */
const char *format_loss_remedy(unsigned loss);               /* likewise */
const char *format_write_remedy(int error);                  /* what helps where a file could not be written */

#endif
