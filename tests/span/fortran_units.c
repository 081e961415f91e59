/* Reports units of work for Fortran: u(n) reports n units. */
#include "hpcrun-lite.h"

void u(int n)
{
  hpcrun_lite_add_work((uint64_t)n);
}
