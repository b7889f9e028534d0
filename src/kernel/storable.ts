/** Whether a text comes back as it went in: PostgreSQL takes no NUL, and half a character returns as another one. */
export const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Cs}/u.test(text);
