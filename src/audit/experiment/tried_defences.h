// [defences] of an experiment file: many defences in one line, in place of a [[defence]] for each.
#pragma once

#include "audit/experiment/toml_tree.h"

namespace undertext {

// The tree with a [[defence]] for each of defences.try, after one without any. try: a list of specs such as
// "dpsgd:sigma=0.5,clip=1", several that are on together with blanks between, or "all": what `audit
// --defences all` tries of the preset that defences.of names (keyboard). UserError where it is neither, or
// where there is a [[defence]] too. A tree without [defences] stays as it is.
TomlNode with_tried_defences(TomlNode tree);

}  // namespace undertext
