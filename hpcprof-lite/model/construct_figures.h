/* Times of constructs: how long each thread was in which construct, and what it did there.
 *
 * Context: BATCH.  merge/construct_records.h makes those of a process, merge/construct_merge.h those of the run.  All
 * times are in ns and exact; sums saturate, so that they do not depend on their order.  A structure owns its arrays.
 *
 * Constructs form a tree, as they nest in the program.  A node is identified by its parent, its kind, its directive and
 * whether it ran while its parent waited.  Node 0 stands for what is outside all constructs.  For each thread that was
 * in a construct, a row has its figures.  All exclusive times of a thread's rows, without the bodies of locks, add up
 * to its life.
 */
#ifndef HPCPROF_LITE_MODEL_CONSTRUCT_FIGURES_H
#define HPCPROF_LITE_MODEL_CONSTRUCT_FIGURES_H

#include "common/counters.h"
#include "common/format.h"
#include "hpcprof-lite/model/hash_map.h"
#include "hpcprof-lite/model/model.h"

/* Kinds of directives and, with the prefix CONSTRUCT, further kinds of constructs: a task's execution has the directive
 * of the task, distribute that of a loop, atomic and reduction that of a critical section, operations for devices that
 * of the target construct around them. */
#define CONSTRUCT_KIND(prefix, enumerator, name) prefix##_##enumerator,
enum construct_kind { FORMAT_CONSTRUCT_LIST(CONSTRUCT_KIND) CONSTRUCT_KINDS };

/* Is it a kind of target constructs? */
static inline bool construct_is_target(uint32_t kind)
{
  return kind >= DIRECTIVE_TARGET && kind <= DIRECTIVE_TARGET_UPDATE;
}

/* Is it a kind of operations for devices? */
static inline bool construct_is_operation(uint32_t kind)
{
  return kind >= CONSTRUCT_DEVICE_ALLOC && kind <= CONSTRUCT_SUBMIT;
}

/* Is it one of copies? */
static inline bool construct_is_copy(uint32_t kind)
{
  return kind == CONSTRUCT_COPY_TO_DEVICE || kind == CONSTRUCT_COPY_FROM_DEVICE;
}

/* Is it a kind of directives?  Operations for devices that are in no target construct are some. */
static inline bool construct_is_directive(uint32_t kind)
{
  return kind < CONSTRUCT_TASK_EXEC || construct_is_target(kind) || construct_is_operation(kind);
}

/* The device of a directive, as it is stored. */
enum { DEVICE_NONE = FORMAT_DEVICE_NONE };

/* How the program has the iterations of a loop divided. */
#define SCHEDULE(enumerator, name) SCHEDULE_##enumerator,
enum schedule { FORMAT_SCHEDULE_LIST(SCHEDULE) SCHEDULES };
#define SCHEDULE_NAME(enumerator, name) name,
#define SCHEDULE_NAMES FORMAT_SCHEDULE_LIST(SCHEDULE_NAME)
#define CHUNKS_DIFFER FORMAT_CHUNKS_DIFFER

/* The events that a process or the run has counted (-c); counts are arrays in their order. */
enum { COUNTER_NAME_MAX = 96 };

struct counter_names {
  char (*names)[COUNTER_NAME_MAX]; /* room for COUNTERS_MAX; NULL: none */
  uint32_t count;
};

/* Which counters of the run the programs of a figure have counted: programs of one launch may count different events.
 * Bits by counter; apart: bit i * COUNTERS_MAX + k is set if one of them counted i without k. */
struct counters_present {
  uint64_t known, apart;
};
_Static_assert(COUNTERS_MAX *COUNTERS_MAX <= 64, "a bit for each pair of counters");

struct construct_node {
  uint32_t parent; /* a smaller number */
  uint32_t kind;
  uint32_t directive; /* 0: its place is not known */
  uint32_t in_wait;   /* 1: it ran while its parent waited */
  uint32_t context;   /* calling context in which it was met; MODEL_NONE: not known.  Of the run's nodes only */
};

/* Events counted in a construct, with the constructs in it and without; and the time of which the counts are estimated,
 * likewise. */
struct construct_counts {
  uint64_t counted[COUNTERS_MAX], counted_own[COUNTERS_MAX], unread, unread_own;
  struct counters_present present;
};

/* What one thread did in a construct, or a sum over threads.  Recursive executions are parts of the outermost one. */
struct construct_figures {
  uint64_t count;      /* executions by the thread */
  uint64_t executions; /* executions as the program counts them: of a team's construct, by its master only */
  uint64_t chosen;     /* of single and sections: blocks that the thread executed */
  uint64_t unended;    /* executions whose end the thread did not see */
  /* exclusive: until it is entered (startup of a region), inside, at its barrier or for tasks, and after it */
  uint64_t enter, own_body, wait, exit;
  uint64_t wait_own;      /* of `wait`: after the last thread had arrived */
  uint64_t wait_spare;    /* of `wait`: at the end of sections of which the thread executed none */
  uint64_t body;          /* own_body, and all of the constructs in it that did not run in waits */
  uint64_t task;          /* all of the constructs that ran while this one waited */
  uint64_t cut;           /* rows of a part of the run: chosen, unended, and the body of a lock are not known */
  uint64_t light;         /* of `count`: not followed; their share of own_body is an estimate */
  uint64_t light_inside;  /* the same of constructs directly in it, whose estimates its own_body lacks */
  uint64_t error_squares; /* ns^2: square of the standard error of own_body; UINT64_MAX: not known */
  uint64_t system_cpu, page_faults, switches; /* as the kernel counted, with the constructs in it */
  uint64_t created, creating;                 /* likewise: threads that were created, and how long that took */
  uint64_t bytes;                             /* of operations for devices: that they move or allocate */
  uint64_t device_ns, device_operations; /* likewise: how long they took by the device's record; how many have one */
  uint64_t device_expected;              /* likewise: how many should have one */
  uint32_t teams, team_threads;          /* of target: the most that an execution asked for; 0: none */
  /* of loops; a sum has the largest of all, of chunk_least the smallest */
  uint64_t longest_ns;                        /* the longest chunk, without waiting in it */
  uint64_t longest_first, longest_iterations; /* its first iteration, and how many it has; 0: none is known */
  uint64_t chunk_least, chunk_most; /* iterations of the smallest and the largest chunk; 0: no chunk was announced */
  uint64_t chunk_size;         /* that the program demands; 0: none, or not known; CHUNKS_DIFFER: not always the same */
  uint32_t schedule, reserved; /* enum schedule */
  struct construct_counts *counts; /* in an array of the figures' owner; NULL: nothing was counted */
};

struct construct_row {
  uint32_t node, thread; /* thread: position in the process */
  struct construct_figures figures;
};

enum { CONSTRUCT_TASK_BUCKETS = FORMAT_TASK_BUCKETS };

/* The tasks of one directive, in one process.  Times in ns, except in the histogram. */
struct construct_tasks {
  uint32_t directive, waits_known; /* waits_known: 1 if all that were created have begun */
  uint64_t created, undeferred, untied, dependent;
  uint64_t untimed;                 /* of `created`: without a reading of the clock, so that wait_ns is an estimate */
  uint64_t create_ns, create_timed; /* spent on the creation of that many */
  uint64_t started, elsewhere;      /* begun; of these, by another thread than the creator */
  uint64_t wait_ns;                 /* from their creation to their start, all together */
  uint64_t ended, exec_ns, shortest_ns, longest_ns;
  uint64_t suspended; /* how often a thread left one to run another task */
  double tick_ns;     /* of the histogram */
  uint64_t cut;       /* threads of which only a part is counted: only created, started and exec_ns are known */
  uint64_t histogram[CONSTRUCT_TASK_BUCKETS]; /* running times of the ended ones */
};

struct construct_times {
  struct construct_node *nodes; /* [0] is what is outside all constructs; none: not measured */
  uint32_t nodes_count;
  size_t nodes_room;
  struct construct_row *rows; /* sorted by node and thread, each pair once */
  uint32_t rows_count;
  struct construct_tasks *tasks; /* sorted by directive */
  uint32_t tasks_count;
  struct construct_counts *counts; /* of the rows; NULL: none */
  struct counter_names counters;   /* of the counts */
};

/* Where the time of a construct went that was not used for work. */
struct construct_lost {
  uint64_t synchronisation, imbalance, limited_parallelism, management;
};

/* Adds the figures of another thread, or of another execution.  Counts are added to those of the sum, which must have
 * some if the figures have. */
void construct_figures_add(struct construct_figures *sum, const struct construct_figures *figures);

/* The same of what the kernel counted only. */
void construct_usage_add(struct construct_figures *sum, const struct construct_figures *figures);

/* The name of an enum schedule; "" if it is not known. */
const char *construct_schedule_name(uint32_t schedule);

/* Writes twice a standard error, of which `squares` is the square (UINT64_MAX: not known), in percent of a figure. */
enum { CONSTRUCT_ERROR_MAX = 64 };
void construct_error_text(uint64_t squares, uint64_t figure, char text[CONSTRUCT_ERROR_MAX]);

/* Returns what was counted; zeros where nothing was. */
const struct construct_counts *construct_counts_of(const struct construct_figures *figures);

/* Returns the time in the construct; and that without the constructs in it.  The body of a lock is in the former only:
 * it overlaps with other constructs, and counts for the one around them. */
uint64_t construct_exec(const struct construct_figures *figures);
uint64_t construct_exclusive(uint32_t kind, const struct construct_figures *figures);

/* Divides the exclusive time of a construct of that kind into lost time; the rest of it is its own body. */
struct construct_lost construct_lost(uint32_t kind, const struct construct_figures *figures);
void construct_lost_add(struct construct_lost *sum, const struct construct_lost *lost);
uint64_t construct_lost_sum(const struct construct_lost *lost);

/* Returns the number of a name, names->count if it is not there. */
uint32_t counter_names_find(const struct counter_names *names, const char *name);

/* Finds or adds a name.  Returns its number, COUNTERS_MAX if there is no room. */
uint32_t counter_names_add(struct counter_names *names, const char *name);

/* A figure that two counts give: counts[of] / counts[per] * factor. */
struct counter_ratio {
  char name[COUNTER_NAME_MAX + 32];
  uint32_t of, per;
  double factor;
};

/* Instructions for each cycle, misses for each 1,000 instructions, and shares of stalled cycles in percent, as far as
 * their parts are counted. */
enum { COUNTER_RATIOS_MAX = COUNTERS_MAX };
uint32_t counter_ratios(const struct counter_names *names, struct counter_ratio ratios[COUNTER_RATIOS_MAX]);

/* Sets *value; false where it is not defined, or its parts were not counted by the same programs. */
bool counter_ratio_value(const struct counter_ratio *ratio, const uint64_t *counts,
                         const struct counters_present *present, double *value);

/* The counters of that mask, counted by the same program. */
struct counters_present counters_present_of(uint64_t known);

/* Adds those of another program. */
void counters_present_add(struct counters_present *sum, const struct counters_present *present);

/* Whether any program has counted it. */
bool counters_present_has(const struct counters_present *present, uint32_t counter);

/* Node 0. */
extern const struct construct_node construct_outside;

/* Finds or adds a node, whose context is not a part of its identity.  The map belongs to the caller, empty at first;
 * it holds all nodes but the first one, which must be construct_outside.  Returns its number. */
uint32_t construct_times_add(struct construct_times *times, struct hash_map *map, const struct construct_node *node);

/* Gives each row the counts at its position, if there are any. */
void construct_times_set_counts(struct construct_times *times);

/* Sorts rows by node and thread and adds up those of equal ones. */
void construct_times_join_rows(struct construct_times *times);

void construct_times_release(struct construct_times *times);

#endif
