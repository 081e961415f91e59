/* Commands to a running process: what `hpcrun-lite --control` and the measured process exchange.
 *
 * Context: RT and BATCH.  The commander writes the file `control-HOST-PID` of the measurement directory, owner only,
 * and holds a lock on it (flock) until it has the answer; then it removes it.  It sends SIGURG with the value of
 * control_signal_value().  The process reads the command and writes its answer into the same file, whose bytes exist
 * already, so that a full disk cannot prevent the answer.
 *
 * A process whose threads all sleep with the signal blocked answers when it wakes.  The commander leaves such a command
 * in the file and marks it as deferred: the signal that is pending then may be that of an earlier command, since SIGURG
 * is not queued.  The process answers a deferred command, too: so the next commander sees that it was carried out.
 */
#ifndef COMMON_CONTROL_FILE_H
#define COMMON_CONTROL_FILE_H

#include <stdint.h>

#define CONTROL_PREFIX "control-"
#define CONTROL_MAGIC 0x32306c7463637068ULL /* "hpcctl02" */
#define CONTROL_SIGNAL 0x68706374ULL        /* upper half of the signal's value; the lower one is the command's id */
#define CONTROL_WITHDRAWN "withdrawn"       /* nobody waits for an answer: the process removes the file */

enum { CONTROL_TEXT_MAX = 4072, CONTROL_ANSWER_OFFSET = 4096, CONTROL_FILE_SIZE = 8192 };

enum control_state {
  CONTROL_SILENT,  /* no answer yet */
  CONTROL_AGAIN,   /* under way: the process needs a further signal, at once */
  CONTROL_PENDING, /* it happens as soon as the text says */
  CONTROL_DONE,
  CONTROL_REFUSED /* the text is the reason */
};

/* At offset 0.  The text has no NUL. */
struct control_command {
  uint64_t magic;
  uint32_t id, length;
  uint32_t deferred; /* 1: it is carried out in one step, and nobody waits for the answer */
  uint32_t reserved;
  char text[CONTROL_TEXT_MAX];
};

/* At CONTROL_ANSWER_OFFSET.  The process writes the text first, then the fields before it. */
struct control_answer {
  uint32_t id, state, length, reserved[3];
  char text[CONTROL_TEXT_MAX];
};

_Static_assert(sizeof(struct control_command) == CONTROL_ANSWER_OFFSET, "the answer follows the command");
_Static_assert(sizeof(struct control_answer) == CONTROL_FILE_SIZE - CONTROL_ANSWER_OFFSET, "and fills the file");

/* An id is a random number and, in its last byte, a check.  So the process knows a commander's signal that was pending
 * until after the command was over. */
static inline uint32_t control_id(uint32_t random)
{
  uint32_t number = random | 0xff;
  return (number & ~0xffu) | (number * 2654435769u) >> 24;
}

static inline uint64_t control_signal_value(uint32_t id)
{
  return CONTROL_SIGNAL << 32 | id;
}

#endif
