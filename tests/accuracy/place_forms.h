/* Constructs in a header, see place_forms.py: every line that ends in "@ KIND" has a construct of that kind. */
#ifndef TESTS_ACCURACY_PLACE_FORMS_H
#define TESTS_ACCURACY_PLACE_FORMS_H

#include "burn.h"

static int place_sink;

static inline void spend(int amount)
{
  burn(0.002);
#pragma omp atomic
  place_sink += amount;
}

static inline void header_region(int amount)
{
#pragma omp parallel // @ parallel
  {
    spend(amount);
#pragma omp critical(in_header) // @ critical
    spend(amount);
  }
}

/* of the library */
void orphans(int count);
void library_region(int count);
void library_tail(void);

#endif
