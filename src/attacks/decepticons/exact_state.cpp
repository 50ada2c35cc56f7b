// The corrupted state for exact recovery. Against the paper's it has a probe of its own in every layer, so
// that tokens that share a bin in one layer are apart in another; tokens and places on entries of their own,
// so that a bin that holds several is a sparse mixture of known rows; and a sentence code that sums up all
// tokens that a place can see, which tells sequences apart and checks them.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attacks/decepticons/corrupt.h"
#include "attacks/decepticons/exact_layout.h"
#include "attacks/decepticons/sample_sequences.h"
#include "base/error.h"
#include "models/transformer/layer_views.h"

namespace undertext {
namespace {

constexpr std::int64_t kWindow = 8;    // places whose mean is the code of a causal model's sequence
constexpr double kFlag = 5;            // marks these places in two entries of their rows
constexpr double kAttend = 200;        // how much more attention they get, as a logarithm
constexpr double kTail = 1e-3;         // of tied models: the tail of a token's row, of its label's weight
constexpr double kWritten = 1e-3;      // what the feed-forward parts may write, of a row of length sqrt(D)
constexpr double kWrittenTied = 1e-6;  // where tails are not empty, and losses pass them
constexpr double kSink = 30;           // output bias of the token that a masked model predicts everywhere

class Corruption {
 public:
  Corruption(CorruptedState& state, const CorruptOptions& options)
      : model_(*state.model),
        config_(model_.config()),
        key_(state.key),
        options_(options),
        blocks_(ExactBlocks::of(config_)),
        seed_(Seed(options.seed).derive("exact")) {}

  void run() {
    if (config_.masked() && config_.layers < 2)
      fail("a masked model of one layer: its only layer sees the losses of hidden words alone, expected two");
    key_.code = blocks_.code;
    key_.positions = blocks_.positions;
    key_.window = config_.causal ? std::min(kWindow, config_.positions) : 0;
    // A sharp activation needs no size: what is small going in may be large coming out, and stand out of
    // noise.
    key_.scale = config_.activation == Activation::relu ? 1e-6 : 1e7;
    set_norms();
    set_labels();
    set_tokens();
    set_positions();
    for (std::size_t l = 0; l < model_.names().layers.size(); ++l) set_attention(l);
    set_probes();
    set_edges();
    set_outer();
    set_head();
  }

 private:
  at::Tensor parameter(const std::string& name) const { return model_.parameters().at(name); }
  LayerViews layer(std::size_t i) const { return layer_views(model_, model_.parameters(), i); }

  // n rows of m normal numbers, each of sum 0 and length 1.
  static at::Tensor random_rows(std::int64_t n, std::int64_t m, Seed seed) {
    at::Tensor rows = at::zeros({n, m}, at::kFloat);
    add_normal_noise(seed, 1, rows.data_ptr<float>(), rows.numel());
    rows.sub_(rows.mean(1, true));
    return rows.div_(rows.norm(2, 1, true));
  }

  void set_norms() {
    const TransformerNames& names = model_.names();
    const auto set = [&](const std::string& weight, const std::string& bias) {
      if (weight.empty()) return;
      parameter(weight).fill_(1);
      parameter(bias).zero_();
    };
    set(names.embedding_norm_weight, names.embedding_norm_bias);
    set(names.final_norm_weight, names.final_norm_bias);
    set(names.head_norm_weight, names.head_norm_bias);
    for (const LayerNames& layer : names.layers) {
      set(layer.norm1_weight, layer.norm1_bias);
      set(layer.norm2_weight, layer.norm2_bias);
    }
  }

  // Evenly spaced weights in random order, none near zero: a token's row has the size that its label gives
  // it. Both signs keep the sums over many tokens small. A masked model's losses are spread over its
  // sequence, where both signs would cancel.
  void set_labels() {
    const std::int64_t v = config_.vocabulary;
    std::vector<float> values(static_cast<std::size_t>(v));
    for (std::int64_t i = 0; i < v; ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(v);
      values[static_cast<std::size_t>(i)] = static_cast<float>(config_.masked() ? 0.5 + share / 2
                                                               : share < 0.5    ? share - 1
                                                                                : share);
    }
    Random draw(seed_.derive("labels"));
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[draw.below(i)]);
    if (config_.masked()) values[static_cast<std::size_t>(sink())] = 0;
    labels_ = at::tensor(values);
  }
  Token sink() const { return config_.padding >= 0 ? config_.padding : 0; }

  void set_tokens() {
    at::Tensor embedding = parameter(model_.names().token_embedding);
    embedding.zero_();
    const std::int64_t first = blocks_.first_token();
    if (config_.tied) {
      // The two last entries are the label's weight, and what makes the row's sum 0 again.
      const at::Tensor random = random_rows(config_.vocabulary, blocks_.tokens() - 2, seed_.derive("tokens"));
      const at::Tensor length = (kRowLength * kRowLength - labels_.square() * (2 * kTail * kTail)).sqrt_();
      embedding.narrow(1, first, blocks_.tokens() - 2).copy_(random * length.unsqueeze(1));
      embedding.select(1, blocks_.tail() - 1).copy_(labels_ * -kTail);
      embedding.select(1, blocks_.tail()).copy_(labels_ * kTail);
      return;
    }
    embedding.narrow(1, first, blocks_.tokens() - 1)
        .copy_(random_rows(config_.vocabulary, blocks_.tokens() - 1, seed_.derive("tokens")) * kRowLength);
    at::Tensor output = parameter(model_.names().output_weight);
    output.zero_();
    output.select(1, blocks_.tail()).copy_(labels_);
  }

  void set_positions() {
    at::Tensor embedding = parameter(model_.names().position_embedding);
    embedding.zero_();
    const std::int64_t first = blocks_.first_position(), free = blocks_.positions - (config_.causal ? 2 : 0);
    const at::Tensor random = random_rows(config_.positions, free, seed_.derive("positions"));
    embedding.narrow(1, first, free).copy_(random * kRowLength);
    if (config_.causal) {
      at::Tensor early = embedding.narrow(0, 0, key_.window);
      early.mul_(std::sqrt(1 - 2 * kFlag * kFlag / (kRowLength * kRowLength)));
      early.select(1, first + free).fill_(kFlag);
      early.select(1, first + free + 1).fill_(-kFlag);
    }
    if (!model_.names().type_embedding.empty()) parameter(model_.names().type_embedding).zero_();
  }

  void set_attention(std::size_t l) {
    const LayerViews views = layer(l);
    for (const LayerViews::Affine& part : {views.query, views.key, views.value, views.attention}) {
      part.weight.zero_();
      part.bias.zero_();
    }
    if (l == 0) set_code(views);
    // E.1: the losses of hidden words have to reach all others, by the last layer's equal attention to all.
    if (config_.masked() && l + 1 == model_.names().layers.size()) {
      views.value.weight[blocks_.tail()][blocks_.tail()].fill_(1);
      views.attention.weight[blocks_.tail()][blocks_.tail()].fill_(1);
    }
  }

  // Equal attention to all that a place may look at or, where that is what lies before it, to the first
  // places.
  void set_code(const LayerViews& views) {
    const std::int64_t v = blocks_.code, first = blocks_.first_token(), tokens = blocks_.tokens() - 2;
    at::Tensor code = random_rows(v, tokens, seed_.derive("code"));
    code.sub_(code.mean(0, true));
    const double among = static_cast<double>(config_.causal ? key_.window : options_.length);
    const double through = config_.norm_first ? bare_deviation(config_) : 1;
    // A token's row of length 10 becomes a code of about 10 / sqrt(D) an entry, times what the mean takes
    // away.
    code.mul_(std::sqrt(among) * through *
              std::sqrt(static_cast<double>(tokens) / static_cast<double>(config_.width)));
    views.value.weight.narrow(0, 0, v).narrow(1, first, tokens).copy_(code);
    for (std::int64_t j = 0; j < v; ++j) views.attention.weight[j][j].fill_(1);
    if (!config_.causal) return;
    const std::int64_t flag = first - 2;
    const double seen = 2 * kFlag / through;  // key of a marked place
    for (std::int64_t head = 0; head < config_.heads; ++head) {
      const std::int64_t entry = head * config_.head_width();
      views.key.weight[entry][flag].fill_(1);
      views.key.weight[entry][flag + 1].fill_(-1);
      views.query.bias[entry].fill_(kAttend / seen *
                                    (config_.scale_attention ? std::sqrt(config_.head_width()) : 1.0));
    }
  }

  void set_probes() {
    const std::int64_t v = blocks_.code, first = blocks_.first_token();
    const std::int64_t tokens = blocks_.tokens() - (config_.tied ? 2 : 1);
    for (std::size_t l = 0; l < model_.names().layers.size(); ++l) {
      at::Tensor probe = at::zeros({config_.width}, at::kFloat);
      const auto block = [&](std::int64_t from, std::int64_t size, const char* name) {
        probe.narrow(0, from, size).copy_(random_rows(1, size, seed_.derive(name).derive(l))[0]);
      };
      block(0, v, "probe code");
      block(blocks_.first_position(), blocks_.positions, "probe positions");
      block(first, tokens, "probe tokens");
      layer(l).inner.weight.copy_((probe * key_.scale).unsqueeze(0).expand({config_.inner, config_.width}));
    }
  }

  // Every layer's own edges: quantiles of what its probe measures.
  void set_edges() {
    const std::vector<Sentence> sequences = sample_sequences(model_, options_);
    std::vector<Token> ids(static_cast<std::size_t>(config_.vocabulary));
    std::iota(ids.begin(), ids.end(), 0);
    const auto length = static_cast<std::int64_t>(sequences.front().size());
    const ExactState state(model_, key_, std::move(ids), length);
    const std::int64_t layers = config_.layers;
    std::vector<std::vector<double>> measured(static_cast<std::size_t>(layers));
    std::vector<double> sum(static_cast<std::size_t>(blocks_.code)), code(sum.size());
    for (const Sentence& sequence : sequences) {
      std::fill(sum.begin(), sum.end(), 0.0);
      std::int64_t seen = 0;  // tokens in the sum
      for (std::int64_t p = 0; p < length; ++p) {
        const std::int64_t sees = config_.causal ? std::min(key_.window, p + 1) : length;
        for (; seen < sees; ++seen)
          for (std::size_t j = 0; j < sum.size(); ++j)
            sum[j] +=
                state.token_codes()(sequence[static_cast<std::size_t>(seen)], static_cast<std::int64_t>(j));
        for (std::size_t j = 0; j < sum.size(); ++j) code[j] = sum[j] / static_cast<double>(seen);
        const double divisor = state.deviation(code.data());
        for (std::int64_t l = 0; l < state.layers(); ++l)
          measured[static_cast<std::size_t>(l)].push_back(state.measured(
              l, sequence[static_cast<std::size_t>(p)], p, state.measured_code(l, code.data()), divisor));
      }
    }
    // A masked model's last layer measures too; nobody reads it.
    if (state.layers() < layers) measured.back() = measured.front();
    for (std::int64_t l = 0; l < layers; ++l) {
      std::vector<double>& values = measured[static_cast<std::size_t>(l)];
      std::ranges::sort(values);
      std::vector<float> bias;
      const double spread = values.back() - values.front();
      for (std::int64_t i = 0; i < config_.inner; ++i) {
        const std::size_t at =
            values.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(config_.inner);
        // The first bin takes all that lies below, however far.
        const double edge = i == 0 ? values.front() - 10 * spread : values[at];
        bias.push_back(static_cast<float>(-edge * key_.scale));
      }
      layer(static_cast<std::size_t>(l)).inner.bias.copy_(at::tensor(bias));
    }
  }

  // Only the tail is written, by all rows alike, and so little that the norms do not feel it.
  void set_outer() {
    for (std::size_t l = 0; l < model_.names().layers.size(); ++l) {
      const LayerViews views = layer(l);
      views.outer.weight.zero_();
      views.outer.bias.zero_();
      views.outer.weight[blocks_.tail()].fill_((config_.tied ? kWrittenTied : kWritten) /
                                               (key_.scale * static_cast<double>(config_.inner)));
    }
  }

  // Logits come from the tail alone.
  void set_head() {
    const TransformerNames& names = model_.names();
    const auto only_tail = [&](const std::string& norm, double value) {
      parameter(norm).zero_();
      parameter(norm)[blocks_.tail()].fill_(value);
    };
    if (!names.output_bias.empty()) parameter(names.output_bias).zero_();
    if (!names.final_norm_weight.empty()) only_tail(names.final_norm_weight, 1e-7);
    if (names.head_weight.empty()) return;
    // Of the head's entries all but the tail stand still, half of them at 10 and half at about 0; the tail
    // moves around the middle, where its norm lets it through.
    at::Tensor weight = parameter(names.head_weight), bias = parameter(names.head_bias);
    weight.zero_();
    weight[blocks_.tail()][blocks_.tail()].fill_(1);
    for (std::int64_t j = 0; j < config_.width; ++j) bias[j].fill_(j % 2 == 0 ? 10.0 : -10.0);
    bias[blocks_.tail()].fill_(5);
    only_tail(names.head_norm_weight, 1e-7);
    parameter(names.output_bias)[sink()].fill_(kSink);
  }

  Transformer& model_;
  const TransformerConfig& config_;
  DecepticonKey& key_;
  const CorruptOptions& options_;
  ExactBlocks blocks_;
  Seed seed_;
  at::Tensor labels_;  // (V)
};

}  // namespace

void corrupt_for_exact_recovery(CorruptedState& state, const CorruptOptions& options) {
  at::NoGradGuard no_grad;
  Corruption(state, options).run();
}

}  // namespace undertext
