// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "measures.h"

#include <algorithm>
#include <stdexcept>

namespace latency {

namespace {

constexpr Time microsecond = 1'000'000'000;

/// A sample that waits for its second event: a place in a stream, and the time of the first.
struct Waiting {
  std::uint64_t position;
  Time since;
};
using Lines = std::vector<std::deque<Waiting>>; // by connection

/// All that wait for a byte before `end` have it.
void reached(Result &result, std::deque<Waiting> &line, std::uint64_t end, Time now) {
  for (; !line.empty() && line.front().position < end; line.pop_front()) {
    if (result.samples.empty()) result.begin = line.front().since;
    result.samples.push_back(now - line.front().since);
    result.end = now;
  }
}

} // namespace

Bench::Bench(Module &dut, const Setting &setting)
    : dut_(dut),
      setting_(setting),
      application_(setting.connections),
      peer_(setting.connections, static_cast<std::uint16_t>(setting.payload),
            static_cast<std::uint16_t>(setting.payload * windowSegments)),
      draw_(setting.seed) {
  dut.sample = [this](const Pins &pins, Time now) {
    events_ += pins.trace_valid;
    application_.sample(pins, now);
  };
  dut.drive = [this](Pins &pins) { application_.drive(pins); };
  dut.left = [this](std::span<const std::uint8_t> frame, Time) { peer_.take(frame); };
  dut.nextFrame = [this](Time) { return peer_.handshake(); };
  application_.open();
  constexpr int timeLimit = 100'000;
  for (int i = 0; i < timeLimit && !application_.established(); ++i) dut.step();
  if (!application_.established()) throw std::runtime_error("the connections did not open");
  const Time begin = dut.now();
  while (dut.now() < begin + 10 * microsecond) dut.step();
}

Time Bench::frameTime() const {
  constexpr std::size_t headers = 54, around = 24; // Ethernet, IP, TCP; preamble, SFD, FCS and gap
  return (std::max(setting_.payload + headers, fuzz::smallestFrame) + around) * byteTime;
}

Time Bench::gap() {
  const Time frame = frameTime();
  switch (setting_.load) {
  case Load::idle: return 2 * frame + 10 * microsecond + draw_.below(4 * microsecond);
  case Load::half: return frame + draw_.below(static_cast<std::uint32_t>(2 * frame / byteTime)) * byteTime;
  case Load::full: return frame;
  }
  return frame;
}

Result Bench::collect(Result &result) {
  const Time timeLimit = 1000 * microsecond;
  const std::uint64_t eventsBefore = events_;
  std::size_t had = 0;
  for (Time last = dut_.now(); result.samples.size() < setting_.samples; dut_.step()) {
    if (result.samples.size() > had) last = dut_.now();
    had = result.samples.size();
    if (dut_.now() > last + timeLimit)
      throw std::runtime_error("nothing for a millisecond behind sample " + std::to_string(had));
  }
  result.events = events_ - eventsBefore;
  result.samples.resize(setting_.samples);
  return result;
}

Result Bench::receive() {
  Result result;
  Lines lines(setting_.connections);
  std::vector<std::uint64_t> sent(setting_.connections);
  std::size_t frames = 0;
  Time due = 0;
  dut_.nextFrame = [&](Time sfd) -> std::optional<Bytes> {
    if (frames == setting_.samples || sfd < due) return std::nullopt;
    due = setting_.load == Load::full ? 0 : sfd + gap();
    const auto connection = static_cast<unsigned>(frames++ % setting_.connections);
    lines[connection].push_back({sent[connection], sfd});
    sent[connection] += setting_.payload;
    return peer_.data(connection, setting_.payload);
  };
  application_.onDelivered = [&](unsigned connection, std::uint64_t end, Time now) {
    reached(result, lines[connection], end, now);
  };
  return collect(result);
}

Result Bench::send() {
  Result result;
  Lines lines(setting_.connections);
  std::deque<unsigned> acknowledgments;
  std::size_t writes = 0;
  Time due = dut_.now();
  dut_.drive = [&](Pins &pins) {
    if (writes < setting_.samples && dut_.now() >= due) {
      application_.write(static_cast<unsigned>(writes++ % setting_.connections), setting_.payload);
      due += gap();
    }
    application_.drive(pins);
  };
  application_.onAccepted = [&](unsigned connection, std::uint64_t position, Time now) {
    lines[connection].push_back({position, now});
  };
  dut_.left = [&](std::span<const std::uint8_t> frame, Time sfd) {
    const auto data = peer_.take(frame);
    if (!data) return;
    reached(result, lines[data->connection], data->position + data->length, sfd);
    acknowledgments.push_back(data->connection);
  };
  dut_.nextFrame = [&](Time) -> std::optional<Bytes> {
    if (acknowledgments.empty()) return std::nullopt;
    const unsigned connection = acknowledgments.front();
    acknowledgments.pop_front();
    return peer_.acknowledge(connection);
  };
  return collect(result);
}

Result Bench::turn() {
  Result result;
  Lines lines(setting_.connections);
  struct Acknowledgment {
    unsigned connection;
    std::uint64_t position; // acknowledgment number
    Bytes frame;
  };
  std::deque<Acknowledgment> acknowledgments;
  Time due = 0;
  bool windowsFull = false; // all have sent their first windows: from then on only ACKs let segments go
  dut_.drive = [&](Pins &pins) {
    // The send buffer always has more than the window.
    for (unsigned connection = 0; connection < setting_.connections; ++connection)
      if (application_.written(connection) < peer_.received(connection) + 4 * windowSegments * setting_.payload)
        application_.write(connection, windowSegments * setting_.payload);
    application_.drive(pins);
  };
  dut_.left = [&](std::span<const std::uint8_t> frame, Time sfd) {
    const auto data = peer_.take(frame);
    if (!data) return;
    if (data->length != setting_.payload) throw std::runtime_error("a segment is not full");
    reached(result, lines[data->connection], data->position + data->length, sfd);
    acknowledgments.push_back({data->connection, data->position + data->length, peer_.acknowledge(data->connection)});
  };
  dut_.nextFrame = [&](Time sfd) -> std::optional<Bytes> {
    windowsFull = windowsFull || acknowledgments.size() == std::size_t{windowSegments} * setting_.connections;
    if (!windowsFull || acknowledgments.empty() || sfd < due) return std::nullopt;
    due = sfd + gap();
    const Acknowledgment next = std::move(acknowledgments.front());
    acknowledgments.pop_front();
    lines[next.connection].push_back({next.position + (windowSegments - 1) * setting_.payload, sfd});
    return next.frame;
  };
  return collect(result);
}

} // namespace latency
