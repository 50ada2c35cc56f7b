#include "text/messages.h"

#include <utility>

#include "text/messages/topics.h"
#include "text/vocabulary.h"

namespace undertext {

const Grammar& message_grammar() {
  static const Grammar grammar(message_rules());
  return grammar;
}

Message generate_message(Seed seed, std::int64_t index) {
  constexpr std::size_t longest = 12;  // words
  const Grammar& grammar = message_grammar();
  Random random(seed.derive("message").derive(static_cast<std::uint64_t>(index)));
  Message message;
  message.topic = grammar.expand("topic", random);
  // The rare sentence that grew too long is drawn again, from the same topic.
  do {
    message.text = grammar.expand(message.topic, random);
  } while (keyboard_words(message.text).size() > longest);
  return message;
}

std::vector<std::string> generate_messages(Seed seed, std::int64_t count) {
  std::vector<std::string> messages;
  messages.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) messages.push_back(generate_message(seed, i).text);
  return messages;
}

}  // namespace undertext
