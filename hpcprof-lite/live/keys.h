/* The keys of the live view: bytes from a terminal, of which special keys send several.
 *
 * Context: BATCH.  The caller owns the state, which is zero at first: the bytes so far of a key that is not complete.
 */
#ifndef HPCPROF_LITE_LIVE_KEYS_H
#define HPCPROF_LITE_LIVE_KEYS_H

#include <stddef.h>

/* Special keys; others are their character. */
enum { KEY_NONE = 0, KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_LEFT, KEY_RIGHT };

struct keys {
  char sequence[8]; /* of an escape sequence, without its escape */
  size_t length;
  int within; /* an escape sequence: 0 no, 1 after the escape, 2 in it */
};

/* Takes a byte.  Returns the key that it completes, or KEY_NONE. */
int keys_take(struct keys *keys, char byte);

#endif
