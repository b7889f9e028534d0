/** Characters of the part before `@` that need no quotes (RFC 5322, atext), with single dots between them. */
const LOCAL = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;
/** Most characters before `@` (RFC 5321). */
const LOCAL_CHARS = 64;
const ADDRESS_CHARS = 254;

/** Rule that `isMailAddress` checks, for refusals. */
export const MAIL_ADDRESS_RULE = 'must be one address, such as name@example.com, in ASCII';

/**
 * Returns true for one address in lower case, without a display name, quotes, comments or white space: a text of this form
 * cannot add a header or a recipient to a mail.
 */
export function isMailAddress(text: string): boolean {
  if (text.length > ADDRESS_CHARS) return false;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(0, at));
  const labels = text.slice(at + 1).split('.');
  if (local.length > LOCAL_CHARS || !LOCAL.test(local)) return false;
  const top = labels.at(-1) ?? '';
  return labels.length > 1 && labels.every((label) => LABEL.test(label)) && /[a-z]/.test(top);
}
