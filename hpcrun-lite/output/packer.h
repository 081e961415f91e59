/* The graph's log at the end of the process: from the live form, as the threads have left it, to the packed one.
 *
 * Context: CTL, under the control lock, once graph_log_stop() has been called or no thread is left that logs.  Memory:
 * one window and what it is packed to.  If anything fails, the live file stays as it is: it can be read, too.
 */
#ifndef HPCRUN_LITE_OUTPUT_PACKER_H
#define HPCRUN_LITE_OUTPUT_PACKER_H

/* Replaces the file by its packed form; removes one that holds no record. */
void packer_run(void);

/* The process leaves no measurements: its log is removed.  What it does from now on is in none. */
void packer_discard(void);

#endif
