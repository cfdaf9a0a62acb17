// SPDX-License-Identifier: BSD-2-Clause-Patent
// The host format as C++: registers, doorbells, command and notification entries. Numbers are little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace downbeat::format {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t number = 1; // of this format

// ---- address space

inline constexpr std::uint32_t setupPage = 0x1000, doorbellPages = 0x2000, pageBytes = 0x1000;

enum Setup : std::uint32_t {
  hostPorts = setupPage + 0x000,
  hostFormat = setupPage + 0x004,
  formatHash = setupPage + 0x008,
  policyHash = setupPage + 0x00c,
  payloadBaseLow = setupPage + 0x010,
  payloadBaseHigh = setupPage + 0x014,
  portBlocks = setupPage + 0x100
};
inline constexpr std::uint32_t portBlockBytes = 0x40;

enum PortBlock : std::uint32_t {
  portControl = 0x00,
  portStatus = 0x04,
  commandBaseLow = 0x08,
  commandBaseHigh = 0x0c,
  commandSizeLog2 = 0x10,
  notificationBaseLow = 0x14,
  notificationBaseHigh = 0x18,
  notificationSizeLog2 = 0x1c,
  holdOff = 0x20,
  portErrors = 0x24
};
inline constexpr std::uint32_t portRunning = 1, portRefused = 2, portStopped = 4;

enum Doorbell : std::uint32_t {
  writtenSequence = 0x00,
  writtenFlow = 0x04,
  consumedSequence = 0x08,
  consumedFlow = 0x0c,
  commandTail = 0x10,
  notificationHead = 0x14,
  notificationHeadArm = 0x18,
  commandHead = 0x20,
  notificationTail = 0x24
};

// ---- entries

enum class Opcode : std::uint8_t { none, open, listen, unlisten, shutdown, close, abort, setPolicies, start };
enum CommandOption : std::uint8_t { noDelay = 1, nssr = 2, ecn = 4 };

#pragma pack(push, 1)
struct Command {
  Opcode opcode = Opcode::none;
  std::uint8_t options = 0;
  std::uint16_t request = 0;
  std::uint16_t flow = 0;
  std::uint8_t generation = 0, reserved7 = 0;
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
  std::uint8_t reserved90[38] = {};
};

enum class Kind : std::uint8_t { none, status, answer, error, pathReport };
enum StatusFlag : std::uint8_t { passive = 1, peerFinished = 2, urgent = 4, struggling = 8 };

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
  std::uint32_t value = 0, errorsUntold = 0, commandHead = 0;
  std::uint8_t reserved60[3] = {};
  std::uint8_t phase = 0;
};

struct PathReport {
  Kind kind{};
  std::uint8_t state = 0; // PathPhase in bits 1 to 0, 2 lossInAvoidance, 3 closed
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
  std::uint32_t commandHead = 0;
  std::uint8_t acks[3] = {};
  std::uint8_t phase = 0;
};
  std::uint8_t reserved1 = 0;
  std::uint16_t request = 0;
  std::uint16_t flow = 0;
  std::uint8_t generation = 0, reserved7 = 0;
  std::uint32_t cwnd = 0, ssthresh = 0, cwndBeforeLoss = 0, awnd = 0; // bytes
  std::uint16_t smoothedRtt[3] = {}, smallestRtt[3] = {}, lossTime[3] = {}; // ns
  std::uint16_t ackedBytes[3] = {};
  std::uint32_t acks = 0;
  std::uint8_t lossEvents = 0, restarts = 0, phaseOfConnection = 0, reserved55 = 0;
  std::uint32_t commandHead = 0;
  std::uint8_t reserved60[3] = {};
  std::uint8_t phase = 0;
};
#pragma pack(pop)

static_assert(sizeof(Command) == 128 && offsetof(Command, startupArgument) == 24 && offsetof(Command, spacing) == 56 &&
              offsetof(Command, paceGap) == 72);
static_assert(sizeof(Notification) == 64 && offsetof(Notification, remoteIp) == 32 &&
              offsetof(Notification, value) == 48 && offsetof(Notification, phase) == 63);
static_assert(sizeof(PathReport) == 64 && offsetof(PathReport, smallestRtt) == 21 && offsetof(PathReport, time) == 40 &&
              offsetof(PathReport, commandHead) == 56 && offsetof(PathReport, acks) == 60);

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
  opcode = 1,
  reserved,
  field,
  flow,
  notOpen,
  owner,
  generation,
  backwards,
  beyond,
  shutDown
};
enum class HostSource : std::uint8_t { command, written, consumed, commandTail, notificationHead, partialWrite };

/// The core's CloseReason.
enum class CloseReason : std::uint8_t {
  none,
  finished,
  refused,
  reset,
  timedOut,
  aborted,
  outOfResources,
  addressInUse,
  memoryError,
  unreachable,
  unknownPolicy,
  policyArgument
};

} // namespace downbeat::format
