/* Facts about the process that is measured.
 *
 * Context: CTL.  Written before the program has threads, under the CTL lock (lock.h), and in a forked child, which
 * has one thread.  All memory is static, except the threads' states, which belong to thread_state.c.
 */
#ifndef HPCRUN_LITE_PROCESS_PROCESS_H
#define HPCRUN_LITE_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "hpcrun-lite/process/losses.h"
#include "hpcrun-lite/rt/core/rt.h"

/* What is known of the MPI library: see struct format_process. */
struct process_mpi {
  char library[128];
  int32_t rank;
  uint32_t size, threads, state;
  bool decoded;
  uint64_t init_ns, finalize_ns;
};

/* What LLVM's library for devices tells of target constructs.  APART: it could, but has not found the OpenMP runtime.
 */
enum process_devices { PROCESS_DEVICES_UNUSED, PROCESS_DEVICES_UNANNOUNCED, PROCESS_DEVICES_APART };

struct process {
  bool active;   /* measuring was started in this process image and has not been ended by lifecycle_end_early() */
  bool finished; /* the measurement is complete: nothing more is recorded */
  bool forked;
  bool restricted; /* it restricts its system calls (seccomp), or its parent did before fork() */
  uint32_t cpus;   /* CPUs on which it could run when it was executed; 0: not asked for yet */
  uint64_t launch_mask[FORMAT_MASK_WORDS]; /* these */
  uint32_t cores;                          /* of these CPUs; 0: not known */
  uint32_t quota_milli;                    /* 1000 times the CPUs that its control groups allow; 0: no limit */
  char limits[2048];                       /* lines NAME=VALUE: see process/core_settings.h */
  uint64_t start_ns;                       /* CLOCK_MONOTONIC */
  uint64_t start_realtime_ns;
  uint64_t start_ticks, start_cpu_ns;
  struct thread_state *threads; /* the live ones */
  uint32_t thread_count;        /* threads ever registered */
  char runtime[128];            /* the OpenMP runtimes that are measured, separated by ", "; "" if none is */
  struct process_mpi mpi;
  _Atomic enum process_devices devices; /* any thread writes it, at the first target construct that is not announced */
  bool other_tool;                      /* the program has an OMPT tool of its own, which the runtime starts instead */
  char executable[4096];
  char command[1024];
  const char *unwind_fault; /* why stacks cannot be unwound, or NULL */
  struct losses_write write;
  uint64_t finished_samples, finished_lost[FORMAT_LOST_MAX], finished_regions; /* of threads that have ended */
};

extern struct process process;

/* Finds the program's file, also if the command was the dynamic loader with the program as its argument.  False, with
 * an empty path: there is no /proc. */
bool process_find_executable(char *path, size_t size);

/* Notes on which CPUs the process may run, at the first call: before a thread of it is bound to some of them. */
void process_note_mask(void);

/* Reads the command line, and notes the CPUs. */
void process_examine(void);

/* Begins a process image, new or forked: sets its id, start and epoch, and clears all sums. */
void process_reset(void);

/* Another OpenMP runtime is attached: adds the name by which users know it, or what it calls itself. */
void process_add_runtime(const char *name);

/* Sums over the threads that live and those that have ended. */
uint64_t process_samples(void);

/* Maps all pages of the library, so that none is mapped while page faults of the program are counted. */
void process_touch_library(void);

/* The most memory that the process had in use at once since it was executed, with the tool's own; 0: not known. */
uint64_t process_peak_memory_bytes(void);

/* The time between two ticks of the kernel's clock; 0: not known. */
uint64_t process_tick_ns(void);
uint64_t process_lost(enum format_loss loss);

/* What is not known of target constructs on devices, and why; NULL: nothing. */
const char *process_devices_missing(void);

/* The reason why the report will have no information from OpenMP, or NULL if it will have. */
const char *process_openmp_missing(void);
extern const char process_no_openmp[]; /* what it returns if no OpenMP runtime was seen */

#endif
