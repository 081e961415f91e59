/* Another library that is preloaded: it handles fatal signals, on an alternate stack. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void on_fault(int number)
{
  static const char text[] = "fault seen\n";
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
  signal(number, SIG_DFL);
  raise(number);
}

static __attribute__((constructor)) void start(void)
{
  stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
  struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGABRT, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}
