/* What this layer keeps of a thread: the constructs that it has open, their records, its stream of the trace.
 *
 * Context: RT.  The thread itself writes it, and reads it; CTL reads it after measuring has ended.  See rt.h for how
 * the layers' structures nest. */
#ifndef HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_THREAD_H
#define HPCRUN_LITE_RT_CONSTRUCT_CONSTRUCT_THREAD_H

#include "hpcrun-lite/rt/core/stream.h"
#include "hpcrun-lite/rt/span/span_thread.h"

enum { RT_USER_REGIONS = 16 }; /* user regions open at once in one thread */

/* A thread's stream of the trace: see construct/trace.h. */
struct trace_stream {
  struct stream stream;
  uint64_t state_clock, sample_clock; /* ends of what is written, in units of common/tracelog.h */
  uint64_t own, own_left;             /* ticks of the runtime's own work: in the wait that ends; in earlier waits what
                                         was below one unit, carried over so that rounding does not add up */
  uint32_t holder;                    /* thread that held the lock when this one began to wait; 0: not known */
  bool on, states;                    /* samples, and states, are written */
  uint32_t pauses;                    /* changes of rt.pauses that are in the stream */
  bool begun;                         /* an execution of a construct begins with the open state */
};

/* An open user region.  The frame that began it ends at cfa, the stack pointer of its caller's frame; 0: not known. */
struct user_region {
  uint64_t cfa;
  uint32_t name, row;
  bool followed; /* also a construct of the task graph */
  bool wanted;   /* one of those to which a filter limits the measurement */
};

/* An open construct of a thread, or a task that it runs: see construct/construct.h. */
struct construct_open {
  struct construct_open *above, *below; /* in the stack; above: used again and again, NULL: none yet */
  struct construct_open *frame;         /* the innermost task from here on: itself, if it is one */
  struct format_construct *at;          /* its record */
  struct format_tasks *tasks;           /* of an explicit task; may be NULL */
  const void *task;                     /* of a task: its data word's address; NULL: none */
  uint64_t begun, apart;                /* of a task: when it began or went on; ticks since then that are not its own */
  uint64_t *light;                      /* in a light region: where its time goes; else NULL */
  uint64_t body;                        /* at->ticks[FORMAT_TIME_BODY] when it began, where executions may stand */
  uint64_t waited;                      /* at->ticks[FORMAT_TIME_WAIT] when it began to wait */
  uint64_t first, iterations;           /* of a loop: of the chunk that the thread runs; 0 iterations: none.  `begun` is
                                           when it began, less construct_thread.waits at that time */
  const void *ended_code;               /* of a task: of the barrier of `ended`; NULL: not met yet */
  uint32_t record;
  uint32_t ended; /* of a task: the construct that has ended, and whose barrier may follow; 0: none */
  uint8_t kind, column;
  bool spare;   /* sections: the thread has executed none; task: that of `ended`; taskloop: it has a taskgroup */
  bool chunks;  /* a loop whose record has what is known of its chunks */
  bool strides; /* of a loop: more chunks may follow the one that is announced last */
};

/* A record that the thread has looked up, by where it was looked for. */
struct construct_known {
  uint64_t key;
  struct format_construct *at;
  struct format_tasks *tasks; /* of a task construct; may be NULL */
  uint32_t record;
};

/* A lock that the thread holds. */
struct construct_held {
  uint64_t wait_id, since; /* since: ticks; 0: free */
  struct format_construct *at;
};

/* A light instance of a lock or critical construct that the thread is in: see span/governor.h. */
struct construct_light {
  uint64_t wait_id;
  uint64_t begun; /* governor_events() at its begin */
  struct format_construct *at;
};

/* Where bundled tasks belong (span/bundled_task.h). */
struct construct_bundled_tasks {
  struct format_construct *at;
  struct format_tasks *tasks; /* NULL without memory */
  bool elsewhere;             /* another thread has created them */
};

/* A loop that the thread has met in light regions: see rt/loop_events.c. */
struct construct_light_site {
  const void *code;
  uint32_t parent, record;     /* parent: the record around it */
  struct format_construct *at; /* NULL: free */
  struct directive_total *total;
};

struct construct_thread {
  struct span_thread below;

  _Alignas(64) uint64_t *ticks; /* where the thread's time goes; NULL: nothing is measured yet */
  struct construct_open *top;   /* of the stack */
  const void *created;          /* data word's address of the task that was created last */
  uint32_t created_record;
  struct format_construct *created_at; /* that record */
  struct format_tasks *created_tasks;  /* likewise; NULL without memory */
  struct construct_bundled_tasks bundled_tasks;
  uint32_t counted;    /* record + 1 to which `ticks` belongs, if not that of construct_open */
  uint64_t acquiring;  /* ticks: the thread waits for a lock; 0: none */
  uint64_t stands_for; /* light regions: the one that the thread is in */
  uint64_t waits;      /* ticks that the thread has waited so far, at barriers, for tasks and for locks */

  /* Written by sampling/waiting.c, before it reports the end of a wait. */
  uint64_t waited_runtime;          /* ticks of the last wait that were the runtime's own */
  uint64_t lock_runtime;            /* likewise, of the last acquisition of a lock */
  uint64_t region_left, region_end; /* ticks: the master left the barrier of the region at whose end a worker waited
                                       last, and ended it; 0: not known */

  struct construct_known known[64], unkept;
  uint32_t heads[256]; /* lists of records by hash; 0: none */
  struct construct_held held[8];
  struct construct_light light[4];
  unsigned light_count;
  struct construct_light_site light_sites[8];
  struct construct_open *bottom;
  struct table records, tasks, stack;
  struct trace_stream trace;

  /* Written by CTL (tool.c), in the thread itself. */
  struct user_region user_regions[RT_USER_REGIONS];
  unsigned user_depth; /* may exceed RT_USER_REGIONS: further ones are not kept */
};

static inline struct construct_thread *construct_of(const struct thread_state *t)
{
  return (struct construct_thread *)t;
}

static inline struct trace_stream *trace_of(const struct thread_state *t)
{
  return &((struct construct_thread *)t)->trace;
}

#endif
