/* What a thread has done lately, to answer what made others wait for it.
 *
 * Context: BATCH.  A history has the last DELAYS_KEPT stretches of a thread's time: fragments with their samples, and
 * calls of MPI.  A stretch in which the thread itself waited for another rank is described by what that one did
 * meanwhile: so delays are followed back to their origin.  Places are numbers of the caller's; 0: not known.
 * The structures own their memory. */
#ifndef HPCPROF_LITE_MESSAGES_DELAYS_H
#define HPCPROF_LITE_MESSAGES_DELAYS_H

#include <stddef.h>
#include <stdint.h>

enum { DELAYS_SHARES = 6, DELAYS_KEPT = 1024 };

/* Shares of a time, by place.  Of more places, some of the smaller ones count as 0. */
struct delay {
  struct delay_share {
    uint32_t place;
    double amount;
  } shares[DELAYS_SHARES];
  uint32_t count;
};

void delay_add(struct delay *delay, uint32_t place, double amount);

struct stretch {
  uint64_t begin_ns, end_ns;
  struct delay delay; /* in any unit; nothing: not known */
};

struct history {
  struct kept_stretch {
    uint64_t begin_ns, end_ns;
    uint32_t first_share;     /* the lowest bits of its number */
    uint32_t place;           /* the only one, which has no shares; 0: there are shares, or nothing is known */
  } * stretches;              /* a ring */
  struct delay_share *shares; /* of these stretches, a ring whose size is a power of two */
  size_t room, shares_room;
  uint64_t added;       /* in all */
  uint64_t last_end_ns; /* of the last one, where a new one looks first */
  uint32_t last_place;
  uint32_t shares_added; /* the same, the lowest bits */
};

void history_release(struct history *history);

/* Add a stretch, of one place that is known or of any, which begins no earlier than the end of the one before.  Two of
 * the same place that follow each other become one. */
void history_add_place(struct history *history, uint64_t begin_ns, uint64_t end_ns, uint32_t place);
void history_add(struct history *history, const struct stretch *stretch);

/* Adds to *delay what the thread did between two times, in nanoseconds.  Returns for how many it is not known. */
uint64_t history_find(const struct history *history, uint64_t begin_ns, uint64_t end_ns, struct delay *delay);

#endif
