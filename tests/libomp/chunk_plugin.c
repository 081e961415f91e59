/* A loop in a library that is loaded late: PROGRAM HOW PLUGIN...
 * HOW: "deepbind" or "local"; "two" if each plugin must have a libomp of its own; "sums" if the plugins also take
 * turns; "filter" if there is a filter of system calls as well. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "hpcrun-lite.h"

#ifdef PLUGIN
void run(void)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
  for (int i = 0; i < 10; i++)
    hpcrun_lite_add_work(4);
}

int sums(void)
{
  int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 1000; i++)
      sum += i;
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; i++)
      sum += i;
  }
  return sum;
}

#ifdef AT_LOAD
/* The loader holds its lock meanwhile, for which the team must not wait. */
static __attribute__((constructor)) void at_load(void)
{
  for (int i = 0; i < 50; i++)
    sums();
}
#endif
#else
static int count_libomp(struct dl_phdr_info *info, size_t size, void *count)
{
  (void)size;
  *(int *)count += strstr(info->dlpi_name, "/libom") != NULL;
  return 0;
}

/* Lets every system call through. */
static int filter(void)
{
  struct sock_filter allow = {.code = BPF_RET, .k = SECCOMP_RET_ALLOW};
  struct sock_fprog program = {1, &allow};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int take_turns(char *const *plugins)
{
  for (int i = 0; i < 20; i++)
    for (int k = 0; plugins[k]; k++) {
      int (*sums)(void);
      *(void **)&sums = dlsym(dlopen(plugins[k], RTLD_NOW | RTLD_NOLOAD), "sums");
      if (sums() != 999000)
        return 4;
    }
  return 0;
}

int main(int argc, char **argv)
{
  int count = 0, filtered = strcmp(argv[1], "filter") == 0, turns = filtered || strcmp(argv[1], "sums") == 0;
  if (filtered && filter())
    return 2;
  for (int i = 2; i < argc; i++) {
    void *plugin = dlopen(argv[i], RTLD_NOW | (strcmp(argv[1], "deepbind") ? RTLD_LOCAL : RTLD_DEEPBIND));
    void (*run)(void);
    *(void **)&run = plugin ? dlsym(plugin, "run") : NULL;
    if (!run)
      return 1;
    run();
  }
  dl_iterate_phdr(count_libomp, &count);
  if ((turns || strcmp(argv[1], "two") == 0) && count != argc - 2)
    return 3;
  if (turns && take_turns(argv + 2))
    return 4;
  puts("done");
  return 0;
}
#endif
