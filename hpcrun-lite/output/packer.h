/* The files of streams at the end of the process: from the live form, as the threads have left it, to the packed one.
 *
 * Context: CTL, under the CTL lock, when no thread writes to the file any more.  Memory: one window and its packed
 * form, both mapped for the call.  On failure the live file stays as it is: it can be read, too.
 */
#ifndef HPCRUN_LITE_OUTPUT_PACKER_H
#define HPCRUN_LITE_OUTPUT_PACKER_H

#include "hpcrun-lite/rt/core/stream.h"

/* Replaces the file by its packed form, or removes it if it holds no record.  A failure is reported. */
void packer_run(struct stream_file *file);

/* Removes the file: the process leaves no measurement. */
void packer_discard(struct stream_file *file);

#endif
