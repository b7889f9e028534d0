import { describe, expect, it } from 'vitest';
import {
  isPunctuated,
  silenceAfter,
  TURN_MODES,
  type TurnContext,
} from '../../../../../src/voice/session/turns/end-of-turn.ts';

const { minSilenceMs, maxSilenceMs, onNoPunctuationMs, onNumberMs } = TURN_MODES.balanced;
const AFTER_A_GREETING: TurnContext = { asked: 'How can I help you?', isPunctuated: false };

const wait = (words: string, context: Partial<TurnContext> = {}): number =>
  silenceAfter(words, TURN_MODES.balanced, { ...AFTER_A_GREETING, ...context });

describe('the silence that ends a turn', () => {
  it.each([
    'what is my balance',
    'I would like to book a table.',
    'are you open on monday',
    'yes',
    'no thank you',
    'what is it for',
    'where are you from',
    'come in',
    'it starts at five thirty in the morning',
    'How much is it?',
    'is that for a?',
    '',
  ])(
    'the silence that ends a turn is shortest after a complete sentence or a question: %j',
    (words) => {
      expect(wait(words)).toBe(minSilenceMs);
    },
  );

  it.each([
    'my phone number is four one five',
    'four one five five five five',
    "it's two one two",
    'it is 415-555',
    '415 555 01',
    'S M',
    'my name is Brown b r o w',
    'b as in bravo double u x',
  ])(
    'the silence that ends a turn is the wait for a number after digits and letters that may go on: %j',
    (words) => {
      expect(wait(words)).toBe(onNumberMs);
    },
  );

  it('the silence that ends a turn is half the wait for a number after a single digit or letter', () => {
    expect(wait('a table for two')).toBe(onNumberMs / 2);
    expect(wait('b')).toBe(onNumberMs / 2);
    expect(wait('come by at two')).toBe(onNumberMs / 2);
  });

  it.each([
    ['My number is four one five five five five oh one two three', 'How can I help you?'],
    ['415 555 0123', 'What is your phone number?'],
    ['nine four one oh seven', 'And your zip code?'],
    ['1 2 3 4', 'What are the last four digits?'],
  ])(
    'the silence that ends a turn is shortest after all digits of a number of known length: %j',
    (words, asked) => {
      expect(wait(words, { asked })).toBe(minSilenceMs);
    },
  );

  it.each([
    ['for like five', 'What is your phone number?'],
    ['he are', 'Could you spell that for me?'],
    ['yes', 'Can I have your account number, please?'],
    ['it is john at', 'What is your email?'],
  ])(
    'the silence that ends a turn is longer for any reply to a question for digits or letters: %j',
    (words, asked) => {
      expect(wait(words, { asked })).toBeGreaterThanOrEqual(onNumberMs);
    },
  );

  // "My phone number is four one five", as the local recogniser heard two voices.
  it.each([
    'my cell number is silent science',
    'my cell number eight',
    'my cell number it',
    'my cell number it you want to sign sign sign',
    'our zip code is nice',
    // Heard of "my phone number is".
    'my phone numbers',
    'yes my number',
  ])(
    'the silence that ends a turn is the wait for a number when a number was announced and words came: %j',
    (words) => {
      expect(wait(words)).toBe(onNumberMs);
    },
  );

  it.each([
    'what is my account number please',
    'can you change my phone number now',
    'the number is wrong',
    'I lost my phone number',
  ])('the silence that ends a turn is shortest when the words are about a number: %j', (words) => {
    expect(wait(words)).toBe(minSilenceMs);
  });

  // Heard of "could you tell me if", "I wanted to ask about the" and "I think".
  it.each([
    'could you tell me this',
    'i wanted to ask about that',
    "i'd shoot",
    "i'd shoot them",
    'and then they',
  ])(
    'the silence that ends a turn is two thirds of the longest when the last words may continue: %j',
    (words) => {
      expect(wait(words)).toBe((maxSilenceMs * 2) / 3);
    },
  );

  it.each(['what is that', 'I want that.', 'how much is this?', "i'd like a table please"])(
    'the silence that ends a turn is shortest when words that may continue end a question or a sentence: %j',
    (words) => {
      expect(wait(words)).toBe(minSilenceMs);
    },
  );

  it('the silence that ends a turn is not longer because the answer asked for a number earlier', () => {
    expect(wait('yes', { asked: 'Your phone number is on file. Shall I go on?' })).toBe(
      minSilenceMs,
    );
  });

  it.each([
    'I think',
    'i think um',
    'well, uh…',
    "I'd like to",
    'my phone number is',
    'what is the balance of the',
    'could you tell me if',
    'I wanted to ask about',
    'it was on tuesday and',
    'let me see',
    'one moment',
    'so that is -',
    'On Monday, I',
    'I want to book a table for.',
  ])('the silence that ends a turn is longest after a filler or an open phrase: %j', (words) => {
    expect(wait(words)).toBe(maxSilenceMs);
  });

  it('the silence that ends a turn is longer without punctuation only when the transcriber punctuates', () => {
    expect(wait('the blue one', { isPunctuated: true })).toBe(onNoPunctuationMs);
    expect(wait('The blue one.', { isPunctuated: true })).toBe(minSilenceMs);
    expect(wait('the blue one')).toBe(minSilenceMs);
    expect(isPunctuated('The blue one.”')).toBe(true);
    expect(isPunctuated('the blue one,')).toBe(false);
  });

  it('the silence that ends a turn grows from the fast mode to the patient one', () => {
    for (const words of ['yes', 'four one five', 'I think']) {
      const waits = Object.values(TURN_MODES).map((mode) =>
        silenceAfter(words, mode, AFTER_A_GREETING),
      );
      expect(waits).toEqual([...waits].sort((a, b) => a - b));
      expect(new Set(waits).size).toBe(3);
    }
  });

  it('the silence that ends a turn treats "one" as a pronoun when no other digit is before it', () => {
    expect(wait('the other one')).toBe(minSilenceMs);
    expect(wait('two one')).toBe(onNumberMs);
  });

  it('the silence that ends a turn is computed within 5 ms for a long turn', () => {
    const words = 'four one five and the '.repeat(500);
    const tookMs = Array.from({ length: 5 }, () => {
      const startMs = performance.now();
      wait(words);
      return performance.now() - startMs;
    });
    expect(Math.min(...tookMs)).toBeLessThan(5);
  });
});
