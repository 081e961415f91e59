/* The pager, which shows a text report on the terminal: started before the report is printed, as git does.
 *
 * Context: BATCH, the main thread.  While it runs, SIGINT and SIGQUIT are ignored, because the terminal sends them to
 * both processes and the pager handles them.
 */
#ifndef HPCPROF_LITE_INVOCATION_PAGER_H
#define HPCPROF_LITE_INVOCATION_PAGER_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pager {
  FILE *stream; /* what is written to it is shown */
  pid_t pid;
  const char *command; /* of the environment */
  struct sigaction interrupt, quit;
};

/* Starts $PAGER, or less if it is not set.  Returns false if the report goes to standard output directly: that is
 * not a terminal, or there is not any pager.  If $PAGER cannot be run, a line on standard error says so. */
bool pager_start(struct pager *pager);

/* Ends the report and waits for the pager.  Returns false if the shell could not run its command; a line on standard
 * error says so. */
bool pager_finish(struct pager *pager);

/* Ends the report without what the stream still holds, and waits for the pager. */
void pager_abandon(const struct pager *pager);

#endif
