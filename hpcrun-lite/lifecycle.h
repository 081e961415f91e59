/* Start and end of measuring in this process.
 *
 * Context: CTL, in the program's threads, outside handlers.  The library's constructor and destructor, defined here,
 * call lifecycle_start() and lifecycle_finish(); the start of an OpenMP runtime and the interposed functions may call
 * them earlier.
 */
#ifndef HPCRUN_LITE_LIFECYCLE_H
#define HPCRUN_LITE_LIFECYCLE_H

#include <stdbool.h>

/* Starts measuring, once; also before the library's constructor has run.  Returns false if nothing is measured. */
bool lifecycle_start(void);

/* Stops measuring and writes everything.  Idempotent. */
void lifecycle_finish(void);

/* The program is going to do what samples, or the tool's system calls, would harm: ends measuring as lifecycle_finish()
 * does, for the rest of the process image.  why: for the message. */
void lifecycle_end_early(const char *why);

/* The one call from here up to gomp/: a libomp starts, which contains that address.  Its workers then find it without
 * waiting for the dynamic loader.  An address in another module has no effect. */
void gomp_note_libomp(const void *address);

#endif
