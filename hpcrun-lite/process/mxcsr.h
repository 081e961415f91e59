/* Floating point of the tool in the program's threads.
 *
 * Context: CTL; RT computes with integers only.  The program may have set arithmetic exceptions to trap, and may look
 * at the flags: the tool computes with the default settings, then restores the program's register, its flags included.
 */
#ifndef HPCRUN_LITE_PROCESS_MXCSR_H
#define HPCRUN_LITE_PROCESS_MXCSR_H

/* Sets the default; returns the program's register for mxcsr_restore(). */
static inline unsigned mxcsr_set_default(void)
{
  enum { ALL_MASKED = 0x1f80 };
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(ALL_MASKED);
  return before;
}

static inline void mxcsr_restore(unsigned before)
{
  __builtin_ia32_ldmxcsr(before);
}

#endif
