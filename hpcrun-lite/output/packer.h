/* The graph log at the end of the process: from the live form, as the threads have left it, to the packed one.
 *
 * Context: CTL, under the control lock, after graph_log_stop().  Memory: one window and its packed form, both mapped
 * for the call.  On failure the live file stays as it is: it can be read, too.
 */
#ifndef HPCRUN_LITE_OUTPUT_PACKER_H
#define HPCRUN_LITE_OUTPUT_PACKER_H

/* Replaces the file by its packed form, or removes it if it holds no record.  A failure is reported. */
void packer_run(void);

/* Stops the log and removes its file: the process leaves no measurement. */
void packer_discard(void);

#endif
