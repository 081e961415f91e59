#include "hpcprof-lite/debuginfod_client.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/symbols/symbols_debuginfod.h"

#define LIBRARY "libdebuginfod.so.1"
#define TIMEOUT_SECONDS "10" /* in which a server must send 100 KB, unless the user has set another time */

enum { FAILURES_MAX = 3 }; /* in sequence, after which servers are not asked any more */

/* Guarded by the lock: the library's handle serves one thread at a time.  `fault` does not change once it is reported,
 * because its reader has no lock. */
static struct {
  pthread_mutex_t lock;
  bool loaded, reported;
  unsigned failures;
  void *client;
  int (*find)(void *client, const unsigned char *id, int length, char **path);
  char fault[512];
} asking = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void load(void)
{
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void *(*begin)(void) = NULL;
  asking.loaded = true;
  if (library) {
    *(void **)&begin = dlsym(library, "debuginfod_begin");
    *(void **)&asking.find = dlsym(library, "debuginfod_find_debuginfo");
  }
  if (begin && asking.find)
    asking.client = begin();
  if (!asking.client)
    snprintf(
        asking.fault, sizeof asking.fault,
        "--debuginfod: no file is fetched: %s cannot be loaded; install libdebuginfod1 (elfutils-debuginfod-client)",
        LIBRARY);
}

/* Asks the servers.  Returns the file's path, or NULL. */
static char *ask(const char *id)
{
  char *path = NULL;
  int result = asking.find(asking.client, (const unsigned char *)id, 0, &path);
  if (result >= 0) {
    close(result);
    asking.failures = 0;
    return path;
  }
  if (result == -ENOENT)
    return NULL;
  asking.failures++;
  if (asking.reported)
    return NULL;
  snprintf(asking.fault, sizeof asking.fault,
           "--debuginfod: the debug file with build id %s cannot be fetched: %s; check DEBUGINFOD_URLS and "
           "DEBUGINFOD_TIMEOUT (further failures are not reported)",
           id, strerror(-result));
  return NULL;
}

static char *fetch(const char *id, const char **fault)
{
  char *path = NULL;
  pthread_mutex_lock(&asking.lock);
  if (!asking.loaded)
    load();
  if (asking.client && asking.failures < FAILURES_MAX)
    path = ask(id);
  if (*asking.fault && !asking.reported) {
    asking.reported = true;
    *fault = asking.fault;
  }
  pthread_mutex_unlock(&asking.lock);
  return path;
}

/* Finds the cache's directory as the client library does.  False if there is none. */
static bool find_cache(char *path, size_t size)
{
  const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int length = -1;
  if (own && *own)
    return (size_t)snprintf(path, size, "%s", own) < size;
  if (home && *home) {
    length = snprintf(path, size, "%s/.debuginfod_client_cache", home); /* of older versions */
    if (access(path, F_OK) != 0)
      length = snprintf(path, size, "%s/.cache/debuginfod_client", home);
    else
      caches = NULL;
  }
  if (caches && *caches)
    length = snprintf(path, size, "%s/debuginfod_client", caches);
  return length > 0 && (size_t)length < size;
}

bool debuginfod_client_start(bool ask, char *message, size_t size)
{
  static char cache[PATH_MAX];
  const char *servers = getenv("DEBUGINFOD_URLS");
  const struct symbols_debuginfod where = {.cache = find_cache(cache, sizeof cache) ? cache : NULL,
                                           .fetch = ask ? fetch : NULL};
  if (ask && (!servers || !*servers)) {
    snprintf(message, size, "option '--debuginfod' needs the addresses of servers in DEBUGINFOD_URLS");
    return false;
  }
  if (ask)
    setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_SECONDS, 0);
  symbols_debuginfod_use(&where);
  return true;
}
