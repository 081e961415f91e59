/* Programs that do one of several things, which their first argument names. */
#ifndef TESTS_SUPPORT_MODES_H
#define TESTS_SUPPORT_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct mode {
  const char *name;
  void (*run)(void);
};

/* Runs the mode with that name; returns whether it exists. */
static inline bool run_mode(const struct mode *modes, size_t count, const char *name)
{
  for (size_t i = 0; i < count; i++)
    if (!strcmp(modes[i].name, name)) {
      modes[i].run();
      return true;
    }
  return false;
}

#define RUN_MODE(modes, argc, argv) ((argc) == 2 && run_mode(modes, sizeof modes / sizeof *modes, (argv)[1]))

#endif
