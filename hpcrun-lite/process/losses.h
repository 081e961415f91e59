/* The part of the exit line (exit_line.h) that reports losses.  Context: CTL; no state. */
#ifndef HPCRUN_LITE_PROCESS_LOSSES_H
#define HPCRUN_LITE_PROCESS_LOSSES_H

#include <stddef.h>
#include <stdint.h>

enum { LOSSES_TEXT_MAX = 2048 };

/* Writes "nothing lost", or every loss with its remedy or where the remedy is shown.  The text has room for all losses.
 */
void losses_text(const uint64_t *lost, char text[LOSSES_TEXT_MAX]);

#endif
