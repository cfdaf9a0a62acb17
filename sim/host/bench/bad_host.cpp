// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "bad_host.h"

#include <algorithm>
#include <cstring>

namespace downbeat::bench {

namespace {

using format::HostSource;
using format::Opcode;

constexpr std::size_t batch = 6; // below the places that errors of a port have
constexpr int acknowledgedSteps = 6; // from a doorbell until its data is acknowledged

struct Field {
  const char *name;
  std::size_t offset, bytes;
};
#define FIELD(name, at, bits) Field{#name, at, bits / 8},
constexpr Field fields[] = {DOWNBEAT_HOST_COMMAND_FIELDS(FIELD)};
#undef FIELD

} // namespace

BadHost::BadHost(Machine &machine, std::uint32_t bad, const format::Notification &own,
                 const format::Notification &others, std::uint32_t seed)
    : machine_(machine),
      bad_(bad),
      own_(own),
      others_(others),
      written_(own.written),
      consumed_(own.consumed),
      received_(own.received),
      acknowledged_(own.acknowledged),
      draw_(seed) {
  host().reported.clear();
}

void BadHost::data(HostSource source, std::uint32_t sequence, std::uint32_t reference) {
  const Expected expected = ofData(source, sequence, reference);
  if (expected.quiet && !expected.errors.empty()) return; // it depends on what has been acknowledged meanwhile
  const bool writes = source == HostSource::written;
  sent_.push_back({source, sequence, 0, expected, "reference " + std::to_string(reference)});
  host().doorbell(writes ? format::writtenSequence : format::consumedSequence, sequence, reference);
  if (expected.quiet) (writes ? written_ : consumed_) = sequence;
}

void BadHost::index(HostSource source, std::uint32_t value) {
  const bool ofTail = source == HostSource::commandTail;
  // Only what cannot be: a good index is what the rings themselves write. What the core has done meanwhile moves the
  // limit, by a ring at most.
  const std::uint32_t least = ofTail ? host().commands.tail() : host().notifications.head();
  const std::size_t size = ofTail ? host().port.rings().commands.size() : host().notifications.size();
  const Expected expected = ofIndex(value, least, least + static_cast<std::uint32_t>(size));
  if (expected.quiet) return;
  sent_.push_back({source, value, 0, expected, ""});
  host().port.ring(ofTail                                      ? format::commandTail
                   : source == HostSource::notificationHeadArm ? format::notificationHeadArm
                                                               : format::notificationHead,
                   value);
}

void BadHost::command(format::Command command) {
  command.request = request_ = static_cast<std::uint16_t>(0x4000 | (request_ + 1));
  sent_.push_back({HostSource::command, host().commands.tail(), command.request, ofCommand(command),
                   "opcode " + std::to_string(static_cast<int>(command.opcode))});
  host().command(command);
}

void BadHost::fail(const Sent &sent, const std::string &got) {
  if (++wrong_ == 1)
    firstWrong_ = "source " + std::to_string(static_cast<int>(sent.source)) + " value " + std::to_string(sent.value) +
                  " " + sent.words + ": " + got;
}

void BadHost::settle() {
  const std::size_t wanted =
      static_cast<std::size_t>(std::ranges::count_if(sent_, [](const Sent &each) { return !each.expected.quiet; }));
  const std::uint64_t end = machine_.model.now() + DOWNBEAT_NANOSECONDS(1'000'000);
  // One too many would be among those of the next.
  while (host().reported.size() < wanted && machine_.model.now() < end) machine_.step();
  // Data of a good doorbell is acknowledged, which moves the limit of the next.
  const bool moves = std::ranges::any_of(
      sent_, [](const Sent &each) { return each.expected.quiet && each.source == HostSource::written; });
  for (int each = 0; moves && each < acknowledgedSteps; ++each) machine_.step();
  // Those of one kind keep their order; commands and doorbells have none between them.
  for (const Sent &sent : sent_) {
    if (sent.expected.quiet) continue;
    const auto mine = std::ranges::find_if(host().reported, [&](const format::Notification &each) {
      if (sent.source == HostSource::command) return each.request == sent.request;
      return each.kind == format::Kind::error && each.state == static_cast<std::uint8_t>(sent.source) &&
             each.value == sent.value;
    });
    if (mine == host().reported.end()) {
      fail(sent, "no answer");
      continue;
    }
    ++answered_;
    const bool isError = mine->kind == format::Kind::error;
    const auto error = static_cast<format::HostError>(mine->reason);
    if (isError == sent.expected.answer || (isError && !sent.expected.errors.contains(error)))
      fail(sent, "kind " + std::to_string(static_cast<int>(mine->kind)) + " reason " + std::to_string(mine->reason));
    host().reported.erase(mine);
  }
  if (!host().reported.empty()) {
    fail({static_cast<HostSource>(host().reported.front().state), host().reported.front().value, 0, {}, ""},
         "an answer to nothing");
    host().reported.clear();
  }
  sent_.clear();
  acknowledged_ = host().statuses.at(own_.flow).acknowledged;
}

std::uint64_t BadHost::systematic(const std::function<void()> &beside) {
  std::uint64_t count = 0;
  const auto one = [&](auto &&send) {
    send();
    ++count;
    settle();
    beside();
  };
  const std::uint32_t own = own_.flow | std::uint32_t{own_.generation} << 16;
  const std::uint32_t others = others_.flow | std::uint32_t{others_.generation} << 16;
  const std::uint32_t stale = own_.flow | ((own_.generation - 1u) & 0xff) << 16;
  for (const HostSource source : {HostSource::written, HostSource::consumed}) {
    const bool writes = source == HostSource::written;
    const std::uint32_t now = writes ? written_ : consumed_;
    const std::uint32_t limit = writes ? acknowledged_ + machine_.geometry.sendBytes : received_;
    for (const std::uint32_t sequence : {0u, UINT32_MAX, now - 1, limit + 1, now + (1u << 31), now})
      for (const std::uint32_t reference : {own, others, stale, 0u, UINT32_MAX, own | 1u << 24, own | 0x8000u, 0xffffu})
        one([&] { data(source, sequence, reference); });
  }
  for (const HostSource source :
       {HostSource::commandTail, HostSource::notificationHead, HostSource::notificationHeadArm})
    for (const std::uint32_t value : {0u, UINT32_MAX, 1u << 31})
      for (const std::uint32_t base : {0u, host().commands.tail(), host().notifications.head()})
        one([&] { index(source, base + value); });
  // Each field of each command: nothing, everything, the top bit, what is of others.
  for (int opcode = 0; opcode < 11; ++opcode)
    for (const Field &field : fields)
      for (const int kind : {0, 1, 2}) {
        format::Command entry = openCommand(static_cast<Opcode>(opcode), 7);
        entry.flow = others_.flow; // a good command of one's own would end the connection
        entry.generation = others_.generation;
        auto *place = reinterpret_cast<std::uint8_t *>(&entry) + field.offset;
        if (kind < 2) std::memset(place, kind == 0 ? 0 : 0xff, field.bytes);
        if (kind == 2) place[field.bytes - 1] ^= 0x80;
        if (entry.opcode == Opcode::open) continue; // below: with a listener of nobody
        one([&] { command(entry); });
      }
  for (const std::uint8_t generation : {std::uint8_t(own_.generation - 1), std::uint8_t(own_.generation + 1)})
    for (const Opcode opcode : {Opcode::shutdown, Opcode::close, Opcode::abort, Opcode::setPolicies, Opcode::start,
                                Opcode::stamps, Opcode::setTimes}) {
      format::Command entry = openCommand(opcode, 0);
      entry.flow = own_.flow;
      entry.generation = generation;
      one([&] { command(entry); });
    }
  return count;
}

std::uint32_t BadHost::drawn(std::initializer_list<std::uint32_t> likely) {
  if (draw_() % 4 == 0) return draw_();
  return *(likely.begin() + draw_() % likely.size()) + (draw_() % 3 == 0 ? draw_() % 5 - 2 : 0);
}

format::Command BadHost::randomCommand() {
  format::Command command = openCommand(static_cast<Opcode>(draw_() % 11), static_cast<std::uint16_t>(7 + draw_() % 3));
  command.flow = static_cast<std::uint16_t>(drawn({own_.flow, others_.flow, machine_.geometry.flows}));
  command.generation = static_cast<std::uint8_t>(drawn({own_.generation, others_.generation}));
  auto *bytes = reinterpret_cast<std::uint8_t *>(&command);
  for (std::uint32_t flips = draw_() % 3; flips > 0; --flips)
    bytes[4 + draw_() % (sizeof command - 4)] ^= static_cast<std::uint8_t>(1u << draw_() % 8);
  // What would go through and end the connection, or open others without end, is spoilt.
  const bool ends = command.flow == own_.flow && command.generation == own_.generation &&
                    (command.opcode < Opcode::setPolicies || command.opcode == Opcode::setTimes);
  if (command.opcode == Opcode::open || ends) command.reserved90[draw_() % sizeof command.reserved90] = 1;
  return command;
}

void BadHost::randomOne() {
  const std::uint32_t own = own_.flow | std::uint32_t{own_.generation} << 16;
  const std::uint32_t others = others_.flow | std::uint32_t{others_.generation} << 16;
  switch (draw_() % 6) {
  case 0: return command(randomCommand());
  case 1: return index(HostSource::commandTail, drawn({host().commands.tail() + 300, host().commands.tail() - 1}));
  case 2:
    return index(draw_() % 2 == 0 ? HostSource::notificationHead : HostSource::notificationHeadArm,
                 drawn({host().notifications.head() + 100, host().notifications.head() - 1}));
  default: {
    const bool writes = draw_() % 2 == 0;
    const std::uint32_t now = writes ? written_ : consumed_;
    const std::uint32_t limit = writes ? acknowledged_ + machine_.geometry.sendBytes : received_;
    data(writes ? HostSource::written : HostSource::consumed, drawn({now, now - 1, limit, limit + 1}),
         drawn({own, own, own, others, own | 1u << 24, own + (1u << 16)}));
  }
  }
}

std::uint64_t BadHost::random(std::uint64_t count, const std::function<void()> &beside) {
  for (std::uint64_t done = 0; done < count; done += batch) {
    for (std::size_t each = 0; each < batch; ++each) randomOne();
    settle();
    beside();
  }
  return count;
}

std::uint64_t BadHost::rings() {
  const std::uint32_t block = format::portBlocks + bad_ * format::portBlockBytes;
  const auto status = [&] { return machine_.model.read(block + format::portStatus); };
  struct Wrong {
    std::uint32_t offset, value;
  };
  std::uint64_t count = 0;
  for (const Wrong &each : {Wrong{format::commandBaseLow, 64}, Wrong{format::notificationBaseLow, 2048},
                            Wrong{format::commandSizeLog2, 0}, Wrong{format::commandSizeLog2, 16},
                            Wrong{format::notificationSizeLog2, 0}, Wrong{format::notificationSizeLog2, UINT32_MAX}}) {
    stopPort(machine_.model, bad_);
    const std::uint32_t before = machine_.model.read(block + each.offset);
    machine_.model.write(block + each.offset, each.value);
    machine_.model.write(block + format::portControl, 1);
    for (int steps = 0; steps < 5; ++steps) machine_.step();
    ++count;
    if ((status() & (format::portRunning | format::portRefused)) != format::portRefused)
      fail({HostSource::command, each.value, 0, {}, "offset " + std::to_string(each.offset)}, "a bad ring was started");
    machine_.model.write(block + format::portControl, 0);
    machine_.model.write(block + each.offset, before);
  }
  // Behind the memory: the memory refuses, and the port stops. Over the command ring: what the core then reads is no
  // command, and it says so there.
  for (const std::uint32_t high : {1u, 0u}) {
    machine_.model.write(block + format::notificationBaseHigh, high);
    if (high == 0)
      machine_.model.write(block + format::notificationBaseLow, machine_.model.read(block + format::commandBaseLow));
    machine_.model.write(block + format::portControl, 1);
    machine_.port(bad_).port.ring(format::commandTail, 4);
    for (int steps = 0; steps < 50; ++steps) machine_.step();
    ++count;
    if (high == 1 && (status() & format::portStopped) == 0)
      fail({HostSource::command, high, 0, {}, "a ring behind the memory"}, "the port has not stopped");
    stopPort(machine_.model, bad_);
  }
  machine_.start(bad_);
  return count;
}

} // namespace downbeat::bench
