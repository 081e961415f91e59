/* Calls that transfer data, and that a signal would end with a part of it.
 *
 * Such a call, in spite of SA_RESTART, returns less than all, or fails with EINTR on a socket with a time limit
 * (signal(7)).  Programs that write to a pipe or ask for random numbers seldom look at the count.  Where that can
 * happen SAMPLE_SIGNAL is held back (hold.h).
 *
 * Context: CTL.  State: whether the program has set a time limit for any socket; written by setsockopt(), read by all.
 */
#ifndef HPCRUN_LITE_INTERPOSE_PARTIAL_IO_H
#define HPCRUN_LITE_INTERPOSE_PARTIAL_IO_H

#include <stdbool.h>
#include <stddef.h>

/* May a signal end a write of that size with less?  errno stays as it is. */
bool partial_io_possible(int fd, size_t size);

#endif
