/* What limits the CPUs of the process from outside: control groups, and variables that bind threads.
 *
 * Context: CTL.  Called at the start of a process image, and in a forked child; keeps the groups static.
 */
#ifndef HPCRUN_LITE_PROCESS_CORE_SETTINGS_H
#define HPCRUN_LITE_PROCESS_CORE_SETTINGS_H

/* Sets process.cores, limits and quota_milli, and has rt/sampling/core_limits.h watch the groups. */
void core_settings_find(void);

#endif
