/* Loads libunwind for rt/sampling/unwind.c, privately and with two of its calls redirected.
 *
 * Context: CTL, before the first sample: a handler must not call the dynamic loader.  The library stays loaded.
 */
#ifndef HPCRUN_LITE_LOAD_LIBUNWIND_H
#define HPCRUN_LITE_LOAD_LIBUNWIND_H

/* Returns NULL, or the reason why stacks cannot be unwound. */
const char *load_libunwind(void);

#endif
