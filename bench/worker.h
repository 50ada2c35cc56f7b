// What the workers have in common: programs that a file in bench/rows/ starts, each beside its reference, and
// that answer each line of input with one number.
//   PROGRAM DATA SHARED
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/cifg_lstm.h"

namespace undertext {

struct Folders {
  std::filesystem::path data;    // where the reference finds what it needs
  std::filesystem::path shared;  // real models and texts; may not be there
};

// From the command line; ends the program when there are not two.
Folders folders_of(int argc, char** argv);

struct Client {
  std::unique_ptr<CifgLstm> model;
  std::vector<Sentence> messages;
};

// The keyboard's model and `count` messages of 4 words: those in SHARED, or made-up ones of the same shape.
// Saves the model to DATA.
Client prepare_client(const Folders& folders, std::size_t count);

// Of a clock that only the difference of two readings says something about.
double seconds();

// Answers until the input ends, on one thread; returns what main should.
int answer_questions(const std::map<std::string, std::function<double()>>& answers);

}  // namespace undertext
