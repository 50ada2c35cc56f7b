// Tokenizer files that lie. Each gets one line that names the file and the lie; none crashes the reader.
#include <gtest/gtest.h>

#include <functional>

#include "temporary_folder.h"
#include "text/load_tokenizer.h"
#include "tiny_tokenizers.h"

namespace undertext {
namespace {

using nlohmann::json;

struct Lie {
  const char* name;
  std::function<void(json&)> change;
  const char* expected;  // part of the message
};

void expect_refused(const std::filesystem::path& folder, const char* expected, const char* name) {
  const std::string message = user_error([&] { load_tokenizer(folder); });
  EXPECT_NE(message.find(expected), std::string::npos) << name << ": " << message;
  EXPECT_EQ(message.find(folder.string()), 0u) << name << ": " << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << name << ": " << message;
}

class HostileTokenizers : public TemporaryFolder {
 protected:
  void expect_all_refused(const json& whole, const std::vector<Lie>& lies) const {
    for (const Lie& lie : lies) {
      json file = whole;
      lie.change(file);
      write("tokenizer.json", file.dump());
      expect_refused(folder_, lie.expected, lie.name);
    }
  }
};

TEST_F(HostileTokenizers, BytePairs) {
  expect_all_refused(
      tiny_tokenizer_json(),
      {
          {"list", [](json& f) { f = json::array(); }, "not a JSON object"},
          {"no_model", [](json& f) { f.erase("model"); },
           "its model is \"null\", expected \"BPE\" or \"WordPiece\""},
          {"unigram", [](json& f) { f["model"]["type"] = "Unigram"; }, "its model is \"Unigram\""},
          {"type_number", [](json& f) { f["model"]["type"] = 3; }, "its model is \"no type\""},
          {"model_text", [](json& f) { f["model"] = "BPE"; }, "its model is \"no type\""},
          {"normaliser",
           [](json& f) {
             f["normalizer"] = {{"type", "NFC"}};
           },
           "its normalizer is \"NFC\""},
          {"other_words",
           [](json& f) {
             f["pre_tokenizer"] = {{"type", "Sequence"}};
           },
           "its pre_tokenizer is \"Sequence\", expected \"ByteLevel\""},
          {"no_words", [](json& f) { f.erase("pre_tokenizer"); }, "its pre_tokenizer is \"null\""},
          {"text_for_words", [](json& f) { f["pre_tokenizer"] = "ByteLevel"; }, "its pre_tokenizer"},
          {"no_regex", [](json& f) { f["pre_tokenizer"]["use_regex"] = false; }, "\"use_regex\" is false"},
          {"regex_text", [](json& f) { f["pre_tokenizer"]["use_regex"] = "yes"; }, "neither true nor false"},
          {"prefix_space", [](json& f) { f["pre_tokenizer"]["add_prefix_space"] = true; },
           "\"add_prefix_space\" is set"},
          {"no_decoder", [](json& f) { f["decoder"] = nullptr; }, "its decoder is \"null\""},
          {"dropout", [](json& f) { f["model"]["dropout"] = 0.1; }, "\"dropout\" is set"},
          {"suffix", [](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; },
           "\"end_of_word_suffix\" is set"},
          {"ignore_merges", [](json& f) { f["model"]["ignore_merges"] = true; }, "\"ignore_merges\" is set"},
          {"no_vocabulary", [](json& f) { f["model"].erase("vocab"); }, "the vocabulary is no object"},
          {"empty_vocabulary", [](json& f) { f["model"]["vocab"] = json::object(); },
           "\"<|endoftext|>\" has the id"},
          {"missing_byte", [](json& f) { f["model"]["vocab"].erase("a"); }, "expected ids"},
          {"byte_replaced",
           [](json& f) {
             f["model"]["vocab"].erase("a");
             f["model"]["vocab"]["aa"] = 97;
           },
           "no token for the byte 0x61"},
          {"same_id", [](json& f) { f["model"]["vocab"]["he"] = 0; }, "have the same id 0"},
          {"gap", [](json& f) { f["model"]["vocab"]["he"] = 265; }, "expected ids"},
          {"huge_id", [](json& f) { f["model"]["vocab"]["he"] = 18446744073709551615u; },
           "expected ids from 0 on"},
          {"negative_id", [](json& f) { f["model"]["vocab"]["he"] = -1; },
           "the id of \"he\" is no whole number"},
          {"fraction", [](json& f) { f["model"]["vocab"]["he"] = 1.5; },
           "the id of \"he\" is no whole number"},
          {"id_text", [](json& f) { f["model"]["vocab"]["he"] = "256"; },
           "the id of \"he\" is no whole number"},
          {"empty_token",
           [](json& f) {
             f["model"]["vocab"].erase("he");
             f["model"]["vocab"][""] = 256;
           },
           "token 256 is empty"},
          {"long_token", [](json& f) { f["model"]["vocab"][std::string(5000, 'x')] = 265; },
           "has 5000 bytes"},
          {"no_bytes", [](json& f) { f["model"]["vocab"]["a b"] = 265; },
           "\"a b\" is not written in the characters"},
          {"merges_object", [](json& f) { f["model"]["merges"] = json::object(); }, "\"merges\" is no list"},
          {"merge_number", [](json& f) { f["model"]["merges"][2] = 7; }, "merge 3 is not two tokens"},
          {"merge_of_three", [](json& f) { f["model"]["merges"][2] = "a b c"; }, "merge 3 is not two tokens"},
          {"merge_triple",
           [](json& f) {
             f["model"]["merges"][2] = {"a", "b", "c"};
           },
           "merge 3 is not two tokens"},
          {"merge_of_nothing",
           [](json& f) {
             f["model"]["merges"][2] = {"", "he"};
           },
           "expected two tokens"},
          {"merge_unknown", [](json& f) { f["model"]["merges"][2] = "x y"; },
           "merge 3 makes \"xy\", which is no token"},
          {"merge_of_unknown", [](json& f) { f["model"]["merges"][3] = "hel lo"; }, "merge 4 joins \"hel\""},
          {"merge_twice", [](json& f) { f["model"]["merges"].push_back("h e"); }, "is there twice"},
          {"added_object", [](json& f) { f["added_tokens"] = json::object(); },
           "\"added_tokens\" is no list"},
          {"added_bare", [](json& f) { f["added_tokens"][0].erase("id"); }, "added token 0 lacks"},
          {"added_negative", [](json& f) { f["added_tokens"][0]["id"] = -5; }, "added token 0 lacks"},
          {"added_far", [](json& f) { f["added_tokens"][0]["id"] = 9999999999; }, "has the id 9999999999"},
          {"added_elsewhere", [](json& f) { f["added_tokens"][0]["id"] = 3; }, "have the same id 3"},
          {"added_empty",
           [](json& f) {
             f["added_tokens"].push_back({{"id", 265}, {"content", ""}});
           },
           "is empty"},
          {"added_twice", [](json& f) { f["added_tokens"].push_back(f["added_tokens"][0]); },
           "is there twice"},
          {"added_two_ids",
           [](json& f) {
             f["added_tokens"].push_back({{"id", 265}, {"content", "<|endoftext|>"}});
           },
           "is there twice"},
          {"added_single", [](json& f) { f["added_tokens"][0]["single_word"] = true; }, "\"single_word\""},
          {"added_byte",
           [](json& f) {
             f["added_tokens"].push_back({{"id", 32}, {"content", "\u0120"}});
           },
           "also stands for the byte 0x20"},
          {"added_merge",
           [](json& f) {
             f["added_tokens"].push_back({{"id", 260}, {"content", "\u0120w"}});
           },
           "merge 5 makes the added token"},
          {"restricted_text", [](json& f) { f["restricted"] = "no"; }, "\"restricted\" is neither"},
          {"restricted_unknown",
           [](json& f) {
             f["restricted"] = true;
             f["model"]["merges"].push_back("xy z");
           },
           "merge 9 joins \"xy\", which is no token"},
          {"restricted_no_bytes",
           [](json& f) {
             f["restricted"] = true;
             f["model"]["merges"].push_back({"a b", "c"});
           },
           "not written in the characters"},
      });
}

TEST_F(HostileTokenizers, WordPieces) {
  expect_all_refused(
      tiny_word_piece_json(),
      {
          {"normaliser",
           [](json& f) {
             f["normalizer"] = {{"type", "Lowercase"}};
           },
           "its normalizer is \"Lowercase\""},
          {"normaliser_text", [](json& f) { f["normalizer"] = "BertNormalizer"; }, "its normalizer"},
          {"lowercase", [](json& f) { f["normalizer"]["lowercase"] = 1; }, "\"lowercase\" is neither"},
          {"words", [](json& f) { f["pre_tokenizer"]["type"] = "Whitespace"; },
           "its pre_tokenizer is \"Whitespace\""},
          {"decoder", [](json& f) { f["decoder"]["type"] = "BPE"; }, "its decoder is \"BPE\""},
          {"prefix", [](json& f) { f["model"]["continuing_subword_prefix"] = "@@"; }, "expected \"##\""},
          {"unknown_number", [](json& f) { f["model"]["unk_token"] = 1; }, "\"unk_token\" is no string"},
          {"unknown_missing", [](json& f) { f["model"]["unk_token"] = "<unk>"; }, "is \"<unk>\""},
          {"longest", [](json& f) { f["model"]["max_input_chars_per_word"] = -1; },
           "\"max_input_chars_per_word\""},
          {"gap", [](json& f) { f["model"]["vocab"]["a"] = 9; }, "expected ids"},
          {"normalised", [](json& f) { f["added_tokens"][0]["normalized"] = true; }, "\"normalized\""},
      });
}

TEST_F(HostileTokenizers, Bytes) {
  const std::string deep = std::string(100'000, '[');
  const struct {
    const char *file, *name;
    std::string content;
    const char* expected;
  } lies[] = {
      {"tokenizer.json", "empty", "", "not a JSON object"},
      {"tokenizer.json", "cut", R"({"model": {"type": "BPE")", "not a JSON object"},
      {"tokenizer.json", "not_utf8", "{\"\xFF\": 1}", "not a JSON object"},
      {"tokenizer.json", "surrogate", R"({"\ud800": 1})", "not a JSON object"},
      {"tokenizer.json", "deep", deep, "not a JSON object"},
      {"tokenizer.json", "deep_and_whole", R"({"model": )" + deep + std::string(100'000, ']') + "}",
       "its model is \"no type\""},
      {"characters.json", "empty", "", "expected a JSON list"},
      {"characters.json", "none", "[]", "expected a JSON list"},
      {"characters.json", "object", R"({"a": 0})", "expected a JSON list"},
      {"characters.json", "number", R"(["a", 1])", "entry 1 is not a string of one character"},
      {"characters.json", "two", R"(["a", "bc"])", "entry 1 is not a string of one character"},
      {"characters.json", "nothing", R"(["a", ""])", "entry 1 is not a string of one character"},
      {"characters.json", "twice", R"(["a", "b", "a"])", "\"a\" is there twice"},
      {"vocab.txt", "empty", "", "the file is empty"},
      {"vocab.txt", "neither", "a\nb\n", "none of its 2 lines is '</S>'"},
      {"vocab.txt", "twice", "[UNK]\na\na\n", "tokens 1 and 2 are both \"a\""},
      {"vocab.txt", "blank", "[UNK]\n\na\n", "token 1 is empty"},
      {"vocab.txt", "not_utf8", "[UNK]\n\xFF\n", "token 1 \"\uFFFD\" is not UTF-8"},
  };
  for (const auto& lie : lies) {
    const auto file = write(lie.file, lie.content);
    expect_refused(folder_, lie.expected, lie.name);
    std::filesystem::remove(file);
  }
}

TEST_F(HostileTokenizers, Merges) {
  write("vocab.json", tiny_vocabulary(kHello).dump());
  const std::pair<const char*, const char*> lies[] = {
      {"h e\nl", "line 2 is not two tokens"},
      {"h e l\n", "line 1 is not two tokens"},
      {"#version: 0.2\nh  e\n", "line 2 is not two tokens"},
      {"x y\n", "merge 1 makes \"xy\", which is no token"},
      {" he\n", "expected two tokens"},
      {"h e\r\n\nh e\n", "merge 2 of \"h\" and \"e\" is there twice"},
      {"h \xFF\n", "which is no token"},
  };
  for (const auto& [content, expected] : lies) {
    write("merges.txt", content);
    expect_refused(folder_, expected, content);
  }
  write("vocab.json", R"(["a"])");
  expect_refused(folder_, "vocab.json: not a JSON object", "list");
}

TEST_F(HostileTokenizers, Folders) {
  expect_refused(folder_, "no tokenizer files", "empty");
  write("merges.txt", "h e\n");  // and no vocab.json
  expect_refused(folder_, "no tokenizer files", "half");
  expect_refused(folder_ / "nowhere", "no such folder", "absent");
}

}  // namespace
}  // namespace undertext
