/* Programs that the launcher runs to learn from their output.
 *
 * Context: BATCH (the launcher).  Keeps no state; the caller waits for the child.
 */
#ifndef HPCRUN_LITE_LAUNCH_CHILD_H
#define HPCRUN_LITE_LAUNCH_CHILD_H

#include <stddef.h>
#include <sys/types.h>

/* The launcher's environment without the assignments that begin with one of the texts, *count of them, with room for
 * `room` more and a NULL.  Returns NULL without memory; the caller frees the list, not the strings. */
char **child_environment(const char *const *without, size_t without_count, size_t room, size_t *count);

/* Starts arguments[0]; what it prints on standard error is discarded.  Returns its process id and, in *output, the
 * descriptor to read its standard output from; -1 on failure. */
pid_t child_start(char **arguments, char **environment, int *output);

#endif
