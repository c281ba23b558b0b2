#define _GNU_SOURCE
#include "usage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 64 };

static int processes[PROCESSES_MAX], process_count;

void usage_watch(const char *words) {
  char *rest;
  process_count = 0;
  for (long process; (process = strtol(words, &rest, 10)) > 0 && process_count < PROCESSES_MAX; words = rest)
    processes[process_count++] = process;
}

static size_t contents(const char *path, char *text, size_t room) {
  FILE *file = fopen(path, "r");
  size_t count = file ? fread(text, 1, room - 1, file) : 0;
  if (file) fclose(file);
  text[count] = 0;
  return count;
}

static double seconds_run(int process) {
  char path[320], text[128];
  double seconds = 0;
  snprintf(path, sizeof path, "/proc/%d/task", process);
  DIR *threads = opendir(path);
  if (!threads) return 0;
  for (struct dirent *thread; (thread = readdir(threads));) {
    if (thread->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", process, thread->d_name);
    contents(path, text, sizeof text);
    seconds += strtoull(text, NULL, 10) / 1e9;
  }
  closedir(threads);
  return seconds;
}

struct usage usage_read(void) {
  struct usage usage = {0};
  double ticks = sysconf(_SC_CLK_TCK);
  for (int i = 0; i < process_count; i++) {
    char path[64], text[4096];
    usage.run += seconds_run(processes[i]);
    snprintf(path, sizeof path, "/proc/%d/stat", processes[i]);
    contents(path, text, sizeof text);
    char *after_name = strrchr(text, ')');
    unsigned long user, system;
    // proc(5): the 14th and 15th field; the name, the 2nd, may hold anything.
    if (after_name &&
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) == 2) {
      usage.user += user / ticks;
      usage.system += system / ticks;
    }
    snprintf(path, sizeof path, "/proc/%d/status", processes[i]);
    contents(path, text, sizeof text);
    char *resident = strstr(text, "VmRSS:");
    if (resident) usage.resident_kib += strtol(resident + 6, NULL, 10);
  }
  return usage;
}
