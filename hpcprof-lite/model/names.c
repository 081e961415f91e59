#include "hpcprof-lite/model/names.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

const char *names_own(struct names *names, char *text)
{
  if (!text)
    return NULL;
  if (!array_reserve(&names->owned, &names->owned_room, names->owned_count + 1, sizeof *names->owned)) {
    free(text);
    return NULL;
  }
  return names->owned[names->owned_count++] = text;
}

const char *names_base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash && slash[1] ? slash + 1 : path;
}

void names_release(struct names *names)
{
  for (uint32_t i = 0; names->modules && i < names->modules_count; i++)
    free(names->modules[i].message);
  for (size_t i = 0; i < names->owned_count; i++)
    free(names->owned[i]);
  free(names->owned);
  free(names->functions);
  index_release(&names->function_index);
  free(names->steps);
  free(names->addresses);
  free(names->address_of);
  free(names->directive_at);
  free(names->order);
  free(names->modules);
  free(names->files);
  index_release(&names->file_index);
  *names = (struct names){0};
}
