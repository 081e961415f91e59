/* Constructs at the end of a function, where compilers jump into the OpenMP runtime instead of calling it.
 *
 * The function then has no frame, and the construct has the address of its call: the call instruction, or the context,
 * names the function, and its code shows the jump.
 *
 * Context: BATCH, one thread.  Only direct jumps are found.  Where several of them may have been taken, the contexts
 * inside the construct decide; without any, the construct that stands first in the source.
 */
#ifndef HPCPROF_LITE_VIEWS_TAIL_CALLS_H
#define HPCPROF_LITE_VIEWS_TAIL_CALLS_H

#include "hpcprof-lite/views/code.h"

/* Replaces the addresses of directives, and of contexts that enter a construct, by those of jumps, which are added. */
void tail_calls_follow(const struct profile *profile, struct names *names, struct code *code);

/* Replaces an address by one of its own, in the function that contains a construct and with the directive's line, as
 * the construct's outlined function tells them. */
void tail_calls_place(struct names *names, uint32_t *address, uint32_t body);

#endif
