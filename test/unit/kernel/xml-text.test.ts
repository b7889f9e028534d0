import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { xmlText } from '../../../src/kernel/storable.ts';
import { transferTwiml, whisperTwiml } from '../../../src/phone/carriers/twilio/twiml.ts';

/** The characters that XML 1.0 allows. */
const ALLOWED = /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u;

describe('xmlText', () => {
  it('xmlText escapes the special characters of XML and keeps every character that XML can hold', () => {
    expect(xmlText(`<a href="b">'R&D'</a>\n😀é`)).toBe(
      '&lt;a href=&quot;b&quot;&gt;&apos;R&amp;D&apos;&lt;/a&gt;\n😀é',
    );
  });

  it('xmlText returns valid XML of any text, also of control characters and half characters', () => {
    const units = fc.string({ unit: 'binary', maxLength: 50 });
    const halves = fc.constantFrom(
      '\u0000',
      '\u0008',
      '\u001b',
      '\ud800',
      '\udc00',
      '\ufffe',
      '\uffff',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(units, halves)), (parts) => {
        const text = xmlText(parts.join(''));
        expect(ALLOWED.test(text)).toBe(true);
        expect(text).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|apos);)/);
      }),
    );
  });

  it('no control character of a transfer summary or a number reaches TwiML', () => {
    expect(whisperTwiml('The caller\u0007 asks\u0000 for \ud800<Bob>')).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><Response><Say>The caller  asks  for  &lt;Bob&gt;</Say></Response>',
    );
    const hooks = {
      voiceAgain: () => 'https://a.example/again',
      whisper: () => 'https://a.example/whisper',
      transfer: () => 'https://a.example/transfer',
    } as unknown as Parameters<typeof transferTwiml>[0];
    const order = { to: '+1415\u0001', longestSeconds: 60, whispers: true };
    expect(ALLOWED.test(transferTwiml(hooks, 'CA1', order))).toBe(true);
  });
});
