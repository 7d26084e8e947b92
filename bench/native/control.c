/*
 * The native control of `memory-sizes`: what C does with the same work, the same batches, and prefetch.
 *
 *   control table 134217728     8 hashes a 64-byte line, linear from the home line, at most 0.8 full
 *   control bloom 134217728     32-byte blocks, one bit in each of 8 words
 *
 * Fills itself to so many bytes, says "ready", and for each line it reads times ASKED_MAX lookups (half of them members) and
 * as many inserts of new hashes, of each at most a sixteenth of what it holds, in batches of 256: one pass prefetches, the
 * next does the work. At a quarter more than it began with it is filled anew, so that it stays as large and as full as it
 * was asked to be. Prints the nanoseconds of one of each, and how many were found. Memory is in pages of 4 KiB, as the
 * kernel's is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ASKED_MAX = 65536, CALL = 256, SLOTS = 8, BLOOM_BITS = 12 };

static uint64_t *lines; /* table: lines of 8 hashes; bloom: blocks of 8 words of 32 bits */
static uint64_t line_count;
static uint64_t hashes[ASKED_MAX];
static int asked;
static int is_bloom;

static uint32_t mix(uint32_t index) {
  uint32_t z = index + 0x9e3779b9u;
  z = (z ^ (z >> 16)) * 0x85ebca6bu;
  z = (z ^ (z >> 13)) * 0xc2b2ae35u;
  return z ^ (z >> 16);
}

static uint64_t hash_of(uint32_t serial) {
  return (uint64_t)mix(serial) | ((uint64_t)mix(serial ^ 0x6a09e667u) << 32);
}

static uint64_t home_of(uint64_t hash) { return ((hash >> 32) * line_count) >> 32; }

static int table_insert(uint64_t hash) {
  for (uint64_t line = home_of(hash);; line = line + 1 == line_count ? 0 : line + 1) {
    uint64_t *slots = lines + line * SLOTS;
    int equal = 0;
    for (int i = 0; i < SLOTS; i++) equal |= slots[i] == hash;
    if (equal) return 0;
    for (int i = 0; i < SLOTS; i++) {
      if (slots[i] == 0) {
        slots[i] = hash;
        return 1;
      }
    }
  }
}

static int table_find(uint64_t hash) {
  for (uint64_t line = home_of(hash);; line = line + 1 == line_count ? 0 : line + 1) {
    const uint64_t *slots = lines + line * SLOTS;
    int equal = 0;
    for (int i = 0; i < SLOTS; i++) equal |= slots[i] == hash;
    if (equal) return 1;
    if (slots[SLOTS - 1] == 0) return 0;
  }
}

static const uint32_t SALTS[8] = {0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                  0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u};

static int bloom_insert(uint64_t hash) {
  uint32_t *block = (uint32_t *)lines + home_of(hash) * 8;
  int fresh = 0;
  for (int i = 0; i < 8; i++) {
    uint32_t bit = 1u << (((uint32_t)hash * SALTS[i]) >> 27);
    fresh |= (block[i] & bit) == 0;
    block[i] |= bit;
  }
  return fresh;
}

static int bloom_find(uint64_t hash) {
  const uint32_t *block = (const uint32_t *)lines + home_of(hash) * 8;
  uint32_t missing = 0;
  for (int i = 0; i < 8; i++) {
    uint32_t bit = 1u << (((uint32_t)hash * SALTS[i]) >> 27);
    missing |= ~block[i] & bit;
  }
  return missing == 0;
}

static void prefetch(uint64_t hash) {
  const char *at = (const char *)lines + home_of(hash) * (is_bloom ? 32 : 64);
  __builtin_prefetch(at);
}

static double now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec * 1e9 + (double)at.tv_nsec;
}

static long each(int (*work)(uint64_t)) {
  long sum = 0;
  for (int start = 0; start < asked; start += CALL) {
    for (int i = start; i < start + CALL; i++) prefetch(hashes[i]);
    for (int i = start; i < start + CALL; i++) sum += work(hashes[i]);
  }
  return sum;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  is_bloom = strcmp(words[1], "bloom") == 0;
  uint64_t bytes = strtoull(words[2], NULL, 10);
  uint64_t members = is_bloom ? bytes * 8 / BLOOM_BITS : bytes * 8 / 10 / 8;
  uint64_t most = members + members / 4;
  asked = (int)(members / 16 / CALL * CALL);
  if (asked > ASKED_MAX) asked = ASKED_MAX;
  line_count = is_bloom ? bytes / 32 : most * 10 / 8 / SLOTS + 1;
  size_t size = line_count * (is_bloom ? 32 : 64);
  lines = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (lines == MAP_FAILED) return 1;
  int (*insert)(uint64_t) = is_bloom ? bloom_insert : table_insert;
  int (*find)(uint64_t) = is_bloom ? bloom_find : table_find;
  uint32_t next = 0;
  for (; next < members; next++) insert(hash_of(next));
  puts("ready");
  fflush(stdout);
  for (int round = 1, byte = getchar(); byte == '\n'; round++, byte = getchar()) {
    if (next + (uint64_t)asked > most) {
      memset(lines, 0, size);
      for (next = 0; next < members; next++) insert(hash_of(next));
    }
    for (int i = 0; i < asked; i++) {
      uint32_t drawn = mix((uint32_t)i ^ mix((uint32_t)round));
      hashes[i] = hash_of(i % 2 == 0 ? drawn % next : 0x80000000u + (drawn >> 1));
    }
    double start = now_ns();
    long found = each(find);
    double lookup = now_ns() - start;
    for (int i = 0; i < asked; i++) hashes[i] = hash_of(next + (uint32_t)i);
    start = now_ns();
    long fresh = each(insert);
    double inserted = now_ns() - start;
    next += (uint32_t)asked;
    printf("{\"lookup\":%.3f,\"insert\":%.3f,\"asked\":%d,\"found\":%ld,\"fresh\":%ld}\n",
           lookup / asked, inserted / asked, asked, found, fresh);
    fflush(stdout);
  }
  return 0;
}
