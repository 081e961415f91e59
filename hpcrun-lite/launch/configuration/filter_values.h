/* What the keys of [filter] accept, and the filter as the measured process gets it.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONFIGURATION_FILTER_VALUES_H
#define HPCRUN_LITE_LAUNCH_CONFIGURATION_FILTER_VALUES_H

#include "hpcrun-lite/launch/configuration/setting.h"

enum { FILTER_VALUES_BYTES = 65536 }; /* room for the text of a filter */

/* Whether the setting of [filter] accepts the text; message: the reason and the remedy. */
bool filter_values_check(enum setting setting, const char *text, char *message, size_t message_size);

/* Writes the filter as text, one setting in a line: "threads 0-3,8", "skip-first NS", "functions solve*,!init".
 * Returns false if it does not fit. */
bool filter_values_text(const struct setting_layer *layer, char *text, size_t size);

/* The longest value of the filter, to be named if it does not fit. */
enum setting filter_values_longest(const struct setting_layer *layer);

/* Names the longest value of a filter whose text does not fit into FILTER_VALUES_BYTES.  path: of the configuration. */
void filter_values_refuse(const struct setting_layer *layer, const char *path, char *message, size_t message_size);

#endif
