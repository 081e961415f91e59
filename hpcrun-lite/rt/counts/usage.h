/* What getrusage() would report about another thread, from the kernel's files about it.
 *
 * Context: CTL.  A getrusage() of another thread does not exist. */
#ifndef HPCRUN_LITE_RT_COUNTS_USAGE_H
#define HPCRUN_LITE_RT_COUNTS_USAGE_H

#include "hpcrun-lite/rt/core/sys.h"

/* Returns false if the files cannot be read.  Times have the resolution of the files, 10 ms. */
bool usage_of_thread(int tid, struct sys_usage *usage);

/* The same from the contents of the files stat and status. */
bool usage_parse(const char *stat, const char *status, struct sys_usage *usage);

#endif
