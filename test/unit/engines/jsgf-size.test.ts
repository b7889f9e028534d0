import { describe, expect, it } from 'vitest';
import { jsgfWords } from '../../../src/engines/jsgf-size.ts';

const grammar = (rules: string) => `#JSGF V1.0;\ngrammar g;\n${rules}`;

describe('jsgf size', () => {
  it('counts the words of the largest rule with the others written into it', () => {
    expect(
      jsgfWords(grammar('public <go> = go (forward | back) <n> [meters];\n<n> = one | two;')),
    ).toBe(6);
  });

  it('sees through a short text that stands for thousands of millions of words', () => {
    const letters = 'abcdefghij';
    const rules = [...letters].map((rule, i) => {
      const next = letters[i + 1];
      return `<${rule}> = ${next === undefined ? 'word' : `<${next}> `.repeat(10)};`;
    });
    expect(jsgfWords(grammar(`public ${rules.join('\n')}`))).toBe(10 ** 9);
  });

  it('counts a rule within itself once and reads no comment', () => {
    expect(jsgfWords(grammar('public <x> = hello <x>; // <y> = a b c d e f;'))).toBe(2);
  });

  it('finds nothing in what is no grammar', () => {
    expect(jsgfWords('')).toBe(0);
    expect(jsgfWords('junk <<< = ;;')).toBe(0);
  });
});
