/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* The calls of downbeat_bare.h; the entries' places are those of downbeat_host.h. */
#include "downbeat_bare.h"

#include "downbeat_bare_ring.h"
#include "downbeat_registers.h"

typedef downbeat_bare_connection connection_t;

static int32_t ahead(uint32_t later, uint32_t earlier) {
  const int32_t distance = (int32_t)(later - earlier);
  return distance > 0 ? distance : 0;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static int error_of(uint32_t reason) {
  static const int8_t errors[] = {
      [DOWNBEAT_HOST_CLOSE_REASON_NONE] = DOWNBEAT_OK,
      [DOWNBEAT_HOST_CLOSE_REASON_FINISHED] = DOWNBEAT_OK,
      [DOWNBEAT_HOST_CLOSE_REASON_REFUSED] = DOWNBEAT_REFUSED,
      [DOWNBEAT_HOST_CLOSE_REASON_RESET] = DOWNBEAT_RESET,
      [DOWNBEAT_HOST_CLOSE_REASON_TIMED_OUT] = DOWNBEAT_TIMED_OUT,
      [DOWNBEAT_HOST_CLOSE_REASON_ABORTED] = DOWNBEAT_ABORTED,
      [DOWNBEAT_HOST_CLOSE_REASON_OUT_OF_RESOURCES] = DOWNBEAT_OUT_OF_RESOURCES,
      [DOWNBEAT_HOST_CLOSE_REASON_ADDRESS_IN_USE] = DOWNBEAT_ADDRESS_IN_USE,
      [DOWNBEAT_HOST_CLOSE_REASON_MEMORY_ERROR] = DOWNBEAT_MEMORY_ERROR,
      [DOWNBEAT_HOST_CLOSE_REASON_UNREACHABLE] = DOWNBEAT_UNREACHABLE,
      [DOWNBEAT_HOST_CLOSE_REASON_UNKNOWN_POLICY] = DOWNBEAT_UNKNOWN_POLICY,
      [DOWNBEAT_HOST_CLOSE_REASON_POLICY_ARGUMENT] = DOWNBEAT_POLICY_ARGUMENT,
      [DOWNBEAT_HOST_CLOSE_REASON_IN_FLIGHT] = DOWNBEAT_IN_FLIGHT,
  };
  return reason < sizeof errors ? errors[reason] : DOWNBEAT_ABORTED;
}

static connection_t *unused(downbeat_bare *device) {
  for (size_t i = 0; i < DOWNBEAT_BARE_CONNECTIONS; ++i)
    if (!device->connections[i].used) {
      device->connections[i] = (connection_t){.used = true};
      return &device->connections[i];
    }
  return NULL;
}

/* An end of a flow, DOWNBEAT_HOST_OPCODE_. */
static int end(downbeat_bare *device, uint8_t opcode, uint32_t flow, uint32_t generation) {
  return downbeat_bare_command(device,
                               &(downbeat_bare_entry){.opcode = opcode, .flow = flow, .generation = generation});
}

static int let_go(downbeat_bare *device, connection_t *connection, uint8_t opcode) {
  if (!connection->known && !connection->ended)
    return connection->dropped = true, DOWNBEAT_OK; /* until it has its flow */
  const int error = connection->known ? end(device, opcode, connection->flow, connection->generation) : DOWNBEAT_OK;
  if (error == DOWNBEAT_OK) connection->used = false;
  return error;
}

/* ---- notifications */

static void update(downbeat_bare *device, connection_t *connection, const uint8_t *entry) {
  const uint32_t received = DOWNBEAT_BARE_GET(entry, RECEIVED);
  const int error = error_of(DOWNBEAT_BARE_GET(entry, REASON));
  const bool finished = (DOWNBEAT_BARE_GET(entry, FLAGS) & DOWNBEAT_HOST_STATUS_FLAG_PEER_FINISHED) != 0;
  connection->state = (uint8_t)DOWNBEAT_BARE_GET(entry, STATE);
  const bool closed = connection->state == DOWNBEAT_CLOSED;
  if (!connection->established) {
    if (closed && DOWNBEAT_BARE_GET(entry, REASON) != DOWNBEAT_HOST_CLOSE_REASON_FINISHED) {
      connection->ended = true;
      connection->error = error;
      return;
    }
    if (connection->state == DOWNBEAT_SYN_SENT || connection->state == DOWNBEAT_SYN_RECEIVED) return;
    connection->established = true;
    connection->acknowledged = connection->written = DOWNBEAT_BARE_GET(entry, WRITTEN);
    connection->consumed = connection->received = DOWNBEAT_BARE_GET(entry, CONSUMED);
  }
  /* A FIN takes a sequence number, but no byte. */
  const uint32_t acknowledged = (uint32_t)ahead(DOWNBEAT_BARE_GET(entry, ACKNOWLEDGED), connection->acknowledged);
  connection->acknowledged += (uint32_t)smaller(acknowledged, connection->written - connection->acknowledged);
  const uint32_t space = device->receive_bytes - (connection->received - connection->consumed);
  connection->received += (uint32_t)smaller((uint32_t)ahead(received - finished, connection->received), space);
  connection->peer_finished |= finished;
  if (closed && !connection->ended) {
    connection->ended = true;
    connection->error = error;
  }
}

static connection_t *passive(downbeat_bare *device, const uint8_t *entry) {
  const uint16_t port = (uint16_t)DOWNBEAT_BARE_GET(entry, LOCAL_PORT);
  for (size_t i = 0; i < DOWNBEAT_BARE_LISTENERS; ++i)
    if (device->listeners[i].port == port && port != 0) {
      connection_t *connection = unused(device);
      if (connection != NULL) connection->waits = true;
      return connection;
    }
  return NULL;
}

static connection_t *connection_of(downbeat_bare *device, const uint8_t *entry) {
  const uint32_t flow = DOWNBEAT_BARE_GET(entry, FLOW), generation = DOWNBEAT_BARE_GET(entry, GENERATION);
  const uint32_t state = DOWNBEAT_BARE_GET(entry, STATE), head = DOWNBEAT_BARE_GET(entry, COMMAND_HEAD);
  connection_t *connection = NULL;
  for (connection_t *each = device->connections; each < device->connections + DOWNBEAT_BARE_CONNECTIONS; ++each) {
    if (each->known && each->flow == flow && each->generation == generation)
      return each->used ? each : NULL; /* the notification of a connection that was let go */
    if (each->used && !each->known && !each->ended && each->request == DOWNBEAT_BARE_GET(entry, REQUEST) &&
        (int32_t)(head - each->done) >= 0)
      connection = each;
  }
  if ((DOWNBEAT_BARE_GET(entry, FLAGS) & DOWNBEAT_HOST_STATUS_FLAG_PASSIVE) != 0) {
    if (state == DOWNBEAT_SYN_RECEIVED) return NULL; /* it is reported again when it is established */
    connection = state == DOWNBEAT_CLOSED ? NULL : passive(device, entry);
  }
  if (connection == NULL) { /* no space, or let go; if the ring is full the core reports it again */
    end(device, state == DOWNBEAT_CLOSED ? DOWNBEAT_HOST_OPCODE_CLOSE : DOWNBEAT_HOST_OPCODE_ABORT, flow, generation);
    return NULL;
  }
  connection->known = true;
  connection->flow = (uint16_t)flow;
  connection->generation = (uint8_t)generation;
  connection->remote_ip = DOWNBEAT_BARE_GET(entry, REMOTE_IP);
  connection->remote_port = (uint16_t)DOWNBEAT_BARE_GET(entry, REMOTE_PORT);
  connection->local_port = (uint16_t)DOWNBEAT_BARE_GET(entry, LOCAL_PORT);
  return connection;
}

static void responded(downbeat_bare *device, const uint8_t *entry, int error) {
  const uint32_t request = DOWNBEAT_BARE_GET(entry, REQUEST);
  for (size_t i = 0; i < DOWNBEAT_BARE_LISTENERS; ++i)
    if (device->listeners[i].request == request && device->listeners[i].state == DOWNBEAT_WOULD_BLOCK)
      device->listeners[i].state = error;
  for (connection_t *each = device->connections; each < device->connections + DOWNBEAT_BARE_CONNECTIONS; ++each)
    if (each->used && !each->known && each->request == request && error != DOWNBEAT_OK) {
      each->ended = true;
      each->error = error;
      each->used = !each->dropped;
    }
}

int downbeat_bare_poll(downbeat_bare *device) {
  uint8_t entry[DOWNBEAT_HOST_NOTIFICATION_BYTES];
  while (downbeat_bare_take(device, entry)) {
    const uint32_t kind = DOWNBEAT_BARE_GET(entry, KIND);
    if (kind == DOWNBEAT_HOST_NOTIFICATION_KIND_STATUS) {
      connection_t *connection = connection_of(device, entry);
      if (connection == NULL) continue;
      update(device, connection, entry);
      if (connection->dropped) let_go(device, connection, DOWNBEAT_HOST_OPCODE_ABORT);
    } else if (kind == DOWNBEAT_HOST_NOTIFICATION_KIND_RESPONSE) {
      responded(device, entry, error_of(DOWNBEAT_BARE_GET(entry, REASON)));
    } else if (kind == DOWNBEAT_HOST_NOTIFICATION_KIND_ERROR) {
      ++device->errors;
      if (DOWNBEAT_BARE_GET(entry, STATE) == DOWNBEAT_HOST_SOURCE_COMMAND)
        responded(device, entry, DOWNBEAT_INVALID_ARGUMENT);
    }
  }
  return downbeat_bare_runs(device) ? DOWNBEAT_OK : DOWNBEAT_DEVICE_GONE;
}

/* ---- calls */

int downbeat_bare_connect(downbeat_bare *device, uint32_t ip, uint16_t port, uint16_t local_port, uint8_t startup,
                          uint8_t steady, downbeat_bare_connection **connection) {
  if (port == 0) return DOWNBEAT_INVALID_ARGUMENT;
  connection_t *made = unused(device);
  if (made == NULL) return DOWNBEAT_OUT_OF_RESOURCES;
  made->request = ++device->request;
  const downbeat_bare_entry entry = {.opcode = DOWNBEAT_HOST_OPCODE_OPEN,
                                     .request = made->request,
                                     .remote_ip = ip,
                                     .remote_port = port,
                                     .local_port = local_port,
                                     .startup = startup,
                                     .steady = steady};
  const int error = downbeat_bare_command(device, &entry);
  made->done = device->command_tail;
  made->used = error == DOWNBEAT_OK;
  *connection = made->used ? made : NULL;
  return error;
}

int downbeat_bare_listen(downbeat_bare *device, uint16_t port) {
  size_t free = DOWNBEAT_BARE_LISTENERS;
  for (size_t i = 0; i < DOWNBEAT_BARE_LISTENERS; ++i) {
    if (device->listeners[i].port == port) return port == 0 ? DOWNBEAT_INVALID_ARGUMENT : DOWNBEAT_ADDRESS_IN_USE;
    if (device->listeners[i].port == 0) free = i;
  }
  if (free == DOWNBEAT_BARE_LISTENERS) return DOWNBEAT_OUT_OF_RESOURCES;
  const uint16_t request = ++device->request;
  const int error = downbeat_bare_command(
      device, &(downbeat_bare_entry){.opcode = DOWNBEAT_HOST_OPCODE_LISTEN, .request = request, .local_port = port});
  if (error != DOWNBEAT_OK) return error;
  device->listeners[free].port = port;
  device->listeners[free].request = request;
  device->listeners[free].state = DOWNBEAT_WOULD_BLOCK;
  return DOWNBEAT_OK;
}

int downbeat_bare_accept(downbeat_bare *device, uint16_t port, downbeat_bare_connection **connection) {
  *connection = NULL;
  size_t i = 0;
  while (i < DOWNBEAT_BARE_LISTENERS && device->listeners[i].port != port) ++i;
  if (i == DOWNBEAT_BARE_LISTENERS || port == 0) return DOWNBEAT_NOT_LISTENING;
  for (connection_t *each = device->connections; each < device->connections + DOWNBEAT_BARE_CONNECTIONS; ++each)
    if (each->used && each->waits && each->local_port == port) {
      each->waits = false;
      *connection = each;
      return DOWNBEAT_OK;
    }
  return device->listeners[i].state == DOWNBEAT_OK ? DOWNBEAT_WOULD_BLOCK : device->listeners[i].state;
}

int32_t downbeat_bare_send(downbeat_bare *device, downbeat_bare_connection *connection, const void *data,
                           size_t length) {
  if (connection->shut_down) return DOWNBEAT_SHUT_DOWN;
  if (connection->ended) return connection->error != DOWNBEAT_OK ? connection->error : DOWNBEAT_SHUT_DOWN;
  const uint32_t size = device->send_bytes, space = size - (connection->written - connection->acknowledged);
  if (!connection->established || space == 0) return DOWNBEAT_WOULD_BLOCK;
  uint8_t *ring = device->memory + (size_t)connection->flow * size;
  const uint32_t at = connection->written % size, taken = (uint32_t)smaller(length, space);
  const size_t first = smaller(taken, size - at);
  memcpy(ring + at, data, first);
  memcpy(ring, (const uint8_t *)data + first, taken - first);
  connection->written += taken;
  if (taken != 0)
    downbeat_bare_ring_pair(device, DOWNBEAT_HOST_DOORBELL_WRITTEN_SEQUENCE_OFFSET, connection->written, connection);
  return (int32_t)taken;
}

int32_t downbeat_bare_receive(downbeat_bare *device, downbeat_bare_connection *connection, void *data,
                              size_t capacity) {
  const uint32_t waiting = connection->received - connection->consumed, size = device->receive_bytes;
  if (waiting == 0) {
    if (connection->established && connection->peer_finished) return 0;
    return connection->ended ? connection->error : DOWNBEAT_WOULD_BLOCK;
  }
  const uint8_t *ring = device->memory + device->receive_base + (size_t)connection->flow * size;
  const uint32_t at = connection->consumed % size, given = (uint32_t)smaller(capacity, waiting);
  const size_t first = smaller(given, size - at);
  memcpy(data, ring + at, first);
  memcpy((uint8_t *)data + first, ring, given - first);
  connection->consumed += given;
  if (given != 0 && !connection->ended)
    downbeat_bare_ring_pair(device, DOWNBEAT_HOST_DOORBELL_CONSUMED_SEQUENCE_OFFSET, connection->consumed, connection);
  return (int32_t)given;
}

int downbeat_bare_shutdown(downbeat_bare *device, downbeat_bare_connection *connection) {
  if (!connection->established && !connection->ended) return DOWNBEAT_WOULD_BLOCK;
  if (!connection->shut_down && !connection->ended) {
    const int error = end(device, DOWNBEAT_HOST_OPCODE_SHUTDOWN, connection->flow, connection->generation);
    if (error != DOWNBEAT_OK) return error;
  }
  connection->shut_down = true;
  return DOWNBEAT_OK;
}

int downbeat_bare_close(downbeat_bare *device, downbeat_bare_connection *connection) {
  return let_go(device, connection, DOWNBEAT_HOST_OPCODE_CLOSE);
}

int downbeat_bare_abort(downbeat_bare *device, downbeat_bare_connection *connection) {
  return let_go(device, connection, DOWNBEAT_HOST_OPCODE_ABORT);
}
