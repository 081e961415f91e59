/* What programs call of waiting_runtime.c. */
#ifndef TESTS_LIBOMP_WAITING_RUNTIME_H
#define TESTS_LIBOMP_WAITING_RUNTIME_H

enum { RUNTIME_BYTES = 1000 };

/* The device has that type. */
void runtime_start(const char *type);

/* A worker that waits for a region until the program ends. */
void runtime_worker(void);

/* A target construct: a copy to the device, and a region. */
void runtime_target(double copy_s, double kernel_s, int asleep);

/* The same, with the device's time counted instead (--work user). */
void runtime_counted_target(unsigned copy_units, unsigned kernel_units);

#endif
