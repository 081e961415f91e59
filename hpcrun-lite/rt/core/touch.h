/* New memory of the tool, where the program's page faults may be counted (-c): its pages are touched at once.
 *
 * Context: RT and CTL.  Does nothing before touch_start().  perf_event does not count pages that the kernel maps on
 * request, but getrusage() does: their number is kept for each thread. */
#ifndef HPCRUN_LITE_RT_CORE_TOUCH_H
#define HPCRUN_LITE_RT_CORE_TOUCH_H

#include <stddef.h>
#include <stdint.h>

/* CTL: events are counted from now on.  Before there are threads. */
void touch_start(void);

void touch_pages(void *memory, size_t size_bytes);

/* Page faults of the calling thread in touch_pages(), as getrusage() counts them. */
uint64_t touch_faults(void);

#endif
