// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host format as C++: registers, doorbells, command and notification entries. Numbers are little-endian. The
// numbers are those of downbeat_host.h, which elaboration makes; an entry's members are checked against its fields.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "downbeat_host.h"
#include "downbeat_types.h"

namespace downbeat::format {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t number = DOWNBEAT_HOST_FORMAT; // of this format

// ---- address space

inline constexpr std::uint32_t pageBytes = DOWNBEAT_HOST_PAGE_BYTES, setupPage = DOWNBEAT_HOST_SET_UP_PAGE * pageBytes,
                               doorbellPages = DOWNBEAT_HOST_FIRST_DOORBELL_PAGE * pageBytes;

enum Setup : std::uint32_t {
  hostPorts = setupPage + DOWNBEAT_HOST_SET_UP_HOST_PORTS_OFFSET,
  hostFormat = setupPage + DOWNBEAT_HOST_SET_UP_HOST_FORMAT_OFFSET,
  formatHash = setupPage + DOWNBEAT_HOST_SET_UP_FORMAT_HASH_OFFSET,
  policyHash = setupPage + DOWNBEAT_HOST_SET_UP_POLICY_HASH_OFFSET,
  payloadBaseLow = setupPage + DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_LOW_OFFSET,
  payloadBaseHigh = setupPage + DOWNBEAT_HOST_SET_UP_PAYLOAD_BASE_HIGH_OFFSET,
  portBlocks = setupPage + DOWNBEAT_HOST_FIRST_PORT_BLOCK
};
inline constexpr std::uint32_t portBlockBytes = DOWNBEAT_HOST_PORT_BLOCK_BYTES;

enum PortBlock : std::uint32_t {
  portControl = DOWNBEAT_HOST_PORT_CONTROL_OFFSET,
  portStatus = DOWNBEAT_HOST_PORT_STATUS_OFFSET,
  commandBaseLow = DOWNBEAT_HOST_PORT_COMMAND_BASE_LOW_OFFSET,
  commandBaseHigh = DOWNBEAT_HOST_PORT_COMMAND_BASE_HIGH_OFFSET,
  commandSizeLog2 = DOWNBEAT_HOST_PORT_COMMAND_SIZE_LOG2_OFFSET,
  notificationBaseLow = DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_LOW_OFFSET,
  notificationBaseHigh = DOWNBEAT_HOST_PORT_NOTIFICATION_BASE_HIGH_OFFSET,
  notificationSizeLog2 = DOWNBEAT_HOST_PORT_NOTIFICATION_SIZE_LOG2_OFFSET,
  holdOff = DOWNBEAT_HOST_PORT_HOLD_OFF_OFFSET,
  portErrors = DOWNBEAT_HOST_PORT_ERRORS_OFFSET
};
inline constexpr std::uint32_t portRunning = DOWNBEAT_HOST_PORT_STATUS_RUNNING,
                               portRefused = DOWNBEAT_HOST_PORT_STATUS_REFUSED,
                               portStopped = DOWNBEAT_HOST_PORT_STATUS_STOPPED;

enum Doorbell : std::uint32_t {
  writtenSequence = DOWNBEAT_HOST_DOORBELL_WRITTEN_SEQUENCE_OFFSET,
  writtenFlow = DOWNBEAT_HOST_DOORBELL_WRITTEN_FLOW_OFFSET,
  consumedSequence = DOWNBEAT_HOST_DOORBELL_CONSUMED_SEQUENCE_OFFSET,
  consumedFlow = DOWNBEAT_HOST_DOORBELL_CONSUMED_FLOW_OFFSET,
  commandTail = DOWNBEAT_HOST_DOORBELL_COMMAND_TAIL_OFFSET,
  notificationHead = DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_OFFSET,
  notificationHeadArm = DOWNBEAT_HOST_DOORBELL_NOTIFICATION_HEAD_ARM_OFFSET,
  commandHead = DOWNBEAT_HOST_DOORBELL_COMMAND_HEAD_OFFSET,
  notificationTail = DOWNBEAT_HOST_DOORBELL_NOTIFICATION_TAIL_OFFSET
};

// ---- entries

enum class Opcode : std::uint8_t {
  none = DOWNBEAT_HOST_OPCODE_NONE,
  open = DOWNBEAT_HOST_OPCODE_OPEN,
  listen = DOWNBEAT_HOST_OPCODE_LISTEN,
  unlisten = DOWNBEAT_HOST_OPCODE_UNLISTEN,
  shutdown = DOWNBEAT_HOST_OPCODE_SHUTDOWN,
  close = DOWNBEAT_HOST_OPCODE_CLOSE,
  abort = DOWNBEAT_HOST_OPCODE_ABORT,
  setPolicies = DOWNBEAT_HOST_OPCODE_SET_POLICIES,
  start = DOWNBEAT_HOST_OPCODE_START,
  stamps = DOWNBEAT_HOST_OPCODE_STAMPS,
  setTimes = DOWNBEAT_HOST_OPCODE_SET_TIMES
};
enum CommandOption : std::uint8_t {
  noDelay = DOWNBEAT_HOST_COMMAND_OPTION_NO_DELAY,
  nssr = DOWNBEAT_HOST_COMMAND_OPTION_NSSR,
  ecn = DOWNBEAT_HOST_COMMAND_OPTION_ECN,
  renoRecovery = DOWNBEAT_HOST_COMMAND_OPTION_RENO_RECOVERY,
  noTailLossProbe = DOWNBEAT_HOST_COMMAND_OPTION_NO_TAIL_LOSS_PROBE,
  noRack = DOWNBEAT_HOST_COMMAND_OPTION_NO_RACK,
  noUndo = DOWNBEAT_HOST_COMMAND_OPTION_NO_UNDO,
  noGrowthLimit = DOWNBEAT_HOST_COMMAND_OPTION_NO_GROWTH_LIMIT
};

#pragma pack(push, 1)
struct Command {
  Opcode opcode = Opcode::none;
  std::uint8_t options = 0;
  std::uint16_t request = 0;
  std::uint16_t flow = 0;
  std::uint8_t generation = 0, noPrr = 0;
  std::uint32_t remoteIp = 0;
  std::uint16_t remotePort = 0, localPort = 0;
  std::uint8_t startup = 0, steady = 0;
  std::uint16_t initialWindow = 0; // segments
  std::uint32_t ssthresh = 0; // bytes
  std::uint64_t startupArgument[2] = {}, steadyArgument[2] = {};
  std::uint64_t spacing = 0; // ns per byte, 32 fraction bits
  std::uint16_t keepAlive = 0, userTimeout = 0; // 2^30 ns
  std::uint8_t differentiatedServices = 0, timeToLive = 0;
  std::uint8_t pace = 0, reserved71 = 0;
  std::uint64_t paceGap = 0; // ns, 16 fraction bits
  std::uint64_t validUntil = 0; // ns
  std::uint16_t startWindow = 0; // segments
  std::uint8_t reserved90[6] = {};
  std::uint64_t roundTrip = 0; // ns
  std::uint8_t reserved104[24] = {};
};

enum class Kind : std::uint8_t {
  none = DOWNBEAT_HOST_NOTIFICATION_KIND_NONE,
  status = DOWNBEAT_HOST_NOTIFICATION_KIND_STATUS,
  response = DOWNBEAT_HOST_NOTIFICATION_KIND_RESPONSE,
  error = DOWNBEAT_HOST_NOTIFICATION_KIND_ERROR,
  pathReport = DOWNBEAT_HOST_NOTIFICATION_KIND_PATH_REPORT,
  stamp = DOWNBEAT_HOST_NOTIFICATION_KIND_STAMP
};
enum StatusFlag : std::uint8_t {
  passive = DOWNBEAT_HOST_STATUS_FLAG_PASSIVE,
  peerFinished = DOWNBEAT_HOST_STATUS_FLAG_PEER_FINISHED,
  urgent = DOWNBEAT_HOST_STATUS_FLAG_URGENT,
  struggling = DOWNBEAT_HOST_STATUS_FLAG_STRUGGLING
};

struct Notification {
  Kind kind{};
  std::uint8_t reason = 0;
  std::uint16_t request = 0;
  std::uint16_t flow = 0;
  std::uint8_t generation = 0, state = 0;
  std::uint32_t acknowledged = 0, written = 0, consumed = 0, received = 0, urgentEnd = 0;
  std::uint8_t flags = 0, errorKind = 0, errorCode = 0, errorCount = 0;
  std::uint32_t remoteIp = 0;
  std::uint16_t remotePort = 0, localPort = 0;
  std::uint16_t time[3] = {}; // ns, 48 bits
  std::uint16_t reserved46 = 0;
  std::uint32_t value = 0, errorsUnreported = 0, commandHead = 0;
  std::uint8_t reserved60[3] = {};
  std::uint8_t phase = 0;
};

struct PathReport {
  Kind kind{};
  std::uint8_t state = 0; // HostPathPhase in bits 1 to 0, 2 lossInAvoidance, 3 closed, 7 to 4 growth
  std::uint8_t losses = 0, restarts = 0;
  std::uint16_t flow = 0;
  std::uint8_t generation = 0, retreats = 0;
  std::uint32_t cwnd = 0, ssthresh = 0; // bytes
  std::uint8_t smoothedRtt[5] = {}, smallestRtt[5] = {}; // ns
  std::uint16_t averageWindow[3] = {}; // bytes, 16 fraction bits
  std::uint16_t lossTime[3] = {}; // ns
  std::uint16_t segmentSize = 0; // bytes
  std::uint16_t time[3] = {}; // ns
  std::uint32_t lossWindow = 0; // bytes
  std::uint16_t acked[3] = {}; // bytes
  std::uint32_t rttVariation = 0; // ns
  std::uint8_t acks[3] = {};
  std::uint8_t phase = 0;

  std::uint32_t phaseOfPath() const { return state & 3u; } // HostPathPhase
  bool lossInAvoidance() const { return (state & 4u) != 0; }
  bool closed() const { return (state & 8u) != 0; }
  std::uint8_t growth() const { return state >> 4; } // sixteenths of a segment
};

struct Stamp {
  Kind kind{};
  std::uint8_t reserved1[3] = {};
  std::uint16_t flow = 0;
  std::uint8_t generation = 0, received = 0;
  std::uint32_t end = 0, dropped = 0;
  std::uint64_t sfd = 0; // ns, 16 fraction bits
  std::uint8_t reserved24[16] = {};
  std::uint16_t time[3] = {}; // ns
  std::uint8_t reserved46[10] = {};
  std::uint32_t commandHead = 0;
  std::uint8_t reserved60[3] = {};
  std::uint8_t phase = 0;
};
#pragma pack(pop)

/// A field that the header has and a structure has not, or has elsewhere, is an error here.
#define DOWNBEAT_IS_IN(Entry, name, at, width)                                                                         \
  static_assert(offsetof(Entry, name) == at && sizeof(Entry::name) * 8 == width);
#define DOWNBEAT_IN_COMMAND(name, at, width) DOWNBEAT_IS_IN(Command, name, at, width)
#define DOWNBEAT_IN_NOTIFICATION(name, at, width) DOWNBEAT_IS_IN(Notification, name, at, width)
#define DOWNBEAT_IN_PATH_REPORT(name, at, width) DOWNBEAT_IS_IN(PathReport, name, at, width)
#define DOWNBEAT_IN_STAMP(name, at, width) DOWNBEAT_IS_IN(Stamp, name, at, width)
DOWNBEAT_HOST_COMMAND_FIELDS(DOWNBEAT_IN_COMMAND)
DOWNBEAT_HOST_NOTIFICATION_FIELDS(DOWNBEAT_IN_NOTIFICATION)
DOWNBEAT_HOST_PATH_REPORT_FIELDS(DOWNBEAT_IN_PATH_REPORT)
DOWNBEAT_HOST_STAMP_FIELDS(DOWNBEAT_IN_STAMP)
#undef DOWNBEAT_IN_COMMAND
#undef DOWNBEAT_IN_NOTIFICATION
#undef DOWNBEAT_IN_PATH_REPORT
#undef DOWNBEAT_IN_STAMP
#undef DOWNBEAT_IS_IN
static_assert(sizeof(Command) == DOWNBEAT_HOST_COMMAND_BYTES &&
              sizeof(Notification) == DOWNBEAT_HOST_NOTIFICATION_BYTES &&
              sizeof(PathReport) == DOWNBEAT_HOST_NOTIFICATION_BYTES &&
              sizeof(Stamp) == DOWNBEAT_HOST_NOTIFICATION_BYTES);
static_assert(offsetof(Stamp, flow) == offsetof(PathReport, flow) &&
              offsetof(Stamp, generation) == offsetof(PathReport, generation) &&
              offsetof(Stamp, commandHead) == DOWNBEAT_HOST_NOTIFICATION_COMMAND_HEAD_OFFSET &&
              offsetof(Stamp, phase) == offsetof(PathReport, phase));
static_assert(offsetof(PathReport, flow) == DOWNBEAT_HOST_NOTIFICATION_FLOW_OFFSET &&
              offsetof(PathReport, generation) == DOWNBEAT_HOST_NOTIFICATION_GENERATION_OFFSET &&
              offsetof(PathReport, phase) == DOWNBEAT_HOST_NOTIFICATION_PHASE_OFFSET);
/// The C interface has the core's states and paces.
static_assert(static_cast<int>(DOWNBEAT_PACE_EVEN) == DOWNBEAT_HOST_START_PACE_EVEN &&
              static_cast<int>(DOWNBEAT_PACE_BUCKET) == DOWNBEAT_HOST_START_PACE_BUCKET);
static_assert(static_cast<int>(DOWNBEAT_CLOSED) == DOWNBEAT_HOST_TCP_STATE_CLOSED &&
              static_cast<int>(DOWNBEAT_ESTABLISHED) == DOWNBEAT_HOST_TCP_STATE_ESTABLISHED &&
              static_cast<int>(DOWNBEAT_TIME_WAIT) == DOWNBEAT_HOST_TCP_STATE_TIME_WAIT);

/// Little-endian, of any number of bytes.
template <std::size_t Count> constexpr std::uint64_t wide(const std::uint8_t (&bytes)[Count]) {
  std::uint64_t value = 0;
  for (std::size_t i = Count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

/// 48 bits.
constexpr std::uint64_t wide(const std::uint16_t (&parts)[3]) {
  return parts[0] | std::uint64_t{parts[1]} << 16 | std::uint64_t{parts[2]} << 32;
}

enum class HostError : std::uint8_t {
  opcode = DOWNBEAT_HOST_ERROR_OPCODE,
  reserved = DOWNBEAT_HOST_ERROR_RESERVED,
  field = DOWNBEAT_HOST_ERROR_FIELD,
  flow = DOWNBEAT_HOST_ERROR_FLOW,
  notOpen = DOWNBEAT_HOST_ERROR_NOT_OPEN,
  owner = DOWNBEAT_HOST_ERROR_OWNER,
  generation = DOWNBEAT_HOST_ERROR_GENERATION,
  backwards = DOWNBEAT_HOST_ERROR_BACKWARDS,
  beyond = DOWNBEAT_HOST_ERROR_BEYOND,
  shutDown = DOWNBEAT_HOST_ERROR_SHUT_DOWN
};
enum class HostSource : std::uint8_t {
  command = DOWNBEAT_HOST_SOURCE_COMMAND,
  written = DOWNBEAT_HOST_SOURCE_WRITTEN,
  consumed = DOWNBEAT_HOST_SOURCE_CONSUMED,
  commandTail = DOWNBEAT_HOST_SOURCE_COMMAND_TAIL,
  notificationHead = DOWNBEAT_HOST_SOURCE_NOTIFICATION_HEAD,
  notificationHeadArm = DOWNBEAT_HOST_SOURCE_NOTIFICATION_HEAD_ARM
};

/// The core's CloseReason.
enum class CloseReason : std::uint8_t {
  none = DOWNBEAT_HOST_CLOSE_REASON_NONE,
  finished = DOWNBEAT_HOST_CLOSE_REASON_FINISHED,
  refused = DOWNBEAT_HOST_CLOSE_REASON_REFUSED,
  reset = DOWNBEAT_HOST_CLOSE_REASON_RESET,
  timedOut = DOWNBEAT_HOST_CLOSE_REASON_TIMED_OUT,
  aborted = DOWNBEAT_HOST_CLOSE_REASON_ABORTED,
  outOfResources = DOWNBEAT_HOST_CLOSE_REASON_OUT_OF_RESOURCES,
  addressInUse = DOWNBEAT_HOST_CLOSE_REASON_ADDRESS_IN_USE,
  memoryError = DOWNBEAT_HOST_CLOSE_REASON_MEMORY_ERROR,
  unreachable = DOWNBEAT_HOST_CLOSE_REASON_UNREACHABLE,
  unknownPolicy = DOWNBEAT_HOST_CLOSE_REASON_UNKNOWN_POLICY,
  policyArgument = DOWNBEAT_HOST_CLOSE_REASON_POLICY_ARGUMENT,
  inFlight = DOWNBEAT_HOST_CLOSE_REASON_IN_FLIGHT
};

} // namespace downbeat::format
