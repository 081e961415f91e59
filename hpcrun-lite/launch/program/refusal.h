/* Why an option or its value is refused.
 *
 * Context: CTL, in the launcher.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_REFUSAL_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the reason into message[size], cut if it is longer.  Returns false, for the caller to return. */
bool refuse(char *message, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
