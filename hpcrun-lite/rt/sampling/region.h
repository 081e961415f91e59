/* Parallel regions and their creation contexts (ICS'13, section 3.2).
 *
 * Context: RT; functions marked CTL are called by CTL under the CTL lock.  With -p online (the default) and with
 * --task-context creation, a region publishes its creation context when it begins (sampling/task_creation.h).  With
 * -p off, it does so when the master itself is sampled inside the region, when another thread requests it, or at the
 * region's end.  Departure from the paper: a worker's subtree is not copied below the creation context, but hangs below
 * a link to that context's node in the master's tree, so no thread reads another thread's tree.  Until the context is
 * published, a placeholder stands for the link.
 *
 * A region instance has a record in a table that all threads share.  Its handle is generation << 32 | index; the
 * record's word is generation << 32 | OPEN | users.  Users are the master, from the start until it has published the
 * link (or has ended a region in which no thread was sampled), and each worker that was sampled in the instance, until
 * its placeholder is a link.  The last user recycles the record; the next generation invalidates old handles.  With
 * -p off, a region in which no thread was sampled costs no unwind, no growing allocation, and no shared write except to
 * its own word.
 * Without memory a region has no record (REGION_NO_RECORD), and its samples stand below a node of kind partial. */
#ifndef HPCRUN_LITE_RT_SAMPLING_REGION_H
#define HPCRUN_LITE_RT_SAMPLING_REGION_H

#include "hpcrun-lite/rt/sampling/sampling_thread.h"
#include "hpcrun-lite/rt/span/barrier.h"

/* CTL: starts the tables of a new process. */
void region_start(void);

/* CTL: takes back the records of an ending thread. */
void region_unregister(struct thread_state *t);

/* In place of a handle: the region has no record. */
#define REGION_NO_RECORD UINT64_MAX

/* The master enters a region; enter_frame is the frame of its entry into the runtime.  Returns the handle; 0 without
 * memory. */
uint64_t region_begin(struct thread_state *t, uint64_t enter_frame);

/* The master leaves its innermost open region.  The region that the runtime names in this callback is not used: with
 * nested regions libomp 14 to 19 passes another one.  Returns NULL, or the region if a thread was sampled in it and its
 * creation context is not known; the caller then unwinds, and calls region_publish() and region_close(). */
struct format_region *region_end(struct thread_state *t);
void region_close(struct thread_state *t);

/* What the threads of a region share about their waits (sampling/waiting.h), and when the next instance on the same
 * record began: a worker learns of both at the same time, when it takes part in that one. */
struct region_end {
  uint64_t generation;           /* of the instance, 0: none */
  uint64_t last_idle, left, end; /* ticks: the last thread arrived; the master left the barrier; the region ended */
  uint64_t next_begun;           /* ticks; 0: not known */
  uint64_t undelayed;            /* of the last arrival: see struct last_arrival */
  uint64_t late;                 /* ticks by which the master left the barrier late, as it had no processor */
  uint64_t next_delay;           /* ticks: how much earlier the next instance could have begun */
} __attribute__((aligned(64)));

enum { REGION_ENDS = 32, REGION_SIZES = 8 };

/* On cache lines by writer: workers wait for what they read here before they take part in a region. */
struct region_team {
  /* Ticks: a thread of the team turned idle at a barrier with an even and an odd number.  While a thread is still in a
   * barrier, others may already have arrived at the next one, but not at the one after it.  Each thread notes it in a
   * slot of its own (span/barrier.h); here is only what threads had there when they went on to another team, or that
   * have no slot, relaxed. */
  uint64_t last_idle[2];
  uint64_t delayed[2]; /* likewise: of threads that had missed a processor before */
  /* Written by the master, and only if they change. */
  uint64_t code __attribute__((aligned(64))); /* address from which the region was entered */
  uint32_t outer_barriers;                    /* the master's number of barriers in the region around this one */
  const struct thread_state *master;          /* samples of others read it, relaxed, while the region is open */
  uint64_t members;                           /* threads that have been in a region of this team, atomic */
  /* The last instances with a team, by generation.  Writer: their master; readers: workers at their next region. */
  struct region_end ends[REGION_ENDS];
  /* The last ones with a team of another size, by size: a thread that smaller teams leave out learns of the end late.
   */
  struct region_end others[REGION_SIZES];
  uint32_t size; /* of the last team of several threads */
  uint64_t last; /* its generation */
};

/* The team of the region with the index in a handle; NULL for 0 and for a region without a record.  It stays where it
 * is; after the region has ended its fields may belong to the next one. */
struct region_team *region_team(uint32_t region);

/* The slow part of region_note_idle(): the thread has no slot, or that is of another team. */
void region_note_idle_elsewhere(struct thread_state *t, struct region_team *team, uint32_t region, uint32_t barrier,
                                uint64_t now) __attribute__((noinline));

/* The thread turns idle at a barrier of a region of that team. */
static inline void region_note_idle(struct thread_state *t, struct region_team *team, uint32_t region, uint32_t barrier,
                                    uint64_t now)
{
  struct arrivals *arrivals = span_of(t)->arrivals;
  struct arrival *own = arrivals ? &arrivals->at[barrier % BARRIER_PARITIES] : NULL;
  if (__builtin_expect(own && own->idle_team == region, 1))
    __atomic_store_n(&own->idle_since, now, __ATOMIC_RELEASE);
  else
    region_note_idle_elsewhere(t, team, region, barrier, now);
}

/* When the last one of some threads turned idle there, or of those that are in other teams now. */
static inline uint64_t region_last_idle(const struct region_team *team, struct barrier_members members, uint32_t region,
                                        uint32_t barrier)
{
  uint64_t last = 0, elsewhere;
  const struct arrivals *arrivals;
  while ((arrivals = barrier_next(&members))) {
    const struct arrival *arrival = &arrivals->at[barrier % BARRIER_PARITIES];
    uint64_t since = __atomic_load_n(&arrival->idle_since, __ATOMIC_ACQUIRE);
    if (since > last && __atomic_load_n(&arrival->idle_team, __ATOMIC_ACQUIRE) == region)
      last = since;
  }
  /* last: a thread that goes on to another region raises this before it empties its slot */
  elsewhere = __atomic_load_n(&team->last_idle[barrier % BARRIER_PARITIES], __ATOMIC_RELAXED);
  return elsewhere > last ? elsewhere : last;
}

/* at: when a region began (time-stamp counter; 0: not known).  delay: by how many ticks missing processors delayed that
 * since the end of the region before.  The creator notes both. */
struct region_beginning {
  uint64_t at, delay;
};
void region_note_begin(uint64_t handle, struct region_beginning beginning);
struct region_beginning region_beginning(uint64_t handle);

/* The innermost region was entered from that address. */
void region_set_code(struct thread_state *t, const void *code);

/* The master is going to end its innermost region: the cache line that region_note_end() writes moves here before. */
void region_expect_end(const struct thread_state *t);

/* The master ends its innermost region now.  left: when it left the closing barrier; late: by how many ticks that was
 * too late. */
void region_note_end(struct thread_state *t, uint64_t left, uint64_t now, uint64_t late);

/* Finds the end of an instance of that team.  Returns false if it has not ended, or other regions have replaced it. */
bool region_find_end(uint64_t handle, const struct region_team *team, struct region_end *end);

/* Handle of the innermost region of the thread; 0 outside any. */
uint64_t region_current(const struct thread_state *t);

/* The handle of the latest instance with the index in a handle; 0 for 0. */
uint64_t region_handle(uint32_t index);

/* A number that is the same for all instances of that region created in the same context. */
uint64_t region_identity(const struct thread_state *t);

/* The innermost open region of which this thread is the master; NULL if there is none. */
struct format_region *region_innermost(const struct thread_state *t);

/* An open region and the address from which it was entered; more: others inside it were entered between the same stack
 * pointers. */
struct region_entry {
  struct format_region *region;
  uint64_t code;
  bool more;
};

/* The outermost open region of this thread that was entered from a frame between these stack pointers; all 0 if there
 * is none. */
struct region_entry region_entered(const struct thread_state *t, uint64_t sp_from, uint64_t sp_to);

/* The node below which frames belong that are inside the stack address `high`, but not inside a region which was
 * entered between `low` and there: the creation context of the region around it, and what a filter found on it.
 * CCT_NONE if that is not known. */
uint32_t region_around(struct thread_state *t, uint64_t low, uint64_t high, uint32_t *filtered);

/* Whether the instance has not ended. */
bool region_open(uint64_t handle);

/* Whether its creation context is published. */
bool region_known(const struct format_region *region);

/* Publishes the creation context: a node of the master's tree, and what a filter found on the path to it (bits of enum
 * format_filtered). */
void region_publish(struct thread_state *t, struct format_region *region, uint32_t node, uint32_t filtered);

/* The same for a region that begins, and a node that is below no placeholder. */
void region_publish_final(struct format_region *region, uint32_t node, uint32_t filtered);

/* The node below which a worker's frames in that region belong: a link, or a placeholder that becomes a link later.
 * CCT_NONE if the instance has ended, or without memory.  *filtered: what a filter found on the creation context, 0 as
 * long as that is not known. */
uint32_t region_base(struct thread_state *t, uint64_t handle, uint32_t *filtered);

/* What a filter found on the creation contexts of the regions that the thread is in, all together. */
uint32_t region_filtered(const struct thread_state *t);

/* Replaces a placeholder by a link once its region has been resolved.  Called at each sample; cheap if none is pending.
 */
void region_resolve(struct thread_state *t);

/* Whether this thread is the master of open regions whose creation context other threads wait for. */
bool region_wanted(const struct thread_state *t);

/* To be called before the thread sleeps.  Returns whether it is the master of open regions with workers whose creation
 * context is unknown and was not requested yet: then the caller must publish them, since a sleeping thread cannot. */
bool region_publish_open(const struct thread_state *t);

/* The records, for the writer. */
const struct table *region_table(void);

#endif
