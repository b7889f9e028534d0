import { expect, it } from 'vitest';
import { isUnfinished } from '../../../../src/voice/stt/unfinished-speech.ts';

it.each([
  ['I would like to', true],
  ['what is the balance of the', true],
  ['well, um…', true],
  ['what is my balance', false],
  ['come in', false],
  ['', false],
])('speech is judged unfinished by its last word: %j, %s', (text, unfinished) => {
  expect(isUnfinished(text)).toBe(unfinished);
});
