// A Verilog module that Verilator has compiled, with one clock.
#pragma once

#include <verilated.h>

namespace espalier {

template <class Model>
class ClockedVerilog {
 public:
  ClockedVerilog() : model_(&context_) {}
  ~ClockedVerilog() {
    model_.final();
    // The model takes its names out of the thread's context, which another model may have set.
    Verilated::threadContextp(&context_);
  }
  ClockedVerilog(const ClockedVerilog&) = delete;
  ClockedVerilog& operator=(const ClockedVerilog&) = delete;

  // Its ports. A look at its outputs may evaluate it, so a constant model has them, too.
  Model* operator->() const { return &model_; }

  void low() const {
    model_.clk = 0;
    model_.eval();
  }
  // Precondition: the model has been evaluated with a low clock.
  void rise() {
    model_.clk = 1;
    model_.eval();
  }
  void reset() {
    model_.reset = 1;
    low();
    rise();
    model_.reset = 0;
  }

 private:
  VerilatedContext context_;
  mutable Model model_;
};

}  // namespace espalier
