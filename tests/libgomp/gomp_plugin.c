/* A device of libgomp, as a plug-in that plays one: its memory is the host's heap, and it runs regions in the thread
 * that asks for them.  libgomp loads it by the name of a plug-in that it knows.  It passes host functions on unchanged,
 * since the device says that it executes them (NATIVE_EXEC).  VERSION: that of libgomp's interface for plug-ins. */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NATIVE_EXEC = 2, OPENMP_400 = 4, TYPE = 5 };

void GOMP_PLUGIN_target_task_completion(void *task);

unsigned GOMP_OFFLOAD_version(void)
{
  return VERSION;
}

const char *GOMP_OFFLOAD_get_name(void)
{
  return "stand-in";
}

unsigned GOMP_OFFLOAD_get_caps(void)
{
  return NATIVE_EXEC | OPENMP_400;
}

int GOMP_OFFLOAD_get_type(void)
{
  return TYPE;
}

int GOMP_OFFLOAD_get_num_devices(unsigned requires)
{
  (void) requires;
  return 1;
}

bool GOMP_OFFLOAD_init_device(int device)
{
  (void)device;
  return true;
}

bool GOMP_OFFLOAD_fini_device(int device)
{
  (void)device;
  return true;
}

int GOMP_OFFLOAD_load_image(void)
{
  return 0;
}

bool GOMP_OFFLOAD_unload_image(void)
{
  return true;
}

void *GOMP_OFFLOAD_alloc(int device, size_t size)
{
  (void)device;
  return malloc(size);
}

bool GOMP_OFFLOAD_free(int device, void *memory)
{
  (void)device;
  free(memory);
  return true;
}

static bool copy(int device, void *to, const void *from, size_t size)
{
  (void)device;
  memcpy(to, from, size);
  return true;
}

bool GOMP_OFFLOAD_dev2host(int device, void *to, const void *from, size_t size)
{
  return copy(device, to, from, size);
}

bool GOMP_OFFLOAD_host2dev(int device, void *to, const void *from, size_t size)
{
  return copy(device, to, from, size);
}

bool GOMP_OFFLOAD_dev2dev(int device, void *to, const void *from, size_t size)
{
  return copy(device, to, from, size);
}

/* That of GCC 16 asks for these two as well. */
bool GOMP_OFFLOAD_can_run(void *function)
{
  return function;
}

bool GOMP_OFFLOAD_memset(int device, void *memory, int value, size_t size)
{
  (void)device;
  memset(memory, value, size);
  return true;
}

void GOMP_OFFLOAD_run(int device, void *function, void *arguments, void **settings)
{
  (void)device;
  (void)settings;
  nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); /* the host waits for the device */
  ((void (*)(void *))function)(arguments);
}

void GOMP_OFFLOAD_async_run(int device, void *function, void *arguments, void **settings, void *task)
{
  GOMP_OFFLOAD_run(device, function, arguments, settings);
  GOMP_PLUGIN_target_task_completion(task);
}
