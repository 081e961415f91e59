/* The calls from RT up to CTL, all of them: tests/gates checks that there are no others.
 *
 * Context: RT calls, CTL defines.  The calling thread is not inside, except where the filter is read and recorded. */
#ifndef HPCRUN_LITE_RT_CORE_CTL_CALLS_H
#define HPCRUN_LITE_RT_CORE_CTL_CALLS_H

#include <stdint.h>

struct filter;

/* tool.c: the calling thread begins to be measured, which needs memory and the CTL lock.  For a thread that the
 * runtime has created without calling the interposed pthread_create(): only its first callback shows it. */
void threads_adopt(void);

/* flush.c: control_process.serial_wanted is set, and no thread is in a parallel region, which only a callback shows.
 * The calling thread is the initial one. */
void serial_moment(void);

/* process/filter_settings.c: makes a filter from a file of that size, which the commander has written for this process.
 * By system calls only, so that a handler may call it.  NULL with a reason. */
struct filter *filter_settings_read(const char *path, uint64_t size, const char **reason);

/* The same, after a change: the process's record in the files names all filters. */
void filter_settings_record(void);

#endif
