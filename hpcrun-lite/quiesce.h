/* Quiesces RT in the other threads, so that their tables can be read or copied.
 *
 * Context: CTL, under the CTL lock.  Writes rt.closed, rt.graph_suspended and rt.waits; reads the threads'
 * `inside`. Each wait is bounded: a thread that does not leave its handler in time (it may be stopped) is not waited
 * for longer.
 */
#ifndef HPCRUN_LITE_QUIESCE_H
#define HPCRUN_LITE_QUIESCE_H

#include <stdbool.h>

/* Waits until no other thread is in a handler or callback of the tool. */
void quiesce_wait(void);

/* Asks the masters of open parallel regions for the contexts that created them, each from its own stack: the process
 * ends inside these regions. */
void quiesce_publish_regions(void);

/* Closes RT: handlers and callbacks return at once from now on.  Waits for those under way.  ends: this is the end of
 * the measurement, and threads remain in the state in which they are. */
void quiesce_close(bool ends);

/* Opens RT again.  graph: callbacks also follow the task graph and constructs again, and write states of the trace. */
void quiesce_reopen(bool graph);

#endif
