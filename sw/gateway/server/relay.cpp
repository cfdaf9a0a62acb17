// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "relay.h"

#include <algorithm>

namespace downbeat::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto pause = 10ms; // between two looks
constexpr auto shortestWait = 100ms, longestWait = 2000ms; // for a Redis that is away
constexpr std::size_t sentAtOnce = 64;

// The ms of "1700000000000-5".
long long milliseconds(const std::string &id) { return std::atoll(id.c_str()); }

bool before(const std::string &left, const std::string &right) {
  const auto serial = [](const std::string &id) { return std::atoll(id.c_str() + id.find('-') + 1); };
  return std::pair(milliseconds(left), serial(left)) < std::pair(milliseconds(right), serial(right));
}

} // namespace

Relay::Relay(RedisAddress address, Keys keys, std::uint64_t self, Counters &counters, Log &log,
             std::function<void()> wake)
    : address_(std::move(address)),
      self_(self),
      counters_(counters),
      log_(log),
      wake_(std::move(wake)),
      keys_(std::move(keys)),
      thread_([this] { run(); }) {}

Relay::~Relay() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
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

std::vector<Relay::Taken> Relay::taken(std::size_t max) {
  std::vector<Taken> taken;
  {
    const std::scoped_lock lock(mutex_);
    const auto end = taken_.begin() + static_cast<std::ptrdiff_t>(std::min(max, taken_.size()));
    taken.assign(std::make_move_iterator(taken_.begin()), std::make_move_iterator(end));
    taken_.erase(taken_.begin(), end);
  }
  changed_.notify_one();
  return taken;
}

void Relay::replaceKeys(Keys keys) {
  const std::scoped_lock lock(mutex_);
  keys_ = std::move(keys);
  again_ = again_ || std::exchange(unknownKey_, false);
}

void Relay::sleep(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stop_; });
}

void Relay::run() {
  const auto stopped = [this] {
    const std::scoped_lock lock(mutex_);
    return stop_;
  };
  bool lost = false;
  for (auto wait = shortestWait; !stopped();) {
    RedisConnection redis(address_);
    bool connected = false;
    for (Step step; !stopped() && redis.error().empty() && (step = exchange(redis)) != Step::lost;) {
      if (!connected) log_.write(Log::info, "redis_connected", "address", address_.text());
      connected = true;
      lost = false;
      wait = shortestWait;
      counters_.relayConnected.set(1);
      if (step == Step::idle) sleep(pause);
    }
    counters_.relayConnected.set(0);
    if (connected) counters_.relayDisconnects.add();
    if (!lost && !stopped())
      log_.write(Log::error, "redis_lost", "address", address_.text(), "reason", redis.error(), "store",
                 "embedded alone");
    lost = true;
    sleep(wait);
    wait = std::min(2 * wait, longestWait);
  }
}

Relay::Step Relay::exchange(RedisConnection &redis) {
  const Nanoseconds begin = read(CLOCK_BOOTTIME);
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(again_, false)) atStart_ = true, last_ = "0-0";
  }
  const auto part = redis.after(last_);
  if (!part) return Step::lost;
  for (const auto &entry : part->entries) {
    last_ = entry.id;
    const long long age =
        atStart_ ? part->date - milliseconds(entry.id) : (read(CLOCK_BOOTTIME) - readToEnd_) / millisecond;
    if (age < 0)
      counters_.relayRefused.add(); // from the future: its age is unknown
    else
      take(entry.value, age, atStart_);
  }
  // A stream that ends before what was read is another one: all of it is younger than the last look.
  const bool other = part->entries.empty() && before(part->newest, last_);
  if (other) last_ = "0-0";
  if (part->end && !other) {
    readToEnd_ = begin;
    atStart_ = false;
  }
  if (!publish(redis)) return Step::lost;
  const std::scoped_lock lock(mutex_);
  return part->end && !other && waiting_.empty() ? Step::idle : Step::more;
}

void Relay::take(const std::string &sealed, long long age, bool atStart) {
  const Bytes bytes(reinterpret_cast<const std::uint8_t *>(sealed.data()), sealed.size());
  const auto header = decodeHeader(bytes);
  const auto *read = std::get_if<Header>(&header);
  if (!read || read->type != Type::relay) return counters_.relayRefused.add();
  if (read->session == self_) return;
  std::unique_lock lock(mutex_);
  const auto key = keys_.ofGateways(read->key);
  if (!key) unknownKey_ = true;
  if (!key || !tagFits(*key, bytes)) return counters_.relayRefused.add();
  auto body = decodeBody(*read, bytes.subspan(headerBytes, bytes.size() - headerBytes - tagBytes));
  auto *message = std::get_if<Message>(&body);
  if (!message || keys_.denies(read->reporter)) return counters_.relayRefused.add();
  message->age = static_cast<std::uint32_t>(std::min<long long>(age, UINT32_MAX - message->age) + message->age);
  changed_.wait(lock, [this] { return stop_ || taken_.size() < maxTaken; });
  taken_.push_back({std::move(*message), atStart});
  if (taken_.size() == 1) wake_();
}

bool Relay::publish(RedisConnection &redis) {
  std::vector<Waiting> waiting;
  std::optional<Key> key;
  std::uint8_t id = 0;
  {
    const std::scoped_lock lock(mutex_);
    for (; !waiting_.empty() && waiting.size() < sentAtOnce; waiting_.pop_front())
      waiting.push_back(std::move(waiting_.front()));
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
