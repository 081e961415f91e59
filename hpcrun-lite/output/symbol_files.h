/* Copies of the files of modules in the measurement, for --keep-symbols: the names of functions are known also where a
 * file is replaced or deleted, or the report is made on another machine.
 *
 * Context: CTL, before the program has threads or under the CTL lock.  A file that another process has copied is there
 * already.  A file of more than 256 MiB, or that would make more than 1 GiB of copies of this process, is left out;
 * this and every failure are reported. */
#ifndef HPCRUN_LITE_OUTPUT_SYMBOL_FILES_H
#define HPCRUN_LITE_OUTPUT_SYMBOL_FILES_H

#include <stdbool.h>

/* Copies the files of all modules that have been recorded until now.  last: failures are reported. */
void symbol_files_keep(bool last);

#endif
