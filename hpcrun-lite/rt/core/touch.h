/* New memory of the tool: its pages are touched before the tool uses them, so that the page faults are not the
 * program's.
 *
 * Context: RT and CTL.  perf_event does not count pages that the kernel maps on request, but getrusage() does: their
 * number is kept for each thread.  Where counters (-c) or a stream to a file may show each fault, whole blocks are
 * touched when they are mapped; otherwise only what is taken from them, since the memory of a process counts, too. */
#ifndef HPCRUN_LITE_RT_CORE_TOUCH_H
#define HPCRUN_LITE_RT_CORE_TOUCH_H

#include <stddef.h>
#include <stdint.h>

/* CTL: whole blocks are touched from now on.  Before there are threads. */
void touch_start(void);

/* A block was mapped; memory was taken, maybe from a block. */
void touch_pages(void *memory, size_t size_bytes);
void touch_part(void *memory, size_t size_bytes);

/* Page faults of the calling thread in these functions, as getrusage() counts them. */
uint64_t touch_faults(void);

#endif
