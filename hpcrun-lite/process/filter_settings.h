/* The filter of the process: from its text (common/filter_text.h) to what RT uses (rt/filter/filter.h).
 *
 * Context: CTL.  filter_settings_apply() and _window(): once, before the program has threads.  filter_settings_note():
 * also in the handler and at the end of the process.  filter_settings_read() and _record(), which rt/core/ctl_calls.h
 * declares: in the handler.  The memory is mapped, and never released; the text must stay.
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

/* Writes up to two lines for reports, "" if nothing was filtered:
 * 1. "Filtered: ...": each filter that was in force, with its period; not what the launcher has added.
 * 2. "Not in the program: ...": names that were not found; with `ended` also those of user regions that have not begun.
 * Async-signal-safe. */
void filter_settings_note(char *note, size_t size, bool ended);

#endif
