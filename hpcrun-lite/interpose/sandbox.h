/* Sandboxes: measuring ends before the program restricts its system calls, since one of the tool's could then end it;
 * and before it lets its parent trace it, since each sample would stop it until the parent reacts.
 *
 * Context: CTL, also in a vfork() child.
 */
#ifndef HPCRUN_LITE_INTERPOSE_SANDBOX_H
#define HPCRUN_LITE_INTERPOSE_SANDBOX_H

#include <stdbool.h>

/* The program is about to enter that mode of seccomp (SECCOMP_MODE_...).  filter: the program's argument; NULL only
 * asks whether the kernel supports filters. */
void sandbox_begins(unsigned long mode, const void *filter);

/* Has the calling process, or one of which it is a fork, restricted its system calls? */
bool sandbox_is_entered(void);

/* The program asks its parent to trace it (PTRACE_TRACEME).  What it executes is not measured either. */
void sandbox_traced(void);

#endif
