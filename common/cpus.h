/* CPUs of this process.  Context: the launcher; no state. */
#ifndef COMMON_CPUS_H
#define COMMON_CPUS_H

/* Returns how many CPUs the calling thread may run on; 1 if the kernel does not report it.  Uses the heap. */
int cpus_allowed(void);

#endif
