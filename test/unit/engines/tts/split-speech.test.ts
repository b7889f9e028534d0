import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitSpeech } from '../../../../src/engines/tts/split-speech.ts';

const BOUNDS = { firstChars: 40, chars: 60 };
const spoken = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');

describe('split speech', () => {
  it('splitSpeech cuts a text into its sentences', () => {
    expect(splitSpeech('Hello there. How are you? "Fine!" she said.\nBye', BOUNDS)).toEqual([
      'Hello there.',
      'How are you?',
      '"Fine!"',
      'she said.',
      'Bye',
    ]);
  });

  it('splitSpeech does not cut inside an amount', () => {
    expect(splitSpeech('Exactly 4.992650 USDC.', BOUNDS)).toEqual(['Exactly 4.992650 USDC.']);
  });

  it('splitSpeech does not cut behind a title, a saint, an initial or a number sign', () => {
    for (const text of [
      'Dr. Smith lives in St. Louis.',
      'Ask Mrs. J. Doe of the U.S. Army.',
      'It is No. 5 of Vol. 2.',
      'Tea, e.g. Earl Grey.',
    ]) {
      expect(splitSpeech(text, { firstChars: 100, chars: 100 })).toEqual([text]);
    }
    expect(splitSpeech('She said no. Then I left. It was I. Done.', BOUNDS)).toEqual([
      'She said no.',
      'Then I left.',
      'It was I.',
      'Done.',
    ]);
  });

  it('splitSpeech keeps times, list numbers and suffixes with the sentence that goes on', () => {
    const bounds = { firstChars: 100, chars: 100 };
    expect(splitSpeech('Come at 5 p.m. tomorrow. I am free at 6 p.m. Then I go.', bounds)).toEqual([
      'Come at 5 p.m. tomorrow.',
      'I am free at 6 p.m.',
      'Then I go.',
    ]);
    expect(splitSpeech('1. Open it. Wait.\n2. **Close it.** Go.', bounds)).toEqual([
      '1. Open it.',
      'Wait.',
      '2. **Close it.**',
      'Go.',
    ]);
    expect(
      splitSpeech('Ask Acme Inc. about it, etc. and so on. It was 2024. We left.', bounds),
    ).toEqual(['Ask Acme Inc. about it, etc. and so on.', 'It was 2024.', 'We left.']);
  });

  it('splitSpeech cuts behind the punctuation of languages that write no space after it', () => {
    expect(splitSpeech('你好。今天很好！「是吗？」好｡次', BOUNDS)).toEqual([
      '你好。',
      '今天很好！',
      '「是吗？」',
      '好｡',
      '次',
    ]);
    expect(splitSpeech('كيف حالك؟ أنا بخير. नमस्ते। ठीक है', BOUNDS)).toEqual([
      'كيف حالك؟',
      'أنا بخير.',
      'नमस्ते।',
      'ठीक है',
    ]);
  });

  it('splitSpeech does not cut at a comma within a number', () => {
    const text = 'The sum of all of that came to 1,250,000.50 dollars';
    expect(splitSpeech(text, { firstChars: 35, chars: 60 })[0]).toBe(
      'The sum of all of that came to',
    );
  });

  it('splitSpeech cuts a long sentence at a clause, and the first one sooner', () => {
    const chunks = splitSpeech(
      'When it rains in the hills, the river rises; when the river rises, the old bridge is closed to carts and horses alike',
      BOUNDS,
    );
    expect(chunks[0]).toBe('When it rains in the hills,');
    expect(chunks.every((chunk, i) => chunk.length <= (i === 0 ? 40 : 60))).toBe(true);
  });

  it('splitSpeech gives nothing for a text without a letter or digit', () => {
    expect(splitSpeech(' ... !? \n -- ', BOUNDS)).toEqual([]);
  });

  it('splitSpeech loses no letter and keeps its limits, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
        const chunks = splitSpeech(text, BOUNDS);
        expect(spoken(chunks.join(''))).toBe(spoken(text));
        expect(chunks.every((chunk) => chunk.length <= BOUNDS.chars)).toBe(true);
      }),
    );
  });
});
