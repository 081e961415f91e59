/* The text of a filter, HPCRUN_LITE_FILTER: one setting a line, "KEY VALUE".
 *
 *   threads 0-7,9               numbers of threads that are sampled
 *   ranks 0-3,8                 MPI ranks that are measured
 *   skip-first NS               measuring begins so many ns after the process
 *   only NS                     and ends so many ns after that
 *   regions NAME,NAME           samples and records only inside these user regions
 *   functions PATTERN,!PATTERN  paths that enter such functions; '!': all but these
 *   modules PATTERN,!PATTERN    the same for programs and libraries, by base name
 *   constructs KIND,FILE:LINE,!KIND
 *   code MODULE START END include|exclude function|construct
 *                               what the launcher found: addresses of functions and of lines, relative to the load bias
 *   code-file PATH              a file with further lines of code
 *   code-of PATH                the executable in which it has looked for code
 *   code-missing NAME           a function or line that it did not find there
 *
 * Context: CTL (the library's start) and the launcher.  Uses no heap and keeps no state; values are parts of the text.
 */
#ifndef COMMON_FILTER_TEXT_H
#define COMMON_FILTER_TEXT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/filter_list.h"

/* Files in the directory of the measurement: all end in the suffix.  The one with further lines of code is named by the
 * directory and a hash. */
#define FILTER_SUFFIX ".filter"
#define FILTER_CODE_FILE "%s/code-%016" PRIx64 FILTER_SUFFIX

enum filter_key {
  FILTER_KEY_THREADS,
  FILTER_KEY_RANKS,
  FILTER_KEY_SKIP_FIRST,
  FILTER_KEY_ONLY,
  FILTER_KEY_REGIONS,
  FILTER_KEY_FUNCTIONS,
  FILTER_KEY_MODULES,
  FILTER_KEY_CONSTRUCTS,
  FILTER_KEY_CODE,
  FILTER_KEY_CODE_FILE,
  FILTER_KEY_CODE_OF,
  FILTER_KEY_CODE_MISSING,
  FILTER_KEYS /* another word */
};

/* Whether the user sets lines with this key; the launcher adds the others. */
static inline bool filter_key_is_users(enum filter_key key)
{
  return key < FILTER_KEY_CODE;
}

struct filter_line {
  enum filter_key key;
  struct filter_part whole, value;
};

/* A line "code ...". */
struct filter_code_line {
  struct filter_part module;
  uint64_t start, end;
  bool excludes, construct;
};

/* Takes the next line that is not empty; false at the end. */
bool filter_text_next(const char **at, struct filter_line *line);

/* A hash of what the user has set, without what the launcher has found; 0: nothing. */
uint64_t filter_text_hash(const char *text);

/* A number of ns; false if it is none. */
bool filter_text_ns(struct filter_part value, uint64_t *ns);

/* False if the line is damaged. */
bool filter_text_code(struct filter_part value, struct filter_code_line *code);

/* The kind of a construct (enum format_directive_kind) by its name in reports; -1: none. */
int filter_text_kind(struct filter_part name);

/* Splits FILE:LINE; false if it is not of that form. */
bool filter_text_line(struct filter_part place, struct filter_part *file, uint32_t *line);

/* Whether the list of a setting can be used: of all but the times and code.  Otherwise the message has the reason and
 * the remedy. */
bool filter_text_check_list(enum filter_key key, struct filter_part list, char *message, size_t message_size);

/* Whether the whole text can be used.  Otherwise the message has the line, the reason and the remedy. */
bool filter_text_check(const char *text, char *message, size_t message_size);

#endif
