// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "default_model.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>

namespace serve {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Runs a program with stdout sent to stderr, so that its path line does not mix with the answers.
int run(const std::string& program) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot start a process: " + std::generic_category().message(errno));
  if (child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execl(program.c_str(), program.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::filesystem::path default_model_path() {
  std::filesystem::path cache = variable("XDG_CACHE_HOME");
  if (cache.empty()) {
    const std::string home = variable("HOME");
    if (home.empty()) throw std::runtime_error("neither XDG_CACHE_HOME nor HOME is set; name a model file");
    cache = std::filesystem::path(home) / ".cache";
  }
  return cache / "invar" / "SmolLM2-135M-Instruct.Q4_1.gguf";
}

std::filesystem::path fetch_default_model(const std::filesystem::path& script) {
  const std::filesystem::path path = default_model_path();
  if (run(script.string()) != 0)
    throw std::runtime_error("the default model could not be fetched by " + script.string());
  return path;
}

}  // namespace serve
