/* The files of a measurement directory: how each is called, and how its contents show that hpcrun-lite has written it.
 * This is the only description of them that decides what may be removed.
 *
 *   HOST-PID-START, then .hpcrun .live .part .graph .trace .index .flush      begins with FORMAT_MAGIC
 *   the same while they are written: .packing.graph .packing.trace .flush.flush -XXXXXX.index
 *   HOST-PID-START.perfmap                names of generated code: any text, as the program has written it
 *   the same while it is written: .part.perfmap
 *   symbols-HASH-NAME                     a copy of an executable or library: an ELF file
 *   the same while it is written: HOST-PID-START.symbols, which may be empty or zero at first
 *   control-HOST-PID                      8192 bytes, begins with CONTROL_MAGIC
 *   control-HOST-PID-XXXXXX.filter        a filter: each line can be used
 *   code-HASH.filter, .XXXXXX behind it while it is written      lines of code only
 *   debug-data, -XXXXXX behind it while it is written            begins with FORMAT_MAGIC, or is empty: older versions
 *                                         may have left that after a loss of power
 *   launch                                the marker: one line NAME=VALUE, NAME as listed below
 *   try, -XXXXXX behind it while it is written      the record of --try, which may be empty at first
 *   snapshot                              the mark of a snapshot: a title with the host, then process ids
 *
 * HOST is a name, PID a number, START a number of hexadecimal digits, HASH has 16 of them, an X is a letter or digit.
 * A file that is not complete yet (.part and the second line) may be empty.  All are regular files with one name that
 * belong to the effective user.
 *
 * Context: BATCH (the launcher).  Keeps no state.
 */
#ifndef HPCRUN_LITE_LAUNCH_SAFETY_KNOWN_FILE_H
#define HPCRUN_LITE_LAUNCH_SAFETY_KNOWN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the line of the marker may begin with: variables that name a job, and the others of directory.c. */
#define KNOWN_FILE_JOBS "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID"
#define KNOWN_FILE_SLURM "SLURM"
#define KNOWN_FILE_PMI "PMI"
#define KNOWN_FILE_LAUNCH "launch"
enum { KNOWN_FILE_ID_BYTES = 512 }; /* of a launch's id, with a NUL at its end */

/* Whether the entry of the directory is one of these. */
bool known_file_is(int directory, const char *name);

/* Whether the name is one of a process's measurement files with that suffix. */
bool known_file_has_name(const char *name, const char *suffix);

/* Takes HOST-PID-START and that suffix apart; HOST may contain '-'. */
bool known_file_process(const char *name, const char *suffix, char *host, size_t host_size, pid_t *pid);

/* Replaces what a marker's name of a job may not contain by '_'. */
void known_file_fit_job(char *name);

/* Whether the text, of a regular file, is a marker; writes the id in it. */
bool known_file_read_marker(int fd, char id[KNOWN_FILE_ID_BYTES]);

#endif
