// For programs that must have no privilege: lodger-gate and lodger-relay.
#pragma once

// Ends the process with EXIT_LODGER, saying why, when it runs as root, whose place `user` has, or with a
// capability; then sees to it that it gains none, and that others of its user can neither trace nor read it.
void privilege_refuse(const char *user);
