/* From the functions and source lines that a filter names to addresses in the code of a running process.
 *
 * Context: BATCH (the launcher).  Keeps what was found for the last executable: processes of a job have the same.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONTROL_TARGET_CODE_H
#define HPCRUN_LITE_LAUNCH_CONTROL_TARGET_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Makes the text of a filter for the process, from its executable and the libraries that it has mapped; the caller
 * frees it.  Returns true, with a warning in message or "", or false with the reason. */
bool target_code_resolve(pid_t pid, const char *filter, char **text, char *message, size_t message_size);

#endif
