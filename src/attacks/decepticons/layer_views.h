// Moved: the inspection of states needs it too.
#pragma once

#include "models/transformer/layer_views.h"
