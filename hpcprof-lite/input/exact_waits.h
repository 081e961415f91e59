/* How much idleness and lock waiting a context is charged with: exact amounts, distributed by samples.
 *
 * Source: Liu et al., ICS'13, section 3.1, which multiplies the idle threads that a sample counts by the sample's time.
 * Departure: signals take long to deliver, and meanwhile the other threads arrive at the next barrier and wait for the
 * thread that the signal stops.  Therefore the amounts come from callbacks, and the counts only distribute them:
 *
 *   E_q      = the time that all threads waited at site q (struct format_wait)
 *   s_x,q    = sum over the samples of context x of p n_q / b: n_q threads idle at q, b busy
 *   idleness = sum over q of E_q s_x,q / sum over x of s_x,q
 *
 * Baselines, for T threads or cores: `shared` takes the sites inside parallel regions.  `thread` adds the time of
 * parked workers, which is a site, and of threads that do not exist, T x elapsed - sum of life times, distributed by
 * T sum(p / b) - sum(p n / b) with n existing threads.  `core` adds (cores - T) x elapsed, distributed by sum(p / b);
 * with fewer cores than threads it is computed from samples alone (stitch.h).
 * Lock waiting is distributed like a site, over the contexts that release the lock.
 *
 * Samples can count too little by chance only: idleness is at most sum s_x,q (1 + 1 / sqrt(n)), n samples.  What
 * remains was seen by no sample and is charged to the context in which the thread waited.
 *
 * Context: BATCH.  One for each process.  The structure owns its memory, which exact_waits_close() frees.
 */
#ifndef HPCPROF_LITE_INPUT_EXACT_WAITS_H
#define HPCPROF_LITE_INPUT_EXACT_WAITS_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/profile.h"

/* A thread's waits at one site, ns. */
struct exact_wait {
  uint32_t site, node; /* node: of the thread's tree, 0: none */
  bool lock;
  uint32_t device;              /* number + 1 of a device whose idleness this is; 0: a wait */
  uint64_t idle_ns, runtime_ns; /* waiting; the runtime's own work meanwhile; both without missing processors */
  uint64_t unseen_ns;           /* of idle_ns, to be charged to `node`, because no sample saw it */
};

struct exact_waits_thread {
  struct exact_wait *waits;
  uint32_t count;
  bool timed;                /* the file has the exact times */
  bool shares;               /* waiting of others is charged to it; in older files only to threads of OpenMP */
  uint64_t idle_ns, lock_ns; /* their sums */
  uint64_t no_core_ns;       /* it waited for a thread that had no processor */
  uint64_t held_up_ns;       /* it would have got on faster by this, had each thread always had a processor */
  bool recorded;             /* its switches were, all the time */
  uint64_t preempted_ns;     /* in all of its life: it could run and had no processor, without latencies of waking */
  uint64_t estimated_ns;  /* without a processor in waits, where that is an estimate; 0: it is not, or there is none */
  uint64_t call_ready_ns; /* without a processor, in calls of the program that block */
  uint64_t mpi_ready_ns;  /* likewise, in calls of MPI */
};

struct exact_waits {
  struct exact_waits_thread *threads; /* [position in process->threads] */
  double *factors;                    /* [site] what a nanosecond of a share stands for */
  bool counted;          /* fewer cores than threads count: how long a core was idle is only known from samples */
  double missing, spare; /* the same for threads that do not exist, and cores without a thread */
  uint32_t threads_count;
  uint32_t baseline;                            /* T */
  uint64_t unseen_ns;                           /* idleness outside all sites that no sample saw */
  uint64_t unseen_while[PROFILE_UNSEEN_CAUSES]; /* of idleness that no sample saw and that has no context: why */
};

/* Reads the wait sites of all threads of the process. */
void exact_waits_open(struct read_file *file, const struct profile_process *process, enum profile_baseline baseline,
                      struct problems *problems, struct exact_waits *waits);
void exact_waits_close(struct exact_waits *waits);

/* Which part of a thread's waiting was time in the tool, and which part of the runtime's own work in waits: [0] in
 * waits of other kinds, [1] for locks.  ns: all of that time. */
struct exact_waits_tool {
  double of_waiting[2], of_runtime[2], ns;
};

struct exact_waits_tool exact_waits_tool(const struct profile_process *process, const struct format_wait *waits,
                                         uint32_t count);

/* The runtime's own work in waits, before the part that can be that is taken; without time in the tool. */
double exact_waits_runtime_ns(const struct format_wait *waits, uint32_t count, double tick_ns);

/* The part of the runtime's own work in a thread's waits that can be that, and not sleep or waiting for a processor.
 * runtime_ns: all of it. */
double exact_waits_runtime_part(const struct profile_thread *record, double runtime_ns);

/* Where the time without a processor was that records of switches do not show, but the kernel's total contains.  With
 * records, that is the latency of waking: which part of the time until a woken thread ran, where that is known, and
 * otherwise each time.  Without: in each nanosecond of waiting, as in all time in which the thread did not run. */
struct exact_waits_delay {
  double woken_part, each_wake_ns, waiting_part;
};

struct exact_waits_delay exact_waits_delay(const struct profile_thread *record, const struct format_wait *waits,
                                           uint32_t count, double tick_ns);

/* Takes the time without a processor out of a wait.  Returns it, in nanoseconds: the thread's own, of waiting and of
 * the runtime's own work; and that of a thread for which it waited.
 * left: by how much the latency of waking, which is the same for each wake, was longer than earlier waits at the same
 * site, ns; it is taken out of this wait, as far as it is long enough.  NULL: the wait stands for all at its site.
 * A trace has codes for sites: a site that several constructs share has one for each. */
struct exact_waits_ready {
  double of_waiting, of_runtime, no_core; /* no_core: of waiting, another thread had no processor */
};

struct exact_waits_ready exact_waits_leave_ready(struct format_wait *wait, const struct exact_waits_delay *delay,
                                                 double tick_ns, double *left);

/* What a list of shares of a thread amounts to, ns.  *unread: how many of the thread's records no list has had so far,
 * shares_count at first; a record is in one list, so this bounds the time for hostile files. */
struct exact_waits_amount {
  uint64_t idle_ns, lock_ns;
  bool damaged; /* it names records that do not exist or are in other lists, or is a circle; they are left out */
};
struct exact_waits_amount exact_waits_of(const struct exact_waits *waits, uint32_t position,
                                         const struct format_share *shares, uint32_t shares_count, uint64_t first,
                                         uint32_t *unread);

/* The same of idle devices, of a list that is not damaged: gives each with how long it was idle. */
typedef void exact_waits_take(void *to, uint32_t device, uint64_t ns);
void exact_waits_devices(const struct exact_waits *waits, uint32_t position, const struct format_share *shares,
                         uint64_t first, exact_waits_take *take, void *to);

/* The idleness of threads and cores without a wait site that is charged to a context of a thread. */
uint64_t exact_waits_elsewhere(const struct exact_waits *waits, uint32_t position, uint64_t per_busy_ns,
                               uint64_t in_use_ns);

#endif
