/* The timeline as an archive of the Open Trace Format 2, which Vampir and the tools of OTF2 read.
 *
 * Context: BATCH.  Constructs are regions; what a thread does in them but work is a region of its category inside.  So
 * the work is what remains.
 */
#ifndef HPCPROF_LITE_REPORT_EXPORTS_OTF2_H
#define HPCPROF_LITE_REPORT_EXPORTS_OTF2_H

#include "hpcprof-lite/report/report.h"

/* Writes the archive into a directory, which exists.  Returns 0, or ERR_INPUT with a message, which otherwise is "". */
int otf2_write(const struct report *report, const char *directory, char *message, size_t size);

#endif
