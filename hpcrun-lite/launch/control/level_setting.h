/* The settings file of --control config: which of its settings a running process can take, and why not the others.
 *
 * Context: BATCH (the launcher).
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_LEVEL_SETTING_H
#define HPCRUN_LITE_LAUNCH_CONTROL_LEVEL_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/* Reads "level = off|summary|samples" from the file.  Returns false with a message that names file and line, for any
 * other setting too. */
bool level_setting_read(const char *path, char *level, size_t size, char *message, size_t message_size);

#endif
