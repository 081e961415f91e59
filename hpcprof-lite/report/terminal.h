/* Text on a terminal or in a file: its width, its abilities, and names that fit.
 *
 * Context: BATCH.  Names come from measured programs: what common/escape.h says must not be shown is escaped.
 */
#ifndef HPCPROF_LITE_REPORT_TERMINAL_H
#define HPCPROF_LITE_REPORT_TERMINAL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TERMINAL_TEXT_MAX = 8192 }; /* bytes that terminal_fit writes at most, with NUL */

struct terminal {
  unsigned width;
  bool utf8; /* names may be shown in UTF-8 */
  bool dots; /* ellipses may be UTF-8, too; not in a pipe, where tools count bytes */
  bool colour;
  bool raw;   /* text is only fitted: the writer that gets it escapes */
  bool lists; /* parameters are dropped at last: functions of that name differ in them */
};

/* Finds out what the stream can show.  Unless it is a terminal with a known size: as many columns as COLUMNS says, or
 * 80, without colour. */
void terminal_init(struct terminal *terminal, FILE *stream);

/* From here on, a stream of the first descriptor shows on the terminal that the second one is: a pager reads it. */
void terminal_behind(int pipe, int terminal);

/* The columns of a line that are left beside `used` ones: at least 8, also on terminals that are too narrow. */
unsigned terminal_room(const struct terminal *terminal, unsigned used);

/* Writes text into out[TERMINAL_TEXT_MAX] so that it takes at most `width` columns; returns its width.  A longer
 * text loses, in this order: the raw name in brackets, parameters, template arguments from the inside, the list of
 * parameters and the type of the result, outer namespaces, the middle. */
unsigned terminal_fit(const struct terminal *terminal, const char *text, unsigned width, char *out);

/* The same for a text that is cut at its end. */
unsigned terminal_cut(const struct terminal *terminal, const char *text, unsigned width, char *out);

/* A space at which terminal_wrap() breaks no line. */
#define TERMINAL_GLUE '\x1f'

/* Prints a text of any length, broken at spaces: `first` stands before its first line, `others` before the others. */
void terminal_wrap(const struct terminal *terminal, FILE *stream, const char *first, const char *others,
                   const char *text);

/* The same for a text that is formatted as by printf(). */
void terminal_wrapf(const struct terminal *terminal, FILE *stream, const char *first, const char *others,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
void terminal_vwrapf(const struct terminal *terminal, FILE *stream, const char *first, const char *others,
                     const char *format, va_list arguments) __attribute__((format(printf, 5, 0)));

/* The same for a text of several lines, each of which is broken at spaces if it is too long. */
void terminal_lines(const struct terminal *terminal, FILE *stream, const char *text);

/* Writes a word of a command so that a shell reads it unchanged, but '?' for what must not be shown.  What would reach
 * column `width` continues at the beginning of the next line.  Returns the column after the word, which begins in
 * `column`. */
unsigned terminal_word(FILE *stream, const char *word, unsigned width, unsigned column);

/* How many columns a word takes that is not continued. */
unsigned terminal_word_columns(const char *word);

/* The same into out[size], on one line.  Returns false, and writes "DIR", if the word is too long. */
bool terminal_quote(const char *word, char *out, size_t size);

/* The number of decimals with which times up to that one take 8 columns. */
unsigned terminal_decimals(uint64_t largest_ns);

/* A time with its unit in 7 columns: "4.25 us". */
void terminal_short_time(uint64_t ns, char out[16]);

/* A count in 4 columns; in 6 columns, exact below a million. */
void terminal_short_count(uint64_t value, char out[16]);
void terminal_whole_count(uint64_t value, char out[16]);

/* Seconds and counts in 8 columns, large counts with a unit; percentages in 5, "-" if whole is 0. */
void terminal_seconds(uint64_t ns, unsigned decimals, char out[16]);
void terminal_count(uint64_t value, char out[16]);
void terminal_percent(uint64_t part, uint64_t whole, char out[16]);

/* Work in 8 columns: time, or a count. */
void terminal_amount(uint64_t amount, bool is_time, unsigned decimals, char out[16]);

/* The ending of a noun after that number. */
static inline const char *terminal_plural(uint64_t count)
{
  return count == 1 ? "" : "s";
}

/* Escape sequences; "" without colour. */
const char *terminal_bold(const struct terminal *terminal);
const char *terminal_dim(const struct terminal *terminal);
const char *terminal_plain(const struct terminal *terminal);

#endif
