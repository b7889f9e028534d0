import { describe, expect, it } from 'vitest';
import { jsgfSize, oversizeOf } from '../../../../src/engines/asr/jsgf-size.ts';

const grammar = (rules: string) => `#JSGF V1.0;\ngrammar g;\n${rules}`;
const words = (text: string) => jsgfSize(text).words;

describe('jsgf size', () => {
  it('the size of a JSGF grammar is the words of its largest rule with all referenced rules written out', () => {
    expect(
      words(grammar('public <go> = go (forward | back) <n> [meters];\n<n> = one | two;')),
    ).toBe(6);
  });

  it('the size of a short JSGF grammar that stands for a billion words is counted without writing it out', () => {
    const letters = 'abcdefghij';
    const rules = [...letters].map((rule, i) => {
      const next = letters[i + 1];
      return `<${rule}> = ${next === undefined ? 'word' : `<${next}> `.repeat(10)};`;
    });
    expect(words(grammar(`public ${rules.join('\n')}`))).toBe(10 ** 9);
  });

  it('the size of a JSGF grammar counts a rule within itself once and ignores comments', () => {
    expect(words(grammar('public <x> = hello <x>; // <y> = a b c d e f;'))).toBe(2);
  });

  it('the size of a text that is no JSGF grammar is 0', () => {
    expect(words('')).toBe(0);
    expect(words('junk <<< = ;;')).toBe(0);
  });

  it.each([
    [
      'three thousand closures in each other',
      `${'('.repeat(3_000)}one${')*'.repeat(3_000)}`,
      'levels',
    ],
    ['closures beyond what can be joined in a second', '(one)* '.repeat(300), 'optional'],
    ['options beyond what can be joined in a second', '[one] '.repeat(300), 'optional'],
    [
      'repetitions that write their part out again',
      `${'('.repeat(10)}one${')+'.repeat(10)}`,
      'words',
    ],
  ])('a JSGF grammar with %s is refused', (_, body, why) => {
    expect(oversizeOf(jsgfSize(grammar(`public <x> = ${body};`)))).toContain(why);
  });

  it('the levels and options of a JSGF grammar are counted through its rules', () => {
    const chain = Array.from({ length: 30 }, (_, i) => `<r${i}> = (<r${i + 1}>)*;`).join('\n');
    expect(oversizeOf(jsgfSize(grammar(`public ${chain} <r30> = one;`)))).toContain('levels');
    const wide = `public <x> = ${'<y> '.repeat(20)}; <y> = ${'[one] '.repeat(10)};`;
    expect(jsgfSize(grammar(wide)).optional).toBe(200);
  });

  it('a JSGF grammar of commands is accepted', () => {
    const body = '[please] go (forward | back) <n>+ [meters | feet] '.repeat(20);
    expect(
      oversizeOf(jsgfSize(grammar(`public <go> = ${body}; <n> = one | two;`))),
    ).toBeUndefined();
  });
});
