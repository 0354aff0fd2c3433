// SPDX-License-Identifier: Apache-2.0
// Runs a program on a machine, as far as it can tell, that has no filters of system calls; with --allow under a filter
// that allows everything, as in a container.

#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const bool allow = argc > 1 && strcmp(argv[1], "--allow") == 0;
  char** const program = argv + (allow ? 2 : 1);
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  int error = 0;
  if (allow) {
    error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(mknod), 0);
  } else {
    error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 0) |
            seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
  }
  if (error != 0 || seccomp_load(filter) != 0) {
    fprintf(stderr, "the filter cannot be set\n");
    return 125;
  }
  execvp(program[0], program);
  perror(program[0]);
  return 126;
}
