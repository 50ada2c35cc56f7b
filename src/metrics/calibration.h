// Whether an attack that says how sure it is of a token is right that often.
#pragma once

#include <array>
#include <cstdint>

namespace undertext {

class Calibration {
 public:
  // confidence: in [0, 1], others are taken as the nearer end; certified: the attack vouches for the token.
  void add(double confidence, bool certified, bool right);

  // Expected calibration error: the gap between confidence and accuracy in each of ten bins of equal width,
  // weighted by how many tokens a bin has. 0 without tokens.
  double error() const;
  double certified_share() const;     // of all tokens
  double certified_accuracy() const;  // 0 when none is certified

 private:
  static constexpr std::size_t kBins = 10;
  struct Bin {
    std::int64_t tokens = 0, right = 0;
    double confidence = 0;  // sum
  };
  std::array<Bin, kBins> bins_;
  std::int64_t tokens_ = 0, certified_ = 0, certified_right_ = 0;
};

}  // namespace undertext
