import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpokenText } from '../../../../src/voice/session/heard-words.ts';

function add(spoken: SpokenText, sentence: string, ms: number): void {
  spoken.begin(sentence, ms);
  spoken.lasted(ms);
  spoken.ended();
}

describe('SpokenText', () => {
  it('SpokenText counts a word as heard only when its whole share of the time has passed', () => {
    const spoken = new SpokenText();
    add(spoken, 'one two three four.', 400);
    add(spoken, 'five six.', 200);
    expect(spoken.heardBy(0)).toBe('');
    expect(spoken.heardBy(99)).toBe('');
    expect(spoken.heardBy(100)).toBe('one');
    expect(spoken.heardBy(399)).toBe('one two three');
    expect(spoken.heardBy(400)).toBe('one two three four.');
    expect(spoken.heardBy(500)).toBe('one two three four. five');
    expect(spoken.heardBy(9_999)).toBe('one two three four. five six.');
  });

  it('SpokenText times a sentence whose audio is incomplete by its expected length, not by the audio so far', () => {
    const spoken = new SpokenText();
    spoken.begin('one two three four.', 400);
    spoken.lasted(100);
    expect(spoken.heardBy(100)).toBe('one');
    spoken.lasted(100);
    spoken.ended();
    expect(spoken.heardBy(100)).toBe('one two');
    expect(spoken.durationMs).toBe(200);
  });

  it('SpokenText never takes back a heard word as time goes on', () => {
    const sentence = fc.array(fc.constantFrom('a', 'be', 'see'), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(sentence, fc.integer({ min: 1, max: 5_000 })), { maxLength: 5 }),
        fc.nat(20_000),
        fc.nat(20_000),
        (sentences, a, b) => {
          const spoken = new SpokenText();
          for (const [words, ms] of sentences) add(spoken, words.join(' '), ms);
          const early = spoken.heardBy(Math.min(a, b));
          expect(spoken.heardBy(Math.max(a, b)).startsWith(early)).toBe(true);
          expect(spoken.heardBy(spoken.durationMs)).toBe(
            sentences.map(([words]) => words.join(' ')).join(' '),
          );
        },
      ),
    );
  });
});
