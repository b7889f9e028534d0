import { ENGINE_LIMITS } from '../limits.ts';

/** Size of a grammar as the recogniser builds it, with all rules written out into each other. */
export type JsgfSize = {
  /** Number of words. A `+` counts its content three times; nested in another `+`, nine times. */
  readonly words: number;
  /** Number of parts that speech may skip, `[ ]` and `*`. Joining a run of such parts costs the cube of their number. */
  readonly optional: number;
  /** Nesting depth, in levels of brackets and of rules within rules. */
  readonly depth: number;
};

/** Matches a rule definition such as `public <order> = one (tea | <drink>);` */
const RULE = /(?:public\s+)?<([^>]+)>\s*=([^;]*);/g;
const TOKEN = /<([^>]+)>|[()[\]*+]|[^\s<>()[\]|*+;/]+/g;
const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
const COPIES_OF_REPEATED = 3;

type Size = { words: number; optional: number; depth: number };

const NOTHING: JsgfSize = { words: 0, optional: 0, depth: 0 };

/** Measures a JSGF grammar: the maximum of each measure over all rules. A rule that contains itself counts once. */
export function jsgfSize(grammar: string): JsgfSize {
  const rules = new Map<string, string>();
  for (const [, name = '', body = ''] of grammar.replace(COMMENT, '').matchAll(RULE)) {
    rules.set(name.trim(), body);
  }
  const known = new Map<string, JsgfSize>();
  const sizeOf = (name: string): JsgfSize => {
    const done = known.get(name);
    if (done !== undefined) return done;
    known.set(name, { words: 1, optional: 0, depth: 1 });
    const { words, optional, depth } = bodySize(rules.get(name) ?? '', sizeOf);
    const size = { words: Math.max(1, words), optional, depth: depth + 1 };
    known.set(name, size);
    return size;
  };
  return [...rules.keys()].map(sizeOf).reduce(largest, NOTHING);
}

/** Returns the bound that a grammar exceeds, as the end of a sentence; undefined when it exceeds none. */
export function oversizeOf({ words, optional, depth }: JsgfSize): string | undefined {
  const {
    words: grammarWords,
    optionals: grammarOptionals,
    depth: grammarDepth,
  } = ENGINE_LIMITS.grammar;
  if (depth > grammarDepth) return `is nested at most ${grammarDepth} levels deep`;
  if (words > grammarWords)
    return `has at most ${grammarWords} words once its rules are written out`;
  if (optional <= grammarOptionals) return undefined;
  return `has at most ${grammarOptionals} optional or repeated parts once its rules are written out`;
}

function bodySize(body: string, sizeOf: (rule: string) => JsgfSize): JsgfSize {
  const levels: Size[] = [{ ...NOTHING }];
  /** The last part read, which a following `*` or `+` repeats. */
  let part: JsgfSize = NOTHING;
  const add = (size: JsgfSize) => {
    part = size;
    const level = levels.at(-1);
    if (level !== undefined) addTo(level, size);
  };
  for (const [token, rule] of body.matchAll(TOKEN)) {
    if (rule !== undefined) add(sizeOf(rule.trim()));
    else if (token === '(' || token === '[') levels.push({ ...NOTHING });
    else if (token === ')' || token === ']') {
      // A bracket that was never opened is left to the recogniser, which reports it.
      const { words, optional, depth } = (levels.length > 1 && levels.pop()) || NOTHING;
      add({ words, optional: optional + (token === ']' ? 1 : 0), depth: depth + 1 });
    } else if (token === '*') add({ words: 0, optional: 1, depth: part.depth + 1 });
    else if (token === '+') add(times(part, COPIES_OF_REPEATED - 1));
    else add({ words: 1, optional: 0, depth: 0 });
  }
  const whole = { ...NOTHING };
  for (const level of levels) addTo(whole, level);
  return whole;
}

function addTo(level: Size, size: JsgfSize): void {
  level.words += size.words;
  level.optional += size.optional;
  level.depth = Math.max(level.depth, size.depth);
}

const times = ({ words, optional, depth }: JsgfSize, copies: number): JsgfSize => ({
  words: words * copies,
  optional: optional * copies,
  depth: depth + 1,
});

const largest = (one: JsgfSize, other: JsgfSize): JsgfSize => ({
  words: Math.max(one.words, other.words),
  optional: Math.max(one.optional, other.optional),
  depth: Math.max(one.depth, other.depth),
});
