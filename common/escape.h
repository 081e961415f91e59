/* Text of measured programs as a terminal may show it.
 *
 * Names, paths and notes can contain anything.  Characters that a terminal obeys, and those that are invisible or
 * change the order of what is shown, are written as an escape, \u{HEX}: this module alone knows which ones these are. A
 * byte that is not part of a character of UTF-8 becomes U+FFFD, since a single byte from 0x80 to 0x9f is a control
 * character to some terminals.
 *
 * Context: any; keeps no state, and calls nothing that is not async-signal-safe.
 */
#ifndef COMMON_ESCAPE_H
#define COMMON_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESCAPE_INVALID "\xef\xbf\xbd" /* U+FFFD */

enum { ESCAPE_MAX = 12 }; /* the longest escape, \u{10ffff}, with NUL */

/* Whether a code point must not be shown as it is: controls (C0, DEL, C1), the marks and formatting of bidirectional
 * text, line and paragraph separators, and characters without width. */
bool escape_needed(uint32_t code);

/* Writes the character that begins here, or what stands for it, with NUL.  reversible: a backslash that would begin an
 * escape is escaped, too.  Returns the bytes of the text that it takes. */
size_t escape_character(const char *text, bool reversible, char out[ESCAPE_MAX]);

/* Writes a text that a person reads, cut between characters if it is too long.  Escaping it again changes nothing. */
void escape_text(const char *text, char *out, size_t size);

/* Replaces escapes of characters by what they stand for; other text stays.  A text without any is not written to. */
void escape_undo(char *text);

#endif
