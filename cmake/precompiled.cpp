// Carries the precompiled header that the rooms share; see precompiled.h.
