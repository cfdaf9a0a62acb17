// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "relay.h"

#include <algorithm>
#include <chrono>

#include "redis_connection.h"
#include "wire/address.h"

namespace downbeat::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto pause = 10ms; // between two looks
constexpr auto shortestWait = 100ms, longestWait = 2000ms; // for a Redis that is away
constexpr std::size_t batch = 1000;

// The ms of "1700000000000-5".
long long milliseconds(const std::string &id) { return std::atoll(id.c_str()); }

bool before(const std::string &left, const std::string &right) {
  const auto serial = [](const std::string &id) { return std::atoll(id.c_str() + id.find('-') + 1); };
  return std::pair(milliseconds(left), serial(left)) < std::pair(milliseconds(right), serial(right));
}

} // namespace

Relay::Relay(std::string address, Keys keys, std::uint64_t self, Counters &counters, Log &log,
             std::function<void()> wake)
    : address_(std::move(address)),
      self_(self),
      counters_(counters),
      log_(log),
      wake_(std::move(wake)),
      keys_(std::move(keys)),
      thread_([this] { run(); }) {}

Relay::~Relay() {
  stop_ = true;
  thread_.join();
}

std::uint64_t Relay::send(std::uint32_t reporter, const std::vector<Report> &reports, Nanoseconds now) {
  Message message{.header = {.type = Type::relay, .reporter = reporter, .session = self_, .sequence = ++sequence_}};
  message.reports = reports;
  const std::scoped_lock lock(mutex_);
  if (waiting_.size() == maxWaiting) {
    counters_.relayLost.add(waiting_.front().message.reports.size());
    waiting_.pop_front();
  }
  waiting_.push_back({std::move(message), now});
  return sequence_;
}

std::vector<Relay::Taken> Relay::taken() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(taken_, {});
}

void Relay::replaceKeys(Keys keys) {
  const std::scoped_lock lock(mutex_);
  keys_ = std::move(keys);
}

void Relay::run() {
  std::string host;
  std::uint16_t port = 0;
  splitAddress(address_, host, port);
  bool start = true, lost = false;
  for (auto wait = shortestWait; !stop_;) {
    RedisConnection redis(host, port);
    bool connected = false;
    while (!stop_ && redis.error().empty() && exchange(redis, start)) {
      if (!connected) log_.write(Log::info, "redis_connected", "address", address_);
      connected = true;
      lost = start = false;
      wait = shortestWait;
      counters_.relayConnected.set(1);
      std::this_thread::sleep_for(pause);
    }
    counters_.relayConnected.set(0);
    if (connected) counters_.relayDisconnects.add();
    if (!lost && !stop_)
      log_.write(Log::error, "redis_lost", "address", address_, "reason", redis.error(), "store", "embedded alone");
    lost = true;
    for (auto slept = 0ms; slept < wait && !stop_; slept += pause) std::this_thread::sleep_for(pause);
    wait = std::min(2 * wait, longestWait);
  }
}

bool Relay::exchange(RedisConnection &redis, bool start) {
  const Nanoseconds begin = read(CLOCK_BOOTTIME);
  if (start) last_ = "0-0";
  const auto newest = redis.newest();
  if (!newest) return false;
  // A stream that ends before what was read is another one: all of it is younger than the last look.
  if (!start && gateway::before(*newest, last_)) last_ = "0-0";
  if (!follow(redis, begin, start) || !publish(redis)) return false;
  return true;
}

bool Relay::follow(RedisConnection &redis, Nanoseconds begin, bool start) {
  const auto date = start ? redis.date() : std::optional<long long>(0);
  if (!date) return false;
  for (;;) {
    const auto entries = redis.after(last_, batch);
    if (!entries) return false;
    for (const auto &entry : *entries) {
      last_ = entry.id;
      const Nanoseconds age =
          start ? (*date - milliseconds(entry.id)) * millisecond : read(CLOCK_BOOTTIME) - readToEnd_;
      if (age < 0)
        counters_.relayRefused.add(); // from the future: its age is unknown
      else
        take(entry.value, age, start);
    }
    if (entries->size() < batch) break;
  }
  readToEnd_ = begin;
  return true;
}

void Relay::take(const std::string &sealed, Nanoseconds age, bool atStart) {
  const Bytes bytes(reinterpret_cast<const std::uint8_t *>(sealed.data()), sealed.size());
  const auto header = decodeHeader(bytes);
  const auto *read = std::get_if<Header>(&header);
  if (!read || read->type != Type::relay) return counters_.relayRefused.add();
  if (read->session == self_) return;
  const std::scoped_lock lock(mutex_);
  const auto key = keys_.ofGateways(read->key);
  if (!key || !tagFits(*key, bytes)) return counters_.relayRefused.add();
  auto body = decodeBody(*read, bytes.subspan(headerBytes, bytes.size() - headerBytes - tagBytes));
  auto *message = std::get_if<Message>(&body);
  if (!message || keys_.denies(read->reporter)) return counters_.relayRefused.add();
  const Nanoseconds whole = std::min<Nanoseconds>(age / millisecond + message->age, UINT32_MAX);
  message->age = static_cast<std::uint32_t>(whole);
  taken_.push_back({std::move(*message), atStart});
  if (taken_.size() == 1) wake_();
}

bool Relay::publish(RedisConnection &redis) {
  std::deque<Waiting> waiting;
  std::optional<Key> key;
  std::uint8_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    waiting.swap(waiting_);
    key = keys_.ofGateways(id = keys_.newest());
  }
  std::vector<std::string> values;
  std::size_t reports = 0;
  const Nanoseconds now = read(CLOCK_BOOTTIME);
  for (Waiting &each : waiting) {
    each.message.header.key = id;
    each.message.age = static_cast<std::uint32_t>(std::min<Nanoseconds>((now - each.at) / millisecond, UINT32_MAX));
    std::vector<std::uint8_t> bytes;
    encode(each.message, bytes);
    appendTag(*key, bytes);
    values.emplace_back(bytes.begin(), bytes.end());
    reports += each.message.reports.size();
  }
  if (redis.append(values)) {
    counters_.relaySent.add(reports);
    return true;
  }
  // Some may have arrived: sent again they would count twice, so these are given up. They are in our own memory.
  counters_.relayLost.add(reports);
  return false;
}

} // namespace downbeat::gateway
