/* The part of the exit line (exit_line.h) that reports losses.  Context: CTL; no state. */
#ifndef HPCRUN_LITE_PROCESS_LOSSES_H
#define HPCRUN_LITE_PROCESS_LOSSES_H

#include <stddef.h>
#include <stdint.h>

enum { LOSSES_TEXT_MAX = 2048 };

/* What became of the data when the measurement file could not be written. */
enum losses_kept {
  LOSSES_GONE,  /* there is no live file */
  LOSSES_KEPT,  /* they stay in the live file */
  LOSSES_UNSEEN /* they stay in the live file, which is no longer found by its name */
};

/* Why the file could not be written: errno, 0 if it could. */
struct losses_write {
  int error;
  enum losses_kept kept;
};

/* Writes "nothing lost", or every loss with its remedy or where the remedy is shown.  The text has room for all losses.
 */
void losses_text(const uint64_t *lost, const struct losses_write *write, char text[LOSSES_TEXT_MAX]);

#endif
