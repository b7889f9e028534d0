import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanMedia } from '../../../../../src/phone/carriers/messages/media-scan.ts';

/** A member of JSON as text, with white space anywhere that JSON has it. */
const space = fc.constantFrom('', ' ', '\n', '\t', '\r\n  ');
const plain = fc.stringMatching(/^[ !#-[\]-~]{0,12}$/);

type Member = readonly [name: string, json: string];

const objectText = (members: readonly Member[], gaps: readonly string[]): string => {
  let used = 0;
  const gap = () => gaps[used++ % gaps.length] ?? '';
  const written = members.map(
    ([name, json]) => `${gap()}${JSON.stringify(name)}${gap()}:${gap()}${json}${gap()}`,
  );
  return `${gap()}{${written.join(',')}}${gap()}`;
};

const sound = fc.uint8Array({ maxLength: 64 });
const gaps = fc.array(space, { minLength: 1, maxLength: 8 });
const unknown = fc
  .uniqueArray(fc.tuple(plain, plain), { selector: ([name]) => name, maxLength: 4 })
  .map((members) =>
    members
      .filter(([name]) => !['event', 'media', 'track', 'timestamp', 'payload'].includes(name))
      .map(([name, text]): Member => [name, JSON.stringify(text)]),
  );

const message = fc
  .record({ bytes: sound, atMs: fc.nat(), track: fc.constantFrom('inbound', 'outbound') })
  .chain(({ bytes, atMs, track }) =>
    fc
      .tuple(unknown, unknown, gaps, gaps)
      .chain(([outer, inner, outerGaps, innerGaps]) =>
        fc
          .tuple(
            fc.shuffledSubarray(
              [
                ...inner,
                ['track', `"${track}"`] as const,
                ['timestamp', `"${atMs}"`] as const,
                ['payload', `"${Buffer.from(bytes).toString('base64')}"`] as const,
              ],
              { minLength: inner.length + 3 },
            ),
            fc.constant({ bytes, atMs, track }),
          )
          .chain(([members, said]) =>
            fc
              .shuffledSubarray(
                [
                  ...outer,
                  ['event', '"media"'] as const,
                  ['media', objectText(members, innerGaps)] as const,
                ],
                { minLength: outer.length + 2 },
              )
              .map((all) => ({ text: objectText(all, outerGaps), said })),
          ),
      ),
  );

const read = (text: string) => scanMedia(Buffer.from(text));

describe('the scan of a media message', () => {
  it('scanMedia reads the same as JSON.parse, for any order of members and any white space', () => {
    fc.assert(
      fc.property(message, ({ text, said }) => {
        const { media } = JSON.parse(text) as { media: Record<string, string> };
        const scanned = read(text);
        expect(scanned?.atMs).toBe(Number(media.timestamp));
        expect(scanned?.isInbound).toBe(said.track === 'inbound');
        expect(Buffer.from(scanned?.bytes ?? [])).toEqual(Buffer.from(said.bytes));
      }),
    );
  });

  it('scanMedia reads a message with any changed byte as JSON.parse does, or leaves it to JSON.parse', () => {
    const original = Buffer.from(
      '{"event":"media","streamSid":"MZ1","media":{"track":"inbound","timestamp":"20","payload":"/wD/"}}',
    );
    fc.assert(
      fc.property(fc.nat(original.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(original);
        changed[at] = byte;
        const scanned = scanMedia(changed);
        if (scanned === undefined) return;
        const { event, media } = JSON.parse(changed.toString()) as {
          event: string;
          media: Record<string, string>;
        };
        expect(event).toBe('media');
        expect(scanned.atMs).toBe(Number(media.timestamp));
        expect(scanned.isInbound).toBe(media.track === 'inbound');
        expect(Buffer.from(scanned.bytes)).toEqual(Buffer.from(media.payload ?? '', 'base64'));
      }),
      { numRuns: 2_000 },
    );
  });

  it('scanMedia survives every truncation of a media message', () => {
    const text = '{"event":"media","media":{"track":"inbound","timestamp":"20","payload":"/wD/"}}';
    for (let length = 0; length < text.length; length++) {
      expect(read(text.slice(0, length))).toBeUndefined();
    }
    expect(read(text)?.atMs).toBe(20);
  });

  it.each([
    ['an escape in the payload', '{"event":"media","media":{"timestamp":"1","payload":"\\/w=="}}'],
    ['an escaped name', '{"\\u0065vent":"media","media":{"timestamp":"1","payload":""}}'],
    ['a number for a text', '{"event":"media","media":{"timestamp":1,"payload":""}}'],
    ['a name twice', '{"event":"media","event":"stop","media":{"timestamp":"1","payload":""}}'],
    [
      'a member twice, of which the last has no sound',
      '{"event":"media","media":{"timestamp":"1","payload":"AAAA"},"media":{"timestamp":"2"}}',
    ],
    ['a time twice', '{"event":"media","media":{"timestamp":"1","timestamp":"2","payload":""}}'],
    ['a nested object', '{"event":"media","x":{},"media":{"timestamp":"1","payload":""}}'],
    ['something behind it', '{"event":"media","media":{"timestamp":"1","payload":""}} x'],
    ['a trailing comma', '{"event":"media","media":{"timestamp":"1","payload":"",}}'],
    ['too large a time', '{"event":"media","media":{"timestamp":"9999999999999999","payload":""}}'],
  ])('scanMedia leaves %s to JSON.parse', (_, text) => {
    expect(read(text)).toBeUndefined();
  });

  it('scanMedia decodes into the same memory again and again', () => {
    const of = (payload: string) =>
      scanMedia(
        Buffer.from(
          `{"event":"media","media":{"track":"inbound","timestamp":"1","payload":"${payload}"}}`,
        ),
      );
    const first = of('AAAA')?.bytes;
    const second = of('////')?.bytes;
    expect(second?.buffer).toBe(first?.buffer);
    expect([...(second ?? [])]).toEqual([255, 255, 255]);
  });
});
