/* The live view beside COMMAND: hpcprof-lite --live on the terminal, while COMMAND is measured.
 *
 * The view has the terminal to itself.  What COMMAND prints on the terminal goes to a file beside the measurement
 * directory, DIR.output, and is shown when the view has ended: first what there is, then the rest as it comes.  Then
 * the file is removed; if the launcher is killed, it stays.  Where COMMAND would read from the terminal, it reads an
 * empty file.
 *
 * A process of its own, the keeper, starts the view and shows the output.  It lives until both the view and COMMAND
 * have ended.
 *
 * Context: BATCH (the launcher), one thread.  The caller owns the structure. */
#ifndef HPCRUN_LITE_LAUNCH_VIEWER_H
#define HPCRUN_LITE_LAUNCH_VIEWER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct viewer {
  int terminal;            /* descriptor of the launcher's that is the terminal */
  int file;                /* descriptor of DIR.output */
  char path[PATH_MAX + 8]; /* its name */
  int command_runs;        /* descriptor: closed when COMMAND has ended; what is written ends the view */
  pid_t keeper;
};

/* Returns NULL, or why there can be no live view: known before anything is started. */
const char *viewer_refusal(void);

/* Starts the view of the directory by that hpcprof-lite.  Returns whether it could; if not, with a message. */
bool viewer_start(struct viewer *viewer, const char *reporter, const char *directory, char *message, size_t size);

/* In COMMAND's process: takes the terminal from its standard streams. */
void viewer_redirect(const struct viewer *viewer);

/* COMMAND has ended: waits until the view is quit, or ends it.  Afterwards all output has been shown. */
void viewer_finish(struct viewer *viewer, bool end);

#endif
