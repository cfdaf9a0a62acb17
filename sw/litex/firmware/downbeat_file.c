/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* A program of the simulated computer (make litex): gets a file from a server over the core, then serves it.
 *
 * No operating system and no C library: LiteX's generated headers, and sw/bare. The console says each step in a line.
 */
#include <generated/csr.h>
#include <generated/mem.h>

#include "addresses.h"
#include "downbeat_bare.h"
#include "downbeat_bare_ring.h"

enum { capacity = 1 << 20 };

static downbeat_bare device;
static uint8_t file[capacity];

/* ---- C library */

void isr(void);
void isr(void) {}

void *memcpy(void *to, const void *from, size_t length) {
  uint8_t *target = to;
  const uint8_t *source = from;
  for (; length >= 4 && (((uintptr_t)target | (uintptr_t)source) & 3) == 0; length -= 4, target += 4, source += 4)
    *(uint32_t *)target = *(const uint32_t *)source;
  while (length-- > 0) *target++ = *source++;
  return to;
}

void *memset(void *to, int value, size_t length) {
  for (uint8_t *target = to; length-- > 0;) *target++ = (uint8_t)value;
  return to;
}

/* ---- console */

static void put(char letter) {
  while (uart_txfull_read()) {}
  uart_rxtx_write((uint8_t)letter);
  uart_ev_pending_write(1);
}

static void say(const char *text, uint32_t number) {
  while (*text != 0) put(*text++);
  for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[number >> shift & 15]);
  put('\n');
}

/* A library's error ends the program. */
static int32_t check(const char *call, int32_t result) {
  if (result >= 0 || result == DOWNBEAT_WOULD_BLOCK) return result;
  say(call, (uint32_t)result);
  for (;;) {}
}

/* CRC-32 of IEEE 802.3, as zlib has it. */
static uint32_t crc_of(const uint8_t *bytes, uint32_t length) {
  uint32_t crc = ~0u;
  while (length-- > 0) {
    crc ^= *bytes++;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
  }
  return ~crc;
}

/* ---- the two transfers */

static uint32_t get(void) {
  downbeat_bare_connection *connection;
  uint32_t length = 0;
  check("connect ", downbeat_bare_connect(&device, SERVER_IP, SERVER_PORT, 0, 0, 0, &connection));
  for (;;) {
    check("poll ", downbeat_bare_poll(&device));
    const int32_t given =
        check("receive ", downbeat_bare_receive(&device, connection, file + length, capacity - length));
    if (given == 0) break;
    if (given > 0) length += (uint32_t)given;
  }
  while (check("close ", downbeat_bare_close(&device, connection)) == DOWNBEAT_WOULD_BLOCK)
    check("poll ", downbeat_bare_poll(&device));
  return length;
}

static void serve(uint32_t length) {
  downbeat_bare_connection *connection;
  while (check("accept ", downbeat_bare_accept(&device, OWN_PORT, &connection)) == DOWNBEAT_WOULD_BLOCK)
    check("poll ", downbeat_bare_poll(&device));
  for (uint32_t sent = 0; sent < length;) {
    check("poll ", downbeat_bare_poll(&device));
    const int32_t taken = check("send ", downbeat_bare_send(&device, connection, file + sent, length - sent));
    if (taken > 0) sent += (uint32_t)taken;
  }
  while (check("shutdown ", downbeat_bare_shutdown(&device, connection)) == DOWNBEAT_WOULD_BLOCK)
    check("poll ", downbeat_bare_poll(&device));
  while (downbeat_bare_close(&device, connection) == DOWNBEAT_WOULD_BLOCK) check("poll ", downbeat_bare_poll(&device));
}

int main(void) {
  const downbeat_bare_options options = {.registers = (volatile uint32_t *)DOWNBEAT_BASE,
                                         .memory = (uint8_t *)DOWNBEAT_MEMORY_BASE,
                                         .bytes = DOWNBEAT_MEMORY_SIZE,
                                         .bus_address = DOWNBEAT_MEMORY_BASE,
                                         .mac = OWN_MAC,
                                         .ip = OWN_IP,
                                         .netmask = 0xffffff00,
                                         .secret = {SECRET, ~SECRET, SECRET * 3, SECRET * 5}};
  say("begin ", (uint32_t)check("begin ", downbeat_bare_begin(&device, &options)));
  check("listen ", downbeat_bare_listen(&device, OWN_PORT));
  const uint32_t length = get();
  say("got ", length);
  say("crc ", crc_of(file, length));
  for (;;) {
    serve(length);
    say("served ", length);
  }
}
