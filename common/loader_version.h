/* The newest symbol version of glibc that the preloaded library needs of the dynamic loader.  A loader that does not
 * define it cannot load the library, and ends the program.  (tests/gates compares it with the library.)
 *
 * Context: CTL and BATCH; a constant. */
#ifndef COMMON_LOADER_VERSION_H
#define COMMON_LOADER_VERSION_H

#define LOADER_VERSION "GLIBC_2.35"

#endif
