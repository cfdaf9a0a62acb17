/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Sends what its input gives to an address and a port, and prints what comes back: example URI ADDRESS PORT. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "downbeat.h"

static void check(int64_t result) {
  if (result < 0 && result != DOWNBEAT_WOULD_BLOCK) fprintf(stderr, "%s\n", downbeat_problem()), exit(1);
}

/* Reads straight into the send ring; 0 at the end of the input. */
static int send_some(downbeat_connection *connection) {
  downbeat_span spans[2];
  const int64_t space = downbeat_reserve(connection, spans);
  check(space);
  if (space <= 0) return 1;
  const size_t count = fread(spans[0].bytes, 1, spans[0].length, stdin);
  if (count > 0) return check(downbeat_commit(connection, count)), 1;
  check(downbeat_shutdown(connection));
  return 0;
}

/* Writes what has come straight out of the receive ring; 0 at the end of the peer's stream. */
static int receive_all(downbeat_connection *connection) {
  downbeat_span spans[2];
  int64_t waiting;
  while ((waiting = downbeat_peek(connection, spans)) > 0) {
    fwrite(spans[0].bytes, 1, spans[0].length, stdout);
    check(downbeat_consume(connection, spans[0].length));
  }
  check(waiting);
  return waiting != 0;
}

int main(int count, char **arguments) {
  struct in_addr address;
  if (count != 4 || inet_pton(AF_INET, arguments[2], &address) != 1) return 2;
  downbeat_device *device;
  downbeat_connection *connection;
  /* 20 segments a millisecond apart: bits 15..0 their count, bits 67..16 the gap in 2^-16 ns. */
  downbeat_options options = {
      .parameters = {.startup = "paced", .steady = "cubic", .startup_argument = {20 | UINT64_C(1000000) << 32}}};
  check(downbeat_open(arguments[1], &device));
  check(downbeat_connect(device, ntohl(address.s_addr), (uint16_t)atoi(arguments[3]), 0, &options, &connection));
  int sending = 1, receiving = 1;
  while (receiving) {
    struct pollfd ready = {.fd = downbeat_descriptor(device), .events = POLLIN};
    poll(&ready, 1, -1);
    downbeat_item items[16];
    check(downbeat_poll(device, items, 16)); /* one connection: whatever is ready, all is tried */
    downbeat_connection_info_t info;
    downbeat_connection_info(connection, &info);
    if (info.error != 0) return fprintf(stderr, "%s\n", downbeat_error_text(info.error)), 1;
    if (!info.established) continue;
    downbeat_span spans[2];
    while (sending && downbeat_reserve(connection, spans) > 0) sending = send_some(connection);
    receiving = receive_all(connection);
  }
  check(downbeat_close(connection));
  downbeat_release(device);
  return 0;
}
