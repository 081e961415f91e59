#define _GNU_SOURCE
#include "hpcrun-lite/mpi/mpi_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "common/format.h"

/* Where the functions of the library are found.  RTLD_NEXT: in the global scope. */
static void *_Atomic module;

enum { PATH_BYTES = 4096 };

/* A handle of the loaded object that contains an address, to be closed; NULL: none. */
static void *handle_of(const void *address)
{
  struct dl_find_object object;
  if (_dl_find_object((void *)address, &object) != 0)
    return NULL;
  return dlopen(object.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

static bool is_own(const void *address)
{
  struct dl_find_object own, other;
  return _dl_find_object((void *)(uintptr_t)is_own, &own) == 0 && _dl_find_object((void *)address, &other) == 0 &&
         own.dlfo_link_map == other.dlfo_link_map;
}

/* What an object or the objects on which it depends have of that name.  The executable's handle is the global scope,
 * which has this library. */
static void *function_in(void *handle, const char *name)
{
  void *found = handle ? dlsym(handle, name) : NULL;
  return found && !is_own(found) ? found : NULL;
}

struct nth_object {
  unsigned left; /* number of objects before it */
  char path[PATH_BYTES];
};

static int copy_path(struct dl_phdr_info *object, size_t size, void *context)
{
  struct nth_object *wanted = context;
  (void)size;
  if (wanted->left--)
    return 0;
  snprintf(wanted->path, sizeof wanted->path, "%s", object->dlpi_name);
  return 1;
}

static void *function_of_caller(const char *name, const void *caller)
{
  void *handle = handle_of(caller), *found = function_in(handle, name);
  if (handle)
    dlclose(handle);
  return found;
}

/* Searches all loaded objects: a call can come from one that does not depend on the library, by a pointer or a jump. */
static void *function_anywhere(const char *name)
{
  void *found = NULL;
  struct nth_object object;
  for (unsigned i = 0; !found; i++) {
    object.left = i;
    if (!dl_iterate_phdr(copy_path, &object))
      return NULL;
    void *handle = object.path[0] ? dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    found = function_in(handle, name);
    if (handle)
      dlclose(handle);
  }
  return found;
}

void *mpi_library_next(const char *name, const void *caller)
{
  void *next = dlsym(RTLD_NEXT, name);
  bool global = next && !is_own(next);
  void *found = global ? next : function_of_caller(name, caller);
  if (!found)
    found = mpi_library_find(name);
  if (!found)
    found = function_anywhere(name);
  if (!found)
    return NULL;
  void *handle = handle_of(found); /* stays open: the function's address is kept */
  if (global)
    module = RTLD_NEXT;
  else if (!module)
    module = handle;
  return found;
}

/* A variable of the library can have a copy in the executable, which takes its place. */
void *mpi_library_find(const char *name)
{
  bool function = !strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5);
  if (!module)
    return NULL;
  void *found = dlsym(module == RTLD_NEXT && !function ? RTLD_DEFAULT : module, name);
  __asm__ volatile("" : "+r"(found)); /* no jump to dlsym(): for RTLD_NEXT, its caller is this object */
  return found;
}

/* ---- what it is ---- */

enum library { OPEN_MPI, MPICH, UNKNOWN };
enum { MPICH_COMM_WORLD = 0x44000000, MPICH_ERR_OTHER = 15, OPEN_MPI_ERR_OTHER = 16 };
enum { VERSION_BYTES = 16384 }; /* more than any library writes */

/* Copies the first words of what the library says of itself, up to a comma or the end of the line: Open MPI's is
 * "Open MPI v4.1.4, package: ...", MPICH's "MPICH Version:\t4.0.2\n...". */
static void copy_version(const char *text, char *library, size_t size)
{
  static const char number[] = "Version:";
  size_t used = 0;
  if (!strncmp(text, number, sizeof number - 1)) /* MPICH before 3.3 */
    used = (size_t)snprintf(library, size, "MPICH ");
  for (const char *at = text; *at && !strchr(",\n", *at) && used < size - 1; at++) {
    if (!strncmp(at, number, sizeof number - 1))
      at += sizeof number - 1;
    bool space = *at == ' ' || *at == '\t';
    if (*at && (!space || (used && library[used - 1] != ' ')))
      library[used++] = space ? ' ' : *at;
  }
  while (used && library[used - 1] == ' ')
    used--;
  library[used] = '\0';
}

static enum library library_kind(void)
{
  if (mpi_library_find("ompi_mpi_comm_world"))
    return OPEN_MPI;
  return mpi_library_find("MPIR_Dup_fn") ? MPICH : UNKNOWN; /* a part of its ABI */
}

int mpi_library_error(void)
{
  return library_kind() == MPICH ? MPICH_ERR_OTHER : OPEN_MPI_ERR_OTHER;
}

/* What the library calls MPI_COMM_WORLD, as C passes it; 0: not known. */
static uint64_t world(void)
{
  void *open_mpi = mpi_library_find("ompi_mpi_comm_world");
  if (open_mpi)
    return (uint64_t)open_mpi;
  return library_kind() == MPICH ? MPICH_COMM_WORLD : 0;
}

static int ask(const char *function, uint64_t communicator)
{
  int (*asked)(uint64_t, int *) = mpi_library_find(function);
  int answer = -1;
  return asked && communicator && !asked(communicator, &answer) ? answer : -1;
}

void mpi_library_describe(struct mpi_facts *facts, uint32_t state)
{
  int (*version)(char *, int *) = mpi_library_find("PMPI_Get_library_version");
  int (*threads)(int *) = mpi_library_find("PMPI_Query_thread");
  static char text[VERSION_BYTES];
  int length = 0, level = -1;
  *facts = (struct mpi_facts){.state = state};
  if (version && !version(text, &length))
    copy_version(text, facts->library, sizeof facts->library);
  if (!facts->library[0])
    strcpy(facts->library, "MPI");
  if (state & FORMAT_MPI_SESSIONS) /* there need be no MPI_COMM_WORLD */
    return;
  facts->rank = ask("PMPI_Comm_rank", world());
  int size = ask("PMPI_Comm_size", world());
  facts->size = facts->rank >= 0 && size > 0 ? (uint32_t)size : 0;
  if (threads && !threads(&level)) /* in both libraries, single is 0 */
    facts->threads = (uint32_t)level + 1;
}

const struct mpi_decoder *mpi_library_decoder(void)
{
  static const char *const names[] = {
      [OPEN_MPI] = "libhpcrun-lite-decode-openmpi.so", [MPICH] = "libhpcrun-lite-decode-mpich.so"};
  enum library kind = library_kind();
  struct dl_find_object own;
  char path[PATH_BYTES];
  if (kind == UNKNOWN || _dl_find_object((void *)(uintptr_t)mpi_library_decoder, &own) != 0)
    return NULL;
  const char *library = own.dlfo_link_map->l_name, *base = strrchr(library, '/');
  int length = base ? (int)(base + 1 - library) : 0;
  if ((size_t)snprintf(path, sizeof path, "%.*s%s", length, library, names[kind]) >= sizeof path)
    return NULL;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const struct mpi_decoder *decoder = handle ? dlsym(handle, MPI_DECODER_NAME) : NULL;
  bool logs = hpcrun_lite_mpi_logs && hpcrun_lite_mpi_logs();
  bool known = decoder && decoder->version == MPI_DECODER_VERSION &&
               decoder->start(mpi_library_find, logs ? hpcrun_lite_mpi_log : NULL);
  return known ? decoder : NULL;
}
