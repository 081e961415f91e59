/* Runs a program that may not use perf_event: deny_perf_event COMMAND [ARGUMENT]... */
#include "deny_perf_event.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
  if (argc < 2 || deny_perf_event()) {
    perror("deny_perf_event");
    return 3;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 3;
}
