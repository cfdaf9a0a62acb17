// SPDX-License-Identifier: BSD-2-Clause-Patent
// Random and mutated datagrams for the whole way from the header to the store. Most are sealed again after the
// mutation, so that they pass the keyed hash and reach the decoder behind it. Each must be accepted or counted by one
// cause.
//
//   gateway-fuzz COUNT SEED          prints {"fuzzed": N, "accepted": N, "refused": {...}}; exits 1 if the sums differ
//
// Built with clang -fsanitize=fuzzer -DLIBFUZZER it is a target of libFuzzer.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>

#include "server/gateway.h"

using namespace downbeat::gateway;

namespace {

constexpr std::uint32_t reporter = 7;

class Fuzzed {
public:
  Fuzzed() {
    startCrypto();
    const std::string text = "key 3 " + std::string(64, '5') + "\n";
    Keys keys = std::get<Keys>(Keys::parse(text, "fuzz"));
    key_ = std::get<Key>(keys.of(3, reporter));
    Limits limits;
    limits.messages = limits.hellos = {1e9, 1e9};
    const StoreLimits store{.prefixes = 500, .bytes = 1 << 20, .reporters = 4};
    gateway_ = std::make_unique<Gateway>(std::move(keys), limits, store, [this] { return ++token_; }, counters_);
  }

  void take(std::vector<std::uint8_t> datagram, bool sealed) {
    if (sealed && datagram.size() >= headerBytes + tagBytes) {
      datagram.resize(datagram.size() - tagBytes);
      appendTag(key_, datagram);
    }
    now_ += 50'000;
    out_.clear();
    // A copy of its own size, so that AddressSanitizer sees a read behind the end.
    gateway_->receive(datagram, {}, now_, out_);
    if (out_.size() > maxBytes) std::abort();
    if (!out_.empty()) {
      const auto header = decodeHeader(out_);
      if (!std::holds_alternative<Header>(header)) std::abort();
      const auto body = Bytes(out_).subspan(headerBytes, out_.size() - headerBytes - tagBytes);
      const auto message = decodeBody(std::get<Header>(header), body);
      if (!std::holds_alternative<Message>(message)) std::abort();
      if (std::get<Header>(header).type == Type::challenge) challenge_ = std::get<Message>(message);
    }
  }

  // Behind a header that is right.
  void takeBody(std::uint8_t type, Bytes body) {
    Message message{.header = {.type = static_cast<Type>(type), .key = 3, .reporter = reporter}};
    message.header.stamp = static_cast<std::uint32_t>(now_ / millisecond);
    message.header.session = message.header.type == Type::hello ? 0 : token_;
    message.header.sequence = message.header.type == Type::hello ? 0 : ++sequence_;
    std::vector<std::uint8_t> bytes;
    encode(message, bytes);
    bytes.resize(headerBytes);
    bytes.insert(bytes.end(), body.begin(), body.end());
    bytes.resize(bytes.size() + tagBytes);
    bytes[6] = static_cast<std::uint8_t>(bytes.size() >> 8);
    bytes[7] = static_cast<std::uint8_t>(bytes.size());
    take(std::move(bytes), true);
  }

  std::vector<std::uint8_t> seed(std::mt19937_64 &random) {
    Message message{.header = {.type = static_cast<Type>(random() % 9), .key = 3, .reporter = reporter}};
    message.header.stamp = static_cast<std::uint32_t>(now_ / millisecond - random() % 8);
    message.header.session = token_ ? token_ - random() % std::min<std::uint64_t>(token_, 3) : 0;
    message.header.sequence = ++sequence_ - random() % 4;
    if (random() % 1000 == 0) message.header.type = Type::hello;
    message.value = challenge_.value; // a hello to which the gateway has responded
    message.token = random() % 4 ? challenge_.token : 0;
    if (random() % 4 == 0) message.value = random();
    for (auto left = random() % (maxReports + 1); left; --left) message.reports.push_back(report(random));
    for (auto left = random() % (maxQueries + 1); left; --left) message.queries.push_back(prefix(random));
    for (auto left = random() % (maxQueries + 1); left; --left) message.responses.push_back({.prefix = prefix(random)});
    std::vector<std::uint8_t> bytes;
    encode(message, bytes);
    appendTag(key_, bytes);
    return bytes;
  }

  static void mutate(std::vector<std::uint8_t> &bytes, std::mt19937_64 &random) {
    for (auto left = random() % 4; left && !bytes.empty(); --left) {
      const std::size_t at = random() % bytes.size();
      switch (random() % 6) {
      case 0: bytes[at] ^= 1 << random() % 8; break;
      case 1: bytes[at] = static_cast<std::uint8_t>(random()); break;
      case 2: bytes.resize(at); break;
      case 3: bytes.insert(bytes.end(), random() % 64, static_cast<std::uint8_t>(random())); break;
      case 4: bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at)); break;
      default: // the length that the datagram has, so that the body is read
        if (bytes.size() > 7)
          bytes[6] = static_cast<std::uint8_t>(bytes.size() >> 8), bytes[7] = static_cast<std::uint8_t>(bytes.size());
      }
    }
  }

  int report() const {
    std::uint64_t refused = 0;
    const std::uint64_t accepted =
        counters_.challenges.get() + counters_.hellos.get() + counters_.reports.get() + counters_.queries.get();
    std::printf("{\"fuzzed\": %llu, \"accepted\": %llu, \"refused\": {",
                static_cast<unsigned long long>(counters_.received.get()), static_cast<unsigned long long>(accepted));
    for (std::size_t at = 0; at < refusalNames.size(); ++at) {
      refused += counters_.refused[at].get();
      std::printf("%s\"%s\": %llu", at ? ", " : "", refusalNames[at],
                  static_cast<unsigned long long>(counters_.refused[at].get()));
    }
    std::printf("}}\n");
    return accepted + refused == counters_.received.get() ? 0 : 1;
  }

private:
  static double real(std::mt19937_64 &random, double usual) {
    static constexpr double odd[] = {0, -1, -0.0, 1e300, -1e300, 5e-324, 1e18, INFINITY, -INFINITY, NAN};
    return random() % 16 ? usual : odd[random() % std::size(odd)];
  }
  static Prefix prefix(std::mt19937_64 &random) {
    Prefix made{.family = 4,
                .length = 24,
                .address = {10, static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random() % 4)}};
    if (random() % 4 == 0)
      made = {.family = 6, .length = 48, .address = {0x20, 1, 13, 0xb8, 0, static_cast<std::uint8_t>(random())}};
    if (random() % 32 == 0) made.length = static_cast<std::uint8_t>(random());
    return made;
  }
  static Report report(std::mt19937_64 &random) {
    Report made{.prefix = prefix(random), .kind = static_cast<Kind>(1 + random() % 3)};
    if (random() % 64 == 0) made.kind = static_cast<Kind>(random());
    made.window = real(random, 1000 + double(random() % 100000));
    made.rtt = real(random, 0.05);
    made.acked = real(random, 1.5);
    made.steady = real(random, double(random() % 5));
    made.slow = real(random, double(random() % 5000));
    return made;
  }

  Counters counters_;
  Key key_;
  Nanoseconds now_ = 0;
  std::uint64_t token_ = 0, sequence_ = 0;
  std::unique_ptr<Gateway> gateway_;
  std::vector<std::uint8_t> out_;
  Message challenge_;
};

} // namespace

#ifdef LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  static Fuzzed fuzzed;
  if (size > 1 && data[0] % 2)
    fuzzed.takeBody(data[1], {data + 2, size - 2});
  else if (size)
    fuzzed.take({data + 1, data + size}, data[0] & 2);
  return 0;
}
#else
int main(int count, char **words) {
  if (count != 3) return std::fputs("gateway-fuzz COUNT SEED\n", stderr), 2;
  std::mt19937_64 random(std::strtoull(words[2], nullptr, 10));
  Fuzzed fuzzed;
  for (auto left = std::strtoull(words[1], nullptr, 10); left; --left) {
    std::vector<std::uint8_t> bytes;
    if (random() % 50 == 0) {
      bytes.resize(random() % 1400);
      for (auto &byte : bytes) byte = static_cast<std::uint8_t>(random());
    } else {
      bytes = fuzzed.seed(random);
      Fuzzed::mutate(bytes, random);
    }
    fuzzed.take(std::move(bytes), random() % 16 != 0);
  }
  return fuzzed.report();
}
#endif
