import { LIMITS } from '../../../kernel/limits.ts';
import { type CodeSet, ESCAPED_CODES, escapedSet, SETS } from './code-set.ts';
import { SchemaRefused } from './schema-work.ts';

/** A regular expression, read. */
export type PatternNode =
  | { readonly kind: 'set'; readonly set: CodeSet }
  | { readonly kind: 'all'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'any'; readonly options: readonly PatternNode[] }
  | {
      readonly kind: 'repeat';
      readonly part: PatternNode;
      readonly least: number;
      readonly most: number;
    }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'border'; readonly isBorder: boolean }
  | { readonly kind: 'ahead'; readonly part: PatternNode; readonly isWanted: boolean };

const UNKNOWN = 'has a pattern that is not understood';

/** Reads the regular expressions of schemas. Throws SchemaRefused for what they rarely have: look-behinds and back-references. */
export function readPattern(source: string): PatternNode {
  const { schemaPatternChars } = LIMITS.engines;
  if (source.length > schemaPatternChars) throw new SchemaRefused('has too long a pattern');
  const reader = new PatternReader([...source]);
  return reader.whole();
}

class PatternReader {
  readonly #chars: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(chars: readonly string[]) {
    this.#chars = chars;
  }

  whole(): PatternNode {
    const node = this.#options();
    if (this.#at < this.#chars.length) throw new SchemaRefused(UNKNOWN);
    return node;
  }

  #options(): PatternNode {
    if (++this.#depth > LIMITS.engines.schemaPatternDepth) throw new SchemaRefused(UNKNOWN);
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth--;
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'any', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#chars.length && !this.#sees('|') && !this.#sees(')')) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'all', parts };
  }

  #repeated(part: PatternNode): PatternNode {
    const [least, most] = this.#count() ?? [1, 1];
    if (least === 1 && most === 1) return part;
    this.#take('?');
    return { kind: 'repeat', part, least, most };
  }

  #count(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const counted = this.#sees('{') ? /^\{(\d{1,9})(,(\d{1,9})?)?\}/.exec(this.#rest(24)) : null;
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const least = Number(counted[1]);
    if (counted[2] === undefined) return [least, least];
    return [least, counted[3] === undefined ? Number.POSITIVE_INFINITY : Number(counted[3])];
  }

  #atom(): PatternNode {
    const char = this.#next();
    switch (char) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      case '.':
        return { kind: 'set', set: SETS.dot };
      case '(':
        return this.#group();
      case '[':
        return { kind: 'set', set: this.#class() };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw new SchemaRefused(UNKNOWN);
      default:
        return { kind: 'set', set: literal(char) };
    }
  }

  #group(): PatternNode {
    let ahead: boolean | undefined;
    if (this.#take('?')) {
      const sign = this.#next();
      if (sign === '=' || sign === '!') ahead = sign === '=';
      else if (sign === '<') this.#name();
      else if (sign !== ':') throw new SchemaRefused(UNKNOWN);
    }
    const part = this.#options();
    if (!this.#take(')')) throw new SchemaRefused(UNKNOWN);
    return ahead === undefined ? part : { kind: 'ahead', part, isWanted: ahead };
  }

  /** The name of a group says nothing; a look-behind begins with neither a letter nor a line. */
  #name(): void {
    if (!/[\p{L}_$]/u.test(this.#chars[this.#at] ?? '')) throw new SchemaRefused(UNKNOWN);
    while (this.#next() !== '>');
  }

  #class(): CodeSet {
    const isNegated = this.#take('^');
    const ranges: [number, number][] = [];
    const sets: CodeSet[] = [];
    while (!this.#take(']')) {
      const from = this.#member();
      if (typeof from !== 'number') {
        sets.push(from);
        continue;
      }
      const isRange = this.#sees('-') && this.#chars[this.#at + 1] !== ']';
      const to = isRange ? this.#rangeEnd() : from;
      if (typeof to === 'number') ranges.push([from, to]);
      else {
        ranges.push([from, from], [0x2d, 0x2d]);
        sets.push(to);
      }
    }
    return { ranges, sets, isNegated };
  }

  #rangeEnd(): number | CodeSet {
    this.#at++;
    return this.#member();
  }

  #member(): number | CodeSet {
    const char = this.#next();
    if (char !== '\\') return codeOf(char);
    if (this.#take('b')) return 8;
    const node = this.#escape();
    if (node.kind !== 'set') throw new SchemaRefused(UNKNOWN);
    const [[low, high] = [0, 1]] = node.set.ranges;
    const isOne = node.set.ranges.length === 1 && low === high && !node.set.isNegated;
    return isOne ? low : node.set;
  }

  #escape(): PatternNode {
    const char = this.#next();
    if (char === 'b' || char === 'B') return { kind: 'border', isBorder: char === 'b' };
    if (char === 'p' || char === 'P') return { kind: 'set', set: this.#property(char === 'P') };
    if (char === 'x') return this.#coded(/^([0-9a-fA-F]{2})/);
    if (char === 'u') return this.#coded(/^(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/);
    const set = escapedSet(char);
    if (set !== undefined) return { kind: 'set', set };
    const code = ESCAPED_CODES.get(char);
    if (code !== undefined) return { kind: 'set', set: { ranges: [[code, code]] } };
    if (/[1-9kc]/.test(char)) throw new SchemaRefused(UNKNOWN);
    return { kind: 'set', set: literal(char) };
  }

  #coded(form: RegExp): PatternNode {
    const found = form.exec(this.#rest(8));
    if (found === null) throw new SchemaRefused(UNKNOWN);
    this.#at += found[0].length;
    const code = Number.parseInt(found[1] ?? found[2] ?? '', 16);
    if (code > 0x10_ff_ff) throw new SchemaRefused(UNKNOWN);
    return { kind: 'set', set: { ranges: [[code, code]] } };
  }

  #property(isNegated: boolean): CodeSet {
    const name = /^\{([\w=]{1,64})\}/.exec(this.#rest(70))?.[1];
    if (name === undefined) throw new SchemaRefused(UNKNOWN);
    this.#at += name.length + 2;
    try {
      return { ranges: [], property: new RegExp(`^\\p{${name}}$`, 'u'), isNegated };
    } catch {
      throw new SchemaRefused(UNKNOWN);
    }
  }

  #next(): string {
    const char = this.#chars[this.#at++];
    if (char === undefined) throw new SchemaRefused(UNKNOWN);
    return char;
  }

  #sees(char: string): boolean {
    return this.#chars[this.#at] === char;
  }

  #take(char: string): boolean {
    if (!this.#sees(char)) return false;
    this.#at++;
    return true;
  }

  #rest(chars: number): string {
    return this.#chars.slice(this.#at, this.#at + chars).join('');
  }
}

const codeOf = (char: string): number => char.codePointAt(0) ?? 0;

const literal = (char: string): CodeSet => ({ ranges: [[codeOf(char), codeOf(char)]] });
