/* SPDX-License-Identifier: BSD-2-Clause-Patent */
/* Set-up of the core, registers, doorbells and the two rings of port 0. */
#include "downbeat_bare_ring.h"

#include "downbeat_registers.h"

enum {
  commands_log2 = 5, /* rings of a page each */
  notifications_log2 = 6,
  ring_bytes = 4096,
  register_reads = 1 << 27, /* reads of a register that has to change: seconds */
  initial_window = 10, /* segments, as libdownbeat has it */
  set_up = DOWNBEAT_HOST_SET_UP_PAGE * DOWNBEAT_HOST_PAGE_BYTES,
  port_block = set_up + DOWNBEAT_HOST_FIRST_PORT_BLOCK,
  doorbells = DOWNBEAT_HOST_FIRST_DOORBELL_PAGE * DOWNBEAT_HOST_PAGE_BYTES
};
_Static_assert(DOWNBEAT_HOST_COMMAND_BYTES << commands_log2 == ring_bytes, "the command ring is a page");
_Static_assert(DOWNBEAT_HOST_NOTIFICATION_BYTES << notifications_log2 == ring_bytes, "so is that of notifications");

static uint32_t read(const downbeat_bare *device, uint32_t at) { return device->registers[at / 4]; }

/* Memory has what was written before it when the register is written. */
static void write(downbeat_bare *device, uint32_t at, uint32_t value) {
  __sync_synchronize();
  device->registers[at / 4] = value;
}

static void write_wide(downbeat_bare *device, uint32_t low, uint64_t value) {
  write(device, low, (uint32_t)value);
  write(device, low + 4, (uint32_t)(value >> 32));
}

/* The register when one of these bits is `wanted`, or as it is in the end. */
static uint32_t await(const downbeat_bare *device, uint32_t at, uint32_t bits, bool wanted) {
  uint32_t value = read(device, at);
  for (uint32_t i = 0; i < register_reads && ((value & bits) != 0) != wanted; ++i) value = read(device, at);
  return value;
}

uint32_t downbeat_bare_get(const uint8_t *bytes, unsigned bits) {
  uint32_t value = 0;
  for (unsigned i = bits / 8; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

static void put(uint8_t *entry, unsigned offset, unsigned bits, uint32_t value) {
  for (unsigned i = 0; i < bits / 8; ++i) entry[offset + i] = (uint8_t)(value >> 8 * i);
}

#define PUT(entry, field, value)                                                                                       \
  put(entry, DOWNBEAT_HOST_COMMAND_##field##_OFFSET, DOWNBEAT_HOST_COMMAND_##field##_BITS, value)

static uint8_t *commands_of(const downbeat_bare *device) { return device->memory + 2 * (size_t)device->receive_base; }

static uint32_t receive_base(uint32_t flows, uint32_t send_bytes, uint32_t receive_bytes) {
  return flows * (send_bytes > receive_bytes ? send_bytes : receive_bytes);
}

size_t downbeat_bare_bytes(uint32_t flows, uint32_t send_bytes, uint32_t receive_bytes) {
  return 2 * ((size_t)receive_base(flows, send_bytes, receive_bytes) + ring_bytes);
}

int downbeat_bare_begin(downbeat_bare *device, const downbeat_bare_options *options) {
  memset(device, 0, sizeof *device);
  device->registers = options->registers;
  device->memory = options->memory;
  if (read(device, DOWNBEAT_REG_MAGIC) != DOWNBEAT_MAGIC) return DOWNBEAT_NO_DEVICE;
  if (read(device, set_up + DOWNBEAT_HOST_SET_UP_HOST_FORMAT_OFFSET) != DOWNBEAT_HOST_FORMAT ||
      read(device, set_up + DOWNBEAT_HOST_SET_UP_FORMAT_HASH_OFFSET) != DOWNBEAT_HOST_FORMAT_HASH)
    return DOWNBEAT_WRONG_VERSION;
  const uint32_t flows = read(device, DOWNBEAT_REG_FLOWS);
  device->send_bytes = read(device, DOWNBEAT_REG_SEND_BUFFER_BYTES);
  device->receive_bytes = read(device, DOWNBEAT_REG_RECEIVE_BUFFER_BYTES);
  device->receive_base = receive_base(flows, device->send_bytes, device->receive_bytes);
  const uint64_t payload = 2 * (uint64_t)device->receive_base, bus = options->bus_address;
  if (options->bytes < downbeat_bare_bytes(flows, device->send_bytes, device->receive_bytes) || bus % payload != 0 ||
      bus % ring_bytes != 0)
    return DOWNBEAT_INVALID_ARGUMENT;

  write(device, DOWNBEAT_REG_CONTROL, 0); /* when it has stopped, memory has what it wrote */
  if ((await(device, DOWNBEAT_REG_STATUS, DOWNBEAT_REG_STATUS_RUNNING_MASK, false) &
       DOWNBEAT_REG_STATUS_RUNNING_MASK) != 0)
    return DOWNBEAT_NO_DEVICE;
  const uint8_t *mac = options->mac;
  write(device, DOWNBEAT_REG_LOCAL_MAC_HIGH, (uint32_t)(mac[0] << 8 | mac[1]));
  write(device, DOWNBEAT_REG_LOCAL_MAC_LOW, (uint32_t)mac[2] << 24 | (uint32_t)(mac[3] << 16 | mac[4] << 8 | mac[5]));
  write(device, DOWNBEAT_REG_LOCAL_IP, options->ip);
  write(device, DOWNBEAT_REG_LOCAL_NETMASK, options->netmask);
  write(device, DOWNBEAT_REG_LOCAL_GATEWAY, options->gateway);
  write(device, DOWNBEAT_REG_SECRET3, options->secret[3]);
  write(device, DOWNBEAT_REG_SECRET2, options->secret[2]);
  write(device, DOWNBEAT_REG_SECRET1, options->secret[1]);
  write(device, DOWNBEAT_REG_SECRET0, options->secret[0]);
  write_wide(device, set_up + DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_LOW_OFFSET, bus);
  write(device, DOWNBEAT_REG_CONTROL, DOWNBEAT_REG_CONTROL_ENABLE_MASK);

  memset(commands_of(device), 0, 2 * (size_t)ring_bytes);
  write_wide(device, port_block + DOWNBEAT_HOST_PORT_COMMAND_BASE_LOW_OFFSET, bus + payload);
  write(device, port_block + DOWNBEAT_HOST_PORT_COMMAND_SIZE_LOG2_OFFSET, commands_log2);
  write_wide(device, port_block + DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_LOW_OFFSET, bus + payload + ring_bytes);
  write(device, port_block + DOWNBEAT_HOST_PORT_NOTIFICATION_SIZE_LOG2_OFFSET, notifications_log2);
  write(device, port_block + DOWNBEAT_HOST_PORT_HOLD_OFF_OFFSET, 0);
  write(device, port_block + DOWNBEAT_HOST_PORT_CONTROL_OFFSET, 1);
  const uint32_t bits = DOWNBEAT_HOST_PORT_STATUS_RUNNING | DOWNBEAT_HOST_PORT_STATUS_REFUSED;
  await(device, port_block + DOWNBEAT_HOST_PORT_STATUS_OFFSET, bits, true);
  return downbeat_bare_runs(device) ? DOWNBEAT_OK : DOWNBEAT_NO_PORT;
}

bool downbeat_bare_runs(const downbeat_bare *device) {
  const uint32_t status = read(device, port_block + DOWNBEAT_HOST_PORT_STATUS_OFFSET);
  return (status & DOWNBEAT_HOST_PORT_STATUS_RUNNING) != 0 && status != UINT32_MAX;
}

/* The core has done the commands before this index; what it has reported earlier may be reported again. */
static void advance_to(downbeat_bare *device, uint32_t done) {
  if ((int32_t)(done - device->command_head) > 0) device->command_head = done;
}

int downbeat_bare_command(downbeat_bare *device, const downbeat_bare_entry *of) {
  const uint32_t size = 1u << commands_log2;
  if (device->command_tail - device->command_head == size)
    advance_to(device, read(device, doorbells + DOWNBEAT_HOST_DOORBELL_COMMAND_HEAD_OFFSET));
  if (device->command_tail - device->command_head == size) return DOWNBEAT_WOULD_BLOCK;
  const bool opens = of->opcode == DOWNBEAT_HOST_OPCODE_OPEN || of->opcode == DOWNBEAT_HOST_OPCODE_LISTEN;
  uint8_t entry[DOWNBEAT_HOST_COMMAND_BYTES] = {0};
  PUT(entry, OPCODE, of->opcode);
  PUT(entry, REQUEST, of->request);
  PUT(entry, FLOW, of->flow);
  PUT(entry, GENERATION, of->generation);
  PUT(entry, REMOTE_IP, of->remote_ip);
  PUT(entry, REMOTE_PORT, of->remote_port);
  PUT(entry, LOCAL_PORT, of->local_port);
  PUT(entry, STARTUP, of->startup);
  PUT(entry, STEADY, of->steady);
  PUT(entry, INITIAL_WINDOW, opens ? initial_window : 0);
  PUT(entry, SSTHRESH, opens ? 1u << 30 : 0);
  memcpy(commands_of(device) + device->command_tail++ % size * sizeof entry, entry, sizeof entry);
  write(device, doorbells + DOWNBEAT_HOST_DOORBELL_COMMAND_TAIL_OFFSET, device->command_tail);
  return DOWNBEAT_OK;
}

bool downbeat_bare_take(downbeat_bare *device, uint8_t *entry) {
  const uint32_t size = 1u << notifications_log2, head = device->notification_head;
  const uint8_t *at = commands_of(device) + ring_bytes + head % size * DOWNBEAT_HOST_NOTIFICATION_BYTES;
  const uint8_t phase = ((const volatile uint8_t *)at)[DOWNBEAT_HOST_NOTIFICATION_PHASE_OFFSET] & 1;
  if (phase != (head / size % 2 == 0)) return false;
  __sync_synchronize(); /* the phase is in what the core writes last */
  memcpy(entry, at, DOWNBEAT_HOST_NOTIFICATION_BYTES);
  if (DOWNBEAT_BARE_GET(entry, KIND) != DOWNBEAT_HOST_NOTIFICATION_KIND_PATH_REPORT)
    advance_to(device, DOWNBEAT_BARE_GET(entry, COMMAND_HEAD));
  write(device, doorbells + DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_OFFSET, ++device->notification_head);
  return true;
}

void downbeat_bare_ring_pair(downbeat_bare *device, uint32_t offset, uint32_t low, const downbeat_bare_connection *of) {
  write(device, doorbells + offset, low);
  write(device, doorbells + offset + 4, of->flow | (uint32_t)of->generation << 16);
}
