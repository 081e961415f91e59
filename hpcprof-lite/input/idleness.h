/* How much idleness and lock waiting a context is charged with: exact amounts, distributed by samples.
 *
 * Source: Liu et al., ICS'13, section 3.1, which multiplies the idle threads that a sample counts by the sample's time.
 * Departure: signals take long to deliver, and meanwhile the other threads arrive at the next barrier and wait for the
 * thread that the signal stops.  Therefore the amounts come from callbacks, and the counts only distribute them:
 *
 *   E_q      = the time that all threads waited at place q (struct format_wait)
 *   s_x,q    = sum over the samples of context x of p n_q / b: n_q threads idle at q, b busy
 *   idleness = sum over q of E_q s_x,q / sum over x of s_x,q
 *
 * Baselines, for T threads or cores: `shared` takes the places inside parallel regions.  `thread` adds the time of
 * parked workers, which is a place, and of threads that do not exist, T x elapsed - sum of life times, distributed by
 * T sum(p / b) - sum(p n / b) with n existing threads.  `core` adds (cores - T) x elapsed, distributed by sum(p / b).
 * Lock waiting is distributed like a place, over the contexts that release the lock.
 *
 * What no sample has seen is charged to the context in which the thread waited (Idleness of a place with sum 0).
 *
 * Context: BATCH.  Of one process.  The structure owns its memory, which idleness_close() frees.
 */
#ifndef HPCPROF_LITE_INPUT_IDLENESS_H
#define HPCPROF_LITE_INPUT_IDLENESS_H

#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/model/profile.h"

/* A thread's waits at one place, ns. */
struct idleness_wait {
  uint32_t place, node; /* node: of the thread's tree, 0: none */
  bool lock;
  uint64_t idle_ns, runtime_ns; /* waiting; the runtime's own work meanwhile */
  uint64_t unseen_ns;           /* of idle_ns, to be charged to `node`, because no sample saw it */
};

struct idleness_thread {
  struct idleness_wait *waits;
  uint32_t count;
  bool timed;                /* the file has the exact times */
  uint64_t idle_ns, lock_ns; /* their sums */
};

struct idleness {
  struct idleness_thread *threads; /* [position in process->threads] */
  double *factors;                 /* [place] what a nanosecond of a share stands for */
  double missing, spare;           /* the same for threads that do not exist, and cores without a thread */
  uint32_t threads_count;
  uint32_t baseline;  /* T */
  uint64_t unseen_ns; /* idleness outside all places that no sample saw */
};

/* Reads the waiting places of all threads of the process.  Returns 0 or ERR_NOMEM. */
int idleness_open(struct read_file *file, const struct profile_process *process, enum profile_baseline baseline,
                  struct problems *problems, struct idleness *idleness);
void idleness_close(struct idleness *idleness);

/* What a list of shares of a thread amounts to, ns. */
struct idleness_amount {
  uint64_t idle_ns, lock_ns;
};
struct idleness_amount idleness_of(const struct idleness *idleness, uint32_t position, const struct read_share *shares,
                                   uint32_t shares_count, uint64_t first);

/* The idleness of threads and cores without a waiting place. */
uint64_t idleness_elsewhere(const struct idleness *idleness, uint64_t per_busy_ns, uint64_t in_use_ns);

#endif
