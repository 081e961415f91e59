/* A list of messages about what is wrong with the input.
 *
 * Context: BATCH.  Each list has one writer at a time; the caller prints it.  The list owns its messages.  It is
 * bounded: after PROBLEMS_MAX messages further ones are only counted, so that hostile input cannot fill memory or the
 * terminal.  A list of zeros is empty.
 */
#ifndef HPCPROF_LITE_MODEL_PROBLEMS_H
#define HPCPROF_LITE_MODEL_PROBLEMS_H

#include <stddef.h>
#include <stdio.h>

enum { PROBLEMS_MAX = 8 };

struct problems {
  char *lines[PROBLEMS_MAX]; /* NULL where a rank has sent none */
  size_t count;              /* of all problems, also those without a line */
};

/* Adds one message.  Characters that are unsafe on a terminal are escaped. */
void problems_add(struct problems *problems, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Moves all problems of `from` behind those of `into`. */
void problems_append(struct problems *into, struct problems *from);

/* The same for those that `into` does not have: a file that is read twice has the same problems.  Those without a line
 * are taken for the same. */
void problems_append_new(struct problems *into, struct problems *from);

/* Prints each message on a line that begins with the program's name, then how many are not shown.  Returns the number
 * of all problems. */
size_t problems_print(const struct problems *problems, FILE *stream);

/* Frees the messages; the list is then empty. */
void problems_release(struct problems *problems);

#endif
