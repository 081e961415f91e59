/* The filter of the process: from its text (common/filter_text.h) to what RT uses (rt/filter/filter.h).
 *
 * Context: CTL, once, before the program has threads.  The memory is mapped, and never released; the text must stay.
 */
#ifndef HPCRUN_LITE_PROCESS_FILTER_SETTINGS_H
#define HPCRUN_LITE_PROCESS_FILTER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets RT's filter.  Returns false if something of it could not be used, with the reason in message. */
bool filter_settings_apply(const char *text, char *message, size_t message_size);

/* The part of the run that is measured; zeros: all. */
struct filter_window {
  uint64_t skip_ns, only_ns;
};
struct filter_window filter_settings_window(const char *text);

/* Writes the lines for reports, "Filtered: ..." without what the launcher has added, and "Not in the program: ..." with
 * the names that were not found by the last filter_settings_apply(); "" if nothing is filtered. */
void filter_settings_note(const char *text, char *note, size_t size);

#endif
