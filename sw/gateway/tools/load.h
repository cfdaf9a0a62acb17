// SPDX-License-Identifier: BSD-2-Clause-Patent
// The load of `gateway-bench load`: all messages are sealed before the first is sent, since the generator must not be
// what is measured; at a rate it sleeps where nothing is due, as a generator that spins takes time from the machine.
// Every second message is a query; its response has its sequence number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <poll.h>
#include <sodium.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <vector>

#include "wire/clock.h"
#include "wire/keys.h"

namespace downbeat::gateway {

inline std::uint64_t random64() {
  std::uint64_t value;
  randombytes_buf(&value, sizeof value);
  return value;
}

inline std::vector<std::uint8_t> receive(int socket, int milliseconds) {
  pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
  std::vector<std::uint8_t> bytes(maxBytes + 1);
  if (poll(&ready, 1, milliseconds) <= 0) return {};
  const ssize_t size = recv(socket, bytes.data(), bytes.size(), 0);
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

class Load {
public:
  Load(int socket, HostKey key) : socket_(socket), key_(std::move(key)) {}

  bool hello() {
    Message hello{.header = {.type = Type::hello, .key = key_.id, .reporter = key_.reporter}};
    hello.value = random64();
    for (const Type expected : {Type::challenge, Type::welcome}) {
      const auto bytes = sealed(hello);
      send(socket_, bytes.data(), bytes.size(), 0);
      const auto response = receive(socket_, 2000);
      const auto header = decodeHeader(response);
      if (!std::holds_alternative<Header>(header) || std::get<Header>(header).type != expected) return false;
      const auto body = Bytes(response).subspan(headerBytes, response.size() - headerBytes - tagBytes);
      hello.token = session_ = std::get<Message>(decodeBody(std::get<Header>(header), body)).token;
    }
    return true;
  }

  void prepare(std::size_t count, double rate, unsigned prefixes) {
    const Nanoseconds now = read(CLOCK_BOOTTIME);
    messages_.reserve(count);
    for (std::size_t at = 0; at < count; ++at) {
      const auto number = static_cast<std::uint32_t>(at * 2654435761u % prefixes);
      const Prefix prefix{.family = 4,
                          .length = 24,
                          .address = {10, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)}};
      Message message{
          .header = {.type = at % 2 ? Type::query : Type::report, .key = key_.id, .reporter = key_.reporter}};
      const double later = rate > 0 ? double(at) / rate : 0;
      message.header.stamp = static_cast<std::uint32_t>((now + Nanoseconds(later * second)) / millisecond);
      message.header.session = session_;
      message.header.sequence = at + 1;
      if (at % 2)
        message.queries = {prefix};
      else
        message.reports = {{.prefix = prefix, .window = 1460.0 * (10 + at % 50), .rtt = 0.05, .acked = 2}};
      messages_.push_back(sealed(message));
    }
    sentAt_.resize(count + 1);
  }

  void run(double rate) {
    prctl(PR_SET_TIMERSLACK, 1);
    const Nanoseconds begin = read(CLOCK_MONOTONIC);
    Nanoseconds quiet = begin;
    while (sent_ < messages_.size() || responded() < sent_ / 2) {
      const Nanoseconds now = read(CLOCK_MONOTONIC);
      std::size_t until = sent_;
      if (rate > 0)
        until = static_cast<std::size_t>(double((now - begin) / slot * slot) / double(second) * rate);
      else if (sent_ / 2 - responded() < 192)
        until = sent_ + 128;
      until = std::min({until, messages_.size(), sent_ + batch});
      if (until > sent_) give(until);
      if (take())
        quiet = now;
      else if (rate > 0 && until <= sent_)
        rest(slot - (read(CLOCK_MONOTONIC) - begin) % slot);
      if (now - quiet > 2 * second && sent_ == messages_.size()) break; // what is missing does not come any more
      if (rate == 0 && now - quiet > second) lost_ = sent_ / 2 - responses_.size(), quiet = now;
    }
    seconds_ = double(read(CLOCK_MONOTONIC) - begin) / double(second);
  }

  void print() {
    std::vector<Nanoseconds> windows;
    for (auto first = responses_.begin(); first != responses_.end();) {
      const auto last = std::find_if(first, responses_.end(),
                                     [&](const Response &each) { return each.sent / window != first->sent / window; });
      std::vector<Nanoseconds> delays;
      for (; first != last; ++first) delays.push_back(first->delay);
      windows.push_back(at(delays, 0.99));
    }
    std::vector<Nanoseconds> delays;
    for (const Response &each : responses_) delays.push_back(each.delay);
    const auto us = [](Nanoseconds time) { return double(time) / 1000; };
    std::printf("{\"sent\": %zu, \"answered\": %zu, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
                "\"max_us\": %.1f, \"window_p99_us\": %.1f}\n",
                sent_, responses_.size(), seconds_, us(at(delays, 0.5)), us(at(delays, 0.99)), us(at(delays, 1)),
                us(at(windows, 0.5)));
  }

private:
  static constexpr std::size_t batch = 64;
  static constexpr Nanoseconds slot = 50'000; // of a rate: what is due in one leaves together
  static constexpr Nanoseconds window = 20 * millisecond; // most have no pause of the machine in them

  struct Response {
    Nanoseconds sent, delay;
  };

  /// The value that `share` of them are below; -1000 of none.
  static Nanoseconds at(std::vector<Nanoseconds> &times, double share) {
    if (times.empty()) return -1000;
    std::ranges::sort(times);
    return times[std::min(times.size() - 1, std::size_t(share * double(times.size())))];
  }

  std::size_t responded() const { return responses_.size() + lost_; }

  std::vector<std::uint8_t> sealed(const Message &message) const {
    std::vector<std::uint8_t> bytes;
    encode(message, bytes);
    appendTag(key_.key, bytes);
    return bytes;
  }

  void give(std::size_t until) {
    std::array<mmsghdr, batch> headers{};
    std::array<iovec, batch> places;
    const std::size_t count = until - sent_;
    const Nanoseconds now = read(CLOCK_MONOTONIC);
    for (std::size_t at = 0; at < count; ++at) {
      places[at] = {messages_[sent_ + at].data(), messages_[sent_ + at].size()};
      headers[at].msg_hdr.msg_iov = &places[at];
      headers[at].msg_hdr.msg_iovlen = 1;
      sentAt_[sent_ + at + 1] = now;
    }
    const int taken = sendmmsg(socket_, headers.data(), static_cast<unsigned>(count), MSG_NOSIGNAL);
    if (taken > 0) sent_ += static_cast<std::size_t>(taken);
  }

  /// Until a response comes, and for `time` at most.
  void rest(Nanoseconds time) {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    const timespec limit{0, static_cast<long>(time)};
    ppoll(&ready, 1, &limit, nullptr);
  }

  bool take() {
    std::array<mmsghdr, batch> headers{};
    std::array<iovec, batch> places;
    static std::array<std::array<std::uint8_t, maxBytes>, batch> buffers;
    for (std::size_t at = 0; at < batch; ++at) {
      places[at] = {buffers[at].data(), buffers[at].size()};
      headers[at].msg_hdr.msg_iov = &places[at];
      headers[at].msg_hdr.msg_iovlen = 1;
    }
    const int count = recvmmsg(socket_, headers.data(), batch, MSG_DONTWAIT, nullptr);
    const Nanoseconds now = read(CLOCK_MONOTONIC);
    for (int at = 0; at < count; ++at) {
      const auto header = decodeHeader(Bytes(buffers[std::size_t(at)].data(), headers[std::size_t(at)].msg_len));
      const auto *response = std::get_if<Header>(&header);
      if (response && response->type == Type::response && response->sequence < sentAt_.size())
        responses_.push_back({sentAt_[response->sequence], now - sentAt_[response->sequence]});
    }
    return count > 0;
  }

  int socket_;
  HostKey key_;
  std::uint64_t session_ = 0;
  std::vector<std::vector<std::uint8_t>> messages_;
  std::vector<Nanoseconds> sentAt_;
  std::vector<Response> responses_;
  std::size_t sent_ = 0, lost_ = 0;
  double seconds_ = 0;
};

} // namespace downbeat::gateway
