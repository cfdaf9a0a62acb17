// SPDX-License-Identifier: BSD-2-Clause-Patent
// The response that each value of a host must get.
#include "bad_host.h"
#include "downbeat_layout.h"

namespace downbeat::bench {

namespace {

using format::HostError;

/// Bits of a command's field that this build has, by the layout of the core's own command.
struct Width {
  std::size_t offset, bytes; // in the entry
  unsigned used; // bits that may be set at all
  unsigned built; // bits that this build takes
};

#define WIDTH(field, used, built)                                                                                      \
  Width { offsetof(format::Command, field), sizeof(format::Command::field), used, built }
const Width widths[] = {
    WIDTH(options, 8, 8),
    WIDTH(startup, 8, DOWNBEAT_COMMAND_PARAMETERS_STARTUP_WIDTH),
    WIDTH(steady, 8, DOWNBEAT_COMMAND_PARAMETERS_STEADY_WIDTH),
    WIDTH(initialWindow, 16, DOWNBEAT_COMMAND_PARAMETERS_INITIAL_WINDOW_WIDTH),
    WIDTH(startupArgument, 128, DOWNBEAT_COMMAND_PARAMETERS_STARTUP_ARGUMENT_WIDTH),
    WIDTH(steadyArgument, 128, DOWNBEAT_COMMAND_PARAMETERS_STEADY_ARGUMENT_WIDTH),
    WIDTH(spacing, 56, DOWNBEAT_COMMAND_PARAMETERS_SPACING_WIDTH),
    WIDTH(differentiatedServices, 6, 6),
    WIDTH(pace, 2, DOWNBEAT_COMMAND_PARAMETERS_START_PACE_WIDTH),
    WIDTH(paceGap, 64, DOWNBEAT_COMMAND_PARAMETERS_START_GAP_WIDTH),
    WIDTH(validUntil, 48, DOWNBEAT_COMMAND_PARAMETERS_START_UNTIL_WIDTH),
    WIDTH(startWindow, 16, DOWNBEAT_COMMAND_PARAMETERS_START_WINDOW_WIDTH),
    WIDTH(roundTrip, 36, DOWNBEAT_COMMAND_PARAMETERS_START_ROUND_TRIP_WIDTH),
    WIDTH(noPrr, 1, 1),
    WIDTH(reserved71, 0, 0),
    WIDTH(reserved90, 0, 0),
    WIDTH(reserved104, 0, 0),
};
#undef WIDTH

/// Whether a bit from `first` on is set in these bytes.
bool setFrom(const std::uint8_t *bytes, std::size_t length, unsigned first) {
  for (unsigned bit = first; bit < 8 * length; ++bit)
    if ((bytes[bit / 8] >> bit % 8 & 1) != 0) return true;
  return false;
}

std::int32_t ahead(std::uint32_t later, std::uint32_t earlier) { return static_cast<std::int32_t>(later - earlier); }

} // namespace

Expected BadHost::ofData(format::HostSource source, std::uint32_t sequence, std::uint32_t reference) const {
  const std::uint32_t flow = reference & 0xffff, generation = reference >> 16 & 0xff;
  const bool writes = source == format::HostSource::written;
  if ((reference >> 24 & (writes ? 0xfe : 0xff)) != 0) return {{HostError::reserved}}; // the last byte may be urgent
  if (flow >= machine_.geometry.flows) return {{HostError::flow}};
  if (flow == others_.flow) return {{HostError::owner}};
  if (flow != own_.flow) return {{HostError::notOpen, HostError::owner}};
  if (generation != own_.generation) return {{HostError::generation}};
  if (ahead(sequence, writes ? written_ : consumed_) < 0) return {{HostError::backwards}};
  const std::uint32_t limit = writes ? acknowledged_ + machine_.geometry.sendBytes : received_;
  // The peer may have acknowledged more than the last look has seen, up to all that was written.
  const std::uint32_t highest = writes ? written_ + machine_.geometry.sendBytes : received_;
  if (ahead(sequence, limit) > 0) return {.errors = {HostError::beyond}, .quiet = ahead(sequence, highest) <= 0};
  return {.errors = {}, .quiet = true};
}

Expected BadHost::ofIndex(std::uint32_t value, std::uint32_t least, std::uint32_t most) const {
  if (ahead(value, least) < 0) return {{HostError::backwards}};
  if (ahead(value, most) > 0) return {{HostError::beyond}};
  return {.errors = {}, .quiet = true};
}

Expected BadHost::ofCommand(const format::Command &command) const {
  using enum format::Opcode;
  const auto opcode = command.opcode;
  if (opcode == none || opcode > setTimes) return {{HostError::opcode}};
  const auto *bytes = reinterpret_cast<const std::uint8_t *>(&command);
  for (const Width &width : widths)
    if (setFrom(bytes + width.offset, width.bytes, width.used)) return {{HostError::reserved}};
  for (const Width &width : widths)
    if (setFrom(bytes + width.offset, width.bytes, width.built)) return {{HostError::field}};
  if (command.pace > DOWNBEAT_HOST_START_PACE_BUCKET) return {{HostError::field}};
  const bool hasStart =
      (command.startWindow | command.pace | command.paceGap | command.validUntil | command.roundTrip) != 0;
  if (opcode == listen && hasStart) return {{HostError::field}};
  if (opcode == open || opcode == listen || opcode == unlisten) return {.errors = {}, .answer = true};
  if (command.flow >= machine_.geometry.flows) return {{HostError::flow}};
  if (command.flow == others_.flow) return {{HostError::owner}};
  if (command.flow != own_.flow) return {{HostError::notOpen, HostError::owner}};
  if (command.generation != own_.generation) return {{HostError::generation}};
  const bool answers = opcode == setPolicies || opcode == start;
  return {.errors = {}, .quiet = !answers, .answer = answers};
}

} // namespace downbeat::bench
