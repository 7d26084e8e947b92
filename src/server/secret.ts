/** Compares secrets in a time that does not depend on where they differ. */
export function isSameSecret(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let index = 0; index < expected.length; index++) {
    difference |=
      (given.charCodeAt(index % Math.max(given.length, 1)) | 0) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}
