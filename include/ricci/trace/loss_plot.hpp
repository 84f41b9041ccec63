#pragma once

#include <ricci/trace/metrics.hpp>

#include <string>
#include <vector>

namespace ricci::trace {

/// What a picture of training shows. Points that are NaN or infinite are left out.
struct loss_curves {
  std::vector<curve_point> train;       // steps ascending; drawn faint, and smoothed in full colour
  std::vector<curve_point> validation;  // steps ascending; drawn with a dot for each
  std::string title = "Loss";
  std::string unit = "nats per token";
};

/// Writes a line chart of loss against step as an SVG picture, dark on white, without scripts,
/// styles or fonts from elsewhere: browsers, GitHub and LaTeX show it as it is.
///   Value   the smoothed curve is the mean over a centred window of 2 % of the points, narrower at
///           the ends; ticks are 1, 2 or 5 times a power of ten; the loss axis begins at 0 only
///           when the curves come near it. The same curves give the same bytes.
///   Cost    a few tens of kilobytes however long training was: of the points that fall on one
///           column of the picture the least and the greatest are drawn
///   Errors  io_error: the file cannot be written
void write_loss_svg(std::string const& path, loss_curves const& curves);

}  // namespace ricci::trace
