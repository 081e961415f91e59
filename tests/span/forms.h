/* Programs whose work and span follow from their source: PROGRAM FORM THREADS runs one form, PROGRAM lists them.
 * u(n) reports n units of work. */
#ifndef TESTS_SPAN_FORMS_H
#define TESTS_SPAN_FORMS_H

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hpcrun-lite.h"

#define u(n) hpcrun_lite_add_work(n)
#define FORM(name, how) {#name, name, how}

static volatile int one = 1, none; /* values that the compiler does not know */

struct form {
  const char *name;
  void (*run)(void);
  enum { PLAIN, SINGLE } how; /* SINGLE: by one thread inside a region */
};

extern const struct form forms[];

int main(int argc, char **argv)
{
  if (argc < 3) {
    for (const struct form *form = forms; form->name; form++)
      puts(form->name);
    return 2;
  }
  omp_set_num_threads(atoi(argv[2]));
  omp_set_max_active_levels(5);
  for (const struct form *form = forms; form->name; form++) {
    if (strcmp(form->name, argv[1]))
      continue;
    if (form->how == SINGLE) {
#pragma omp parallel
#pragma omp single
      form->run();
    } else {
      form->run();
    }
    puts("done");
    return one - 1;
  }
  return 2;
}

#endif
