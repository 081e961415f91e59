/* Arrivals of a team's threads at the barriers of a region: what each has done until then reaches all that leave.
 *
 * Context: RT, in callbacks; the rules of span/span.h hold.  A thread leaves the clock of its implicit task, and its
 * work, in a slot of its own, from where the others take them; so threads that arrive at the same time do not write to
 * the same memory.  Each thread writes the two lines of its own slot, and reads those of the others, so that these
 * lines move between the caches: if another thread's clock is not later, only the first line is read.  At the end of a
 * region only its creator reads them.  No creator empties the slots of others, since no other region gets the same
 * handle; so mostly it does not write to them.
 *
 * A thread has two slots, by the parity of the interval, since threads may be one barrier apart.  If it arrives in
 * another region before all threads of this one have taken what it left there, that goes to the interval's join
 * (struct barrier_interval), which is read last. */
#ifndef HPCRUN_LITE_RT_SPAN_BARRIER_H
#define HPCRUN_LITE_RT_SPAN_BARRIER_H

#include "hpcrun-lite/rt/span/graph.h"

/* What a thread has left at its last barrier of that parity.  The first part is there without the graph, too: when it
 * turned idle there (sampling/waiting.h), and in which team, by the index of the region.  Its owner stores it
 * with release.  The rest is of that region (0: nothing), which may have ended, and written by the owner under the
 * lock.  `region` and both lengths are also read without the lock: a thread that finds the region, and a later clock,
 * takes the lock and looks again.  `region` is stored last.  The creator of the region reads `work` when all threads
 * have arrived, under the lock of the region's end (struct region_ending); under that one, too, the owner sets `region`
 * to 0 if it leaves an arrival behind. */
enum { BARRIER_PARITIES = 2 };
struct arrival {
  uint32_t idle_team, lock;
  uint64_t idle_since;
  uint64_t region, work;
  struct clock clock;
} __attribute__((aligned(64)));

struct arrivals {
  struct arrival at[BARRIER_PARITIES];
};

/* CTL: starts the table of a new process, and a thread's slots (false without memory). */
void barrier_start(void);
bool barrier_start_thread(struct thread_state *t);

/* The thread takes part in regions of that team from now on, in a set of threads.  Most have done so before: all
 * threads write to the line, but seldom. */
void barrier_add_member(const struct thread_state *t, uint64_t *members) __attribute__((noinline));
static inline void barrier_be_member(const struct thread_state *t, uint64_t *members)
{
  if (__builtin_expect(!(__atomic_load_n(members, __ATOMIC_RELAXED) & span_of(t)->member), 0))
    barrier_add_member(t, members);
}

/* The thread's next barrier is that one: its slot's lines move here before it arrives.  Others have read what it left
 * there at the last barrier of that parity. */
static inline void barrier_expect(const struct thread_state *t, uint32_t barrier)
{
  const struct arrivals *arrivals = span_of(t)->arrivals;
  if (!arrivals)
    return;
  const struct arrival *own = &arrivals->at[barrier % BARRIER_PARITIES];
  machine_take_line(own);
  machine_take_line((const char *)(own + 1) - 1);
}

/* Iterates over the slots of a set of threads.  Its last bit stands for all threads from there on.  slot: behind the
 * last one of these. */
enum { BARRIER_LAST_BIT = 63 };
struct barrier_members {
  uint64_t left;
  uint32_t slot;
};

extern struct arrivals *barrier_first_slots; /* those below BARRIER_LAST_BIT follow each other */

struct arrivals *barrier_next_of_last_bit(struct barrier_members *members) __attribute__((cold));
static inline struct arrivals *barrier_next(struct barrier_members *members)
{
  uint64_t left = members->left;
  if (!(left << 1))
    return left ? barrier_next_of_last_bit(members) : NULL;
  members->left = left & (left - 1);
  return &barrier_first_slots[__builtin_ctzll(left)];
}

/* All of a set but the calling thread, unless its bit stands for others, too. */
static inline struct barrier_members barrier_others(const struct thread_state *t, uint64_t members)
{
  return (struct barrier_members){.left = members & ~(span_of(t)->member & ~(1ull << BARRIER_LAST_BIT))};
}

/* The thread, which runs that implicit task of the team, arrives: offers its clock, and its work since the last time.
 */
void barrier_arrive(struct thread_state *t, struct task *task, struct team *team);

/* Raises a clock to all ends of an interval of the region: of implicit tasks, and of those explicit ones that the
 * barrier waits for. */
void barrier_join(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region, uint32_t interval);

/* The creator ends the region: the same for all intervals (clock NULL: there is none to raise).  It has raised the
 * clock to that of its own implicit task before, so that most others are not later.  Returns the work of all implicit
 * tasks, and leaves the team's intervals empty. */
uint64_t barrier_close(struct thread_state *t, struct clock *clock, struct team *team, uint64_t region);

/* The same lines, and those of the team, move here before: the creator has left the barrier with that number, which
 * ends the region with that index. */
static inline void barrier_expect_close(const struct thread_state *t, uint32_t region, uint32_t barrier)
{
  const struct team *team = graph_team(region);
  const struct arrivals *arrivals;
  if (!team)
    return;
  machine_take_line(team);
  struct barrier_members others = barrier_others(t, __atomic_load_n(&team->members, __ATOMIC_RELAXED));
  while (!team->light && (arrivals = barrier_next(&others))) {
    const struct arrival *from = &arrivals->at[barrier % BARRIER_PARITIES];
    __builtin_prefetch(from);
    __builtin_prefetch((const char *)(from + 1) - 1);
  }
}

/* Empties the intervals before a region begins: a late thread of the last one may have reported. */
void barrier_clear(struct thread_state *t, struct team *team);

/* CTL: offers the clocks that were left in an open region to the program's longest chain. */
void barrier_reach(struct thread_state *self, const struct team *team, uint64_t region);

#endif
