/* From the functions and source lines that a filter names to addresses in COMMAND and its libraries.
 *
 * Context: BATCH (the launcher).  Reads symbol tables and debug data by common/symbols, also of inlined
 * functions.
 */
#ifndef HPCRUN_LITE_LAUNCH_PROGRAM_CODE_FILTER_H
#define HPCRUN_LITE_LAUNCH_PROGRAM_CODE_FILTER_H

#include "hpcrun-lite/launch/program/program.h"

/* What a filter comes to in a program. */
struct code_filter {
  char *settings; /* the lines that the user has given */
  char *code;     /* lines with addresses */
  size_t code_size;
};

/* Checks a filter (common/filter_text.h), and finds what it names; writes nothing.  Returns LAUNCH_OK, with a warning
 * in message or "", or LAUNCH_FAILED with the reason. */
enum launch_status code_filter_find(const struct program *program, const char *filter, struct code_filter *found,
                                    char *message, size_t message_size);

/* Makes the text for the process: with the addresses, or with the name of a file in the directory if they are many
 * (directory NULL: always with the addresses).  Returns NULL with a message on failure; the caller frees the text. */
char *code_filter_text(const struct code_filter *found, const char *directory, char *message, size_t message_size);

void code_filter_release(struct code_filter *found);

/* Writes what the filter names in the program to a file, for processes of which this is the executable.  Returns false
 * with a message on failure. */
bool code_filter_write(const struct program *program, const char *filter, const char *path, char *message,
                       size_t message_size);

#endif
