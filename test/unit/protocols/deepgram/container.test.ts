import { expect, it } from 'vitest';
import { isContainer, soundName } from '../../../../src/protocols/deepgram/container.ts';

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

it.each([
  ['sound', 'RIFF$   WAVEfmt ', 'sound.wav'],
  ['sound', 'fLaC', 'sound.flac'],
  ['sound', 'OggS', 'sound.ogg'],
  ['sound', '\x1aE\xdf\xa3', 'sound.webm'],
  ['download.php', '\0\0\0\x20ftypM4A ', 'sound.m4a'],
  ['sound', 'ID3\x04', 'sound.mp3'],
  ['sound', '\xff\xfb\x90\x64', 'sound.mp3'],
  ['mine.MP3', 'RIFF$   WAVEfmt ', 'mine.MP3'],
  ['sound', 'no format', 'sound'],
  ['sound', '', 'sound'],
])('a file named %s that begins with %j is sent on as %s', (name, bytes, expected) => {
  expect(soundName(name, Buffer.from(bytes, 'latin1'))).toBe(expected);
});
