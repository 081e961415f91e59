/* The frame of a JSON document around a table, nothing in CSV; the head of a text.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_DOCUMENT_H
#define HPCPROF_LITE_REPORT_DOCUMENT_H

#include "hpcprof-lite/report/report.h"

/* Opens the object with the view and the run that it is about; closes it. */
void document_open(const struct report *report, bool json);
void document_close(const struct report *report, bool json);

/* Prints which part of the run a text is about, unless it is the whole run. */
void document_range(const struct report *report);

#endif
