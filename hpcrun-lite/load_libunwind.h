/* Loads libunwind for rt/unwind.c.  Context: CTL, before the first sample: the loader's calls are none for a handler.
 */
#ifndef HPCRUN_LITE_LOAD_LIBUNWIND_H
#define HPCRUN_LITE_LOAD_LIBUNWIND_H

/* Returns NULL, or why stacks cannot be unwound. */
const char *load_libunwind(void);

#endif
