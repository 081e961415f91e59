/* Lines that have moved between two builds: a line keeps its distance from the beginning of its function.
 *
 * Context: BATCH.  Pure.
 */
#ifndef HPCPROF_LITE_COMPARISON_MOVED_LINES_H
#define HPCPROF_LITE_COMPARISON_MOVED_LINES_H

#include "hpcprof-lite/model/selector.h"

/* Moves the lines of a selector from the sources of one build to those of another.  Returns false, and leaves them, if
 * it names lines whose function is not known in both. */
bool moved_lines(const struct names *from, const struct names *to, struct selector *selector);

#endif
