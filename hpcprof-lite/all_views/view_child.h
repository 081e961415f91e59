/* Child processes that make the tables of the page and of the database.
 *
 * Context: BATCH, the main thread.  A pipeline fills a job that it has to itself: each table is made by a child, which
 * shares the profile and the tree that were made before.  A child that fails, also by a signal, costs the page one
 * table, of which it tells why; a database is not made then, unless the run has nothing to show in the table.  What a
 * child prints on standard error is kept.
 */
#ifndef HPCPROF_LITE_ALL_VIEWS_VIEW_CHILD_H
#define HPCPROF_LITE_ALL_VIEWS_VIEW_CHILD_H

#include "hpcprof-lite/pipelines/job.h"

enum { VIEW_CHILD_MESSAGE_MAX = 4096 };

struct view_child {
  pid_t pid;
  int output;   /* what it writes, to read */
  int messages; /* a file in memory with what it printed on standard error */
  bool failed;
  char reason[VIEW_CHILD_MESSAGE_MAX]; /* its last message, without the program's name */
};

/* Starts a child, in which `run` does the work and returns the exit status.  Buffers of this process must be flushed.
 * Where none can be started, the child has failed with a reason. */
void view_child_start(struct view_child *child, int (*run)(void *context, FILE *output), void *context);

/* Waits for the child, whose output has been read: `complete` tells whether it is what it must be.  Sets `failed`, and
 * `reason` if it has.  Prints its messages, each once for all children; none of one that has failed and is optional. */
void view_child_finish(struct view_child *child, bool complete, bool optional, struct problems *printed);

/* Prints a line unless it was printed before. */
void view_child_print_once(struct problems *printed, const char *line);

#endif
