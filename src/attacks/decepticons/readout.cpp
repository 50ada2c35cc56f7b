#include "attacks/decepticons/readout.h"

#include "base/error.h"

namespace undertext {
namespace {

// Differences of rows are what is read: weights after a step hold them only to the rounding of the weights.
void check_kind(const Protocol& protocol) {
  if (protocol.kind == UpdateKind::weights)
    fail("the update holds weights, expected the gradient of one step (undertext client --gradient)");
  const bool one_step = protocol.epochs == 1 &&
                        (protocol.batch == 0 || (protocol.count > 0 && protocol.batch >= protocol.count));
  if (!one_step)
    fail("the update is of several steps ({} epochs, batch {}), expected the gradient of one step",
         protocol.epochs, protocol.batch);
  if (protocol.zero_output_bias) fail("the client zeroed the output bias, expected the state as it was sent");
}

void check_tensors(const Transformer& model, const NamedTensors& update) {
  const auto need = [&](const std::string& name) {
    if (!update.contains(name)) fail("the update does not hold {}, whose gradient the attack reads", name);
  };
  for (const LayerNames& layer : model.names().layers) {
    need(layer.inner_weight);
    need(layer.inner_bias);
  }
  if (!update.contains(model.names().output_bias)) need(model.names().token_embedding);
}

}  // namespace

const Transformer& corrupted_model(const Observation& observation, const DecepticonKey& key) {
  const auto* model = dynamic_cast<const Transformer*>(observation.before.get());
  if (!model) fail("the model is a {}, expected a transformer", observation.before->kind());
  check_kind(observation.update.protocol);
  check_tensors(*model, observation.update.tensors);
  // observe() has compared the model with what the update says of it.
  const std::string& said = observation.update.protocol.base_hash;
  const std::string hash = said.empty() ? hash_of(model->parameters()) : said;
  if (hash != key.state_hash)
    fail("the key is of another state: it is for {:.12}, this model is {:.12}", key.state_hash, hash);
  const TransformerConfig& config = model->config();
  if (key.code + key.positions + 2 > config.width || key.window > config.positions)
    fail("the key does not fit a width of {}: it claims {} entries for codes and {} for positions",
         config.width, key.code, key.positions);
  return *model;
}

}  // namespace undertext
