import { expect, it } from 'vitest';
import { isUnfinished } from '../../../../src/voice/stt/unfinished-speech.ts';

it.each([
  ['I would like to', true],
  ['what is the balance of the', true],
  ['well, um…', true],
  ['what is my balance', false],
  ['come in', false],
  ['', false],
])('tells by its last word whether %j breaks off: %s', (text, unfinished) => {
  expect(isUnfinished(text)).toBe(unfinished);
});
