import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpeechParts } from '../../../../src/voice/speech-text/speech-parts.ts';

const ANSWER = [
  '# Your plan\n\n**Basic** costs $1,250.50, see [the docs](https://a.example/p?q=1). Call Dr. Lee',
  ' at 5 p.m. or No. 7.\n\n| Plan | Price |\n|---|---|\n| Pro | $9 |\n\n```sh\nrun it\n```\n1. Go on 👍',
].join('');

const SPOKEN = [
  'Your plan.',
  'Basic costs one thousand two hundred fifty dollars and fifty cents, see the docs.',
  'Call Doctor Lee at five PM or number seven.',
  'Plan, Price.',
  'Pro, nine dollars.',
  'run it',
  'one. Go on.',
];

function partsOf(deltas: readonly string[], isForReading = true) {
  const parts = new SpeechParts({ isForReading, language: 'en' });
  return [...deltas.flatMap((delta) => parts.push(delta)), ...parts.end()];
}

describe('SpeechParts', () => {
  it('SpeechParts gives the same speech, however the answer is cut into deltas', () => {
    const cuts = fc.array(fc.nat({ max: ANSWER.length }), { maxLength: 60 });
    fc.assert(
      fc.property(cuts, (places) => {
        const sorted = [0, ...places.toSorted((a, b) => a - b), ANSWER.length];
        const deltas = sorted.slice(1).map((end, i) => ANSWER.slice(sorted[i], end));
        const spoken = partsOf(deltas).map((part) => part.spoken);
        expect(spoken.filter((text) => text !== '')).toEqual(SPOKEN);
      }),
    );
  });

  it('SpeechParts keeps the written text beside its spoken form', () => {
    const parts = partsOf([ANSWER]);
    expect(parts.find(({ spoken }) => spoken.startsWith('Basic'))?.text).toBe(
      '**Basic** costs $1,250.50, see [the docs](https://a.example/p?q=1).',
    );
    expect(parts.map(({ text }) => text).join('')).toContain('```sh');
  });

  it('SpeechParts leaves an answer unchanged when reading aloud is off', () => {
    expect(partsOf(['**It** is $5.'], false)).toEqual([
      { text: '**It** is $5.', spoken: '**It** is $5.' },
    ]);
  });

  it('SpeechParts gives a whole sentence at a pause, and an unfinished one only at a long pause', () => {
    const parts = new SpeechParts({ isForReading: false, language: null });
    const textsOf = (passages: readonly { text: string }[]) => passages.map(({ text }) => text);
    expect(parts.push('Hello there.')).toEqual([]);
    expect(textsOf(parts.pause(false))).toEqual(['Hello there.']);
    expect(parts.push('And then')).toEqual([]);
    expect(parts.pause(false)).toEqual([]);
    expect(textsOf(parts.pause(true))).toEqual(['And then']);
    expect(parts.end()).toEqual([]);
  });
});
