#include "models/transformer/config.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/temporary_folder.h"

namespace undertext {
namespace {

using nlohmann::json;

TransformerConfig read(TransformerKind kind, json fields) {
  return read_transformer_config(ConfigFields(std::move(fields), "config.json"), kind);
}

std::string error_of(TransformerKind kind, const json& fields) {
  try {
    read(kind, fields);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TransformerConfig, ReadsHuggingFacesFields) {
  const TransformerConfig gpt2 = read(TransformerKind::gpt2, {{"vocab_size", 100},
                                                              {"n_positions", 20},
                                                              {"n_embd", 24},
                                                              {"n_layer", 3},
                                                              {"n_head", 4},
                                                              {"n_inner", nullptr},
                                                              {"activation_function", "relu"},
                                                              {"resid_pdrop", 0.2},
                                                              {"attn_pdrop", 0},
                                                              {"layer_norm_epsilon", 1e-6},
                                                              {"scale_attn_by_inverse_layer_idx", true},
                                                              {"bos_token_id", 50256}});
  EXPECT_EQ(gpt2.inner, 96) << "null: four times the width";
  EXPECT_EQ(gpt2.activation, Activation::relu);
  EXPECT_EQ(gpt2.residual_dropout, 0.2);
  EXPECT_EQ(gpt2.embedding_dropout, 0.1) << "Hugging Face's default";
  EXPECT_EQ(gpt2.attention_dropout, 0);
  EXPECT_EQ(gpt2.norm_epsilon, 1e-6);
  EXPECT_TRUE(gpt2.tied && gpt2.causal && gpt2.norm_first && gpt2.scale_by_layer);
  EXPECT_EQ(gpt2.start, -1) << "a default that lies outside of this vocabulary";
  const TransformerConfig small = read(TransformerKind::gpt2, json::object());
  EXPECT_EQ(small.vocabulary, 50257);
  EXPECT_EQ(small.width, 768);
  const TransformerConfig bert = read(TransformerKind::bert, {{"hidden_act", "gelu_new"}});
  EXPECT_EQ(bert.vocabulary, 30522);
  EXPECT_EQ(bert.norm_epsilon, 1e-12);
  EXPECT_EQ(bert.activation, Activation::gelu_tanh);
  EXPECT_FALSE(bert.causal || bert.norm_first);
}

TEST(TransformerConfig, RefusesByNameWhatItDoesNotHave) {
  const struct {
    TransformerKind kind;
    json fields;
    const char* message;
  } cases[] = {
      {TransformerKind::gpt2,
       {{"architectures", {"GPT2ForSequenceClassification"}}},
       "GPT2ForSequenceClassification\"], expected GPT2LMHeadModel"},
      {TransformerKind::bert, {{"architectures", {"BertForQuestionAnswering"}}}, "expected BertForMaskedLM"},
      {TransformerKind::gpt2,
       {{"activation_function", "mish"}},
       "\"activation_function\" is \"mish\", expected relu"},
      {TransformerKind::gpt2, {{"n_embd", 10}, {"n_head", 3}}, "a width of 10 does not split into 3 heads"},
      {TransformerKind::gpt2, {{"n_layer", 0}}, "\"n_layer\" is 0"},
      {TransformerKind::gpt2, {{"attn_pdrop", 1.5}}, "\"attn_pdrop\" is 1.5"},
      {TransformerKind::gpt2,
       {{"add_cross_attention", true}},
       "\"add_cross_attention\" is true, expected false"},
      {TransformerKind::bert,
       {{"position_embedding_type", "relative_key"}},
       "\"relative_key\", expected \"absolute\""},
      {TransformerKind::bert, {{"is_decoder", true}}, "\"is_decoder\" is true"},
      {TransformerKind::plain, json::object(), "\"vocab_size\" is missing"},
      {TransformerKind::plain,
       {{"vocab_size", 5}, {"causal", "yes"}},
       "\"causal\" is \"yes\", expected true or false"},
  };
  for (const auto& wrong : cases) {
    const std::string error = error_of(wrong.kind, wrong.fields);
    EXPECT_NE(error.find(wrong.message), std::string::npos) << error;
    EXPECT_TRUE(error.starts_with("config.json: ")) << error;
  }
}

TEST(TransformerConfig, IsWrittenAsItIsRead) {
  const TemporaryFolder folder;
  for (const TransformerKind kind : {TransformerKind::gpt2, TransformerKind::bert, TransformerKind::plain}) {
    const TransformerConfig config =
        read(kind, {{"vocab_size", 90}, {"tie_word_embeddings", false}, {"eos_token_id", 3}});
    write_transformer_config(folder / "config.json", config);
    const TransformerConfig back = read_transformer_config(ConfigFields(folder / "config.json"), kind);
    write_transformer_config(folder / "again.json", back);
    EXPECT_EQ(ConfigFields(folder / "config.json").value("vocab_size", 0), 90);
    EXPECT_EQ(back.end, 3);
    EXPECT_FALSE(back.tied);
    EXPECT_EQ(back.activation, config.activation);
    EXPECT_EQ(back.inner, config.inner);
    EXPECT_EQ(back.causal, config.causal);
  }
}

}  // namespace
}  // namespace undertext
