/* Writes finished tables to the measurement file.
 *
 * While a process runs, its tables are in DIR/HOST-PID-START.live (rt/core/arena.h), and those of ended threads,
 * packed, in .part beside it.  At the end everything is written to .part, which is then renamed to .hpcrun, and .live
 * is removed. So at every moment either .hpcrun exists and is complete, or .live and .part together are.
 *
 * Context: CTL, under the CTL lock, except writer_start() and writer_begin(), which run before the process has
 * threads.  Memory is mapped, since the program's heap may be locked.  No descriptor stays open.  If the file
 * cannot be written, this is reported once, with the remedy: the live file, if there is one, keeps the data, and the
 * program runs on.
 */
#ifndef HPCRUN_LITE_OUTPUT_WRITER_H
#define HPCRUN_LITE_OUTPUT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hpcrun-lite/rt/core/rt.h"

/* Names the files; from then on tables may be made. */
void writer_start(void);

/* Writes the path of the process's file with that suffix: DIR/HOST-PID-START and the suffix. */
void writer_name_file(char *path, size_t size, const char *suffix);

/* Describes the process in the live file, as far as it is known at the start. */
void writer_begin(void);

/* Stores the process's times until now, and the length of a tick: if the program is killed before its first sample, a
 * reader has no later ones. */
void writer_times(void);

/* What is known of the MPI library has changed.  The caller has the CTL lock. */
void writer_mpi(void);

/* An OpenMP runtime has started: adds its description, and corrects the times and the notes. */
void writer_runtime(void);

/* Something has changed that the notes state. */
void writer_notes(void);

/* Brings the record of a live thread up to date and writes it with its tables.  cpu_ns: the thread's clock, which the
 * caller reads while the thread exists: later it reads 0. */
void writer_thread(struct thread_state *t, uint64_t cpu_ns);

/* The same for a thread that ends.  Returns false if its data are not in the file yet. */
bool writer_thread_ended(struct thread_state *t, uint64_t cpu_ns);

/* Counts the data of an ended thread, which are not in the file and whose memory is going to be released, as lost. */
void writer_lose_thread(const struct thread_state *t);

/* Writes the tables of the process: then everything is in .part. */
void writer_process(void);

/* Writes work and span until now to .flush, in the place of an earlier one; brings the records of live threads in the
 * live file up to date.  Returns false on failure; then the earlier one stays. */
bool writer_flush(void);

/* Makes .part the measurement file, and removes the live file. */
void writer_commit(void);

/* Removes all files: the process leaves no measurement. */
void writer_discard(void);

/* Remembers the files' state; writer_rewind() returns to it, after writer_commit() or writer_discard(). */
void writer_mark(void);
void writer_rewind(void);

/* The compression context for format_pack(); NULL without memory. */
struct ZSTD_CCtx_s *writer_compressor(void);

#endif
