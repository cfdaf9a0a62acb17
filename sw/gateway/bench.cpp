// SPDX-License-Identifier: BSD-2-Clause-Patent
// A host for measurements and first answers. HOSTKEY is what `downbeat gateway keys issue` prints.
//
//   gateway-bench once URI HOSTKEY PREFIX            reports a transfer, asks, prints the answer as JSON
//   gateway-bench ask URI HOSTKEY PREFIX             asks alone
//   gateway-bench load URI HOSTKEY SECONDS RATE PREFIXES
//        reports and queries by turns, RATE messages a second; 0: as fast as 256 open queries allow.
//        Prints {"sent", "answered", "seconds", "p50_us", "p99_us", "max_us"}
//
// URI is udp://HOST:PORT or unix:///PATH. All messages are sealed before the first is sent: the generator must not be
// what is measured.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>

#include "client.h"
#include "socket.h"

using namespace downbeat::gateway;

namespace {

std::uint64_t random64() {
  std::uint64_t value;
  randombytes_buf(&value, sizeof value);
  return value;
}

Opened connectUri(const std::string &uri) {
  if (uri.starts_with("udp://")) return connectInternet(uri.substr(6));
  if (uri.starts_with("unix://")) return connectUnix(uri.substr(7));
  return uri + ": use udp://HOST:PORT or unix:///PATH";
}

int refuse(const std::string &reason) {
  std::fprintf(stderr, "gateway-bench: %s\n", reason.c_str());
  return 2;
}

std::vector<std::uint8_t> receive(int socket, int milliseconds) {
  pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
  std::vector<std::uint8_t> bytes(mostBytes + 1);
  if (poll(&ready, 1, milliseconds) <= 0) return {};
  const ssize_t size = recv(socket, bytes.data(), bytes.size(), 0);
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

int once(int socket, const HostKey &key, const Prefix &prefix, bool reports) {
  Client client(key, random64);
  const Nanoseconds end = read(CLOCK_BOOTTIME) + 2 * second;
  if (reports) client.report({.prefix = prefix, .window = 30 * 1460, .rtt = 0.05, .acked = 2}, read(CLOCK_BOOTTIME));
  for (Nanoseconds now; (now = read(CLOCK_BOOTTIME)) < end;) {
    if (const auto answer = client.counters().reportsSent || !reports ? client.ask(prefix, now) : std::nullopt) {
      std::printf("{\"prefix\": \"%s\", \"window_bytes\": %.17g, \"rtt_s\": %.9g, \"segments_per_ack\": %.9g, "
                  "\"reports\": %u, \"reporters\": %u, \"lifetime_ms\": %u}\n",
                  prefix.text().c_str(), answer->window, answer->rtt, answer->acked, answer->transfers,
                  answer->transferReporters, answer->lifetime);
      return 0;
    }
    for (const auto &datagram : client.due(now)) send(socket, datagram.data(), datagram.size(), MSG_NOSIGNAL);
    if (const auto bytes = receive(socket, 10); !bytes.empty()) client.receive(bytes, read(CLOCK_BOOTTIME));
  }
  return refuse(client.connected() ? "no answer in two seconds"
                                   : "no welcome in two seconds: is a gateway there, and does it know this key?");
}

class Load {
public:
  Load(int socket, HostKey key) : socket_(socket), key_(std::move(key)) {}

  bool hello() {
    Message hello{.header = {.type = Type::hello, .key = key_.id, .reporter = key_.reporter}};
    hello.value = random64();
    const auto bytes = sealed(hello);
    send(socket_, bytes.data(), bytes.size(), 0);
    const auto answer = receive(socket_, 2000);
    const auto header = decodeHeader(answer);
    if (!std::holds_alternative<Header>(header) || std::get<Header>(header).type != Type::welcome) return false;
    const auto body = Bytes(answer).subspan(headerBytes, answer.size() - headerBytes - tagBytes);
    session_ = std::get<Message>(decodeBody(std::get<Header>(header), body)).session;
    return true;
  }

  // Every second message is a query; its answer has its sequence number.
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
    const Nanoseconds begin = read(CLOCK_MONOTONIC);
    Nanoseconds quiet = begin;
    while (sent_ < messages_.size() || answered() < sent_ / 2) {
      const Nanoseconds now = read(CLOCK_MONOTONIC);
      std::size_t until = sent_;
      if (rate > 0)
        until = static_cast<std::size_t>(double(now - begin) / double(second) * rate);
      else if (sent_ / 2 - answered() < 192)
        until = sent_ + 128;
      until = std::min({until, messages_.size(), sent_ + batch});
      if (until > sent_) give(until);
      if (take()) quiet = now;
      if (now - quiet > 2 * second && sent_ == messages_.size()) break; // what is missing does not come any more
      if (rate == 0 && now - quiet > second) lost_ = sent_ / 2 - delays_.size(), quiet = now;
    }
    seconds_ = double(read(CLOCK_MONOTONIC) - begin) / double(second);
  }

  void print() {
    std::ranges::sort(delays_);
    const auto at = [&](double share) {
      return delays_.empty()
                 ? -1.0
                 : double(delays_[std::min(delays_.size() - 1, std::size_t(share * double(delays_.size())))]) / 1000;
    };
    std::printf(
        "{\"sent\": %zu, \"answered\": %zu, \"seconds\": %.6f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f}\n",
        sent_, delays_.size(), seconds_, at(0.5), at(0.99), at(1));
  }

private:
  static constexpr std::size_t batch = 64;

  std::size_t answered() const { return delays_.size() + lost_; }

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

  bool take() {
    std::array<mmsghdr, batch> headers{};
    std::array<iovec, batch> places;
    static std::array<std::array<std::uint8_t, mostBytes>, batch> buffers;
    for (std::size_t at = 0; at < batch; ++at) {
      places[at] = {buffers[at].data(), buffers[at].size()};
      headers[at].msg_hdr.msg_iov = &places[at];
      headers[at].msg_hdr.msg_iovlen = 1;
    }
    const int count = recvmmsg(socket_, headers.data(), batch, MSG_DONTWAIT, nullptr);
    const Nanoseconds now = read(CLOCK_MONOTONIC);
    for (int at = 0; at < count; ++at) {
      const auto header = decodeHeader(Bytes(buffers[std::size_t(at)].data(), headers[std::size_t(at)].msg_len));
      const auto *answer = std::get_if<Header>(&header);
      if (answer && answer->type == Type::answer && answer->sequence < sentAt_.size())
        delays_.push_back(now - sentAt_[answer->sequence]);
    }
    return count > 0;
  }

  int socket_;
  HostKey key_;
  std::uint64_t session_ = 0;
  std::vector<std::vector<std::uint8_t>> messages_;
  std::vector<Nanoseconds> sentAt_, delays_;
  std::size_t sent_ = 0, lost_ = 0;
  double seconds_ = 0;
};

} // namespace

int main(int count, char **words) {
  const std::string mode = count > 1 ? words[1] : "";
  if (!((mode == "once" || mode == "ask") && count == 5) && !(mode == "load" && count == 7))
    return refuse("use once or ask URI HOSTKEY PREFIX, or load URI HOSTKEY SECONDS RATE PREFIXES");
  if (!startCrypto()) return refuse("libsodium cannot start");
  auto socket = connectUri(words[2]);
  if (const auto *reason = std::get_if<std::string>(&socket)) return refuse(*reason);
  auto key = HostKey::parse(words[3]);
  if (const auto *reason = std::get_if<std::string>(&key)) return refuse(*reason);
  const int descriptor = std::get<Descriptor>(socket).get();
  if (mode != "load") {
    const auto prefix = Prefix::parse(words[4]);
    return prefix ? once(descriptor, std::get<HostKey>(key), *prefix, mode == "once")
                  : refuse("use a prefix, as 192.0.2.0/24");
  }
  const double seconds = std::atof(words[4]), rate = std::atof(words[5]);
  const int prefixes = std::clamp(std::atoi(words[6]), 1, 65536);
  Load load(descriptor, std::get<HostKey>(key));
  if (!load.hello()) return refuse("no welcome in two seconds: is a gateway there, and does it know this key?");
  load.prepare(static_cast<std::size_t>(seconds * (rate > 0 ? rate : 300'000)), rate, static_cast<unsigned>(prefixes));
  load.run(rate);
  load.print();
  return 0;
}
