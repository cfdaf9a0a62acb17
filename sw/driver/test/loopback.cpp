// SPDX-License-Identifier: BSD-2-Clause-Patent
// Registers, doorbells and commands of the loopback model.
#include "loopback.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "downbeat_host.h"
#include "downbeat_policies.h"
#include "downbeat_registers.h"

namespace downbeat::loopback {

int Loopback::read(std::uint32_t address, std::uint32_t &value) {
  const std::map<std::uint32_t, std::uint32_t> fixed = {
      {DOWNBEAT_REG_MAGIC, DOWNBEAT_MAGIC},
      {DOWNBEAT_REG_VERSION, version},
      {DOWNBEAT_REG_FLOWS, flows},
      {DOWNBEAT_REG_LISTENERS, flows},
      {DOWNBEAT_REG_SEND_BUFFER_BYTES, ringBytes},
      {DOWNBEAT_REG_RECEIVE_BUFFER_BYTES, ringBytes},
      {DOWNBEAT_REG_MTU, mtu},
      {DOWNBEAT_REG_OWN_MSS, mss},
      {DOWNBEAT_REG_CLOCK_HZ, 125'000'000},
      {hostPorts, ports},
      {hostFormat, number},
      {formatHash, DOWNBEAT_HOST_FORMAT_HASH},
      {policyHash, DOWNBEAT_POLICY_HASH},
  };
  if (address == DOWNBEAT_REG_STATUS) return read(DOWNBEAT_REG_CONTROL, value); // bit 0: it runs, as it is enabled
  if (const auto found = fixed.find(address); found != fixed.end()) return value = found->second, 0;
  if (address >= portBlocks && address < portBlocks + ports * portBlockBytes) {
    const HostPort &port = ports_[(address - portBlocks) / portBlockBytes];
    const std::uint32_t offset = (address - portBlocks) % portBlockBytes;
    value = offset == portStatus ? (port.running ? portRunning : 0) : port.block[offset / 4];
    return 0;
  }
  if (address >= doorbellPages && address < doorbellPages + ports * pageBytes) {
    const std::uint32_t number = (address - doorbellPages) / pageBytes, offset = address % pageBytes;
    const HostPort &port = ports_[number];
    if (offset == commandHead) {
      fetch(number); // an access takes time
      return value = port.head, 0;
    }
    if (offset == notificationTail) return value = port.written, 0;
    return -1;
  }
  if (address >= setupPage) return -1;
  value = registers_[address];
  return 0;
}

void Loopback::write(std::uint32_t address, std::uint32_t value) {
  if (address >= doorbellPages) {
    if (address < doorbellPages + ports * pageBytes)
      doorbell((address - doorbellPages) / pageBytes, address % pageBytes, value);
  } else if (address >= portBlocks) {
    const std::uint32_t port = (address - portBlocks) / portBlockBytes,
                        offset = (address - portBlocks) % portBlockBytes;
    if (port >= ports) return;
    ports_[port].block[offset / 4] = value;
    if (offset == portControl) control(port, (value & 1) != 0);
  } else {
    registers_[address] = value;
    if (address == DOWNBEAT_REG_CONTROL && (value & DOWNBEAT_REG_CONTROL_ENABLE_MASK) == 0) {
      for (Flow &flow : flows_) flow.open = false;
      listeners_.clear();
      for (HostPort &port : ports_) port.running = false;
    }
  }
}

void Loopback::control(std::uint32_t number, bool enable) {
  HostPort &port = ports_[number];
  port.running = enable;
  port.head = port.tail = port.written = port.read = 0;
  port.armed = false;
  port.waiting.clear();
  for (Flow &flow : flows_)
    if (flow.used && flow.port == number) flow.changed = flow.announced = true;
}

void Loopback::doorbell(std::uint32_t number, std::uint32_t offset, std::uint32_t value) {
  HostPort &port = ports_[number];
  if (!port.running) return;
  const auto within = [&](std::uint32_t least, std::uint32_t most, HostSource source) {
    if (value - least <= most - least) return true;
    error(number, source, HostError::beyond, value, 0);
    return false;
  };
  switch (offset) {
  case writtenSequence:
  case consumedSequence: port.halves[offset / 4] = value; break;
  case writtenFlow: data(number, HostSource::written, port.halves[0], value); break;
  case consumedFlow: data(number, HostSource::consumed, port.halves[2], value); break;
  case commandTail:
    if (within(port.tail, port.head + sizeOf(port, commandSizeLog2), HostSource::commandTail)) port.tail = value;
    break;
  case notificationHead:
  case notificationHeadArm:
    if (within(port.read, port.written, HostSource::notificationHead)) port.read = value;
    port.armed = offset == notificationHeadArm;
    flush(number);
    break;
  default: break;
  }
}

Flow *Loopback::flowOf(std::uint32_t number, HostSource source, std::uint32_t value, std::uint16_t request,
                       std::uint32_t flow, std::uint32_t generation) {
  const auto refuse = [&](HostError cause) {
    error(number, source, cause, value, request, flow, generation);
    return nullptr;
  };
  if (flow >= flows) return refuse(HostError::flow);
  Flow &found = flows_[flow];
  if (!found.owned) return refuse(HostError::notOpen);
  if (found.port != number) return refuse(HostError::owner);
  if (found.generation != generation) return refuse(HostError::generation);
  return &found;
}

void Loopback::data(std::uint32_t number, HostSource source, std::uint32_t sequence, std::uint32_t reference) {
  const std::uint32_t index = reference & 0xffff, generation = reference >> 16 & 0xff;
  Flow *flow = flowOf(number, source, sequence, 0, index, generation);
  if (flow == nullptr) return;
  const bool sends = source == HostSource::written;
  const std::uint32_t before = sends ? flow->written : flow->consumed;
  const std::uint32_t most = sends ? flow->acknowledged + ringBytes : flow->received - (flow->peerFin ? 1 : 0);
  const auto refuse = [&](HostError cause) { error(number, source, cause, sequence, 0, index, generation); };
  if (static_cast<std::int32_t>(sequence - before) < 0) return refuse(HostError::backwards);
  if (static_cast<std::int32_t>(sequence - most) > 0) return refuse(HostError::beyond);
  if (sends && flow->finWanted && sequence != before) return refuse(HostError::shutDown);
  if (sends && (reference >> 24 & 1) != 0 && sequence != before) {
    flow->urgentWritten = true;
    flow->urgentEnd = sequence;
  }
  if (!sends && static_cast<std::int32_t>(sequence - flow->peerUrgentEnd) >= 0) flow->urgentReceived = false;
  (sends ? flow->written : flow->consumed) = sequence;
}

void Loopback::fetch(std::uint32_t number) {
  HostPort &port = ports_[number];
  if (!port.running || port.head == port.tail) return;
  Command entry;
  std::memcpy(&entry, memory + baseOf(port, commandBaseLow) + port.head % sizeOf(port, commandSizeLog2) * sizeof entry,
              sizeof entry);
  command(number, entry);
  ++port.head;
}

void Loopback::command(std::uint32_t number, const Command &command) {
  switch (command.opcode) {
  case Opcode::open: return open(number, command);
  case Opcode::listen:
    if (listeners_.contains(command.localPort)) return answer(number, command.request, CloseReason::addressInUse);
    listeners_[command.localPort] = number;
    return answer(number, command.request, CloseReason::none);
  case Opcode::unlisten: {
    const auto found = listeners_.find(command.localPort);
    if (found != listeners_.end() && found->second != number)
      return error(number, HostSource::command, HostError::owner, ports_[number].head, command.request);
    if (found != listeners_.end()) listeners_.erase(found);
    return answer(number, command.request, CloseReason::none);
  }
  case Opcode::shutdown:
  case Opcode::close:
  case Opcode::abort:
  case Opcode::setPolicies:
  case Opcode::start:
  case Opcode::stamps:
  case Opcode::setTimes: {
    Flow *flow =
        flowOf(number, HostSource::command, ports_[number].head, command.request, command.flow, command.generation);
    if (flow == nullptr) return;
    if (command.opcode == Opcode::setPolicies) return answer(number, command.request, CloseReason::none);
    if (command.opcode == Opcode::start)
      return answer(number, command.request,
                    flow->open && flow->written == flow->acknowledged ? CloseReason::none : CloseReason::inFlight);
    if (command.opcode == Opcode::setTimes) return;
    if (command.opcode == Opcode::stamps) {
      flow->stamped = true;
      return;
    }
    flow->finWanted = true;
    if (command.opcode == Opcode::shutdown) return;
    flow->owned = false;
    if (!flow->open) {
      ++flow->generation;
      return;
    }
    const bool unread = flow->consumed != flow->received - (flow->peerFin ? 1 : 0);
    if (command.opcode == Opcode::abort || unread) {
      Flow &peer = flows_[flow->peer];
      if (peer.open) end(peer, CloseReason::reset);
      end(*flow, CloseReason::aborted);
    }
    return;
  }
  default:
    error(number, HostSource::command, HostError::opcode, ports_[number].head, command.request, command.flow,
          command.generation);
  }
}

void Loopback::open(std::uint32_t number, const Command &command) {
  const auto listener = listeners_.find(command.remotePort);
  if (command.remoteIp != registers_[DOWNBEAT_REG_LOCAL_IP] && command.remoteIp != otherIp)
    return answer(number, command.request, CloseReason::unreachable);
  if (listener == listeners_.end()) return answer(number, command.request, CloseReason::refused);
  // Standard slow start and Reno, number 0 each, take no argument. What other policies take the model does not know.
  if ((command.startup == 0 && (command.startupArgument[0] | command.startupArgument[1]) != 0) ||
      (command.steady == 0 && (command.steadyArgument[0] | command.steadyArgument[1]) != 0))
    return answer(number, command.request, CloseReason::policyArgument);
  std::vector<std::uint32_t> free;
  // In turn, so that flows that have ended stay for a while.
  for (std::uint32_t ahead = 0; ahead < flows && free.size() < 2; ++ahead)
    if (const std::uint32_t each = (next_ + ahead) % flows; !flows_[each].open && !flows_[each].owned)
      free.push_back(each);
  if (free.size() < 2) return answer(number, command.request, CloseReason::outOfResources);
  next_ = (free[1] + 1) % flows;
  const std::uint16_t localPort =
      command.localPort != 0 ? command.localPort : static_cast<std::uint16_t>(40000 + free[0]);
  for (std::uint32_t side = 0; side < 2; ++side) {
    Flow &flow = flows_[free[side]];
    const std::uint8_t generation = flow.generation;
    flow = {};
    flow.generation = generation;
    flow.used = flow.open = flow.owned = flow.changed = true;
    flow.passiveSide = side == 1;
    flow.state = DOWNBEAT_ESTABLISHED;
    flow.port = side == 0 ? number : listener->second;
    flow.peer = free[1 - side];
    flow.request = side == 0 ? command.request : 0;
    flow.remotePort = side == 0 ? command.remotePort : localPort;
    flow.localPort = side == 0 ? localPort : command.remotePort;
    flow.begin = flow.acknowledged = flow.written = flow.reported = sequence_ + side * 77;
    flow.consumed = flow.received = sequence_ + (1 - side) * 77;
  }
  sequence_ += 1000;
}

} // namespace downbeat::loopback
