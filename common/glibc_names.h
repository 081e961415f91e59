/* Functions that read numbers keep the names that glibc 2.35 has for them.  With _GNU_SOURCE, glibc gives them others
 * from 2.38 on: the preloaded library would then need the glibc on which it was built (loader_version.h).
 *
 * Context: none; only macros.  To be included before all else by files that call such a function and are a part of what
 * is loaded into measured programs (tests/gates compares the versions that these need). */
#ifndef COMMON_GLIBC_NAMES_H
#define COMMON_GLIBC_NAMES_H

#include <features.h>

#undef __GLIBC_USE_C2X_STRTOL
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0 /* of glibc 2.38 and 2.39 */
#define __GLIBC_USE_C23_STRTOL 0

#endif
