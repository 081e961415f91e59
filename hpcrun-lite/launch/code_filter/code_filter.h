/* From the functions and source lines that a filter names to addresses in COMMAND and its libraries.
 *
 * Context: BATCH (the launcher).  Reads symbol tables and debug data by hpcprof-lite/symbols, also of inlined
 * functions.  The caller frees the text.
 */
#ifndef HPCRUN_LITE_LAUNCH_CODE_FILTER_CODE_FILTER_H
#define HPCRUN_LITE_LAUNCH_CODE_FILTER_CODE_FILTER_H

#include "hpcrun-lite/launch/program.h"

/* Checks a filter (common/filter_text.h) and makes its text for the process: with the addresses, or with the name of a
 * file in the directory if they are many (directory NULL: always with the addresses).  Returns LAUNCH_OK, with a
 * warning in message or "", or LAUNCH_FAILED with the reason. */
enum launch_status code_filter_resolve(const struct program *program, const char *filter, const char *directory,
                                       char **text, char *message, size_t message_size);

/* Writes what the filter names in the program to a file, for processes of which this is the executable.  Returns false
 * on failure. */
bool code_filter_write(const struct program *program, const char *filter, const char *path);

#endif
