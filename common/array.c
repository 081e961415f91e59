#include "common/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 64 };

bool array_reserve(void *array, size_t *room, size_t needed, size_t size)
{
  void *items;
  if (needed <= *room)
    return true;
  if (size > 1 && needed > UINT32_MAX)
    return false;
  size_t wanted = *room > SIZE_MAX / 2 ? needed : *room * 2;
  if (wanted < ROOM_FIRST)
    wanted = ROOM_FIRST;
  if (wanted < needed)
    wanted = needed;
  memcpy(&items, array, sizeof items); /* the pointer at `array` may have any type */
  items = reallocarray(items, wanted, size);
  if (!items)
    return false;
  memcpy(array, &items, sizeof items);
  *room = wanted;
  return true;
}

bool array_reserve_zero(void *array, size_t *room, size_t needed, size_t size)
{
  size_t old = *room;
  uint8_t *items;
  if (!array_reserve(array, room, needed, size))
    return false;
  memcpy(&items, array, sizeof items);
  memset(items + old * size, 0, (*room - old) * size);
  return true;
}

int array_by_text(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}
