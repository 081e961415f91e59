/* Finished tables → measurement file.  Context: CTL, under the control lock.
 *
 * While a process runs, what it measures stands in DIR/HOST-PID-START.live (rt/arena.h), and in .part beside it,
 * packed, once a thread has ended; at the end everything goes to .part, which then becomes .hpcrun, and .live is
 * removed.  So at every moment either .hpcrun is there and whole, or .live with .part says all.  No descriptor stays
 * open.  What cannot be written is counted, said once, and never ends the program.
 */
#ifndef HPCRUN_LITE_OUTPUT_WRITER_H
#define HPCRUN_LITE_OUTPUT_WRITER_H

#include <stdbool.h>

#include "hpcrun-lite/rt/core/rt.h"

void writer_start(void);                          /* names the files: tables may be made                             */
void writer_begin(void);                          /* what is known of the process at its start goes to the live file */
void writer_runtime(void);                        /* an OpenMP runtime has said what it is                           */
void writer_thread(struct thread_state *t);       /* its record and tables, as they are now                  */
bool writer_thread_ended(struct thread_state *t); /* the same, into the file; false: nothing of it is there yet    */
void writer_process(void);                        /* the process's tables; then everything is in .part               */
void writer_commit(void);                         /* .part is whole                                                  */
void writer_discard(void);                        /* the process leaves nothing                                      */
void writer_mark(void);   /* remembers the files' state …                                    */
void writer_rewind(void); /* … and returns to it, after writer_commit() or writer_discard()  */

/* For format_pack(); NULL without memory. */
struct ZSTD_CCtx_s *writer_compressor(void);

#endif
