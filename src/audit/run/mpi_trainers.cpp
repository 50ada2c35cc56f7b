#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include "audit/run/mpi_messages.h"
#include "audit/run/mpi_run.h"
#include "base/error.h"

namespace undertext {
namespace {

using nlohmann::json;

enum Tag : int { kTasks = 11, kWeights, kAnswer, kEnd };

// Task i trains on rank i modulo their number. Rank 0 takes the answers in the order of the tasks, its own
// among them, so that it never holds more than a few.
class MpiTrainers : public ClientTrainers {
 public:
  MpiTrainers(int ranks, const FederationParties& parties, const FederationOptions& options)
      : ranks_(static_cast<std::size_t>(ranks)), own_(thread_trainers(parties, options)) {
    for (const std::string& name : parties.model->trainable(options.local.train_embedding))
      room_[name] = at::empty_like(parties.model->parameters().at(name));
  }

  ~MpiTrainers() override {
    for (std::size_t rank = 1; rank < ranks_; ++rank) send_message("", static_cast<int>(rank), kEnd);
  }

  void train(const LanguageModel& global, std::span<const ClientTask> tasks, const Take& take) override {
    std::vector<ClientTask> own;
    for (std::size_t i = 0; i < tasks.size(); i += ranks_) own.push_back(tasks[i]);
    for (std::size_t rank = 1; rank < ranks_; ++rank) send_tasks(global, tasks, rank);
    std::size_t next = 0;  // task to be taken
    const auto take_up_to = [&](std::size_t end) {
      while (next < end) {
        const std::size_t place = next++;
        if (const std::string error = answer_of(place); !error.empty()) throw UserError(error);
        take(tasks[place], room_);
      }
    };
    try {
      own_->train(global, own, [&](const ClientTask& task, const NamedTensors& weights) {
        take_up_to((next + ranks_ - 1) / ranks_ * ranks_);
        take(task, weights);
        ++next;
      });
      take_up_to(tasks.size());
    } catch (...) {
      // Every rank answers for every task: what is still to come must not be taken for another round's.
      for (; next < tasks.size(); ++next)
        if (next % ranks_ != 0) answer_of(next);
      throw;
    }
  }

 private:
  void send_tasks(const LanguageModel& global, std::span<const ClientTask> tasks, std::size_t rank) const {
    json list = json::array();
    for (std::size_t i = rank; i < tasks.size(); i += ranks_)
      list.push_back({tasks[i].client, tasks[i].round, tasks[i].learning_rate});
    if (list.empty()) return;
    send_message(list.dump(), static_cast<int>(rank), kTasks);
    send_tensors(global.parameters(), static_cast<int>(rank), kWeights);
  }

  // What another rank says of its task: nothing, and the weights are in room_, or what went wrong.
  std::string answer_of(std::size_t place) {
    const int rank = static_cast<int>(place % ranks_);
    std::string error = next_message(rank).bytes;
    if (error.empty()) receive_tensors(room_, rank, kWeights);
    return error;
  }

  std::size_t ranks_;
  std::unique_ptr<ClientTrainers> own_;
  NamedTensors room_;  // for what a client trains
};

std::vector<ClientTask> tasks_in(const std::string& message) {
  std::vector<ClientTask> tasks;
  for (const json& task : json::parse(message))
    tasks.push_back(
        {task.at(0).get<std::int64_t>(), task.at(1).get<std::int64_t>(), task.at(2).get<double>()});
  return tasks;
}

// One answer for each task, whatever happens.
void train_and_answer(ClientTrainers& trainers, const LanguageModel& global,
                      std::span<const ClientTask> tasks) {
  std::size_t answered = 0;
  std::string error;
  try {
    trainers.train(global, tasks, [&](const ClientTask&, const NamedTensors& weights) {
      send_message("", 0, kAnswer);
      send_tensors(weights, 0, kWeights);
      ++answered;
    });
  } catch (const std::exception& thrown) {
    error = thrown.what();
  }
  for (; answered < tasks.size(); ++answered) send_message(error, 0, kAnswer);
}

}  // namespace

std::unique_ptr<ClientTrainers> MpiSession::trainers(const FederationParties& parties,
                                                     const FederationOptions& options) {
  return std::make_unique<MpiTrainers>(ranks_, parties, options);
}

void MpiSession::serve_clients(const FederationParties& parties, const FederationOptions& options) {
  const std::unique_ptr<ClientTrainers> trainers = thread_trainers(parties, options);
  const std::unique_ptr<LanguageModel> global = parties.model->clone();
  NamedTensors weights = global->parameters();  // handles on them
  while (true) {
    const MpiMessage message = next_message(0);
    if (message.tag == kEnd) return;
    receive_tensors(weights, 0, kWeights);
    train_and_answer(*trainers, *global, tasks_in(message.bytes));
  }
}

}  // namespace undertext
