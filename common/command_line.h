/* The options of a program, each described once: for getopt, for --help, and for what completions offer.
 *
 * Context: BATCH (both programs).  Keeps no state but getopt's.
 */
#ifndef COMMON_COMMAND_LINE_H
#define COMMON_COMMAND_LINE_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

/* What a shell offers for the value of an option. */
enum command_value {
  COMMAND_FREE, /* nothing: it has no value, or any */
  COMMAND_WORDS,
  COMMAND_EVENTS,       /* what can be sampled */
  COMMAND_LIMITS,       /* a word, then '=' and a number */
  COMMAND_WORD_OR_FILE, /* a word, or the name of a file */
  COMMAND_FILE,
  COMMAND_DIRECTORY,
  COMMAND_RUN,     /* a measurement directory */
  COMMAND_RUNS,    /* several, separated by commas */
  COMMAND_COLUMN,  /* of the view */
  COMMAND_COLUMNS, /* several, separated by commas */
  COMMAND_CONDITION
};

struct command_option {
  char letter; /* 0: it has only a name */
  const char *name;
  const char *argument; /* as --help shows it; "[=WHAT]": may be left out; NULL: there is none */
  enum command_value value;
  const char *const *words; /* of value; end in NULL */
  const char *brief;        /* what a shell shows beside the option; begins with '*' if that is repeatable */
  const char *excludes;     /* which options a shell no longer offers after it, such as "--live --env"; NULL: all */
  const char *help;         /* one paragraph; a line that must end ends in '\n' */
};

enum { COMMAND_OPTIONS_MAX = 64 };

struct command_line {
  const struct command_option *options;
  size_t count;
  struct option long_options[COMMAND_OPTIONS_MAX + 1];
  char letters[3 * COMMAND_OPTIONS_MAX + 3];
};

/* `first` is what getopt's string of letters begins with. */
void command_line_init(struct command_line *line, const char *first, const struct command_option *options,
                       size_t count);

/* Takes the next option: its place in the table, -1 at the end, or getopt's '?' or ':', negated. */
int command_line_next(const struct command_line *line, int argc, char *const *argv);

/* Returns the name of the option that a word that begins with "--" probably meant, or NULL. */
const char *command_line_similar(const struct command_line *line, const char *word);

/* Prints an option of --help with its paragraph. */
void command_line_print(FILE *stream, const struct command_option *option, const char *help);

#endif
