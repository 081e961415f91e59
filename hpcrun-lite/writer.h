/* Finished tables → measurement file.  Context: CTL, under the control lock.
 *
 * One file per process, DIR/HOST-PID-START.hpcrun, made when there is something to write and appended to.  No
 * descriptor stays open.  What cannot be written is counted, said once, and never ends the program.
 */
#ifndef HPCRUN_LITE_WRITER_H
#define HPCRUN_LITE_WRITER_H

#include "hpcrun-lite/control.h"

void writer_start(void);
void writer_thread(struct thread_state *t); /* its record and tables, as they are now                  */
void writer_process(void);                  /* the process's tables; then everything goes to the file  */
void writer_mark(void);                     /* remembers the file's state …                            */
void writer_rewind(void);                   /* … and returns to it                                     */

/* For format_pack(); NULL without memory. */
struct ZSTD_CCtx_s *writer_compressor(void);

#endif
