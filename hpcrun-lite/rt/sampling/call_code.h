/* Machine code of calls: the instruction before a return address, and stubs of the procedure linkage table.
 *
 * Context: RT.  Stateless.  Code is read with sys_peek(): an address need not be mapped. */
#ifndef HPCRUN_LITE_RT_SAMPLING_CALL_CODE_H
#define HPCRUN_LITE_RT_SAMPLING_CALL_CODE_H

#include <stdint.h>

enum { CALL_CODE_BYTES = 8 }; /* the longest call instruction has 7 */

enum call_kind { CALL_NONE, CALL_DIRECT, CALL_INDIRECT };

/* Which call ends with the last of these bytes.  after: the address behind them.  Sets *target for a direct call. */
enum call_kind call_code_before(const uint8_t code[CALL_CODE_BYTES], uint64_t after, uint64_t *target);

/* A stub that jumps to where a slot of the linker says. */
struct call_stub {
  uint64_t jump;   /* address of its jump */
  uint64_t target; /* where the jump leads; 0: the slot cannot be read */
};

enum call_code_form { CODE_UNREADABLE, CODE_PLAIN, CODE_STUB };

/* What code at an address is.  Sets *stub if it is CODE_STUB. */
enum call_code_form call_code_at(uint64_t address, struct call_stub *stub);

#endif
