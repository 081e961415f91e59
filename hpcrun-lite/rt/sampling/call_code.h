/* Stubs of the procedure linkage table, in the code of the process.
 *
 * Context: RT.  Stateless.  Code is read with sys_peek(): an address need not be mapped. */
#ifndef HPCRUN_LITE_RT_SAMPLING_CALL_CODE_H
#define HPCRUN_LITE_RT_SAMPLING_CALL_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* A stub that jumps to where a slot of the linker says. */
struct call_stub {
  uint64_t jump;   /* address of its jump */
  uint64_t target; /* where the jump leads; 0: the slot cannot be read */
};

enum call_code_form { CODE_UNREADABLE, CODE_PLAIN, CODE_STUB };

/* What code at an address is.  Sets *stub if it is CODE_STUB. */
enum call_code_form call_code_at(uint64_t address, struct call_stub *stub);

/* Is an address in a stub, at its jump or before?  Sets *stub then. */
bool call_code_in_stub(uint64_t address, struct call_stub *stub);

#endif
