#include "audit/run/mpi_messages.h"

// MPI's C++ bindings were withdrawn from the standard; the headers would ask for their library.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <ATen/ATen.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace undertext {
namespace {

constexpr auto kLook = std::chrono::microseconds(500);
constexpr std::size_t kPiece = std::size_t{1} << 28;  // bytes: MPI counts in an int

// Calls body(data, count) for the bytes of each tensor, piece by piece.
template <typename Body>
void for_pieces(const NamedTensors& tensors, Body body) {
  for (const auto& [name, tensor] : tensors) {
    UNDERTEXT_CHECK(tensor.is_contiguous());
    char* data = static_cast<char*>(tensor.data_ptr());
    for (std::size_t at = 0; at < tensor.nbytes(); at += kPiece)
      body(data + at, static_cast<int>(std::min(kPiece, tensor.nbytes() - at)));
  }
}

}  // namespace

void send_message(std::string_view bytes, int rank, int tag) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

std::optional<MpiMessage> arrived_message(int rank) {
  int there = 0, size = 0;
  MPI_Status status;
  MPI_Iprobe(rank == kAnyRank ? MPI_ANY_SOURCE : rank, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &size);
  MpiMessage message{status.MPI_SOURCE, status.MPI_TAG, std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.from, message.tag, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return message;
}

MpiMessage next_message(int rank) {
  while (true) {
    if (std::optional<MpiMessage> message = arrived_message(rank)) return std::move(*message);
    std::this_thread::sleep_for(kLook);
  }
}

void send_tensors(const NamedTensors& tensors, int rank, int tag) {
  for_pieces(tensors,
             [&](char* data, int size) { MPI_Send(data, size, MPI_BYTE, rank, tag, MPI_COMM_WORLD); });
}

void receive_tensors(NamedTensors& tensors, int rank, int tag) {
  for_pieces(tensors, [&](char* data, int size) {
    MPI_Recv(data, size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

}  // namespace undertext
