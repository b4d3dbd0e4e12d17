// The writer of FST files does not look whether its writing succeeded. Every one of its streams
// remembers, however: they are asked when it closes them.
#pragma once

namespace espalier {

// While it lives, notes what the streams closed by the writer in this thread say.
class FstErrors {
 public:
  FstErrors();
  ~FstErrors();
  FstErrors(const FstErrors&) = delete;
  FstErrors& operator=(const FstErrors&) = delete;

  // An errno, zero where all was written.
  [[nodiscard]] int number() const { return number_; }
  void note(int number) {
    if (number_ == 0) number_ = number;
  }

 private:
  FstErrors* outer_;
  int number_ = 0;
};

}  // namespace espalier
