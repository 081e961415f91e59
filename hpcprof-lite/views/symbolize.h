/* Joins contexts with symbols: each distinct address of the profile becomes a chain of named functions, once.
 *
 * Context: BATCH.  Modules are resolved on several threads at once, one thread to a module; everything else is done in
 * one canonical order, so that the numbers of functions do not depend on the number of threads.
 */
#ifndef HPCPROF_LITE_VIEWS_SYMBOLIZE_H
#define HPCPROF_LITE_VIEWS_SYMBOLIZE_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"

/* Resolves all addresses of the profile on that many threads.  0, or ERR_NOMEM; symbolize_release() in any case. */
int symbolize(const struct profile *profile, unsigned threads, struct names *names);
void symbolize_release(struct names *names);

#endif
