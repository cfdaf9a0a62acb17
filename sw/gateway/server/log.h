// SPDX-License-Identifier: BSD-2-Clause-Patent
// A structured log: one JSON object a line on the standard error, which systemd takes into its journal.
#pragma once

#include <concepts>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>

namespace downbeat::gateway {

std::string quoted(const std::string &text); // as a JSON string

class Log {
public:
  enum Level { error, info, debug };

  explicit Log(const std::string &level) : level_(level == "error" ? error : level == "debug" ? debug : info) {}

  /// write(Log::info, "restored", "prefixes", 25000, "age_s", 7.3)
  template <typename... Members> void write(Level level, const char *event, const Members &...members) {
    if (level > level_) return;
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(date, sizeof date, "%FT%TZ", gmtime_r(&now, &parts));
    static constexpr const char *names[] = {"error", "info", "debug"};
    std::string line =
        std::string(R"({"time":")") + date + R"(","level":")" + names[level] + R"(","event":")" + event + '"';
    append(line, members...);
    line += "}\n";
    const std::scoped_lock lock(mutex_);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

private:
  static void append(std::string &) {}
  template <typename Value, typename... Rest>
  static void append(std::string &line, const char *name, const Value &value, const Rest &...rest) {
    line += std::string(",\"") + name + "\":";
    if constexpr (std::floating_point<Value>) {
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(value));
      line += digits;
    } else if constexpr (std::integral<Value>) {
      line += std::to_string(value);
    } else {
      line += quoted(value);
    }
    append(line, rest...);
  }

  Level level_;
  std::mutex mutex_;
};

} // namespace downbeat::gateway
