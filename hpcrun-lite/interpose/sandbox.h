/* Sandboxes: measuring ends before the program restricts its system calls, since one of the tool's could then end it.
 *
 * Context: CTL.  No state.
 */
#ifndef HPCRUN_LITE_INTERPOSE_SANDBOX_H
#define HPCRUN_LITE_INTERPOSE_SANDBOX_H

/* The program is about to enter that mode of seccomp (SECCOMP_MODE_...).  filter: the program's argument; NULL only
 * asks whether the kernel supports filters. */
void sandbox_begins(unsigned long mode, const void *filter);

#endif
