/* The filter of the process: from its text (common/filter_text.h) to what RT uses (rt/filter/filter.h).
 *
 * Context: CTL, once, before the program has threads; filter_settings_read() and _record(), which
 * rt/core/ctl_calls.h declares, are called in the handler.  The memory is mapped, and never released; the text must stay.
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

/* Writes one line for reports, "Filtered: ...", without what the launcher has added; with the filters that were in
 * force before, and until when; and one with the names that were not found, at the process's end also those of user
 * regions that have not begun.  "" if nothing was filtered.  Async-signal-safe. */
void filter_settings_note(char *note, size_t size, bool ended);

#endif
