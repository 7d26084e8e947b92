/** Random words for threads that run plain JavaScript: Marsaglia's xorshift of 32 bits. */
export function xorshift(seed) {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
