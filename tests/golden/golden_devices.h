/* Golden measurements of devices. */
#ifndef TESTS_GOLDEN_GOLDEN_DEVICES_H
#define TESTS_GOLDEN_GOLDEN_DEVICES_H

void golden_devices(void);

#endif
