/** Characters that are searched for the head of a data URL. Every accepted head is shorter. */
const HEAD_CHARS = 64;

/** Returns the media type, in lower case, and the base64 of a data URL. Undefined for any other text. */
export function readDataUrl(
  url: string,
): { readonly mediaType: string; readonly data: string } | undefined {
  const head = /^data:([\w.+/-]+);base64,/i.exec(url.slice(0, HEAD_CHARS));
  if (head === null) return undefined;
  const [all, type = ''] = head;
  return { mediaType: type.toLowerCase(), data: url.slice(all.length) };
}
