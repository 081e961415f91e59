/* Lists of words, such as the values of an option: search, similar words, and lists as text.  Symbols in sentences.
 *
 * Context: any but RT.  Pure.  A list ends in NULL.
 */
#ifndef COMMON_WORDS_H
#define COMMON_WORDS_H

#include <stddef.h>

/* Returns the place of the word in the list, or -1. */
int words_find(const char *const *words, const char *word);

/* Returns the word of the list that was probably meant: it differs by at most two characters or swaps of two, and by
 * less than half of it.  NULL: there is none. */
const char *words_similar(const char *const *words, const char *word);

/* Writes "a, b or c" with `last` " or ". */
void words_list(const char *const *words, const char *last, char *text, size_t size);

/* Appends to text[size], a list whose parts are separated by "; ".  What has no room is cut off. */
void words_append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

enum { WORDS_SYMBOL = 80 }; /* bytes of a symbol in a sentence, with the end */

/* Writes the name of a function for a sentence: of one that is too long, template arguments and parameters are left
 * out, then the middle; two dots stand for what is left out.  Returns `out`. */
const char *words_symbol(const char *name, char out[WORDS_SYMBOL]);

#endif
