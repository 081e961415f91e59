/* Calls in which a thread sleeps: our signal is held back.  Context: CTL. */
#ifndef HPCRUN_LITE_BLOCKING_H
#define HPCRUN_LITE_BLOCKING_H

#include <stdbool.h>

/* Around such a call: what begin returns goes to the end.  errno stays as it is. */
unsigned blocking_hold(bool may_wait);
void blocking_release(unsigned held);

#endif
