import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Base64Text } from '../../../../src/kernel/json/json-bytes.ts';

function decode(text: string): Buffer | undefined {
  const source = Buffer.from(`"${text}"`, 'latin1');
  const decoded = new Base64Text();
  const end = decoded.read(source, 0);
  return end === source.length - 1 ? Buffer.from(decoded.bytes) : undefined;
}

describe('base64 within a message', () => {
  it('decodes what Node encodes, with padding and without', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(decode(text)).toEqual(Buffer.from(bytes));
        expect(decode(text.replace(/=+$/, ''))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('reads the text that it is pointed to and nothing around it', () => {
    const source = Buffer.from('!!"//8A"!!');
    const decoded = new Base64Text();
    expect(decoded.read(source, 2)).toBe(7);
    expect([...decoded.bytes]).toEqual([0xff, 0xff, 0x00]);
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
    expect(decode(text)).toBeUndefined();
  });
});
