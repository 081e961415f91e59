/* Makes a system call fail in the calling process and its children: perf_event_open(), as containers do. */
#ifndef TESTS_SUPPORT_DENY_PERF_EVENT_H
#define TESTS_SUPPORT_DENY_PERF_EVENT_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The system call fails with that error from now on.  Returns 0, or -1 with errno. */
static inline int deny_call(unsigned number, unsigned error)
{
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -1 : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static inline int deny_perf_event(void)
{
  return deny_call(SYS_perf_event_open, EACCES);
}

#endif
