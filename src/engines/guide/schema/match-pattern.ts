import { LIMITS } from '../../../kernel/limits.ts';
import { isInSet, SETS } from './code-set.ts';
import type { PatternNode } from './pattern-tree.ts';
import { SchemaRefused, type SchemaWork } from './schema-work.ts';

/** What is to match behind a part. */
type Then = (at: number) => boolean;

/**
 * Whether a pattern is found in a text. The patterns of callers are not given to the engine of the language: it takes
 * exponential time for some of them, and nothing stops it. Here every step is counted.
 */
export function matchesPattern(pattern: PatternNode, text: string, work: SchemaWork): boolean {
  const codes = Array.from(text, (char) => char.codePointAt(0) ?? 0);
  const matcher = new Matcher(codes, work);
  for (let from = 0; from <= codes.length; from++) {
    if (matcher.match(pattern, from, () => true)) return true;
  }
  return false;
}

class Matcher {
  readonly #codes: readonly number[];
  readonly #work: SchemaWork;
  #depth = 0;

  constructor(codes: readonly number[], work: SchemaWork) {
    this.#codes = codes;
    this.#work = work;
  }

  match(node: PatternNode, at: number, then: Then): boolean {
    this.#work.spend(STEP);
    if (++this.#depth > LIMITS.engines.schemaPatternSteps) {
      throw new SchemaRefused('has a pattern that takes too long');
    }
    try {
      return this.#matchNode(node, at, then);
    } finally {
      this.#depth--;
    }
  }

  #matchNode(node: PatternNode, at: number, then: Then): boolean {
    switch (node.kind) {
      case 'set': {
        const code = this.#codes[at];
        return code !== undefined && isInSet(code, node.set) && then(at + 1);
      }
      case 'all':
        return this.#matchAll(node.parts, 0, at, then);
      case 'any':
        return node.options.some((option) => this.match(option, at, then));
      case 'repeat':
        return node.part.kind === 'set'
          ? this.#matchRun(node.part, node, at, then)
          : this.#matchTimes(node, { at, times: 0 }, then);
      case 'start':
        return at === 0 && then(at);
      case 'end':
        return at === this.#codes.length && then(at);
      case 'border':
        return (this.#isWord(at - 1) !== this.#isWord(at)) === node.isBorder && then(at);
      case 'ahead':
        return this.match(node.part, at, () => true) === node.isWanted && then(at);
    }
  }

  #matchAll(parts: readonly PatternNode[], index: number, at: number, then: Then): boolean {
    const part = parts[index];
    if (part === undefined) return then(at);
    return this.match(part, at, (next) => this.#matchAll(parts, index + 1, next, then));
  }

  /** One character again and again: counted, so that a long text needs no deep stack. */
  #matchRun(
    { set }: Extract<PatternNode, { kind: 'set' }>,
    { least, most }: Extract<PatternNode, { kind: 'repeat' }>,
    at: number,
    then: Then,
  ): boolean {
    let end = at;
    while (
      end - at < most &&
      end < this.#codes.length &&
      isInSet(this.#codes[end] as number, set)
    ) {
      this.#work.spend(STEP);
      end++;
    }
    for (; end - at >= least; end--) {
      this.#work.spend(STEP);
      if (then(end)) return true;
    }
    return false;
  }

  #matchTimes(
    node: Extract<PatternNode, { kind: 'repeat' }>,
    { at, times }: { readonly at: number; readonly times: number },
    then: Then,
  ): boolean {
    const again = (next: number) =>
      // What took no character matches as often as one likes.
      next === at ? then(next) : this.#matchTimes(node, { at: next, times: times + 1 }, then);
    if (times < node.most && this.match(node.part, at, again)) return true;
    return times >= node.least && then(at);
  }

  #isWord(at: number): boolean {
    const code = this.#codes[at];
    return code !== undefined && isInSet(code, SETS.word);
  }
}

/** A step of matching is a small part of a step of other work. */
const STEP = 0.1;
