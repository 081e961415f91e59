/* What this layer keeps of the process: what its answers to commands report, and what commands leave behind.
 *
 * Context: RT and CTL.  CTL writes the plain fields before the first sample.  The atomic fields are written by the
 * thread that carries out a command (command.h), serial_wanted by CTL as well. */
#ifndef HPCRUN_LITE_RT_CONTROL_CONTROL_PROCESS_H
#define HPCRUN_LITE_RT_CONTROL_CONTROL_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/events.h"

extern struct control_process {
  const char *program;                   /* the name of its section of a configuration file */
  int rank;                              /* MPI rank; -1 if there is none */
  bool no_arguments;                     /* the command line is stored without its arguments */
  _Atomic uint64_t rates_ns[EVENTS_MAX]; /* when the event's rate was changed last, since the start; 0: never */
  atomic_bool serial_wanted;             /* CTL is to be called when the process is single-threaded: serial_moment() */
} control_process __attribute__((visibility("hidden")));

#endif
