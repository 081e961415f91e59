/* CTL: what the line at exit says of losses. */
#ifndef HPCRUN_LITE_PROCESS_LOSSES_H
#define HPCRUN_LITE_PROCESS_LOSSES_H

#include <stddef.h>
#include <stdint.h>

enum { LOSSES_TEXT_MAX = 2048 };

/* Writes "nothing lost", or every loss with its remedy, or where that stands.  Has room for all at once. */
void losses_text(const uint64_t *lost, char text[LOSSES_TEXT_MAX]);

#endif
