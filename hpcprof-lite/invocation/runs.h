/* Which runs the measurement directories hold.
 *
 * Context: BATCH.  The file `launch` of a directory identifies its run: hpcrun-lite writes it when it launches a
 * program, and all ranks of an MPI job have the same one, also in different directories.  Directories without
 * measurements belong to no run.  Nothing is written.
 */
#ifndef HPCPROF_LITE_INVOCATION_RUNS_H
#define HPCPROF_LITE_INVOCATION_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the measurement directory in the current one that was launched last: *name, and *empty if a later launch has
 * measured nothing so far.  Both are new strings, or NULL.  Returns 0, or errno if the current directory cannot be
 * read. */
int runs_newest(char **name, char **empty);

/* Returns whether two of the directories hold different runs; sets *one and *other to the first two.  A directory
 * without the file `launch` is a run of its own. */
bool runs_differ(char *const *directories, size_t count, const char **one, const char **other);

#endif
