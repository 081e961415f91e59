/* A line of --diagnose: what was found, and what to do about it.
 *
 * Context: BATCH (the launcher's helper).  Printed to standard output at once; longer ones go on in lines that are
 * indented, within 80 columns.
 */
#ifndef HPCRUN_LITE_LAUNCH_FINDING_H
#define HPCRUN_LITE_LAUNCH_FINDING_H

#include <stdbool.h>

/* good: nothing is lost by it.  topic: one word. */
void finding(bool good, const char *topic, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
