// SPDX-License-Identifier: BSD-2-Clause-Patent
#include "config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include "wire/address.h"
#include "wire/keys.h"

namespace downbeat::gateway {
namespace {

// Setter of a key: puts the value into the configuration, or says what is allowed.
using Take = std::function<std::string(const toml::node &, Config &)>;

template <typename Number> Take number(Number min, Number max, std::function<Number &(Config &)> place) {
  return [=](const toml::node &node, Config &config) -> std::string {
    const auto value = node.value<std::int64_t>();
    if (!node.is_integer() || *value < std::int64_t(min) || *value > std::int64_t(max))
      return "use a whole number from " + std::to_string(min) + " to " + std::to_string(max);
    place(config) = static_cast<Number>(*value);
    return {};
  };
}

Take rate(std::int64_t max, std::function<double &(Config &)> place) {
  return [=](const toml::node &node, Config &config) -> std::string {
    const auto value = node.value<std::int64_t>();
    if (!node.is_integer() || *value < 1 || *value > max) return "use a whole number from 1 to " + std::to_string(max);
    place(config) = static_cast<double>(*value);
    return {};
  };
}

Take text(const std::string &allowed, std::function<bool(const std::string &)> fits,
          std::function<std::string &(Config &)> place) {
  return [=](const toml::node &node, Config &config) -> std::string {
    const auto value = node.value<std::string>();
    if (!node.is_string() || !fits(*value)) return "use " + allowed;
    place(config) = *value;
    return {};
  };
}

bool address(const std::string &value) {
  std::string host;
  std::uint16_t port;
  return value.empty() || splitAddress(value, host, port);
}
bool path(const std::string &value) { return value.empty() || value.starts_with('/'); }

const std::string addresses = R"("HOST:PORT" with a numeric host, as "127.0.0.1:4780", or "" for none)";
const std::string paths = R"(a path that begins with /, or "" for none)";

const std::map<std::string, std::map<std::string, Take>> &allowed() {
  static const std::map<std::string, std::map<std::string, Take>> table = {
      {"listen",
       {{"udp", text(addresses, address, [](Config &c) -> auto & { return c.udp; })},
        {"unix", text(paths, path, [](Config &c) -> auto & { return c.unixSocket; })},
        {"admin", text(paths, path, [](Config &c) -> auto & { return c.admin; })},
        {"metrics", text(addresses, address, [](Config &c) -> auto & { return c.metrics; })},
        {"health", text(addresses, address, [](Config &c) -> auto & { return c.health; })}}},
      {"keys",
       {{"file", text(
                     "a path that begins with /", [](auto &v) { return v.starts_with('/'); },
                     [](Config &c) -> auto & { return c.keys; })}}},
      {"store",
       {{"kind",
         [](const toml::node &node, Config &config) { return useStore(config, node.value_or(std::string("?"))); }},
        {"user", text(
                     "a name of Redis's list of users", [](auto &) { return true; },
                     [](Config &c) -> auto & { return c.redis.user; })},
        {"password_file", text(paths, path, [](Config &c) -> auto & { return c.passwordFile; })},
        {"prefixes", number<std::size_t>(1, 100'000'000, [](Config &c) -> auto & { return c.store.prefixes; })},
        {"megabytes", number<std::size_t>(1, 1 << 20, [](Config &c) -> auto & { return c.megabytes; })},
        {"reporters", number<std::size_t>(1, 1024, [](Config &c) -> auto & { return c.store.reporters; })},
        {"least_reports", number<std::uint32_t>(1, 1000, [](Config &c) -> auto & { return c.store.minReports; })},
        {"aggregate",
         [](const toml::node &node, Config &config) -> std::string {
           const auto value = node.value_or(std::string());
           if (value != "median" && value != "mean") return R"(use "median" (of reporters) or "mean" (of all reports))";
           config.store.aggregate = value == "mean" ? Aggregate::mean : Aggregate::median;
           return {};
         }}}},
      {"limits",
       {{"messages_per_second", rate(100'000'000, [](Config &c) -> auto & { return c.limits.messages.perSecond; })},
        {"message_burst", rate(100'000'000, [](Config &c) -> auto & { return c.limits.messages.burst; })},
        {"hellos_per_second", rate(1'000'000, [](Config &c) -> auto & { return c.limits.hellos.perSecond; })},
        {"hello_burst", rate(1'000'000, [](Config &c) -> auto & { return c.limits.hellos.burst; })},
        {"delay_ms", number<std::uint32_t>(1, 300'000, [](Config &c) -> auto & { return c.limits.delay; })},
        {"reporters", number<std::size_t>(1, 1 << 24, [](Config &c) -> auto & { return c.limits.reporters; })},
        {"sessions", number<std::size_t>(1, 4096, [](Config &c) -> auto & { return c.limits.sessions; })}}},
      {"snapshot",
       {{"file", text(paths, path, [](Config &c) -> auto & { return c.snapshot; })},
        {"seconds", number<std::uint32_t>(1, 300, [](Config &c) -> auto & { return c.snapshotSeconds; })}}},
      {"log",
       {{"level",
         text(
             R"("error", "info" or "debug")", [](auto &v) { return v == "error" || v == "info" || v == "debug"; },
             [](Config &c) -> auto & { return c.log; })}}},
  };
  return table;
}

// Problem of a line, or "". toml++ sees a section, KEY = VALUE and comments alone: others reach code of it that it
// takes for unreachable (3.3.0: is_non_ascii_horizontal_whitespace, parse_key, parse_value).
const char *wrongWith(std::string_view line) {
  const auto isOf = [](char each, std::string_view more) {
    return std::isalnum(static_cast<unsigned char>(each)) || more.find(each) != std::string_view::npos;
  };
  const auto blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  const auto word = [&](std::string_view first, std::string_view more) {
    if (line.empty() || !isOf(line.front(), first)) return false;
    while (!line.empty() && isOf(line.front(), more)) line.remove_prefix(1);
    blanks();
    return true;
  };
  const auto one = [&](char each) {
    if (!line.starts_with(each)) return false;
    line.remove_prefix(1);
    blanks();
    return true;
  };
  const auto string = [&] {
    const char quote = line.starts_with('"') ? '"' : '\'';
    std::size_t end = 1;
    while (end < line.size() && line[end] != quote) end += line[end] == '\\' && quote == '"' ? 2 : 1;
    if (!line.starts_with(quote) || end >= line.size()) return false;
    line.remove_prefix(end + 1);
    blanks();
    return true;
  };
  blanks();
  if (one('[')) {
    if (!word("_-", "_-.") || !one(']')) return "a section is [NAME]";
  } else if (!line.empty() && !line.starts_with('#')) {
    if (!word("_-", "_-.") || !one('=')) return "a line is [SECTION] or KEY = VALUE";
    if (!word("+-", "+-_.:") && !string()) return "a value is a string of one line, or a number";
  }
  return line.empty() || line.starts_with('#') ? "" : "only a comment may follow a section or a value";
}

std::string wrongLine(std::string_view source, const std::string &file) {
  if (source.starts_with("\xEF\xBB\xBF")) source.remove_prefix(3);
  for (int number = 1; !source.empty(); ++number) {
    std::string_view line = source.substr(0, source.find('\n'));
    source.remove_prefix(std::min(line.size() + 1, source.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (const char *wrong = wrongWith(line); *wrong) return file + ":" + std::to_string(number) + ": " + wrong;
  }
  return {};
}

template <typename Map> std::string names(const Map &map) {
  std::string list;
  for (const auto &[name, value] : map) list += (list.empty() ? "" : ", ") + name;
  return list;
}

} // namespace

std::string useStore(Config &config, const std::string &store) {
  constexpr std::string_view scheme = "redis://";
  constexpr int maxDatabase = 1'000'000;
  config.redis.host.clear();
  if (store == "embedded") return {};
  if (store.starts_with("rediss://"))
    return "the gateway has no TLS of its own: run stunnel on this host, and name its end here as redis://";
  const auto slash = store.find('/', scheme.size());
  const std::string place = store.starts_with(scheme) ? store.substr(scheme.size(), slash - scheme.size()) : "";
  const std::string database = slash == std::string::npos ? "0" : store.substr(slash + 1);
  const char *end = database.data() + database.size();
  const auto [stop, error] = std::from_chars(database.data(), end, config.redis.database);
  std::uint16_t port = 0;
  if (!splitAddress(place, config.redis.host, port) || error != std::errc() || stop != end ||
      config.redis.database < 0 || config.redis.database > maxDatabase)
    return R"(use "embedded" or "redis://HOST:PORT", with /DATABASE behind it where it is not 0)";
  config.redis.port = port;
  return {};
}

std::string readPassword(Config &config) {
  if (config.passwordFile.empty())
    return config.redis.user.empty() ? "" : "store.user " + config.redis.user + ": give its password in password_file";
  if (auto reason = readSecret(config.passwordFile, config.redis.password); !reason.empty())
    return "store.password_file " + reason;
  config.redis.password.resize(config.redis.password.find_last_not_of("\r\n") + 1);
  return config.redis.password.empty() ? "store.password_file " + config.passwordFile + ": no password in it" : "";
}

std::variant<Config, std::string> parseConfig(const std::string &source, const std::string &file) {
  const auto wrong = [&](const toml::source_region &at, std::string reason) {
    // Names and words of the file may have a line's end in them.
    std::ranges::replace_if(reason, [](unsigned char each) { return std::iscntrl(each); }, ' ');
    return file + ":" + std::to_string(at.begin.line) + ": " + reason;
  };
  if (auto wrong = wrongLine(source, file); !wrong.empty()) return wrong;
  const toml::parse_result parsed = toml::parse(source);
  if (!parsed) return wrong(parsed.error().source(), std::string(parsed.error().description()));
  Config config;
  for (const auto &[section, node] : parsed.table()) {
    const auto keys = allowed().find(std::string(section.str()));
    if (keys == allowed().end() || !node.is_table())
      return wrong(section.source(), "[" + std::string(section.str()) + "] is not a section: use " + names(allowed()));
    for (const auto &[key, value] : *node.as_table()) {
      const std::string name = keys->first + "." + std::string(key.str());
      const auto take = keys->second.find(std::string(key.str()));
      if (take == keys->second.end()) return wrong(key.source(), name + " is not a key: use " + names(keys->second));
      if (const auto reason = take->second(value, config); !reason.empty())
        return wrong(value.source(), name + ": " + reason);
    }
  }
  const std::size_t bytes = config.megabytes << 20;
  config.limits.bytes = bytes / 4;
  config.store.bytes = bytes - config.limits.bytes;
  if (config.udp.empty() && config.unixSocket.empty())
    return file + ": listen.udp and listen.unix are both empty: give one, or nobody can speak to the gateway";
  return config;
}

std::variant<Config, std::string> readConfig(const std::string &file) {
  std::ifstream stream(file);
  if (!stream) return file + ": no such file: docs/tutorials/share-estimates.md shows one";
  std::stringstream text;
  text << stream.rdbuf();
  return parseConfig(text.str(), file);
}

} // namespace downbeat::gateway
