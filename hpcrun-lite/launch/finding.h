/* A line of --diagnose: a finding and its remedy.
 *
 * Context: BATCH (the launcher).  Printed to standard output at once, wrapped at 80 columns; further lines are
 * indented.
 */
#ifndef HPCRUN_LITE_LAUNCH_FINDING_H
#define HPCRUN_LITE_LAUNCH_FINDING_H

#include <stdbool.h>

/* good: nothing needs to be done.  topic: one word. */
void finding(bool good, const char *topic, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
