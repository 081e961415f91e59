/* Tells when another thread has begun to wait, so that a test need not hope that a moment was enough. */
#ifndef TESTS_SUPPORT_AWAIT_SLEEP_H
#define TESTS_SUPPORT_AWAIT_SLEEP_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* What a thread says of itself: it goes to wait, and does nothing else that sleeps. */
struct waiter {
  int thread; /* its id; 0: it does not go to wait */
};

static inline void goes_to_wait(struct waiter *waiter)
{
  __atomic_store_n(&waiter->thread, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
}

static inline void has_waited(struct waiter *waiter)
{
  __atomic_store_n(&waiter->thread, 0, __ATOMIC_RELEASE);
}

/* The fields of a thread's stat after its name, the state first; empty if it is gone. */
static inline void read_stat(int thread, char *text, size_t size)
{
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
  if (file >= 0)
    close(file);
  text[length > 0 ? length : 0] = '\0';
  const char *name_end = strrchr(text, ')');
  if (name_end && name_end[1])
    memmove(text, name_end + 2, strlen(name_end + 2) + 1);
}

static inline int sleeps(struct waiter *waiter)
{
  char text[1024];
  int thread = __atomic_load_n(&waiter->thread, __ATOMIC_ACQUIRE);
  if (!thread)
    return 0;
  read_stat(thread, text, sizeof text);
  return text[0] == 'S' && __atomic_load_n(&waiter->thread, __ATOMIC_ACQUIRE) == thread;
}

/* Returns as soon as the thread sleeps where it said that it goes to wait. */
static inline void await_sleep(struct waiter *waiter)
{
  const struct timespec moment = {0, 200000};
  while (!sleeps(waiter))
    nanosleep(&moment, NULL);
}

#endif
