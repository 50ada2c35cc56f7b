#include "worker.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "base/threads.h"
#include "keyboard.h"
#include "text/corpus.h"
#include "text/vocabulary.h"

namespace undertext {

Folders folders_of(int argc, char** argv) {
  if (argc == 3) return {argv[1], argv[2]};
  std::cerr << "usage: " << argv[0] << " DATA SHARED\n";
  std::exit(2);
}

Client prepare_client(const Folders& folders, std::size_t count) {
  Client client;
  const std::filesystem::path real = folders.shared / "data";
  if (std::filesystem::exists(real / "gboard")) {
    client.model = CifgLstm::load(real / "gboard");
    client.messages = read_sentences(real / "messages" / fmt::format("{}_0.txt", count),
                                     Vocabulary::load(real / "gboard/vocab.txt"));
  } else {
    client.model = keyboard_model();
    client.messages = messages(count, 4);
  }
  client.model->save(folders.data);
  return client;
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int answer_questions(const std::map<std::string, std::function<double()>>& answers) {
  set_threads(1);
  std::cout.precision(12);
  for (std::string question; std::getline(std::cin, question);) {
    const auto answer = answers.find(question);
    if (answer == answers.end()) return 2;
    std::cout << answer->second() << std::endl;
  }
  return 0;
}

}  // namespace undertext
