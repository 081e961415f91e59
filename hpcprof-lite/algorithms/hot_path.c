#include "hpcprof-lite/algorithms/hot_path.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

void hot_path_init(struct hot_path *path, const struct tree *tree)
{
  assert(tree->count);
  *path = (struct hot_path){.amounts = xcalloc(tree->count, sizeof *path->amounts),
                            .heaviest = xcalloc(tree->count, sizeof *path->heaviest),
                            .seen = xcalloc(tree->count, sizeof *path->seen)};
}

void hot_path_release(struct hot_path *path)
{
  free(path->amounts);
  free(path->heaviest);
  free(path->seen);
  *path = (struct hot_path){0};
}

void hot_path_add(struct hot_path *path, const struct tree *tree, uint32_t row, uint64_t amount)
{
  if (row >= tree->count || !amount)
    return;
  for (;; row = tree->rows[row].parent) {
    if (!path->amounts[row])
      path->seen[path->seen_count++] = row;
    model_add(&path->amounts[row], amount);
    if (!row)
      return;
  }
}

uint32_t hot_path_end(struct hot_path *path, const struct tree *tree)
{
  assert(path->seen_count <= tree->count);
  uint32_t row = 0;
  for (uint32_t i = 0; i < path->seen_count; i++) {
    uint32_t child = path->seen[i];
    if (!child)
      continue;
    uint32_t *most = &path->heaviest[tree->rows[child].parent];
    bool more = path->amounts[child] > path->amounts[*most];
    if (!*most || more || (path->amounts[child] == path->amounts[*most] && child < *most))
      *most = child;
  }
  while (path->heaviest[row] && path->amounts[path->heaviest[row]] >= path->amounts[row] - path->amounts[row] / 2)
    row = path->heaviest[row];
  for (uint32_t i = 0; i < path->seen_count; i++) {
    path->amounts[path->seen[i]] = 0;
    path->heaviest[path->seen[i]] = 0;
  }
  path->seen_count = 0;
  return row ? row : MODEL_NONE;
}
