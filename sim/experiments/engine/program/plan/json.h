// SPDX-License-Identifier: BSD-2-Clause-Patent
// JSON on a stream, in the order of the calls; numbers as the shortest text that reads back the same.
#pragma once

#include <charconv>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

class Json {
public:
  explicit Json(std::ostream &out) : out_(out) {}

  void open(char bracket) { separate(), out_ << bracket, first_ = true; }
  void close(char bracket) { out_ << bracket, first_ = false; }
  void name(std::string_view text) { separate(), string(text), out_ << ": ", first_ = true; }

  template <typename Value> void value(const Value &value) {
    separate();
    if constexpr (std::is_same_v<Value, bool>) {
      out_ << (value ? "true" : "false");
    } else if constexpr (std::is_convertible_v<Value, std::string_view>) {
      string(value);
    } else if constexpr (std::is_floating_point_v<Value>) {
      number(value);
    } else if constexpr (std::is_integral_v<Value>) {
      out_ << value;
    } else {
      out_ << '[', first_ = true;
      for (const auto &each : value) this->value(each);
      out_ << ']', first_ = false;
    }
  }

  template <typename Value> void field(std::string_view key, const Value &content) { name(key), value(content); }

private:
  void separate() {
    if (!first_) out_ << ", ";
    first_ = false;
  }

  /// JSON has no infinity.
  void number(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out_ << (std::isfinite(value) ? std::string_view(text, static_cast<std::size_t>(end - text)) : "null");
  }

  void string(std::string_view text) {
    out_ << '"';
    for (const char letter : text)
      (letter == '"' || letter == '\\' ? out_ << '\\' : out_) << (letter < ' ' ? ' ' : letter);
    out_ << '"';
  }

  std::ostream &out_;
  bool first_ = true;
};
