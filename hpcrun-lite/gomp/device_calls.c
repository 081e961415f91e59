/* Target constructs of clang's code on devices, where LLVM's library for devices (libomptarget) does not announce them:
 * before release 17, and later where it does not find libomp.  Context: CTL (gomp.h).
 *
 * From release 17 on, the library asks the loader for `libomp.so`, by that name alone, and for a function by which it
 * joins the tools of that runtime.  Without it, it announces nothing; then the wrappers tell when a construct begins
 * and ends, of what kind it is, and nowait, as for older releases: not which operations there are, and how many bytes
 * they move.  A library in the global scope that announces what a call does is called without a wrapper from then on.
 *
 * A construct that runs on the host is not announced, as in a library that announces constructs.  Calls that the
 * library makes itself are a part of another construct: nowait forms call the others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/graph_access.h"

enum {
  FIRST = GOMP_NUMBER___tgt_target_mapper,
  CALLS = GOMP_NUMBER___tgt_target_data_update_nowait_mapper + 1 - FIRST
};
enum { DEFAULT_DEVICE = -1 };

#define NAME(name, kind, parameters) #name,
static const char *const names[] = {TGT_CALLS(NAME)};

/* A library for devices.  Known ones are in a list to which elements are only ever added. */
struct device_library {
  const struct link_map *map;
  struct device_library *next_known;
  void *next[CALLS]; /* its functions; NULL: it lacks that one */
  int (*device_count)(void);
  int (*policy)(void); /* OMP_TARGET_OFFLOAD, by libomp; NULL: the library has no devices where they are disabled */
  bool has_ompt;
  atomic_bool joined; /* libomp's tools, as far as is known: then it announces constructs */
};
static struct device_library *_Atomic known;
static struct device_library *_Atomic global; /* to which all calls lead; NULL: none is in the global scope */

/* A library of which the loader knows that name, or path; NULL: there is none.  Nothing is loaded. */
static void *loaded(const char *name)
{
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

static void unload(void *handle)
{
  int (*close)(void *) = libc_real(LIBC_dlclose); /* nothing is unloaded: interpose/dlclose.c need not know */
  if (handle)
    close(handle);
}

/* Could the library join libomp's tools? */
static bool finds_libomp(void)
{
  void *libomp = loaded("libomp.so");
  bool found = libomp && dlsym(libomp, "ompt_libomp_connect");
  unload(libomp);
  return found;
}

/* Can the library announce constructs?  Release 19 exports the function by which its parts join each other's tools; from 21
 * on the parts are in one file, which is known by a function that releases before 17 lack. */
static bool has_ompt(void *handle)
{
  return dlsym(handle, "ompt_libomptarget_connect") || dlsym(handle, "omp_target_memset");
}

static struct device_library *add_library(const struct link_map *map)
{
  void *handle = loaded(map->l_name); /* stays open */
  struct device_library *made = handle ? calloc(1, sizeof *made) : NULL;
  if (!made)
    return NULL;
  made->map = map;
  for (unsigned i = 0; i < CALLS; i++)
    made->next[i] = dlsym(handle, names[i]);
  *(void **)&made->device_count = dlsym(handle, "omp_get_num_devices");
  *(void **)&made->policy = dlsym(handle, "__kmpc_get_target_offload");
  made->has_ompt = has_ompt(handle);
  made->joined = made->has_ompt && finds_libomp();
  made->next_known = atomic_load(&known);
  while (!atomic_compare_exchange_weak(&known, &made->next_known, made))
    ; /* two threads may add one library twice, which does no harm */
  return made;
}

/* The library with that function; NULL: there is none. */
static struct device_library *library_with(const void *function)
{
  struct dl_find_object object;
  if (!function || _dl_find_object((void *)function, &object) != 0)
    return NULL;
  for (struct device_library *i = atomic_load(&known); i; i = i->next_known)
    if (i->map == object.dlfo_link_map)
      return i;
  return add_library(object.dlfo_link_map);
}

/* Modules whose calls lead to a library that is not in the global scope.  A list to which elements are only ever added:
 * one that is loaded at the addresses of another one, of the same size, counts as that. */
static struct calling_module {
  const void *start, *end;
  struct device_library *library;
  struct calling_module *next;
} * _Atomic calling;

static void add_calling(const struct dl_find_object *module, struct device_library *library)
{
  struct calling_module *made = malloc(sizeof *made);
  if (!made)
    return;
  *made = (struct calling_module){module->dlfo_map_start, module->dlfo_map_end, library, atomic_load(&calling)};
  while (!atomic_compare_exchange_weak(&calling, &made->next, made))
    ;
}

/* Asks the loader. */
static __attribute__((noinline, cold)) struct device_library *search(unsigned entry, const struct link_map *caller)
{
  struct device_library *found = library_with(dlsym(RTLD_NEXT, names[entry - FIRST]));
  if (found)
    atomic_store(&global, found);
  if (found || !caller)
    return found;
  void *handle = loaded(caller->l_name);
  found = handle ? library_with(dlsym(handle, names[entry - FIRST])) : NULL;
  unload(handle);
  return found;
}

/* The library to which a call leads: in the global scope, or in what its module was loaded with, which stays so if one
 * comes into the global scope later. */
static struct device_library *library_of_call(unsigned entry, const void *caller)
{
  struct device_library *found = atomic_load_explicit(&global, memory_order_acquire);
  const struct calling_module *first = atomic_load_explicit(&calling, memory_order_acquire);
  struct dl_find_object object;
  if (__builtin_expect(found && !first, 1))
    return found;
  if (_dl_find_object((void *)caller, &object) != 0)
    object = (struct dl_find_object){0};
  for (const struct calling_module *i = first; i; i = i->next)
    if (i->start == object.dlfo_map_start && i->end == object.dlfo_map_end)
      return i->library;
  if (found)
    return found;
  found = search(entry, object.dlfo_link_map);
  if (found && found != atomic_load(&global))
    add_calling(&object, found);
  return found;
}

void *gomp_bind_device_call(unsigned entry, void (*wrapper)(void), const void *caller, bool *lasting)
{
  const struct device_library *library = library_of_call(entry, caller);
  *lasting = library && library == atomic_load(&global) && !atomic_load(&calling);
  if (!library || !library->next[entry - FIRST])
    return NULL;
  const struct gomp_runtime *libomp = span_process.online ? gomp_libomp(caller) : NULL;
  if (libomp && libomp->libomp)
    libomp->default_device(); /* starts libomp, which the library would do next */
  return libomp && rt.get_task_info ? (void *)wrapper : library->next[entry - FIRST];
}

/* ---- the calls ---- */

struct device_call {
  struct device_library *library;
  unsigned entry;
  int kind, device;
  const void *code;
  enum { CALL_PLAIN, CALL_ANNOUNCED, CALL_WATCHED } how; /* watched: does the library announce it? */
};

static void *real_function(const struct device_call *call)
{
  return call->library->next[call->entry - FIRST];
}

/* The number of a device, the default one resolved; OMPT_DEVICE_HOST: the construct runs on the host. */
static int number_of(const struct device_library *library, int64_t device, const void *caller)
{
  enum { DISABLED = 0 };
  int count = library->device_count ? library->device_count() : 0;
  if (library->policy && library->policy() == DISABLED)
    return OMPT_DEVICE_HOST;
  const struct gomp_runtime *libomp = device == DEFAULT_DEVICE ? gomp_libomp(caller) : NULL;
  if (libomp)
    device = libomp->libomp ? libomp->default_device() : OMPT_DEVICE_HOST;
  return device < 0 || device >= count ? OMPT_DEVICE_HOST : (int)device;
}

static bool is_own_call(const struct device_library *library, const void *caller)
{
  struct dl_find_object object;
  return _dl_find_object((void *)caller, &object) == 0 && object.dlfo_link_map == library->map;
}

static void note_unannounced(const struct device_library *library)
{
  enum process_devices devices = library->has_ompt ? PROCESS_DEVICES_APART : PROCESS_DEVICES_UNANNOUNCED;
  if (atomic_load_explicit(&process.devices, memory_order_relaxed) != devices)
    atomic_store(&process.devices, devices);
}

static struct device_call call_begin(unsigned entry, int kind, int64_t device, const void *caller)
{
  struct device_library *library = library_of_call(entry, caller);
  struct device_call call = {library, entry, kind, number_of(library, device, caller), caller, CALL_PLAIN};
  if (call.device == OMPT_DEVICE_HOST || is_own_call(library, caller))
    return call;
  if (library->joined) {
    call.how = CALL_WATCHED;
    return call;
  }
  call.how = CALL_ANNOUNCED;
  note_unannounced(library);
  ompt_target_unannounced(call.device);
  ompt_on_target(kind, ompt_scope_begin, call.device, graph_current_data(NULL), 0, caller);
  return call;
}

/* A call that may be announced has ended: if it was, and all others lead to that library, they do so directly.  A
 * region that ran on the device was not: later ones are, here. */
static void watched(const struct device_call *call, bool is_target, bool failed)
{
  if (measured_process.targets_announced) {
    if (call->library == atomic_load(&global) && !atomic_load(&calling))
      gomp_rebind(call->entry, real_function(call));
  } else if (is_target && !failed) {
    call->library->joined = false;
    rt_lost(rt_thread(), FORMAT_LOST_GRAPH);
  }
}

static void call_end(const struct device_call *call, bool is_target, bool failed)
{
  if (call->how == CALL_ANNOUNCED)
    ompt_on_target(call->kind, ompt_scope_end, call->device, graph_current_data(NULL), 0, call->code);
  else if (call->how == CALL_WATCHED)
    watched(call, is_target, failed);
}

/* Parameters of the functions: the place, the device, and words that are passed on. */
#define PARAMETERS_6 void *place, int64_t device, long a, long b, long c, long d
#define ARGUMENTS_6 place, device, a, b, c, d
#define PARAMETERS_9 PARAMETERS_6, long e, long f, long g
#define ARGUMENTS_9 ARGUMENTS_6, e, f, g
#define PARAMETERS_10 PARAMETERS_9, long h
#define ARGUMENTS_10 ARGUMENTS_9, h
#define PARAMETERS_12 PARAMETERS_10, long i, long j
#define ARGUMENTS_12 ARGUMENTS_10, i, j
#define PARAMETERS_13 PARAMETERS_12, long k
#define ARGUMENTS_13 ARGUMENTS_12, k
#define PARAMETERS_14 PARAMETERS_13, long l
#define ARGUMENTS_14 ARGUMENTS_13, l
#define PARAMETERS_16 PARAMETERS_14, long m, long n
#define ARGUMENTS_16 ARGUMENTS_14, m, n

#define DEVICE_CALL(name, kind, parameters, result_is_failure)                                                         \
  GOMP_CODE long wrap_##name(PARAMETERS_##parameters)                                                                  \
  {                                                                                                                    \
    struct device_call call = call_begin(GOMP_NUMBER_##name, kind, device, GOMP_CALLER);                               \
    long result = ((__typeof__(&wrap_##name))real_function(&call))(ARGUMENTS_##parameters);                            \
    call_end(&call, result_is_failure, (int)result != 0);                                                              \
    return result;                                                                                                     \
  }
#define TARGET_CALL(name, kind, parameters) DEVICE_CALL(name, kind, parameters, true)
#define DATA_CALL(name, kind, parameters) DEVICE_CALL(name, kind, parameters, false) /* returns nothing */
TGT_TARGETS(TARGET_CALL)
TGT_DATA(DATA_CALL)
