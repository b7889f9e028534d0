/** A definition such as `public <order> = one (tea | <drink>);` */
const RULE = /(?:public\s+)?<([^>]+)>\s*=([^;]*);/g;
const PART = /<([^>]+)>|[^\s<>()[\]|*+;/]+/g;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/**
 * How many words a JSGF grammar has once its rules are written out into each other, which is what the
 * recogniser builds. A short text can name thousands of millions. A rule within itself counts once.
 */
export function jsgfWords(grammar: string): number {
  const rules = new Map<string, string>();
  for (const [, name = '', body = ''] of grammar.replace(COMMENT, '').matchAll(RULE)) {
    rules.set(name.trim(), body);
  }
  const known = new Map<string, number>();
  function words(name: string): number {
    const done = known.get(name);
    if (done !== undefined) return done;
    known.set(name, 1);
    let count = 0;
    for (const [, inner] of (rules.get(name) ?? '').matchAll(PART)) {
      count += inner === undefined ? 1 : words(inner.trim());
    }
    known.set(name, Math.max(1, count));
    return Math.max(1, count);
  }
  let largest = 0;
  for (const name of rules.keys()) largest = Math.max(largest, words(name));
  return largest;
}
