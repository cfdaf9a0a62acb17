// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "iperf3.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace {

constexpr std::size_t lengthBytes = 4; // before JSON, most significant first
constexpr std::size_t pieceBytes = 16384;

} // namespace

nlohmann::json Iperf3::details() const {
  auto streams = nlohmann::json::array();
  for (const Stream &stream : streams_)
    streams.push_back({{"id", stream.id}, {"sent", stream.sent}, {"received", stream.received}});
  return {{"streams", streams}, {"seconds", seconds()}, {"peer", peerResults_}};
}

void Iperf3::advance() try {
  if (shown_ != 0 && step_ + 1 < steps_.size()) { // in the last step the peer may have gone
    downbeat_sim_info state;
    if (!check(downbeat_sim_connection_info(device_, shown_, &state), "control connection") ||
        !check(state.error, "control connection"))
      return;
    receive(shown_, in_);
  }
  while (step_ < steps_.size() && failure_.empty() && steps_[step_]()) ++step_;
  if (!out_.empty() && send(shown_, out_, position_)) {
    out_.clear();
    position_ = 0;
  }
  finished_ = step_ == steps_.size();
} catch (const nlohmann::json::exception &error) {
  failure_ = std::string("not what iperf3 would say: ") + error.what();
}

bool Iperf3::put(State state) {
  const char byte = static_cast<char>(state);
  return putBytes(std::string_view(&byte, 1));
}

bool Iperf3::putJson(const nlohmann::json &value) {
  const std::string text = value.dump();
  for (std::size_t byte = lengthBytes; byte-- > 0;) out_ += static_cast<char>(text.size() >> 8 * byte);
  return putBytes(text);
}

bool Iperf3::putBytes(std::string_view bytes) {
  out_ += bytes;
  return true;
}

bool Iperf3::take(State expected) {
  if (in_.empty()) return false;
  const auto state = static_cast<State>(in_.front());
  in_.erase(0, 1);
  if (state != expected)
    failure_ = "iperf3's state is " + std::to_string(static_cast<int>(state)) + " and not " +
               std::to_string(static_cast<int>(expected));
  return state == expected;
}

bool Iperf3::takeJson(nlohmann::json &value) {
  if (in_.size() < lengthBytes) return false;
  const auto shift = [](std::size_t length, char byte) { return length << 8 | static_cast<unsigned char>(byte); };
  const std::size_t length = std::accumulate(in_.begin(), in_.begin() + lengthBytes, std::size_t{0}, shift);
  if (in_.size() < lengthBytes + length) return false;
  value = nlohmann::json::parse(in_.substr(lengthBytes, length));
  in_.erase(0, lengthBytes + length);
  return true;
}

void Iperf3::addStream(downbeat_sim_connection connection) {
  const auto count = static_cast<unsigned>(streams_.size());
  streams_.push_back({.connection = connection, .id = count == 0 ? 1 : count + 2});
}

void Iperf3::sendData() {
  static const std::array<std::uint8_t, pieceBytes> piece{};
  for (bool accepted = true; accepted;) {
    accepted = false;
    for (Stream &stream : streams_) {
      if (toSend_ == 0) return;
      const std::int64_t count =
          downbeat_sim_send(device_, stream.connection, piece.data(), std::min<std::uint64_t>(piece.size(), toSend_));
      if (count == DOWNBEAT_WOULD_BLOCK) continue;
      if (!check(count, "send")) return;
      accepted = true;
      stream.sent += static_cast<std::uint64_t>(count);
      bytes_ += static_cast<std::uint64_t>(count);
      toSend_ -= static_cast<std::uint64_t>(count);
    }
  }
}

void Iperf3::receiveData() {
  for (Stream &stream : streams_) {
    std::string part;
    receive(stream.connection, part);
    stream.received += part.size();
  }
}

std::uint64_t Iperf3::received() const {
  return std::accumulate(streams_.begin(), streams_.end(), std::uint64_t{0},
                         [](auto sum, auto &stream) { return sum + stream.received; });
}

std::uint64_t Iperf3::countedByPeer() const {
  std::uint64_t sum = 0;
  for (const auto &stream : peerResults_.at("streams")) sum += stream.at("bytes").get<std::uint64_t>();
  return sum;
}

nlohmann::json Iperf3::results() const {
  auto streams = nlohmann::json::array();
  for (const Stream &stream : streams_)
    streams.push_back({{"id", stream.id},
                       {"bytes", stream.sent + stream.received},
                       {"retransmits", -1},
                       {"jitter", 0},
                       {"errors", 0},
                       {"packets", 0},
                       {"start_time", 0},
                       {"end_time", seconds()}});
  return {{"cpu_util_total", 0},
          {"cpu_util_user", 0},
          {"cpu_util_system", 0},
          {"sender_has_retransmits", 0},
          {"streams", streams}};
}

bool Iperf3::closed() {
  bool all = closed(shown_);
  for (const Stream &stream : streams_) all &= closed(stream.connection);
  return all;
}

bool Iperf3::closed(downbeat_sim_connection connection) {
  downbeat_sim_info state;
  if (!check(downbeat_sim_connection_info(device_, connection, &state), "connection")) return false;
  if (state.error != 0) return true; // all results are in: how the peer ends is its own affair
  if (!out_.empty() && connection == shown_) return false;
  check(downbeat_sim_shutdown(device_, connection), "shutdown");
  return state.peer_finished && (state.state == DOWNBEAT_TIME_WAIT || state.state == DOWNBEAT_CLOSED);
}
