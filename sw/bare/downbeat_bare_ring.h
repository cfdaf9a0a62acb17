/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Registers, doorbells and the two rings of port 0, for downbeat_bare.c. */
#ifndef DOWNBEAT_BARE_RING_H
#define DOWNBEAT_BARE_RING_H

#include "downbeat_bare.h"

/* A freestanding compiler calls these too: the program has them, if no C library does. */
void *memcpy(void *to, const void *from, size_t length);
void *memset(void *to, int value, size_t length);

/* A command; what is not here is 0, or the default of libdownbeat. */
typedef struct downbeat_bare_entry {
  uint8_t opcode, startup, steady;
  uint16_t request, remote_port, local_port;
  uint32_t flow, generation, remote_ip;
} downbeat_bare_entry;

/* A field of a notification of at most 32 bits. */
#define DOWNBEAT_BARE_GET(entry, field)                                                                                \
  downbeat_bare_get((entry) + DOWNBEAT_HOST_NOTIFICATION_##field##_OFFSET, DOWNBEAT_HOST_NOTIFICATION_##field##_BITS)
uint32_t downbeat_bare_get(const uint8_t *bytes, unsigned bits);

/* WOULD_BLOCK: the core has yet to take as many as the ring has. */
int downbeat_bare_command(downbeat_bare *device, const downbeat_bare_entry *entry);
/* The next notification, if it is complete. */
bool downbeat_bare_take(downbeat_bare *device, uint8_t *entry);
/* `low`, and behind it the connection's reference, which rings. */
void downbeat_bare_ring_pair(downbeat_bare *device, uint32_t offset, uint32_t low, const downbeat_bare_connection *of);
/* Port 0 runs. */
bool downbeat_bare_runs(const downbeat_bare *device);

#endif
