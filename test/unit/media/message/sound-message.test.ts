import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AUDIO,
  base64Of,
  bitsOf,
  decodeBase64,
  EVENT,
  INBOUND,
  innerNamesOf,
  LIVE_APPEND,
  lengthOf,
  MEDIA,
  namesOf,
  numberOf,
  objectsOf,
  PAYLOAD,
  REALTIME_APPEND,
  scanMessage,
  TIMESTAMP,
  TRACK,
  TYPE,
  within,
  wordOf,
} from '../../../../media/message/sound-message.ts';

const decode = (text: string): Buffer | undefined => {
  const bytes = decodeBase64(text);
  return bytes && Buffer.from(bytes);
};

/** The same as the text of a message. */
const decodeWithin = (text: string): Buffer | undefined => {
  if (!scanMessage(Buffer.from(`{"payload":"${text}","more":"AAAA"}`, 'latin1'))) return undefined;
  const bytes = base64Of(PAYLOAD);
  return bytes && Buffer.from(bytes);
};

describe('base64 within a message', () => {
  it('base64 within a message is decoded as Node encodes it, with padding and without', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        for (const written of [text, text.replace(/=+$/, '')]) {
          expect(decode(written)).toEqual(Buffer.from(bytes));
          expect(decodeWithin(written)).toEqual(Buffer.from(bytes));
        }
      }),
    );
  });

  it('base64 within a message may use the URL alphabet', () => {
    expect(decode('-_8A')).toEqual(decode('+/8A'));
  });

  it.each([
    'A',
    'AAAAA',
    '=',
    '====',
    'A===',
    'AA=',
    'AA=A',
    'AAAA====',
    'AA==AAAA',
    'AA A',
    'AAA\n',
    'AAA\0',
    'AAA\\/',
    'AAA\x80',
    'AAA\xff',
  ])('invalid base64 %j within a message is refused', (text) => {
    decode('AAAAAAAAAAAA');
    expect(decode(text)).toBeUndefined();
    expect(decodeWithin(text)).toBeUndefined();
  });
});

const scan = (text: string) => scanMessage(Buffer.from(text, 'latin1'));

describe('a message that brings sound', () => {
  it('an audio message is read by the names of its members and of its inner object’s members', () => {
    const text =
      ' { "event" : "media" , "media":{ "track":"inbound", "chunk":"7","timestamp":"123456789012345" }, "x":"" } ';
    expect(scan(text)).toBe(true);
    expect(namesOf()).toBe(bitsOf(EVENT, MEDIA) | bitsOf());
    expect(innerNamesOf()).toBe(bitsOf(TRACK, TIMESTAMP) | bitsOf());
    expect(objectsOf()).toBe(bitsOf(MEDIA));
    expect([wordOf(EVENT), wordOf(within(TRACK)), wordOf(within(TIMESTAMP))]).toEqual([
      MEDIA,
      INBOUND,
      0,
    ]);
    expect(numberOf(within(TIMESTAMP))).toBe(123_456_789_012_345);
    expect([lengthOf(EVENT), lengthOf(within(TIMESTAMP))]).toEqual([5, 15]);
  });

  it('an audio message’s known words are told from all that begin or end like them', () => {
    for (const [text, word] of [
      ['input_audio_buffer.append', REALTIME_APPEND],
      ['session.input_audio.append', LIVE_APPEND],
      ['input_audio_buffer.appenx', 0],
      ['input_audio_buffes.append', 0],
      ['session.input_audio.appendx', 0],
      ['session.input_audio.appen', 0],
      ['media', MEDIA],
      ['mediA', 0],
      ['medi', 0],
      ['', 0],
      ['x'.repeat(31), 0],
      ['x'.repeat(40), 0],
    ] as const) {
      expect(scan(`{"type":"${text}"}`)).toBe(true);
      expect(wordOf(TYPE), text).toBe(word);
    }
  });

  it.each(['', 'x', '1x', '-1', '1.5', '1234567890123456', ' 1'])(
    'an audio message’s text %j is no number',
    (text) => {
      expect(scan(`{"timestamp":"${text}"}`)).toBe(true);
      expect(numberOf(TIMESTAMP)).toBe(-1);
    },
  );

  it('an audio message’s texts end at their quotes, at any length', () => {
    for (let chars = 0; chars < 70; chars++) {
      expect(scan(`{"type":"${'a~ !'.repeat(20).slice(0, chars)}","audio":""}`)).toBe(true);
      expect([lengthOf(TYPE), lengthOf(AUDIO)], `${chars}`).toEqual([chars, 0]);
    }
  });

  it('an audio message with an escaped or non-ASCII character is left to JSON.parse, wherever the character is', () => {
    for (const sign of ['\\', '\n', '\0', '\x1f', '\x7f', '\x80', '\xff']) {
      for (let chars = 0; chars < 40; chars++) {
        expect(scan(`{"type":"${'a'.repeat(chars)}${sign}aaaa"}`)).toBe(false);
      }
    }
  });

  it('an audio message that is cut off is not completed by the bytes of an earlier message', () => {
    const text = '{"type":"aaaa","audio":"AAAAAAAAAAAAAAAAAAAAAAAA"}';
    for (let length = 0; length < text.length; length++) {
      scan(text);
      expect(scan(text.slice(0, length)), `${length}`).toBe(false);
    }
    expect(scan(text)).toBe(true);
    expect(namesOf()).toBe(bitsOf(TYPE, AUDIO));
  });

  it.each([
    ['a number', '{"a":1}'],
    ['a list', '{"a":["b"]}'],
    ['an object within an inner one', '{"a":{"b":{"c":"d"}}}'],
    ['no member', '{}'],
    ['no object', '"a"'],
    ['a trailing comma', '{"a":"b",}'],
    ['more behind it', '{"a":"b"} {'],
    ['a word twice', '{"audio":"","audio":""}'],
    ['a word twice in two inner objects', '{"a":{"audio":""},"b":{"audio":""}}'],
    ['too much', `{"a":"${'a'.repeat(1024 * 1024)}"}`],
  ])('an audio message with %s is left to JSON.parse', (_, text) => {
    expect(scan(text)).toBe(false);
  });

  it('an audio message may have as many bytes as its memory', () => {
    const chars = 1024 * 1024 - '{"audio":""}'.length;
    expect(scan(`{"audio":"${'A'.repeat(chars)}"}`)).toBe(true);
    expect(base64Of(AUDIO)?.length).toBe((chars / 4) * 3);
    expect(decodeBase64('A'.repeat(1024 * 1024))?.length).toBe(768 * 1024);
    expect(decodeBase64('A'.repeat(1024 * 1024 + 4))).toBeUndefined();
  });
});
