// SPDX-License-Identifier: BSD-2-Clause-Patent
// Keys by libsodium: generic hash with a key (BLAKE2b), comparison in constant time.
#include "keys.h"

#include <charconv>
#include <fstream>
#include <sodium.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace downbeat::gateway {
namespace {

constexpr char purpose[] = "downbeat-gateway";

template <typename Number> bool number(const std::string &text, Number &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool hex(const std::string &text, Key &key) {
  std::size_t length = 0;
  return text.size() == 2 * key.size() &&
         sodium_hex2bin(key.data(), key.size(), text.data(), text.size(), nullptr, &length, nullptr) == 0 &&
         length == key.size();
}

std::uint64_t slot(std::uint8_t id, std::uint32_t reporter) { return std::uint64_t(id) << 32 | reporter; }

} // namespace

bool startCrypto() { return sodium_init() >= 0; }

Key derive(const Key &site, std::uint32_t reporter) {
  std::array<std::uint8_t, sizeof purpose - 1 + 4> message{};
  std::copy(purpose, purpose + sizeof purpose - 1, message.begin());
  for (int byte = 0; byte < 4; ++byte) message[message.size() - 1 - byte] = reporter >> 8 * byte;
  Key key;
  crypto_generichash(key.data(), key.size(), message.data(), message.size(), site.data(), site.size());
  return key;
}

void appendTag(const Key &key, std::vector<std::uint8_t> &message, std::size_t begin) {
  const std::size_t size = message.size() - begin;
  message.resize(message.size() + tagBytes);
  std::uint8_t *at = message.data() + begin;
  crypto_generichash(at + size, tagBytes, at, size, key.data(), key.size());
}

bool tagFits(const Key &key, Bytes message) {
  if (message.size() < tagBytes) return false;
  const Bytes signedPart = message.first(message.size() - tagBytes);
  std::array<std::uint8_t, tagBytes> tag;
  crypto_generichash(tag.data(), tag.size(), signedPart.data(), signedPart.size(), key.data(), key.size());
  return sodium_memcmp(tag.data(), message.data() + signedPart.size(), tagBytes) == 0;
}

std::variant<HostKey, std::string> HostKey::parse(const std::string &line) {
  std::istringstream words(line);
  std::string word, id, reporter, digits, rest;
  words >> word >> id >> reporter >> digits >> rest;
  HostKey key;
  if (word != "host" || !rest.empty() || !number(id, key.id) || !number(reporter, key.reporter) ||
      !hex(digits, key.key))
    return "a host's key is one line: host KEY-ID REPORTER 64-HEX-DIGITS (downbeat gateway keys issue prints it)";
  return key;
}

std::variant<Keys, std::string> Keys::parse(const std::string &text, const std::string &file) {
  Keys keys;
  std::istringstream lines(text);
  std::string line;
  for (int at = 1; std::getline(lines, line); ++at) {
    const auto wrong = [&](const std::string &reason) { return file + ":" + std::to_string(at) + ": " + reason; };
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word, first, second, rest;
    if (!(words >> word)) continue;
    words >> first >> second >> rest;
    std::uint8_t id = 0;
    std::uint32_t reporter = 0;
    Key key;
    if (word == "key" && rest.empty() && number(first, id) && hex(second, key)) {
      if (keys.site_.contains(id)) return wrong("key " + first + " is there twice: give each key a number of its own");
      if (keys.site_.size() == max) return wrong("a third key: two may be valid at once, remove the oldest");
      keys.site_[keys.newest_ = id] = key;
    } else if (word == "deny" && second.empty() && number(first, reporter)) {
      keys.denied_.insert(reporter);
    } else {
      return wrong("use 'key ID 64-HEX-DIGITS' (ID from 0 to 255) or 'deny REPORTER'");
    }
  }
  if (keys.site_.empty()) return file + ": no key: make one by downbeat gateway keys new " + file;
  return keys;
}

std::variant<Keys, std::string> Keys::read(const std::string &file) {
  std::string text;
  if (auto reason = readSecret(file, text); !reason.empty())
    return access(file.c_str(), F_OK) == 0 ? reason : reason + ": make a key file by downbeat gateway keys new " + file;
  return parse(text, file);
}

std::string readSecret(const std::string &file, std::string &text) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return file + ": no such file";
  if (status.st_mode & (S_IRWXO | S_IWGRP)) return file + ": others may read it: chmod 600 (or 640) " + file;
  std::ifstream stream(file);
  std::stringstream all;
  if (!stream || !(all << stream.rdbuf())) return file + ": cannot be read, or is empty";
  text = all.str();
  return {};
}

std::variant<Key, Refusal> Keys::of(std::uint8_t id, std::uint32_t reporter) const {
  if (denies(reporter)) return Refusal::deniedReporter;
  if (const auto kept = derived_.find(slot(id, reporter)); kept != derived_.end()) return kept->second;
  const auto site = site_.find(id);
  if (site == site_.end()) return Refusal::unknownKey;
  return derive(site->second, reporter);
}

std::optional<Key> Keys::ofGateways(std::uint8_t id) const {
  const auto site = site_.find(id);
  return site == site_.end() ? std::nullopt : std::optional(derive(site->second, gateways));
}

void Keys::keep(std::uint8_t id, std::uint32_t reporter, const Key &key) {
  if (derived_.size() < maxDerived) derived_.try_emplace(slot(id, reporter), key);
}

} // namespace downbeat::gateway
