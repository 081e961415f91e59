/* Why calls of MPI waited, and for what: the result of matching the operations of a job's logs.
 *
 * Context: BATCH.  A wait state is time of a call in which the operation that it waits for had not begun on another
 * rank (doc/mpi.md).  It is charged to what the late rank did meanwhile.  Places are calling contexts of one thread in
 * a log; the caller translates them.  The structure owns its memory.
 */
#ifndef HPCPROF_LITE_MESSAGES_WAIT_STATES_H
#define HPCPROF_LITE_MESSAGES_WAIT_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hpcprof-lite/messages/delays.h"
#include "hpcprof-lite/model/hash_map.h"

/* W(enumerator, name) */
#define WAIT_STATE_LIST(W)                                                                                             \
  W(LATE_SENDER, "late sender")       /* a receive began before its send */                                            \
  W(WRONG_ORDER, "wrong order")       /* the same, while another message that was sent before waited to be received */ \
  W(LATE_RECEIVER, "late receiver")   /* a send that waits for its receive began before it */                          \
  W(BARRIER, "wait at barrier")       /* not all ranks were there */                                                   \
  W(ALL_TO_ALL, "wait at all-to-all") /* the same, where all get data of all */                                        \
  W(NEIGHBOURS, "wait at neighbours") /* the same for those that a rank gets data of */                                \
  W(LATE_BROADCAST, "late broadcast") /* the root was not there, from which all get data */                            \
  W(EARLY_REDUCE, "early reduce")     /* the root was there before all ranks of which it gets data */                  \
  W(EARLY_SCAN, "early scan")         /* a rank was there before all lower ones */

#define WAIT_STATE_ENUMERATOR(enumerator, name) WAIT_STATE_##enumerator,
enum wait_state { WAIT_STATE_LIST(WAIT_STATE_ENUMERATOR) WAIT_STATES };

const char *wait_state_name(enum wait_state state);

struct wait_place {
  uint32_t process, thread, node; /* process: its position in the profile; node: 0: not known */
  bool before;                    /* what the thread did before the call in that node, of which nothing is known */
};

struct wait_row {
  enum wait_state state;
  uint32_t waiting, delaying; /* places; delaying 0: not known */
  uint64_t waits;             /* in which that has delayed longest */
  double ns;
};

/* From one rank to another, by ranks in MPI_COMM_WORLD. */
struct wait_pair {
  uint32_t from, to;
  uint64_t messages, bytes;              /* that were sent */
  double late_sender_ns;                 /* how long `to` waited, and */
  double late_receiver_ns;               /* how long `from` */
  uint64_t late_senders, late_receivers; /* how often */
};

struct wait_states {
  struct wait_place *places; /* from 1 */
  struct wait_row *rows;
  struct wait_pair *pairs;
  uint32_t places_count, rows_count, pairs_count;
  size_t places_room, rows_room, pairs_room;
  struct hash_map place_numbers, row_numbers, pair_numbers; /* to number + 1 of rows and pairs */

  /* What could not be matched, in numbers of operations. */
  uint64_t unsent;      /* messages that were received, but whose send is not in a log */
  uint64_t unreceived;  /* messages that were sent, and whose receive is not in a log */
  uint64_t unfinished;  /* receives that got no message until the end, or were released */
  uint64_t cancelled;   /* operations that were cancelled, or failed */
  uint64_t ambiguous;   /* operations whose order is not known: several threads at once, or unknown requests */
  uint64_t unknown;     /* operations on communicators that are not known in other processes, or with two groups */
  uint64_t incomplete;  /* collective operations of which some ranks are not in a log */
  uint64_t unseen;      /* calls in which ranks can wait for each other, but whose operations are not logged */
  uint64_t collectives; /* collective operations, each counted once */
};

void wait_states_release(struct wait_states *states);

/* Returns the number of a place, and the pair of two ranks.  The pair is valid until the next call. */
uint32_t wait_states_place(struct wait_states *states, const struct wait_place *place);
struct wait_pair *wait_states_pair(struct wait_states *states, uint32_t from, uint32_t to);

/* Adds one wait, divided among what has delayed it. */
void wait_states_add(struct wait_states *states, enum wait_state state, uint32_t waiting, const struct delay *delay);

#endif
