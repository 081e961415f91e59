/* Assertions in code of the measured process.
 *
 * Context: RT and CTL.  They are compiled to nothing in every build type, because the program is never harmed.  The
 * Meson option `assertions` turns them on, for tests only: then a condition that does not hold ends the process, after
 * one line on standard error, by system calls (no function of libc is called). */
#ifndef HPCRUN_LITE_RT_CORE_ASSERTION_H
#define HPCRUN_LITE_RT_CORE_ASSERTION_H

/* RT_ASSERT(): a condition without side effects.  RT_CHECK(): a function that asserts the invariants of a whole
 * structure, defined only where RT_ASSERTIONS is. */
#ifdef RT_ASSERTIONS
enum { RT_ASSERTION_STATUS = 117 }; /* exit status of the process */
#define RT_ASSERT(condition) (__builtin_expect(!(condition), 0) ? rt_assertion_failed(#condition, __func__) : (void)0)
#define RT_CHECK(call) call
void rt_assertion_failed(const char *condition, const char *function) __attribute__((noreturn, cold));
#else
#define RT_ASSERT(condition) ((void)sizeof(!(condition)))
#define RT_CHECK(call) ((void)0)
#endif

#endif
