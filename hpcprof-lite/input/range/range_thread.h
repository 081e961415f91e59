/* The figures of one thread in a part of the run, summed up from its trace.
 *
 * Context: BATCH.  range.c feeds it.  range_thread_finish() makes tables of the sums that take the place of those in
 * the measurement file (struct read_part), so that their readers stay as they are.
 *
 * Where the trace has everything that the file counts of a context or construct, the part gets that share of the file's
 * figure which it has of the trace's.  So the figures of adjacent parts add up to those of the run.  Otherwise, for
 * example where the trace was limited, the trace's own figures are taken.
 *
 * All input is hostile: every number of the trace is checked here.
 */
#ifndef HPCPROF_LITE_INPUT_RANGE_RANGE_THREAD_H
#define HPCPROF_LITE_INPUT_RANGE_RANGE_THREAD_H

#include "hpcprof-lite/input/exact_waits.h"
#include "hpcprof-lite/input/range/range_wait_sites.h"
#include "hpcprof-lite/input/thread_trace.h"

/* An amount inside the part, and in the whole trace. */
struct range_amount {
  uint64_t in, all;
};

static inline void range_add(struct range_amount *amount, uint64_t in, uint64_t all)
{
  model_add(&amount->in, in);
  model_add(&amount->all, all);
}

/* What is charged to a context: a record of the thread's values. */
struct range_sums {
  struct range_amount samples, work, overhead, lockwait, event; /* event: of the first one if none measures time */
  uint64_t per_busy_ns, in_use_ns;
  uint32_t shares; /* the first of its shares */
};

struct range_share {
  uint32_t value; /* whose share it is: a record of values */
  struct format_share share;
};

/* The time in which a thread waited, while its trace is read: the last state is not yet in `waited`. */
struct range_waited {
  uint64_t waited, at_sample; /* ticks: until the last state began, and until the last sample */
  uint64_t begin, end;        /* of the last state, if the thread waited, or nothing is known of it; else 0, 0 */
};

struct range_thread {
  const struct profile_thread *record;
  struct profile_thread part; /* its record in the part: sums over samples and states */
  uint64_t from, to;          /* the part: time-stamp counter */
  double tick_ns;
  uint64_t period; /* of samples */
  bool timed;      /* samples measure time */
  bool with_constructs;
  /* tables of the file */
  uint64_t *values;
  uint32_t columns, values_count;
  struct format_construct *constructs;
  struct range_stored stored;
  struct format_tasks *tasks;
  uint32_t constructs_count, tasks_count;
  uint32_t *value_of, *runtime_below; /* [node] its record of values; the node below it for the runtime; 0: none */
  uint32_t nodes_count;
  /* sums */
  struct exact_waits_delay delay;
  double posix_left;        /* as range_code.left, at posix_lock */
  struct range_code *codes; /* [code] */
  uint32_t codes_count;
  struct thread_life life;      /* with constructs, an open lock has the last code */
  struct range_sums *sums;      /* [record of values] */
  struct range_amount *counted; /* [record of values][counter] events of -c that are charged to a context */
  unsigned counters;
  bool counts_cut;           /* the part begins or ends between two readings */
  uint32_t posix_lock;       /* the site of locks of POSIX and C11, whose places are not in the trace */
  struct format_wait *waits; /* the sites of the part; [0] is that of parked threads */
  struct range_share *shares;
  struct read_node *more_nodes; /* to be appended to the thread's tree */
  uint32_t waits_count, shares_count, more_count;
  size_t waits_room, shares_room, more_room;
  struct hash_map wait_map, share_map;
  struct range_amount weight, tool_ns, delay_ns;
  struct range_waited waited;
  struct range_amount delayed,
      slept; /* ns, each spread over the time between two samples: of delay_ns; in no category */
  double no_core_ns;
  uint64_t blocked_ticks, mpi_ticks, region_ticks, gap_ticks;
  uint64_t mpi_inside_ticks;             /* of mpi_ticks: in regions */
  uint64_t mpi_sampled_ns;               /* what samples in calls of MPI stand for */
  uint64_t samples_all, states, unknown; /* in the whole trace; unknown: samples in contexts that do not exist */
};

/* Reads the tables of a thread.  The caller has set record, from, to, tick_ns, period, timed and with_constructs, and
 * all else to zero.  range_thread_release() afterwards. */
void range_thread_open(struct range_thread *thread, struct read_file *file, const struct profile_process *process,
                       struct range_wait_sites *sites, struct problems *problems);
void range_thread_release(struct range_thread *thread);

/* The meaning of a code; one that does not exist means that the thread does not wait. */
struct range_code *range_thread_code(const struct range_thread *thread, uint64_t code);

/* Adds a state or gap. */
void range_thread_state(struct range_thread *thread, const struct range_wait_sites *sites,
                        const struct trace_event *event);

/* Adds a sample, or what was charged to the release of a lock.  Returns the record of values of its context if it lies
 * in the part and has one; else 0.  mpi: it was taken in a call of MPI. */
uint32_t range_thread_sample(struct range_thread *thread, const struct trace_event *event, bool mpi);

/* Adds to the share of a record of values in the waiting at a site. */
void range_thread_share(struct range_thread *thread, const struct range_wait_sites *sites, uint32_t value,
                        uint32_t site, uint64_t ns);

/* Makes the table of waits of the part, with the nodes that it needs.  all: the threads of the process, before any of
 * them is finished. */
void range_thread_waits(struct range_thread *thread, const struct range_thread *all, uint32_t count,
                        struct read_part *part);

/* Makes the other tables of the part, with these columns of values.  The caller frees them with read_part_release(). */
void range_thread_finish(struct range_thread *thread, const struct read_file *file, struct read_columns columns,
                         struct read_part *part);

/* The share of a figure of the run that a part gets. */
uint64_t range_share_of(uint64_t figure, struct range_amount amount);

#endif
