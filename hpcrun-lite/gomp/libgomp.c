/* Which runtime a call leads to; binds the entry points.  Context: CTL (gomp.h). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/lifecycle.h"
#include "hpcrun-lite/gomp/gomp.h"
#include "hpcrun-lite/output/writer.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/thread.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/graph_access.h"
#include "hpcrun-lite/rt/span/graph_log.h"
#include "hpcrun-lite/rt/span/work_clock.h"

#define NAME(name) #name,
#define NAME_TGT(name, kind, parameters) #name,
static const char *const names[] = {GOMP_WRAPPED(NAME) KMPC_CREATIONS(NAME) KMPC_GROUP(NAME) KMPC_SECTIONS(NAME)
                                        KMPC_CHUNKS(NAME) KMPC_TESTS(NAME) KMPC_DOACROSS(NAME) KMPC_REDUCTIONS(NAME)
                                            TGT_CALLS(NAME_TGT) GOMP_LOCKS(NAME) GOMP_LOCKS(NAME)};

#define DECLARE(name) extern void wrap_##name(void);
#define DECLARE_TGT(name, kind, parameters) DECLARE(name)
#define DECLARE_V1(name) extern void wrap_v1_##name(void);
GOMP_WRAPPED(DECLARE)
KMPC_TIMED(DECLARE)
KMPC_TASKLOOP_CALLS(DECLARE)
KMPC_ALLOCATION(DECLARE)
KMPC_SECTIONS(DECLARE)
KMPC_CHUNKS(DECLARE)
KMPC_TESTS(DECLARE)
KMPC_DOACROSS(DECLARE)
TGT_CALLS(DECLARE_TGT)
GOMP_LOCKS(DECLARE)
GOMP_LOCKS(DECLARE_V1)

#define WRAPPER(name) wrap_##name,
#define WRAPPER_TGT(name, kind, parameters) wrap_##name,
#define NO_WRAPPER(name) NULL,
#define WRAPPER_V1(name) wrap_v1_##name,
static void (*const wrappers[])(void) = {
    GOMP_WRAPPED(WRAPPER) KMPC_TIMED(WRAPPER) KMPC_TASKLOOP_CALLS(WRAPPER) KMPC_ALLOCATION(WRAPPER)
        KMPC_UNWRAPPED(NO_WRAPPER) KMPC_GROUP(NO_WRAPPER) KMPC_SECTIONS(WRAPPER) KMPC_CHUNKS(WRAPPER)
            KMPC_TESTS(WRAPPER) KMPC_DOACROSS(WRAPPER) KMPC_REDUCTIONS(NO_WRAPPER) TGT_CALLS(WRAPPER_TGT)
                GOMP_LOCKS(WRAPPER) GOMP_LOCKS(WRAPPER_V1)};

extern void *gomp_targets[GOMP_ENTRIES]; /* jumps.S */

/* The section gomp_text; made by the linker. */
extern const char __start_gomp_text[] __attribute__((visibility("hidden")));
extern const char __stop_gomp_text[] __attribute__((visibility("hidden")));

const struct gomp_runtime *gomp_global;
__thread struct gomp_thread gomp_self;

/* No lock is held while the dynamic loader is called, because a thread that holds the loader's lock may be waiting for
 * a thread that is in here. */

/* ---- the functions of a runtime ---- */

/* A function by which the runtime of a module is found.  Every runtime exports the first, and preloaded libraries
 * hardly ever interpose it; only libomp exports the second. */
enum interface { ANY_RUNTIME, LIBOMP };
static const char *const probes[] = {"omp_in_parallel", "__kmpc_fork_call"};

/* A list to which elements are only ever added. */
struct known_runtime {
  struct gomp_runtime runtime;
  const struct link_map *map;
  struct known_runtime *next;
};
static struct known_runtime *_Atomic known;

/* The program needs a function that no loaded runtime has.  Without this library the dynamic loader would have ended
 * it in the same way, or a weak reference would have been NULL. */
static void missing(void)
{
  static const char text[] =
      "hpcrun-lite: symbol lookup error: the program calls a function that its OpenMP runtime lacks\n";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
    _exit(127);
  _exit(127);
}

bool gomp_lacks(const struct gomp_runtime *runtime, unsigned entry)
{
  return runtime->next[entry] == (void *)missing;
}

static void *find(void *handle, const char *name, const char *version)
{
  return version ? dlvsym(handle, name, version) : dlsym(handle, name);
}

/* GCC's release, by what it has added to the interface. */
static const char *gcc_release(void *handle)
{
  static const struct {
    const char *symbol, *release;
  } added[] = {{"omp_target_memset", "16"},
               {"GOMP_interop", "15"},
               {"GOMP_target_map_indirect_ptr", "14"},
               {"GOMP_taskwait_depend_nowait", "13"},
               {"GOMP_teams4", "12"},
               {"GOMP_alloc", "11"},
               {"GOMP_teams_reg", "9 or 10"},
               {"GOMP_taskloop", "6 to 8"},
               {"GOMP_offload_register", "5"},
               {"GOMP_parallel", "4.9"}};
  for (unsigned i = 0; i < sizeof added / sizeof *added; i++)
    if (dlsym(handle, added[i].symbol))
      return added[i].release;
  return "4.8 or older";
}

/* From now on the section's code counts as the runtime's. */
static void set_adapter_code(void)
{
  sampling_process.adapter_start = (uint64_t)__start_gomp_text;
  /* Last: other threads read both. */
  sampling_process.adapter_size = (uint64_t)__stop_gomp_text - sampling_process.adapter_start;
}

/* Marks the module as an OpenMP runtime; the first one starts the measurement of OpenMP. */
static void attach(const struct gomp_runtime *runtime, void *handle)
{
  static atomic_flag attached = ATOMIC_FLAG_INIT;
  char name[64];
  uint32_t index;
  struct thread_state *t = rt_thread();
  if (t && rt_enter(t)) {
    modules_flag_runtime(t, (const void *)runtime->team_size, &index);
    rt_leave(t);
  }
  if (atomic_flag_test_and_set(&attached))
    return;
  if (!rt.ompt) {
    sampling_process.runtime_apart = true;
    work_clock_calibrate();
  }
  set_adapter_code();
  /* Another runtime may have threads. */
  __atomic_fetch_or(&measured_process.unseen, OMPT_UNSEEN_INLINED, __ATOMIC_RELAXED);
  rt.ompt = true;
  snprintf(name, sizeof name, "libgomp of GCC %s", gcc_release(handle));
  process_add_runtime(name);
  writer_runtime();
}

/* Only the old locks need one; a name without a version is that of the newest version, or the interposed one. */
static const char *version_of(unsigned entry)
{
  return entry < GOMP_NUMBER_v1_omp_set_lock ? NULL : "OMP_1.0";
}

bool gomp_is_own(const struct gomp_runtime *runtime, void *handle, unsigned entry)
{
  return runtime->next[entry] == find(handle, names[entry], version_of(entry));
}

/* in_global_scope: calls lead to the runtime from the global scope, where libraries of the user may come before it. */
static void fill(struct gomp_runtime *runtime, void *handle, bool in_global_scope)
{
  for (unsigned i = 0; i < GOMP_ENTRIES; i++) {
    void *found = in_global_scope ? find(RTLD_NEXT, names[i], version_of(i)) : NULL;
    found = found ? found : find(handle, names[i], version_of(i));
    runtime->next[i] = found ? found : (void *)missing;
  }
  *(void **)&runtime->thread_number = find(handle, "omp_get_thread_num", NULL);
  *(void **)&runtime->team_size = find(handle, "omp_get_num_threads", NULL);
  *(void **)&runtime->team_count = find(handle, "omp_get_num_teams", NULL);
  *(void **)&runtime->device_count = find(handle, "omp_get_num_devices", NULL);
  *(void **)&runtime->default_device = find(handle, "omp_get_default_device", NULL);
  *(void **)&runtime->register_reductions = find(handle, "GOMP_taskgroup_reduction_register", NULL);
  *(void **)&runtime->cancellation_point = find(handle, "GOMP_cancellation_point", NULL);
  runtime->libomp = dlsym(handle, probes[LIBOMP]);
  runtime->no_chunks = runtime->libomp && !dlsym(handle, "__kmpc_sections_init"); /* both came with version 15 */
  runtime->silent = !config.gomp || config.tool_disabled || runtime->libomp;
  if (!runtime->silent)
    gomp_test_sections(runtime, handle);
}

static const struct gomp_runtime *find_known(const struct link_map *map)
{
  for (struct known_runtime *i = atomic_load(&known); i; i = i->next)
    if (i->map == map)
      return &i->runtime;
  return NULL;
}

/* The runtime that contains a function.  NULL without memory. */
static const struct gomp_runtime *runtime_of(const void *function)
{
  struct dl_find_object object;
  if (_dl_find_object((void *)function, &object) != 0)
    return NULL;
  const struct link_map *map = object.dlfo_link_map;
  const struct gomp_runtime *found = find_known(map);
  if (found)
    return found;
  bool global = dlsym(RTLD_NEXT, probes[ANY_RUNTIME]) == function || dlsym(RTLD_NEXT, probes[LIBOMP]) == function;
  void *handle = dlopen(map->l_name, RTLD_NOW | RTLD_NOLOAD); /* stays open */
  struct known_runtime *made = handle ? malloc(sizeof *made) : NULL;
  if (!made)
    return NULL;
  made->map = map;
  fill(&made->runtime, handle, global);
  made->next = atomic_load(&known);
  while (!atomic_compare_exchange_weak(&known, &made->next, made))
    ; /* two threads may add one library twice, which does no harm */
  if (!made->runtime.silent)
    attach(&made->runtime, handle);
  return &made->runtime;
}

/* ---- to which runtime a call leads ---- */

static const struct gomp_runtime *runtime_for(void *handle, enum interface interface)
{
  void *found = handle ? dlsym(handle, probes[interface]) : NULL;
  return found ? runtime_of(found) : NULL;
}

static const struct gomp_runtime *runtime_in(const char *library, enum interface interface)
{
  int (*close)(void *) = libc_real(LIBC_dlclose); /* nothing is unloaded: interpose/dlclose.c need not know */
  void *handle = library ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  const struct gomp_runtime *found = runtime_for(handle, interface);
  if (handle)
    close(handle);
  return found;
}

/* The libomp that contains an address; NULL: none does. */
static const struct gomp_runtime *libomp_at(const void *address)
{
  struct dl_find_object object;
  if (_dl_find_object((void *)address, &object) != 0)
    return NULL;
  if (!find_known(object.dlfo_link_map))
    runtime_in(object.dlfo_link_map->l_name, LIBOMP);
  const struct gomp_runtime *found = find_known(object.dlfo_link_map);
  return found && found->libomp ? found : NULL;
}

/* Addresses in two modules.  one_first: that of `one` was loaded first. */
struct order {
  const void *one, *other;
  bool one_first, decided;
};

static int visit_module(struct dl_phdr_info *info, size_t size, void *context)
{
  (void)size;
  struct order *order = context;
  for (unsigned i = 0; i < info->dlpi_phnum && !order->decided; i++) {
    uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, bytes = info->dlpi_phdr[i].p_memsz;
    order->one_first = (uint64_t)order->one - start < bytes;
    order->decided = order->one_first || (uint64_t)order->other - start < bytes;
  }
  return order->decided;
}

static bool loaded_before(const void *one, const void *other)
{
  struct order order = {.one = one, .other = other};
  dl_iterate_phdr(visit_module, &order);
  return order.one_first;
}

/* The loader binds a module's references in the global scope, and then in what the module was loaded with.  A runtime
 * that entered the global scope after the module was loaded comes too late for that. */
static const struct gomp_runtime *bound_to(const void *caller, const struct link_map *map, enum interface interface)
{
  static const char *const libraries[] = {"libgomp.so.1", "libomp.so.5"};
  struct known_runtime *first = atomic_load(&known);
  const struct gomp_runtime *found = NULL;
  void *global = dlsym(RTLD_NEXT, probes[interface]);
  if (map && map->l_name[0] && (!global || loaded_before(caller, global)))
    found = runtime_in(map->l_name, interface);
  if (!found && global)
    found = runtime_of(global);
  if (!found)
    found = runtime_in(libraries[interface], interface); /* the module was loaded by another one, which names it */
  if (!found && first && interface == ANY_RUNTIME)
    found = &first->runtime;
  return found;
}

/* Entry i of a table in the module's dynamic section. */
static uint64_t dynamic_entry(const struct link_map *map, int64_t tag, unsigned i)
{
  for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
    if (entry->d_tag == tag && i-- == 0)
      return entry->d_un.d_val;
  return 0;
}

/* A known runtime of which the module says by name that it needs it.  Does not call the loader. */
static const struct gomp_runtime *runtime_needed_by(const struct link_map *map)
{
  const char *strings = (const char *)dynamic_entry(map, DT_STRTAB, 0);
  for (struct known_runtime *i = atomic_load(&known); strings && i; i = i->next) {
    const char *own_strings = (const char *)dynamic_entry(i->map, DT_STRTAB, 0);
    uint64_t soname = dynamic_entry(i->map, DT_SONAME, 0), needed;
    for (unsigned n = 0; soname && (needed = dynamic_entry(map, DT_NEEDED, n)); n++)
      if (strcmp(strings + needed, own_strings + soname) == 0)
        return &i->runtime;
  }
  return NULL;
}

/* Modules that call a runtime.  A list to which elements are only ever added; those of older generations, before a
 * dlclose(), stay unused. */
struct caller {
  struct gomp_caller module;
  struct caller *next;
};
static struct caller *_Atomic callers;

static const struct gomp_runtime *runtime_of_caller(const void *start, unsigned generation)
{
  for (const struct caller *i = atomic_load(&callers); i && i->module.generation == generation; i = i->next)
    if (i->module.start == start)
      return i->module.runtime;
  return NULL;
}

static void add_caller(const void *start, unsigned generation, const struct gomp_runtime *runtime)
{
  struct caller *made = malloc(sizeof *made);
  if (!made)
    return;
  *made = (struct caller){{start, runtime, generation}, atomic_load(&callers)};
  while (!atomic_compare_exchange_weak(&callers, &made->next, made))
    ;
}

/* ---- no runtime ---- */

/* A program may ask by a weak reference whether there is an OpenMP runtime, and finds this library's functions.  It
 * then runs with one thread: functions of locks and single return 1; critical, barrier and taskwait do nothing. */
static int obtain(void)
{
  return 1;
}

static void call(void (*function)(void *), void *data)
{
  function(data);
}

static const struct gomp_runtime *no_runtime(void)
{
#define OBTAIN(name) GOMP_NUMBER_##name,
#define OBTAIN_V1(name) GOMP_NUMBER_v1_##name,
  static const uint8_t obtained[] = {GOMP_LOCKS(OBTAIN) GOMP_LOCKS(OBTAIN_V1) GOMP_NUMBER_GOMP_critical_start,
                                     GOMP_NUMBER_GOMP_critical_end,
                                     GOMP_NUMBER_GOMP_critical_name_start,
                                     GOMP_NUMBER_GOMP_critical_name_end,
                                     GOMP_NUMBER_GOMP_atomic_start,
                                     GOMP_NUMBER_GOMP_atomic_end,
                                     GOMP_NUMBER_GOMP_barrier,
                                     GOMP_NUMBER_GOMP_single_start,
                                     GOMP_NUMBER_GOMP_taskwait,
                                     GOMP_NUMBER_GOMP_taskgroup_start,
                                     GOMP_NUMBER_GOMP_taskgroup_end};
  static struct gomp_runtime none = {.silent = true}; /* all threads that come here write the same, each element once */
  for (unsigned i = 0; i < sizeof obtained; i++)
    none.next[obtained[i]] = (void *)obtain;
  none.next[GOMP_NUMBER_GOMP_parallel] = (void *)call;
  for (unsigned i = 0; i < GOMP_ENTRIES; i++)
    if (!none.next[i])
      none.next[i] = (void *)missing;
  return &none;
}

/* The address in another module to which the loader has bound one of the module's references to functions of libomp,
 * by the relocations of a table; preferably in a known libomp.  NULL: it has bound none yet. */
static const void *bound_reference(const struct link_map *map, int64_t table, int64_t size)
{
  const ElfW(Rela) *entries = (const void *)dynamic_entry(map, table, 0);
  const ElfW(Sym) *symbols = (const void *)dynamic_entry(map, DT_SYMTAB, 0);
  const char *strings = (const char *)dynamic_entry(map, DT_STRTAB, 0);
  const void *found = NULL;
  uint64_t count = entries ? dynamic_entry(map, size, 0) / sizeof *entries : 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t type = ELF64_R_TYPE(entries[i].r_info);
    const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(entries[i].r_info)];
    struct dl_find_object object;
    if ((type != MACHINE_RELOCATION_CALL && type != MACHINE_RELOCATION_DATA) ||
        strncmp(strings + symbol->st_name, "__kmpc_", 7) != 0)
      continue;
    void *target = *(void *const *)(map->l_addr + entries[i].r_offset);
    bool apart = _dl_find_object(target, &object) == 0 && object.dlfo_link_map != map &&
                 (uint64_t)target - (uint64_t)__start_gomp_text >= (uint64_t)(__stop_gomp_text - __start_gomp_text);
    if (!apart)
      continue;
    found = target;
    if (find_known(object.dlfo_link_map))
      break;
  }
  return found;
}

/* The libomp to which the loader has bound the module's calls.  Its references to functions that have no wrapper show
 * that: code that is run by a team has called some.  Does not call the loader if that libomp is known. */
static const struct gomp_runtime *bound_libomp(const struct link_map *map)
{
  const struct gomp_runtime *own = map ? find_known(map) : NULL; /* libomp calls its own functions */
  if (!map || (own && own->libomp))
    return own;
  const void *target = bound_reference(map, DT_JMPREL, DT_PLTRELSZ);
  if (!target)
    target = bound_reference(map, DT_RELA, DT_RELASZ);
  return target ? libomp_at(target) : NULL;
}

/* The known libomp, if there is only one. */
static const struct gomp_runtime *only_libomp(void)
{
  const struct known_runtime *only = NULL;
  for (const struct known_runtime *i = atomic_load(&known); i; i = i->next) {
    if (i->runtime.libomp && only && only->map != i->map)
      return NULL;
    if (i->runtime.libomp)
      only = i;
  }
  return only ? &only->runtime : NULL;
}

/* A thread of a team must not wait for the loader: another thread may wait for the team, in a constructor, which the
 * loader runs with its lock held.  So a worker takes what is known: the runtime that its module names, or that of its
 * team; the only libomp.  Any thread that is not measured may be a worker of libomp. */
static const struct gomp_runtime *known_to_worker(const struct link_map *map, enum interface interface)
{
  const struct thread_state *t = rt_thread();
  if (interface == LIBOMP && t && !t->worker)
    return NULL;
  if (interface == LIBOMP)
    return only_libomp();
  const struct gomp_runtime *own = map ? runtime_needed_by(map) : NULL;
  return gomp_self.team && own ? own : gomp_self.team;
}

/* Searches the runtime of a module's calls.  *lasting becomes false for an answer that must not be kept: what a worker
 * takes can be another runtime than the one that the loader would name, and a missing one may be loaded later. */
static const struct gomp_runtime *search_runtime(const void *address, const struct link_map *map,
                                                 enum interface interface, struct gomp_caller module, bool *lasting)
{
  const struct gomp_runtime *found = runtime_of_caller(module.start, module.generation);
  if (found)
    return found;
  found = interface == LIBOMP ? bound_libomp(map) : NULL;
  if (!found) {
    *lasting = false;
    found = known_to_worker(map, interface);
    if (found)
      return found;
    found = bound_to(address, map, interface);
    if (!found)
      return no_runtime();
    *lasting = true;
  }
  add_caller(module.start, module.generation, found);
  return found;
}

/* The same, by what the thread keeps of the modules whose calls it has followed. */
static const struct gomp_runtime *find_runtime(const void *address, enum interface interface)
{
  unsigned generation = atomic_load_explicit(&rt.module_generation, memory_order_acquire);
  struct dl_find_object object;
  if (_dl_find_object((void *)address, &object) != 0)
    object = (struct dl_find_object){0};
  const void *module = (const char *)object.dlfo_map_start + interface; /* a key: a page has room for both */
  struct gomp_memory *memory = gomp_memory();
  struct gomp_caller *entry = memory ? &memory->callers[(uint64_t)module / 4096 % GOMP_CALLERS] : NULL;
  if (entry && entry->runtime && entry->start == module && entry->generation == generation)
    return entry->runtime;
  bool lasting = true;
  const struct gomp_runtime *found =
      search_runtime(address, object.dlfo_link_map, interface,
                     (struct gomp_caller){.start = module, .generation = generation}, &lasting);
  if (entry && lasting)
    *entry = (struct gomp_caller){module, found, generation};
  return found;
}

const struct gomp_runtime *gomp_find_runtime(const void *caller)
{
  return find_runtime(caller, ANY_RUNTIME);
}

/* Addresses in the runtimes that were loaded when the program started; NULL: none.  All calls lead to them. */
static void *at_start[2];
const struct gomp_runtime *gomp_global_libomp;

static __attribute__((constructor)) void find_global(void)
{
  static bool sought;
  for (int i = ANY_RUNTIME; i <= LIBOMP && !sought; i++)
    at_start[i] = dlsym(RTLD_NEXT, probes[i]);
  if (!sought && at_start[LIBOMP]) /* it must be known before it has workers */
    __atomic_store_n(&gomp_global_libomp, runtime_of(at_start[LIBOMP]), __ATOMIC_RELEASE);
  sought = true;
}

void gomp_note_libomp(const void *address)
{
  libomp_at(address);
}

const struct gomp_runtime *gomp_find_libomp(const void *caller)
{
  return find_runtime(caller, LIBOMP);
}

/* A call of libomp's interface that creates a task.  Unless times of creation are wanted, it leads to libomp's own
 * function, for good if all calls do. */
static void *bind_creation(unsigned entry, const void *caller)
{
  void *next = gomp_libomp(caller)->next[entry], *wrapper = (void *)wrappers[entry];
  bool timed = graph_log_on() && rt.get_task_info;
  if (timed && !wrapper && !code_in_runtime(caller))
    ompt_creation_undeferred(caller, gomp_allocation(NULL));
  if (timed)
    set_adapter_code();
  if (gomp_global_libomp && (wrapper || !timed))
    __atomic_store_n(&gomp_targets[entry], timed ? wrapper : next, __ATOMIC_RELAXED);
  return timed && wrapper ? wrapper : next;
}

static void *bind_wrapper(unsigned entry)
{
  void *target = (void *)wrappers[entry];
  set_adapter_code();
  __atomic_store_n(&gomp_targets[entry], target, __ATOMIC_RELAXED);
  return target;
}

/* A call of libomp's interface that has no wrapper. */
static void *bind_unwrapped(unsigned entry, const void *caller)
{
  void *next = gomp_libomp(caller)->next[entry];
  if (gomp_global_libomp)
    __atomic_store_n(&gomp_targets[entry], next, __ATOMIC_RELAXED);
  return next;
}

/* A call of libomp's interface that hands out iterations.  It leads to libomp's own function, unless chunks are wanted
 * and libomp does not announce them; where several runtimes can be called, to the wrapper, which finds the one. */
static void *bind_chunks(unsigned entry, const void *caller)
{
  const struct gomp_runtime *runtime = gomp_libomp(caller);
  bool wanted = !gomp_global_libomp || (span_process.online && runtime->no_chunks);
  if (wanted)
    return bind_wrapper(entry);
  __atomic_store_n(&gomp_targets[entry], runtime->next[entry], __ATOMIC_RELAXED);
  return runtime->next[entry];
}

/* A call of libomp's interface that is wrapped for constructs. */
static void *bind_online(unsigned entry, const void *caller)
{
  return span_process.online ? bind_wrapper(entry) : bind_unwrapped(entry, caller);
}

/* A call of LLVM's library for devices. */
static void *bind_device_call(unsigned entry, const void *caller)
{
  bool lasting;
  void *target = gomp_bind_device_call(entry, wrappers[entry], caller, &lasting);
  if (target == (void *)wrappers[entry])
    return bind_wrapper(entry);
  if (target && lasting)
    gomp_rebind(entry, target);
  return target ? target : (void *)missing;
}

void gomp_rebind(unsigned entry, void *function)
{
  __atomic_store_n(&gomp_targets[entry], function, __ATOMIC_RELAXED);
}

/* The first call of an entry point.  Returns where this call leads; stores it for later ones if they
 * all lead there. */
__attribute__((visibility("hidden"))) void *gomp_bind(unsigned entry, const void *caller)
{
  _Static_assert(GOMP_ENTRIES <= 256, "numbers of entry points must fit into a byte");
  static const uint8_t graph_only[] = {GOMP_GRAPH_ONLY(GOMP_NUMBER)};
  void *target = (void *)wrappers[entry];
  lifecycle_start(); /* constructors of libraries may call before this library's */
  find_global();
  if (entry >= GOMP_NUMBER___kmpc_omp_task && entry <= GOMP_NUMBER___kmpc_omp_task_begin_if0)
    return bind_creation(entry, caller);
  if (entry == GOMP_NUMBER___kmpc_taskgroup || entry == GOMP_NUMBER___kmpc_reduce ||
      entry == GOMP_NUMBER___kmpc_reduce_nowait)
    return bind_unwrapped(entry, caller);
  if (entry >= GOMP_NUMBER___kmpc_for_static_init_4 && entry <= GOMP_NUMBER___kmpc_dist_for_static_init_8u)
    return bind_chunks(entry, caller);
  if (entry >= GOMP_NUMBER___kmpc_test_lock && entry <= GOMP_NUMBER___kmpc_test_nest_lock)
    return bind_wrapper(entry);
  if (entry == GOMP_NUMBER___kmpc_doacross_wait)
    return bind_online(entry, caller);
  if (entry >= GOMP_NUMBER___tgt_target_mapper && entry <= GOMP_NUMBER___tgt_target_data_update_nowait_mapper)
    return bind_device_call(entry, caller);
  if (entry == GOMP_NUMBER_GOMP_task)
    target = gomp_task_wrapper();
  if (entry == GOMP_NUMBER_GOMP_target_ext)
    sampling_process.target_call = (uint64_t)target;
  const struct gomp_runtime *global = at_start[ANY_RUNTIME] ? runtime_of(at_start[ANY_RUNTIME]) : NULL;
  if (global && global->silent)
    target = global->next[entry];
  else if (global)
    __atomic_store_n(&gomp_global, global, __ATOMIC_RELEASE);
  for (unsigned i = 0; global && !span_process.online && i < sizeof graph_only; i++)
    if (graph_only[i] == entry)
      target = global->next[entry];
  __atomic_store_n(&gomp_targets[entry], target, __ATOMIC_RELAXED);
  return target;
}

/* ---- threads ---- */

struct thread_state *gomp_announce(struct thread_state *t, bool worker)
{
  struct gomp_thread *self = &gomp_self;
  if (!rt.ompt || thread_stopped() || (t && !gomp_memory()))
    return NULL;
  if (!t || !t->activity.openmp)
    ompt_on_thread_begin(worker ? ompt_thread_worker : ompt_thread_initial, NULL);
  t = rt_thread();
  struct gomp_memory *memory = gomp_memory();
  if (!t || !memory)
    return NULL;
  self->epoch = rt.epoch;
  self->waits = false;
  memory->initial = (struct rt_gomp_task){.data = &memory->initial_data, .flags = ompt_task_initial};
  if (!worker && rt.get_task_info && graph_enter(t)) /* which settles what it runs */
    graph_leave(t);
  if (!worker && rt.get_task_info) /* another runtime has announced the thread's task */
    memory->initial_data.value = rt_task_word(span_of(t)->task);
  else if (!worker)
    ompt_on_implicit_task(ompt_scope_begin, NULL, &memory->initial_data, 1, 1, ompt_task_initial);
  if (!rt_gomp_task)
    gomp_run(&memory->initial);
  return t;
}
