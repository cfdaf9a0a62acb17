/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Two devices on one wire, in one thread and in virtual time: one listens, one asks for it by ARP, connects and sends a
   megabyte. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downbeat_sim_core.h"

enum { SIZE = 1000000, PORT = 5001 };
#define DELAY DOWNBEAT_NANOSECONDS(5000) /* delay of the wire: neither device receives from the other sooner */

static unsigned char sent[SIZE], received[SIZE];

static downbeat_device *create(unsigned number) {
  downbeat_sim_options options = {.mac = {2, 0, 0, 0, 0, number}, .ip = 0x0a000000 + number, .secret = number};
  int error;
  downbeat_device *device = downbeat_sim_create(&options, &error);
  if (device == NULL) fprintf(stderr, "no device: %s\n", downbeat_error_text(error)), exit(1);
  return device;
}

static void carry(downbeat_device *from, downbeat_device *to) {
  unsigned char frame[9018];
  downbeat_time departure;
  for (int64_t length; (length = downbeat_sim_get_frame(from, frame, sizeof frame, &departure)) > 0;)
    downbeat_sim_put_frame(to, frame, length, departure + DELAY);
}

static int64_t check(int64_t result) {
  if (result >= 0) return result;
  if (result != DOWNBEAT_WOULD_BLOCK) fprintf(stderr, "%s\n", downbeat_error_text(result)), exit(1);
  return 0;
}

int main(void) {
  for (int i = 0; i < SIZE; ++i) sent[i] = rand();
  downbeat_device *client = create(1), *server = create(2);
  downbeat_sim_connection out, in = 0;
  check(downbeat_sim_listen(server, PORT, NULL));
  check(downbeat_sim_advance_to(server, DOWNBEAT_NANOSECONDS(1000)));
  check(downbeat_sim_connect(client, 0x0a000002, PORT, 0, NULL, &out));

  int64_t written = 0, read = 0;
  int closed = 0;
  for (downbeat_time now = 0; !closed && now < DOWNBEAT_NANOSECONDS(10000000000); now += DELAY) {
    check(downbeat_sim_advance_to(client, now));
    check(downbeat_sim_advance_to(server, now));
    carry(client, server);
    carry(server, client);
    if (written < SIZE) {
      written += check(downbeat_sim_send(client, out, sent + written, SIZE - written));
      if (written == SIZE) check(downbeat_sim_shutdown(client, out));
    }
    if (in == 0 && downbeat_sim_accept(server, PORT, &in) != DOWNBEAT_OK) continue;
    int64_t count;
    do read += count = check(downbeat_sim_receive(server, in, received + read, read < SIZE ? SIZE - read : 1));
    while (count > 0);
    downbeat_sim_info info;
    downbeat_sim_connection_info(server, in, &info);
    closed = info.peer_finished && read == SIZE;
  }
  const int equal = closed && memcmp(sent, received, SIZE) == 0;
  printf("%lld bytes in %.3f ms of virtual time, %s\n", (long long)read, downbeat_sim_now(server) / 65536e6,
         equal ? "equal" : "NOT EQUAL");
  check(downbeat_sim_close(client, out));
  check(downbeat_sim_close(server, in));
  downbeat_sim_destroy(client);
  downbeat_sim_destroy(server);
  return equal ? 0 : 1;
}
