import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseClientEvent } from '../../../../src/protocols/openai-realtime/client-event.ts';
import { readAppend } from '../../../../src/protocols/openai-realtime/read-append.ts';

const TYPE = 'input_audio_buffer.append';
const read = (text: string) => {
  const sound = readAppend(Buffer.from(text));
  return sound && Buffer.from(sound);
};

/** Every way to write a member that a client may have: in any order, with any blanks, more than once. */
const blanks = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const audio = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc.stringMatching(/^[A-Za-z0-9+/=_ -]{0,12}$/),
);
const member = fc.oneof(
  { weight: 4, arbitrary: audio.map((text) => ['audio', text] as const) },
  { weight: 4, arbitrary: fc.constant(['type', TYPE] as const) },
  { weight: 2, arbitrary: fc.string().map((text) => ['event_id', text] as const) },
  fc.constant(['type', 'response.create'] as const),
  fc.constant(['event_id', 'x'.repeat(513)] as const),
  fc.tuple(fc.string(), fc.jsonValue()),
);
const event = fc.array(fc.tuple(member, blanks), { maxLength: 4 }).map((members) => {
  const written = members.map(
    ([[name, value], blank]) =>
      `${blank}${JSON.stringify(name)}${blank}:${blank}${JSON.stringify(value)}${blank}`,
  );
  return `{${written.join(',')}}`;
});

describe('an append that is read from its bytes', () => {
  it('the fast reader of an audio append returns the same audio as the general parser, or leaves the event to that parser', () => {
    fc.assert(
      fc.property(fc.oneof(event, fc.string()), fc.nat(3), (text, cut) => {
        const sound = read(text.slice(0, text.length - cut));
        if (sound === undefined) return;
        const parsed = parseClientEvent(text.slice(0, text.length - cut));
        expect('event' in parsed && parsed.event.type).toBe(TYPE);
        if (!('event' in parsed) || parsed.event.type !== TYPE) return;
        expect(sound).toEqual(Buffer.from(parsed.event.audio, 'base64'));
      }),
      { numRuns: 3_000 },
    );
  });

  it("the fast reader of an audio append reads every client's usual spelling, at any length", () => {
    for (const bytes of [0, 1, 2, 3, 160, 4_800, 48_000]) {
      const sound = Buffer.from(Array.from({ length: bytes }, (_, i) => (i * 37) & 0xff));
      const [base64, url] = [sound.toString('base64'), sound.toString('base64url')];
      for (const text of [
        `{"type":"${TYPE}","audio":"${base64}"}`,
        `{"event_id":"evt_1","type":"${TYPE}","audio":"${url}"}`,
        ` { "audio" : "${base64}" , "type" : "${TYPE}" } \n`,
      ]) {
        expect(read(text), text.slice(0, 80)).toEqual(sound);
      }
    }
  });

  it('the fast reader of an audio append leaves invalid, other and unusually written events to the general parser', () => {
    for (const text of [
      '',
      '{}',
      'null',
      `{"type":"${TYPE}"}`,
      '{"audio":"AAAA"}',
      `{"type":"${TYPE}","audio":7}`,
      `{"type":"${TYPE}","audio":"AAAA"`,
      `{"type":"${TYPE}","audio":"AAAA"}}`,
      `{"type":"${TYPE}","audio":"AAAA",}`,
      `{"type":"${TYPE}","audio":"AAAAA"}`,
      `{"type":"${TYPE}","audio":"AA="}`,
      `{"type":"${TYPE}","audio":"AA*A"}`,
      `{"type":"${TYPE}","audio":"AAAA","audio":"BBBB"}`,
      `{"type":"${TYPE}","audio":"\\u0041AAA"}`,
      `{"type":"${TYPE}","audio":"AAAA","event_id":"é"}`,
      `{"type":"${TYPE}","audio":"AAAA","event_id":"${'x'.repeat(513)}"}`,
      `{"type":"input_audio_buffer.commit","audio":"AAAA"}`,
      `{"type":"${TYPE}","audio":"AAAA","more":1}`,
    ]) {
      expect(read(text), text.slice(0, 80)).toBeUndefined();
    }
  });
});
