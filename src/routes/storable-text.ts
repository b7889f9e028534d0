/** PostgreSQL takes no NUL, and half a character would come back as another one. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Cs}/u.test(text);
}
