/* An auditor (LD_AUDIT) with STORAGE bytes of thread-local storage.  With BINDINGS it also sees each call between
 * modules. */
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>

static __thread char storage[STORAGE + 1];

unsigned la_version(unsigned version)
{
  storage[STORAGE] = 1;
  return version;
}

#ifdef BINDINGS
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
  (void)map, (void)space, (void)cookie;
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
                       const char *name)
{
  (void)index, (void)from, (void)to, (void)flags, (void)name;
  return symbol->st_value;
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                                  La_x86_64_regs *registers, unsigned *flags, const char *name, long *frame_bytes)
{
  (void)index, (void)from, (void)to, (void)registers, (void)flags, (void)name, (void)frame_bytes;
  return symbol->st_value;
}
#endif
