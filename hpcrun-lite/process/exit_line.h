/* The line at exit: what was measured, and what was lost.
 *
 * Context: CTL.  The state, the CPU time of earlier children, is written by exit_line_start() before the program has
 * threads; exit_line_print() runs under the CTL lock.
 */
#ifndef HPCRUN_LITE_PROCESS_EXIT_LINE_H
#define HPCRUN_LITE_PROCESS_EXIT_LINE_H

/* Remembers the CPU time of children that the launcher had in this process. */
void exit_line_start(void);

/* Prints the line, once for all ranks of an MPI job; with --verbose once for each process. */
void exit_line_print(void);

#endif
