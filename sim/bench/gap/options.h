// SPDX-License-Identifier: BSD-2-Clause-Patent
// --name=value from the command line.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace gap {

class Options {
public:
  Options(int count, char **arguments) {
    for (int i = 0; i < count; ++i) {
      const std::string word = arguments[i];
      const std::size_t equals = word.find('=');
      if (!word.starts_with("--") || equals == std::string::npos)
        throw std::invalid_argument(word + ": write --name=value");
      values_[word.substr(2, equals - 2)] = word.substr(equals + 1);
    }
  }
  double number(const std::string &name) const { return std::stod(text(name)); }
  double number(const std::string &name, double otherwise) const {
    return values_.contains(name) ? number(name) : otherwise;
  }
  std::uint64_t count(const std::string &name) const { return std::stoull(text(name)); }
  const std::string &text(const std::string &name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw std::invalid_argument("--" + name + " is missing");
    return found->second;
  }

private:
  std::map<std::string, std::string> values_;
};

} // namespace gap
