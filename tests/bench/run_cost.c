/* Runs a command and prints its cost: wall ns, CPU ns, largest resident KiB, page faults, exit status.  It is a small
 * program, because the largest resident size of a process starts with that of its parent.  The output of the command is
 * discarded.  Arguments NAME=VALUE before the command are added to its environment: env would add its own cost. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long long ns_of(struct timeval time)
{
  return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

static void execute(char **argument)
{
  for (; strchr(*argument, '=') && argument[1]; argument++)
    putenv(*argument);
  dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  execvp(argument[0], argument);
  perror(argument[0]);
  _exit(127);
}

int main(int argc, char **argv)
{
  struct rusage used;
  int status = 0;
  if (argc < 2) {
    fprintf(stderr, "usage: run_cost [NAME=VALUE]... COMMAND [ARGUMENT]...\n");
    return 2;
  }
  long long began = now_ns();
  pid_t child = fork();
  if (child == 0)
    execute(argv + 1);
  if (child < 0 || wait4(child, &status, 0, &used) != child) {
    perror("cost");
    return 2;
  }
  printf("%lld %lld %ld %ld %d\n", now_ns() - began, ns_of(used.ru_utime) + ns_of(used.ru_stime), used.ru_maxrss,
         used.ru_minflt + used.ru_majflt, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
