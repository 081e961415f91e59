/* Phases of different kinds, with pauses between them: prints the time in the middle of each pause, in ns since 1970.
 * With the argument `fork` a child does the last phase, with `kill` the program ends in it by a signal, with
 * `kill-serial` some time after serial_part(), with `kill-locked` while a thread waits for a lock; with `sleep` it
 * sleeps beside the second phase in a system call that the tool does not see, with `start` it works and sleeps before
 * main. */
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

/* Takes so many ms of the thread's time. */
static void spin(int ms)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  long long end = now.tv_sec * 1000000000ll + now.tv_nsec + ms * 1000000ll;
  do {
    for (int i = 0; i < 1000; i++)
      sum += i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000000000ll + now.tv_nsec < end);
}

/* Not by way of libc's functions. */
static void sleep_unseen(int ms)
{
  const struct timespec nap = {0, ms * 1000000l};
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(&nap), "S"(NULL) : "rcx", "r11", "memory");
  if (result)
    puts("no sleep");
}

static void pause_between(void)
{
  struct timespec now;
  usleep(10000);
  clock_gettime(CLOCK_REALTIME, &now);
  printf("%lld\n", now.tv_sec * 1000000000ll + now.tv_nsec);
  fflush(stdout);
  usleep(10000);
}

__attribute__((noinline)) static void uneven_part(void)
{
#pragma omp parallel num_threads(2)
  spin(omp_get_thread_num() ? 20 : 60);
}

__attribute__((noinline)) static void serial_part(void)
{
  spin(60);
}

__attribute__((noinline)) static void locked_part(void)
{
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 10; i++)
#pragma omp critical
    spin(4);
}

__attribute__((noinline)) static void task_part(int signal)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp task
    {
      spin(signal ? 10 : 3); /* what follows the last sample is not known of a killed process */
      if (signal && i == 10)
        kill(getpid(), SIGKILL);
    }
  }
}

static void killed_locked(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num()) {
    omp_set_lock(&lock);
  } else {
    spin(60);
    kill(getpid(), SIGKILL);
  }
}

/* The work weighs less than the sleep, and that less than the pauses: see contexts_have_the_same_ids_in_all_parts. */
__attribute__((constructor)) static void start(int argc, char **argv)
{
  if (argc < 2 || strcmp(argv[1], "start") != 0)
    return;
  spin(4);
  usleep(30000);
}

int main(int argc, char **argv)
{
  const char *how = argc > 1 ? argv[1] : "";
  pid_t child = -1;
  uneven_part();
  if (!strcmp(how, "kill-locked"))
    killed_locked();
  pause_between();
  serial_part();
  if (!strcmp(how, "sleep"))
    sleep_unseen(60);
  if (!strcmp(how, "kill-serial")) {
    spin(400); /* the times of a killed process end some time before it */
    kill(getpid(), SIGKILL);
  }
  pause_between();
  locked_part();
  pause_between();
  if (!strcmp(how, "fork"))
    child = fork();
  if (child <= 0)
    task_part(!strcmp(how, "kill"));
  if (child > 0)
    waitpid(child, NULL, 0);
  if (child == 0)
    _exit(0);
  return 0;
}
