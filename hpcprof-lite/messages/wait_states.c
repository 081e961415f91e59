#include "hpcprof-lite/messages/wait_states.h"

#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>

const char *wait_state_name(enum wait_state state)
{
#define NAME(enumerator, name) name,
  static const char *const names[] = {WAIT_STATE_LIST(NAME)};
#undef NAME
  assert(state < WAIT_STATES);
  return names[state];
}

void wait_states_release(struct wait_states *states)
{
  free(states->places);
  free(states->rows);
  free(states->pairs);
  hash_map_release(&states->place_numbers);
  hash_map_release(&states->row_numbers);
  hash_map_release(&states->pair_numbers);
  *states = (struct wait_states){0};
}

static bool same_place(const struct wait_place *x, const struct wait_place *y)
{
  return x->process == y->process && x->thread == y->thread && x->node == y->node && x->before == y->before;
}

uint32_t wait_states_place(struct wait_states *states, const struct wait_place *place)
{
  uint64_t key =
      hash_map_key(hash_map_key(hash_map_key(1 + place->before, place->process), place->thread), place->node);
  uint32_t found = HASH_MAP_FIND(&states->place_numbers, key, i, same_place(&states->places[i], place));
  if (found)
    return found;
  uint32_t number = ++states->places_count;
  xarray_reserve(&states->places, &states->places_room, (size_t)number + 1, sizeof *states->places);
  states->places[number] = *place;
  hash_map_add(&states->place_numbers, key, number);
  return number;
}

struct wait_pair *wait_states_pair(struct wait_states *states, uint32_t from, uint32_t to)
{
  uint64_t key = hash_map_key(hash_map_key(1, from), to);
  uint32_t found =
      HASH_MAP_FIND(&states->pair_numbers, key, i, states->pairs[i - 1].from == from && states->pairs[i - 1].to == to);
  if (!found) {
    *XAPPEND(states->pairs, states->pairs_count, states->pairs_room) = (struct wait_pair){.from = from, .to = to};
    hash_map_add(&states->pair_numbers, key, found = states->pairs_count);
  }
  return &states->pairs[found - 1];
}

static struct wait_row *row_of(struct wait_states *states, enum wait_state state, uint32_t waiting, uint32_t delaying)
{
  uint64_t key = hash_map_key(hash_map_key(hash_map_key(1, state), waiting), delaying);
  uint32_t found = HASH_MAP_FIND(&states->row_numbers, key, i,
                                 states->rows[i - 1].state == state && states->rows[i - 1].waiting == waiting &&
                                     states->rows[i - 1].delaying == delaying);
  if (!found) {
    *XAPPEND(states->rows, states->rows_count, states->rows_room) =
        (struct wait_row){.state = state, .waiting = waiting, .delaying = delaying};
    hash_map_add(&states->row_numbers, key, found = states->rows_count);
  }
  return &states->rows[found - 1];
}

void wait_states_add(struct wait_states *states, enum wait_state state, uint32_t waiting, const struct delay *delay)
{
  assert(delay->count);
  uint32_t longest = 0;
  for (uint32_t i = 1; i < delay->count; i++)
    if (delay->shares[i].amount > delay->shares[longest].amount)
      longest = i;
  for (uint32_t i = 0; i < delay->count; i++) {
    struct wait_row *row = row_of(states, state, waiting, delay->shares[i].place);
    row->waits += i == longest;
    row->ns += delay->shares[i].amount;
  }
}
