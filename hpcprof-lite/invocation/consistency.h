/* Whether the options of a command line go together, and with the view: refuses what would have no effect.
 *
 * Context: BATCH.  Pure, but for what one option implies of others.
 */
#ifndef HPCPROF_LITE_INVOCATION_CONSISTENCY_H
#define HPCPROF_LITE_INVOCATION_CONSISTENCY_H

#include "hpcprof-lite/invocation/options.h"

/* Checks the options that options_parse() has filled; completes them: what a format implies, the parsed --root, the
 * name of the view.  0, or ERR_INPUT with one line in message. */
int consistency_check(struct options *options, char *message, size_t size);

#endif
