import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stripMarkup } from '../../../../src/voice/speech-text/strip-markup.ts';

describe('stripMarkup', () => {
  it.each([
    [
      '**Bold**, *it*, ***both***, __x__, ~~gone~~ and `code`.',
      'Bold, it, both, x, gone and code.',
    ],
    ['half of **an emphasis', 'half of an emphasis'],
    ['## A heading', 'A heading.'],
    ['> quoted *words*', 'quoted words'],
    ['- an item', 'an item.'],
    ['- [x] done?', 'done?'],
    ['1. The *first*', '1. The first.'],
    ['| Plan | Price |', 'Plan, Price.'],
    ['|:---|---:|', ''],
    ['```python', ''],
    ['See [our docs](https://a.example/x?y=1 "Docs") now.', 'See our docs now.'],
    ['![A cat](cat.png)', 'A cat'],
    ['the end of a link](https://a.example/b).', 'the end of a link.'],
    ['the [begin of a', 'the begin of a'],
    [
      'At https://www.a.example/help or <https://b.example/x?q=1#z>.',
      'At a.example/help or b.example.',
    ],
    ['Done [1] and【2†source】 so[^note].', 'Done and so.'],
    ['Great 👍🏽 job 🇺🇸, 1️⃣ ❤️!', 'Great job, 1!'],
    ['2 * 3 and 2*3 stay', '2 * 3 and 2*3 stay'],
    ['<b>R&amp;D</b><br/>', 'R&D'],
    ['Übung **macht** den Meister 100 %.', 'Übung macht den Meister 100 %.'],
    ['**你好**。', '你好。'],
    ['snake_case stays', 'snake_case stays'],
  ])('stripMarkup reads %j as %j', (written, words) => {
    expect(stripMarkup(written)).toBe(words);
  });

  it('stripMarkup returns plain sentences unchanged', () => {
    const plain = 'It costs $5, or 10% more. Is that "all right"? Yes; (surely) it is!';
    expect(stripMarkup(plain)).toBe(plain);
  });

  it('stripMarkup finishes in bounded time for any text', () => {
    const hostile = fc.constantFrom(
      '*',
      '_',
      '[',
      '](',
      '`',
      '|',
      '<a ',
      'http://',
      '-',
      '#',
      ' ',
      'a',
    );
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 500, maxLength: 900 }), (parts) => {
        const startedMs = performance.now();
        stripMarkup(parts.join(''));
        expect(performance.now() - startedMs).toBeLessThan(500);
      }),
      { numRuns: 30 },
    );
  });
});
