#include "common/mpi_functions.h"

#include <assert.h>
#include <stddef.h>

static const struct {
  const char *name;
  enum mpi_kind kind;
} functions[MPI_FUNCTIONS] = {
#define MPI_FUNCTION(name, kind, arguments) [MPI_FUNCTION_##name] = {"MPI_" #name, MPI_KIND_##kind},
#include "common/mpi_functions.def"
#undef MPI_FUNCTION
};

const char *mpi_function_name(enum mpi_function function)
{
  assert(function > MPI_FUNCTION_NONE && function < MPI_FUNCTIONS);
  return functions[function].name;
}

enum mpi_kind mpi_function_kind(enum mpi_function function)
{
  assert(function > MPI_FUNCTION_NONE && function < MPI_FUNCTIONS);
  return functions[function].kind;
}
