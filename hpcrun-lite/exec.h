/* exec: the measurement is written before it, and goes on if it fails.
 *
 * Context: CTL.  exec_begin() takes the CTL lock, exec_failed() releases it; an exec that succeeds ends the process
 * image with the lock held.  The state, which process is in an exec, is written under the lock.
 */
#ifndef HPCRUN_LITE_EXEC_H
#define HPCRUN_LITE_EXEC_H

#include <stdbool.h>

/* Writes the measurement.  Returns with the thread's own signal mask, which the new program inherits. */
void exec_begin(void);

/* Takes the written measurement back and goes on measuring.  errno stays as it is. */
void exec_failed(void);

/* Is the process between exec_begin() and exec_failed()?  A handler of the program may run then. */
bool exec_under_way(void);

#endif
