#include "files.hpp"

#include <ricci/error/exceptions.hpp>
#include <ricci/io/atomic_file.hpp>
#include <ricci/trace/metrics.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>
#include <vector>

namespace gpt {
namespace {

/// Whether two paths lead to one file.
bool are_one(std::string const& a, std::string const& b) {
  struct stat of_a, of_b;
  if (stat(a.c_str(), &of_a) != 0 || stat(b.c_str(), &of_b) != 0) return a == b;
  return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

}  // namespace

bool exists(std::string const& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0;
}

void check_files(Options const& o) {
  std::vector<std::pair<char const*, std::string>> const files{{"--data", o.data},
                                                               {"--checkpoint", o.checkpoint},
                                                               {"--metrics", o.metrics},
                                                               {"--picture", o.picture}};
  for (std::size_t i = 1; i < files.size(); ++i) {
    auto const& [option, path] = files[i];
    for (std::size_t j = 0; j < i; ++j)
      if (are_one(files[j].second, path))
        throw ricci::value_error(std::string(files[j].first) + " and " + option + " are both `" +
                                 path + "`; give each a file of its own");
    ricci::io::atomic_file const attempt(path);  // opens its temporary, and removes it again
  }
  // Throws if what stands there is something else than metrics.
  if (exists(o.metrics)) (void)ricci::trace::read_metrics(o.metrics, "train", "loss");
}

void keep_old_checkpoint(std::string const& path) {
  if (!exists(path)) return;
  std::string const old = path + ".old";
  (void)unlink(old.c_str());
  // By a second name, not a new one: should the first save fail, the checkpoint stands where it
  // stood.
  bool const is_kept =
      link(path.c_str(), old.c_str()) == 0 || rename(path.c_str(), old.c_str()) == 0;
  if (is_kept)
    std::printf(
        "beginning anew; the checkpoint that was there is now %s (--resume goes on from one)\n",
        old.c_str());
}

}  // namespace gpt
