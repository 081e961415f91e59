/* Finds the functions and lines that a filter names in the executable of this process.
 *
 * The launcher has looked for them in COMMAND.  For another executable, which a script or mpirun has started, this
 * runs the launcher as a helper, "hpcrun-lite --find-code EXECUTABLE FILE", before the program begins.  The file stays
 * in the directory of the measurement, so that other processes with that executable only read it.
 *
 * Context: CTL, once, before anything is measured and before main().  The program sees neither the helper nor its end:
 * a process between them, which shares this one's memory and ends without a signal, waits for it.  On failure one line
 * is printed, and nothing is found.
 */
#ifndef HPCRUN_LITE_PROCESS_FIND_CODE_H
#define HPCRUN_LITE_PROCESS_FIND_CODE_H

/* Returns the filter with what was found, in memory that stays; text itself if there is nothing to find. */
const char *find_code(const char *text);

#endif
