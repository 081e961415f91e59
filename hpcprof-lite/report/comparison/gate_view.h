/* The results of the conditions of --fail-if: as a sentence, as Markdown, as a JUnit report.  Context: BATCH. */
#ifndef HPCPROF_LITE_REPORT_COMPARISON_GATE_VIEW_H
#define HPCPROF_LITE_REPORT_COMPARISON_GATE_VIEW_H

#include "hpcprof-lite/report/report.h"

enum { GATE_TEXT_MAX = 256, GATE_FIGURE = 32 };

/* Writes a change in percent, with its sign: "+9.8 %"; "new" or "gone" where one side is 0, "-" where both are. */
void gate_view_change(const struct compare_figure *figure, char out[GATE_FIGURE]);

/* Writes what was measured, and how certain a change is. */
void gate_view_text(const struct compare_gate *gate, char out[GATE_TEXT_MAX]);

/* Returns "failed", "passed", or "not significant" for a figure that is beyond its limit by chance. */
const char *gate_view_state(const struct compare_gate *gate);

int gate_view_markdown(const struct report *report);
int gate_view_junit(const struct report *report);

#endif
