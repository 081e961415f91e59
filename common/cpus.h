/* CPUs of this process.  Context: CTL (the library's start) and the launcher's helper; no state. */
#ifndef COMMON_CPUS_H
#define COMMON_CPUS_H

/* CPUs that the calling thread may run on; 1 where the kernel does not tell.  Uses the heap. */
int cpus_allowed(void);

#endif
