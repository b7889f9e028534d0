const PARAMETER = /\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))\s*(?:;|$)/gy;

/**
 * Reads parameters such as `name="a"; filename="b"`. Only quotes and backslashes are escaped, so that a path of Windows
 * survives.
 */
export function readParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted?.replace(/\\(["\\])/g, '$1') ?? plain);
  }
  return parameters;
}

const EXTENDED = /^(utf-8|iso-8859-1)'[\w-]*'(.*)$/i;

/**
 * Decodes a value such as `UTF-8''na%C3%AFve.wav` (RFC 8187). A value that cannot be decoded is returned unchanged: it still
 * names a file.
 */
export function decodedValue(value: string | undefined): string | undefined {
  const [, charset, escaped = ''] = EXTENDED.exec(value ?? '') ?? [];
  if (charset === undefined) return value;
  try {
    return charset.toLowerCase() === 'utf-8' ? decodeURIComponent(escaped) : latin1Of(escaped);
  } catch {
    return value;
  }
}

const latin1Of = (escaped: string): string =>
  escaped.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
