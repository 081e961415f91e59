#include "common/symbols/symbols_debuginfod.h"

#include <stdio.h>

static struct symbols_debuginfod used;

void symbols_debuginfod_use(const struct symbols_debuginfod *where)
{
  used = *where;
}

bool symbols_debuginfod_cached(const char *id, char *path, size_t size)
{
  int length = used.cache && *id ? snprintf(path, size, "%s/%s/debuginfo", used.cache, id) : -1;
  return length > 0 && (size_t)length < size;
}

char *symbols_debuginfod_fetch(const char *id, const char **fault)
{
  return used.fetch && *id ? used.fetch(id, fault) : NULL;
}
