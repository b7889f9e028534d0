import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { splitItem } from '../../../../src/memory/indexing/split-text.ts';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';

const {
  chunkChars,
  chunks: chunksPerItem,
  documentBytes,
  textBytes,
  titleChars,
} = MEMORY_LIMITS.item;
const { perItem: factsPerItem } = MEMORY_LIMITS.facts;
const memory = { type: 'memory', infer: false, title: null } as const;

describe('an item', () => {
  it('a memory item of one text is one chunk on a single line', () => {
    expect(splitItem({ ...memory, text: ' The user\nlikes   tea. ' })).toEqual([
      'The user likes tea.',
    ]);
  });

  it('a long memory item is cut at sentence ends without losing text', () => {
    const sentence = 'She wrote forty pages about the history of the lighthouse.';
    const chunks = splitItem({ ...memory, text: Array(100).fill(sentence).join(' ') });
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.every((chunk) => chunk.length <= chunkChars && chunk.endsWith('.'))).toBe(true);
    expect(chunks.join(' ')).toBe(Array(100).fill(sentence).join(' '));
  });

  it('a memory item with inferred facts keeps each fact once, without greetings and filler', () => {
    const text = `Hi there! How are you? Well, my name is Ada. I'm allergic to peanuts.
      Thanks a lot! My name is Ada. Oh, by the way, the meeting moved to 3 p.m. on Friday. Bye!`;
    expect(splitItem({ ...memory, infer: true, text })).toEqual([
      'My name is Ada.',
      "I'm allergic to peanuts.",
      'The meeting moved to 3 p.m. on Friday.',
    ]);
  });

  it('a memory item with inferred facts keeps the words and abbreviations of each sentence', () => {
    for (const text of [
      'No-code tools are what she sells.',
      'Dr. Smith lives in St. Louis.',
      'No. 5 is her favourite perfume.',
      'Well-known brands bore her.',
      'iPhone is her only telephone.',
      'So-called experts annoy her.',
    ]) {
      expect(splitItem({ ...memory, infer: true, text })).toEqual([text]);
    }
    const text = 'Hello there! No, she sells tools. Oh - iPads break often. Well: the roof leaks.';
    expect(splitItem({ ...memory, infer: true, text })).toEqual([
      'She sells tools.',
      'iPads break often.',
      'The roof leaks.',
    ]);
  });

  it('a memory item in which no fact is found stays unchanged', () => {
    expect(splitItem({ ...memory, infer: true, text: 'Hello, how are you?' })).toEqual([
      'Hello, how are you?',
    ]);
  });

  it('a knowledge item becomes one chunk per paragraph, each with the title below', () => {
    const text = 'Refunds take\nfive days.\n\n\nShipping is free.';
    expect(splitItem({ type: 'knowledge', infer: false, title: 'Shop rules', text })).toEqual([
      'Refunds take five days.\nShop rules',
      'Shipping is free.\nShop rules',
    ]);
  });

  it('any item is cut into a limited number of non-empty chunks, the same ones each time', () => {
    const piece = fc.constantFrom('a. ', 'Hi! ', '\n\n', 'word ', '?! ', '9', '….', 'ß', '😀');
    const text = fc
      .array(piece, { minLength: 1, maxLength: 20_000 })
      .map((parts) => parts.join(''))
      .filter((joined) => joined.trim() !== '');
    fc.assert(
      fc.property(text, fc.boolean(), fc.boolean(), (said, infer, isKnowledge) => {
        const item = { ...memory, text: said, infer, type: isKnowledge ? 'knowledge' : 'memory' };
        const chunks = splitItem(item as Parameters<typeof splitItem>[0]);
        const most = infer && !isKnowledge ? factsPerItem : chunksPerItem;
        expect(chunks.length).toBeGreaterThan(0);
        expect(chunks.length).toBeLessThanOrEqual(most);
        expect(chunks.every((chunk) => chunk.trim() !== '' && !chunk.includes('\n'))).toBe(true);
        expect(splitItem(item as Parameters<typeof splitItem>[0])).toEqual(chunks);
      }),
      { numRuns: 30 },
    );
  });

  it('no chunk of an item is longer than the embedding engine accepts, for any mix of long and short parts', () => {
    const part = fc.constantFrom(
      'x',
      'a.',
      'Is it? ',
      'y'.repeat(999),
      `${'z'.repeat(990)}. `,
      '\u{1F600}',
    );
    const runs = fc.array(fc.tuple(part, fc.constantFrom('\n\n', '\n', ' ', ''), fc.nat(4_000)), {
      minLength: 1,
      maxLength: 12,
    });
    const title = 't'.repeat(titleChars);
    fc.assert(
      fc.property(runs, fc.boolean(), fc.boolean(), (said, infer, isKnowledge) => {
        const whole = said.map(([of, end, times]) =>
          (of + end).repeat(times % (80_000 / of.length)),
        );
        const text = `a${whole.join('')}`.slice(0, isKnowledge ? documentBytes : textBytes);
        const item = isKnowledge
          ? ({ type: 'knowledge', infer: false, title, text } as const)
          : { ...memory, infer, text };
        const chunks = splitItem(item);
        expect(chunks.length).toBeLessThanOrEqual(
          infer && !isKnowledge ? factsPerItem : chunksPerItem,
        );
        const longest = Math.max(...chunks.map(({ length }) => length));
        expect(longest).toBeLessThanOrEqual(ENGINE_LIMITS.embedding.textChars);
      }),
      { numRuns: 60 },
    );
  });
});
