/** Base64 beginnings of files, by media type. */
const HEADS: readonly (readonly [type: string, head: RegExp])[] = [
  ['image/jpeg', /^\/9j\//],
  ['image/png', /^iVBORw0KGg/],
  ['image/gif', /^R0lGOD[dl]h/],
  // "RIFF", four bytes of length, "WEBP".
  ['image/webp', /^UklGR.{6}XRUJQ/],
  ['application/pdf', /^JVBERi/],
];

/** Returns the media type that the first bytes of a base64 text show; undefined for an unknown type. */
export const shownType = (base64: string): string | undefined =>
  HEADS.find(([, head]) => head.test(base64))?.[0];
