/* Every system call of RT.  Context: RT.  Async-signal-safe; errno is left as it was (calls go past libc). */
#ifndef HPCRUN_LITE_RT_CORE_SYS_H
#define HPCRUN_LITE_RT_CORE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* The program's threads may close any descriptor, and use its number anew, at any moment.  Ours are at numbers that
 * programs do not use, and each is looked at just before it is used: what the program has put there is left alone. */
enum { SYS_HIGH_FD = 900, SYS_TRIES = 10 }; /* what has failed for that is tried so often */

/* A file that is read and written, or an event. */
struct sys_own {
  int fd;
  bool event;
  uint64_t device, inode; /* of an event: its id */
};

void *sys_map(size_t size_bytes); /* zeroed memory, NULL on failure */
void sys_unmap(void *memory, size_t size_bytes);
void sys_wipe_on_fork(void *memory, size_t size_bytes); /* whole pages: zero in every child with memory of its own */
int sys_tid(void);
int sys_pid(void);     /* asks the kernel: differs from rt.pid in a vfork child  */
int sys_own_pid(void); /* the same, for a new process: sys_peek() relies on it */
uint64_t sys_monotonic_ns(void);
uint64_t sys_thread_cpu_ns(void);
uint64_t sys_cpu_ns_of(int tid); /* of another thread of this process */
uint64_t sys_process_cpu_ns(void);

/* Reads size bytes at an address that may be anything.  Returns false where it cannot be read. */
bool sys_peek(uint64_t address, void *out, size_t size_bytes);

/* 0 or errno; the number is a high one. */
int sys_perf_event_open(struct sys_own *own, struct perf_event_attr *attr, int tid);
bool sys_perf_deliver(const struct sys_own *own, int tid, int signal_number); /* overflows signal that thread */
void *sys_perf_page(const struct sys_own *own, size_t size_bytes);            /* NULL on failure */
bool sys_perf_read(const struct sys_own *own, uint64_t *count);

/* A file, made anew (create), or the one that is there.  0 or errno. */
int sys_open_own(struct sys_own *own, const char *path, bool create);
int sys_move_own(struct sys_own *own, int lowest); /* to a number from lowest on, if any; EBADF: it is closed */
bool sys_is_own(const struct sys_own *own);        /* still */
int sys_close_own(const struct sys_own *own);      /* 0 or errno */

/* Takes space for a part of a file, so that writing to a mapping of it cannot fail for want of space. */
bool sys_reserve(const struct sys_own *own, uint64_t offset, size_t size_bytes);
/* Shared; at: in place of what is mapped there, NULL = anywhere.  NULL on failure. */
void *sys_map_file(void *at, const struct sys_own *own, uint64_t offset, size_t size_bytes);
void sys_unlink(const char *path);
bool sys_read_at(const struct sys_own *own, uint64_t offset, void *bytes, size_t size_bytes); /* all of it */
/* Returns how much was written; error: why not all. */
size_t sys_write_at(const struct sys_own *own, uint64_t offset, const void *bytes, size_t size_bytes, int *error);

int sys_timer_start(int clock, int tid, int signal_number, void *cookie, uint64_t first_ns,
                    uint64_t period_ns);                              /* id or -1 */
void sys_timer_set(int timer, uint64_t first_ns, uint64_t period_ns); /* both 0: it rests */
void sys_timer_stop(int timer);
/* Sends a signal that was received once more: to the thread, or the process if tid is 0. */
void sys_signal_again(int pid, int tid, int signal_number, const void *info);
void sys_signal_thread(int pid, int tid, int signal_number, void *cookie);
size_t sys_working_directory(char *path, size_t size_bytes); /* length without the NUL, 0 on failure */
void sys_yield(void);

/* Every thread of the process passes a memory barrier: what it does after one store can be relied on without a fence of
 * its own.  Prepared once for a process. */
void sys_barrier_prepare(void);
void sys_barrier_all(void);
void sys_sleep_ns(long time_ns);
void sys_exit_group(int status) __attribute__((noreturn));

#endif
