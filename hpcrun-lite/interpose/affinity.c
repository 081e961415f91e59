/* The mask with which the process was started: a constructor of libgomp may bind the initial thread before this
 * library's constructor runs.  Context: CTL. */
#define _GNU_SOURCE
#include <pthread.h>

#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"

INTERPOSED int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
  int (*real)(pthread_t, size_t, const cpu_set_t *) = libc_real(LIBC_pthread_setaffinity_np);
  process_note_mask();
  return real(thread, size, set);
}
