/* An OMPT tool that counts target constructs, operations and bytes, independently of the library: by the callbacks
 * without _emi, and the declarations that LLVM's runtime comes with.  Writes lines of `kind number bytes` into the file
 * TARGET_COUNTS. */
#include <omp-tools.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { KINDS = 64, DEVICES = 8 };
static atomic_ulong targets[KINDS], operations[KINDS], bytes_of[KINDS], submits, initialized, device_targets[DEVICES];

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t *task, ompt_id_t id,
                      const void *code)
{
  (void)task, (void)id, (void)code;
  if (endpoint != ompt_scope_begin)
    return;
  targets[kind % KINDS]++;
  if (device >= 0 && device < DEVICES)
    device_targets[device]++;
}

static void on_operation(ompt_id_t id, ompt_id_t host_op, ompt_target_data_op_t type, void *from, int from_device,
                         void *to, int to_device, size_t bytes, const void *code)
{
  (void)id, (void)host_op, (void)from, (void)from_device, (void)to, (void)to_device, (void)code;
  operations[type % KINDS]++;
  bytes_of[type % KINDS] += bytes;
}

static void on_submit(ompt_id_t id, ompt_id_t host_op, unsigned teams)
{
  (void)id, (void)host_op, (void)teams;
  submits++;
}

static void on_device(int device, const char *type, ompt_device_t *handle, ompt_function_lookup_t lookup,
                      const char *documentation)
{
  (void)device, (void)type, (void)handle, (void)lookup, (void)documentation;
  initialized++;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  (void)device, (void)data;
  ompt_set_callback_t set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  set_callback(ompt_callback_target, (ompt_callback_t)on_target);
  set_callback(ompt_callback_target_data_op, (ompt_callback_t)on_operation);
  set_callback(ompt_callback_target_submit, (ompt_callback_t)on_submit);
  set_callback(ompt_callback_device_initialize, (ompt_callback_t)on_device);
  return 1;
}

static void finalize(ompt_data_t *data)
{
  (void)data;
}

static void put(FILE *file, const char *kind, unsigned long count, unsigned long bytes)
{
  fprintf(file, "%s %lu %lu\n", kind, count, bytes);
}

static __attribute__((destructor)) void write_counts(void)
{
  enum { NOWAIT = ompt_target_nowait - ompt_target };
  static const char *const kinds[] = {"target", "target-enter-data", "target-exit-data", "target-update"};
  static const char *const moves[] = {"device-alloc", "copy-to-device", "copy-from-device", "device-free"};
  const char *path = getenv("TARGET_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file)
    return;
  for (int i = 0; i < 4; i++) {
    int kind = ompt_target + i;
    put(file, kinds[i], targets[kind] + targets[kind + NOWAIT], 0);
  }
  for (int i = 0; i < 4; i++) {
    int async = ompt_target_data_alloc_async + i, type = ompt_target_data_alloc + i;
    put(file, moves[i], operations[type] + operations[async], bytes_of[type] + bytes_of[async]);
  }
  put(file, "target-submit", submits, 0);
  put(file, "devices", initialized, 0);
  for (int i = 0; i < DEVICES; i++) {
    char name[] = "device 0";
    name[sizeof name - 2] = (char)('0' + i);
    if (device_targets[i])
      fprintf(file, "device-%d %lu 0\n", i, device_targets[i]);
  }
  fclose(file);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version, (void)runtime;
  return &result;
}
