import { describe, expect, it } from 'vitest';
import { AUDIO_TYPES, audioTypeOf, isAudio } from '../../../../src/models/providers/audio-type.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const WAV = bytes('RIFF\x10\0\0\0WAVEfmt ');

describe('the type of sound', () => {
  it('the content type of audio is the upstream’s, with its parameters', () => {
    expect(audioTypeOf(bytes('xyz'), 'audio/L16; rate=24000', 'pcm')).toBe('audio/L16; rate=24000');
  });

  it('the content type of audio is that of the requested format when the upstream names none', () => {
    for (const said of ['', 'application/octet-stream', 'audio/x\u00e9']) {
      expect(audioTypeOf(bytes('\xff\xf3'), said, 'mp3')).toBe('audio/mpeg');
      expect(audioTypeOf(bytes('\0\0'), said, 'pcm')).toBe('audio/pcm');
    }
  });

  it.each([
    [WAV, 'audio/wav'],
    [bytes('OggS\0\x02'), 'audio/ogg'],
    [bytes('fLaC\0\0'), 'audio/flac'],
    [bytes('ID3\x04'), 'audio/mpeg'],
  ])(
    'the content type of audio follows the file’s first bytes, against the upstream’s',
    (head, type) => {
      expect(audioTypeOf(head, 'audio/aac', 'aac')).toBe(type);
      expect(audioTypeOf(head, '', 'pcm')).toBe(type);
    },
  );

  it('the content type of audio keeps the upstream’s other name for the same format', () => {
    expect(audioTypeOf(WAV, 'audio/x-wav', 'wav')).toBe('audio/x-wav');
    expect(audioTypeOf(bytes('OggS'), 'audio/opus', 'opus')).toBe('audio/opus');
  });

  it('the content type of audio is not guessed from a beginning that is too short', () => {
    expect(audioTypeOf(bytes('RIFF'), 'audio/pcm', 'pcm')).toBe('audio/pcm');
    expect(audioTypeOf(new Uint8Array(0), '', 'aac')).toBe(AUDIO_TYPES.aac);
  });

  it('the content type of audio is read from a byte view and not from the memory behind it', () => {
    const memory = Buffer.concat([bytes('........'), WAV]);
    expect(audioTypeOf(memory.subarray(8), '', 'mp3')).toBe('audio/wav');
    expect(audioTypeOf(memory.subarray(0, 8), '', 'mp3')).toBe('audio/mpeg');
  });
});

it('text, JSON and video content types are not taken as audio', () => {
  for (const said of ['text/html; charset=utf-8', 'application/json', 'video/mp4']) {
    expect(isAudio(said), said).toBe(false);
  }
  for (const said of ['', 'Audio/MPEG', 'application/octet-stream', 'application/ogg']) {
    expect(isAudio(said), said).toBe(true);
  }
});
