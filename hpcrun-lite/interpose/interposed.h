/* Marks the functions that replace libc's: the library exports these and hides all others.  Context: CTL. */
#ifndef HPCRUN_LITE_INTERPOSE_INTERPOSED_H
#define HPCRUN_LITE_INTERPOSE_INTERPOSED_H

#define INTERPOSED __attribute__((visibility("default")))

#endif
