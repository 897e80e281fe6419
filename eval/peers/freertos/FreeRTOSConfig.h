/* FreeRTOS for the Cortex-M7 (port GCC/ARM_CM7/r0p1): no protection, every task is privileged. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "config.h"

#endif
