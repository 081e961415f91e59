/* Where the constructs of a program are: the functions that contain them, and the lines of their directives.
 *
 * Context: BATCH.  A construct's place is the call by which it enters the runtime.  Compilers attribute some of these
 * calls to other lines, or to none, but state the line of the directive with the function that they have made of the
 * construct: where both are known, from the code before the call or from a calling context, the call gets that line. */
#ifndef HPCPROF_LITE_VIEWS_CONSTRUCTS_H
#define HPCPROF_LITE_VIEWS_CONSTRUCTS_H

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/model/profile.h"
#include "common/symbols/symbols_request.h"

/* Sets the origins of outlined functions, and corrects the steps of calls that begin constructs.  All addresses have
 * their steps.  requests: [module] what was asked of its symbols. */
void constructs_settle(const struct profile *profile, const struct symbols_request *requests, struct names *names);

#endif
