import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  base64Of,
  decodeBase64,
  isInner,
  isObjectAt,
  isText,
  lengthOf,
  nameOf,
  numberOf,
  scanMessage,
  WORD,
  wordOf,
} from '../../../../media/message/sound-message.ts';

const decode = (text: string): Buffer | undefined => {
  const bytes = decodeBase64(text);
  return bytes && Buffer.from(bytes);
};

/** The same as the text of a message. */
const decodeWithin = (text: string): Buffer | undefined => {
  if (scanMessage(Buffer.from(`{"payload":"${text}","more":"AAAA"}`, 'latin1')) !== 2)
    return undefined;
  const bytes = base64Of(0);
  return bytes && Buffer.from(bytes);
};

describe('base64 within a message', () => {
  it('decodes what Node encodes, with padding and without', () => {
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

  it('reads the alphabet of URLs as well', () => {
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
  ])('refuses %j, which is no base64', (text) => {
    decode('AAAAAAAAAAAA');
    expect(decode(text)).toBeUndefined();
    expect(decodeWithin(text)).toBeUndefined();
  });
});

/** What a scan has found, in words. */
const found = (text: string) => {
  const members = scanMessage(Buffer.from(text, 'latin1'));
  return Array.from({ length: Math.max(0, members) }, (_, i) => [
    nameOf(i),
    isInner(i),
    isObjectAt(i) || lengthOf(i),
  ]);
};

describe('a message that brings sound', () => {
  it('is read member by member, those of its inner object behind their own', () => {
    const text = ' { "event" : "media" , "media":{ "track":"inbound", "chunk":"7" }, "x":"" } ';
    expect(found(text)).toEqual([
      [WORD.event, false, 5],
      [WORD.media, false, true],
      [WORD.track, true, 7],
      [0, true, 1],
      [0, false, 0],
    ]);
    expect([0, 2, 3].map(wordOf)).toEqual([WORD.media, WORD.inbound, 0]);
    expect([numberOf(3), numberOf(0)]).toEqual([7, -1]);
    expect([isText(0, Buffer.from('media')), isText(0, Buffer.from('medio'))]).toEqual([
      true,
      false,
    ]);
  });

  it('has texts that end at their quotes, wherever those are', () => {
    for (let chars = 0; chars < 70; chars++) {
      const value = 'a~ !'.repeat(20).slice(0, chars);
      expect(found(`{"type":"${value}","audio":""}`), `${chars}`).toEqual([
        [WORD.type, false, chars],
        [WORD.audio, false, 0],
      ]);
    }
  });

  it('is left to JSON.parse with a sign that JSON escapes or that is not ASCII, wherever that is', () => {
    for (const sign of ['\\', '\n', '\0', '\x1f', '\x7f', '\x80', '\xff']) {
      for (let chars = 0; chars < 40; chars++) {
        expect(
          scanMessage(Buffer.from(`{"type":"${'a'.repeat(chars)}${sign}aaaa"}`, 'latin1')),
        ).toBe(-1);
      }
    }
  });

  it('ends where it ends, and not with what an earlier one has left behind it', () => {
    const text = '{"type":"aaaa","audio":"AAAAAAAAAAAAAAAAAAAAAAAA"}';
    for (let length = 0; length < text.length; length++) {
      scanMessage(Buffer.from(text));
      expect(scanMessage(Buffer.from(text.slice(0, length))), `${length}`).toBe(-1);
    }
    expect(scanMessage(Buffer.from(text))).toBe(2);
  });

  it.each([
    ['a number', '{"a":1}'],
    ['a list', '{"a":["b"]}'],
    ['an object within an inner one', '{"a":{"b":{"c":"d"}}}'],
    ['no member', '{}'],
    ['no object', '"a"'],
    ['a trailing comma', '{"a":"b",}'],
    ['more behind it', '{"a":"b"} {'],
    ['many members', `{${Array.from({ length: 33 }, (_, i) => `"${i}":""`).join(',')}}`],
    ['much of one', `{"a":"${'a'.repeat(1024 * 1024)}"}`],
  ])('is left to JSON.parse with %s', (_, text) => {
    expect(scanMessage(Buffer.from(text))).toBe(-1);
  });

  it('has as many members as are looked at, and as many bytes', () => {
    const many = `{${Array.from({ length: 32 }, (_, i) => `"${i}":""`).join(',')}}`;
    expect(scanMessage(Buffer.from(many))).toBe(32);
    const chars = 1024 * 1024 - '{"audio":""}'.length;
    expect(scanMessage(Buffer.from(`{"audio":"${'A'.repeat(chars)}"}`))).toBe(1);
    expect(base64Of(0)?.length).toBe((chars / 4) * 3);
  });
});
