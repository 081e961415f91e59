#include "hpcrun-lite/launch/program/mpi_use.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static bool begins_with_any(const char *text, const char *const *beginnings, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
      return true;
  return false;
}

/* libmpi.so of Open MPI and Intel MPI, libmpich.so, and their Fortran and C++ parts; not libmpir.so. */
static bool is_library(const char *path)
{
  static const char *const beginnings[] = {"libmpi.",    "libmpi_",    "libmpi-",         "libmpich",
                                           "libmpicxx.", "libmpifort", "libmpitrampoline"};
  return begins_with_any(path_base(path), beginnings, LENGTH(beginnings));
}

/* The variables that starters of ranks set for each rank; the program's user sets others that begin in the same way. */
static bool is_rank(void)
{
  static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PMI_FD"};
  for (size_t i = 0; i < LENGTH(variables); i++)
    if (getenv(variables[i]))
      return true;
  return false;
}

static bool starts_ranks(const char *command)
{
  static const char *const beginnings[] = {"mpirun", "mpiexec", "orterun", "prterun", "srun"};
  return begins_with_any(path_base(command), beginnings, LENGTH(beginnings));
}

static void visit(void *context, const struct elf_symbol *symbol)
{
  static const char *const beginnings[] = {"MPI_", "PMPI_"};
  bool *refers = context;
  *refers |= symbol->undefined && begins_with_any(symbol->name, beginnings, LENGTH(beginnings));
}

/* Does a module refer to MPI?  Where no library has it, only weakly. */
static bool is_referred_to(const struct program *program)
{
  bool refers = false;
  for (size_t i = 0; i < program->module_count && !refers; i++)
    elf_symbols_visit(program->modules[i], "MPI_", visit, &refers);
  return refers;
}

bool mpi_use_expected(const struct program *program, char *const *command)
{
  for (size_t i = 0; i < program->module_count; i++)
    if (is_library(program->modules[i]))
      return true;
  return (is_rank() || (command[0] && starts_ranks(command[0]))) && !is_referred_to(program);
}
