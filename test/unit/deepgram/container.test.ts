import { expect, it } from 'vitest';
import { isContainer } from '../../../src/deepgram/container.ts';

it.each([
  ['a WAV', Buffer.from('RIFF$   WAVE'), true],
  ['a browser recording', Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 1]), true],
  ['an Ogg stream', Buffer.from('OggS'), true],
  ['an MP3 with tags', Buffer.from('ID3\x04'), true],
  ['silence', new Uint8Array(320), false],
  ['one byte', new Uint8Array([0x52]), false],
])('the first bytes of %s show whether it is raw audio', (_, bytes, expected) => {
  expect(isContainer(bytes)).toBe(expected);
});
