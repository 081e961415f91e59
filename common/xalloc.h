/* Memory that is always there: a program that gets none ends.
 *
 * A report that lacks a part is wrong, so no caller could do better than to hand the failure up to main().  The
 * functions have the names of libc's with an x before them, and never return NULL.
 *
 * They are not for a size that a file claims: a damaged one must cost only itself, so its reader calls malloc() and
 * reports the file.
 *
 * Context: BATCH, any thread, any process.  Only the program uses them: its modules for other libraries report
 * failures.
 */
#ifndef COMMON_XALLOC_H
#define COMMON_XALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* What is done before the program ends, by the first thread that gets no memory: message and clean-up.  It is called
 * in the state in which the memory was missing: locks may be held, and it must not allocate.  It may end
 * the process itself, with another status.  NULL: nothing. */
void xalloc_on_failure(void (*failed)(void));

/* Ends the process with status 1, after what xalloc_on_failure() has been given. */
_Noreturn void xalloc_die(void);

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *memory, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xvasprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stream whose text is found at *text after xclose(), and is freed by the caller. */
FILE *xopen_memstream(char **text, size_t *length);
void xclose(FILE *stream, char *const *text);

/* array_reserve(), array_reserve_zero() (common/array.h); more elements than can be numbered are missing memory, too.
 */
void xarray_grow(void *array, size_t *room, size_t needed, size_t size);
void xarray_reserve_zero(void *array, size_t *room, size_t needed, size_t size);

static inline void xarray_reserve(void *array, size_t *room, size_t needed, size_t size)
{
  if (needed > *room)
    xarray_grow(array, room, needed, size);
}

/* A new last element of an array, which grows as needed: its address.  The element is not initialised; a value that is
 * assigned in the same expression must not depend on the three arguments, which are evaluated more than once. */
#define XAPPEND(array, count, room)                                                                                    \
  (xarray_reserve(&(array), &(room), (size_t)(count) + 1, sizeof *(array)), &(array)[(count)++])

#endif
