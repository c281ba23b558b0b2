#include "CFiles.h"

// glibc gives every constructor what it gives main, and keeps it as long as the process lives.
static int argument_count;
static char **arguments;

__attribute__((constructor)) static void keep_arguments(int count, char **words) {
  argument_count = count;
  arguments = words;
}

int files_argument_count(void) { return argument_count; }

int files_argument_byte(int argument, int place) {
  return (unsigned char)arguments[argument][place];
}
