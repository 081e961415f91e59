#include "hpcprof-lite/grains/grain_reference.h"

#include "hpcprof-lite/model/model.h"

#include <assert.h>

void grain_reference_init(struct grain_reference *reference, struct problems *problems)
{
  *reference = (struct grain_reference){.known = external_sort_new(2, problems),
                                        .wanted = external_sort_new(2, problems),
                                        .found = external_sort_new(2, problems)};
}

void grain_reference_release(struct grain_reference *reference)
{
  external_sort_free(reference->known);
  external_sort_free(reference->wanted);
  external_sort_free(reference->found);
  *reference = (struct grain_reference){0};
}

int grain_reference_add(struct grain_reference *reference, uint64_t path_hash, uint64_t exec)
{
  return external_sort_add(reference->known, (const uint64_t[]){path_hash, exec});
}

int grain_reference_want(struct grain_reference *reference, uint64_t path_hash)
{
  return external_sort_add(reference->wanted, (const uint64_t[]){path_hash, reference->wanted_count++});
}

static void read_found(struct grain_reference *reference)
{
  const uint64_t *found = external_sort_next(reference->found);
  reference->next_found = found ? found[0] + 1 : 0;
  reference->exec = found ? found[1] : 0;
}

int grain_reference_join(struct grain_reference *reference)
{
  if (external_sort_rewind(reference->known) || external_sort_rewind(reference->wanted))
    return ERR_INPUT;
  const uint64_t *known = external_sort_next(reference->known);
  for (const uint64_t *wanted; (wanted = external_sort_next(reference->wanted));) {
    while (known && known[0] < wanted[0])
      known = external_sort_next(reference->known);
    if (known && known[0] == wanted[0])
      external_sort_add(reference->found, (const uint64_t[]){wanted[1], known[1]});
    else
      reference->missing++;
  }
  if (external_sort_failed(reference->known) || external_sort_failed(reference->wanted))
    return ERR_INPUT;
  external_sort_free(reference->known);
  external_sort_free(reference->wanted);
  reference->known = reference->wanted = NULL;
  int status = external_sort_rewind(reference->found);
  if (!status)
    read_found(reference);
  return status;
}

uint64_t grain_reference_next(struct grain_reference *reference)
{
  assert(reference->next < reference->wanted_count);
  uint64_t wanted = ++reference->next;
  if (reference->next_found != wanted)
    return UINT64_MAX;
  uint64_t exec = reference->exec;
  read_found(reference);
  return exec;
}
