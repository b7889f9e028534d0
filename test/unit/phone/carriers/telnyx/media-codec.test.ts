import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAlaw, encodeAlaw } from '../../../../../media/alaw.ts';
import { decodeMulaw } from '../../../../../media/mulaw.ts';
import { CallbackMalformed } from '../../../../../src/phone/carriers/carrier.ts';
import { encodeClientState } from '../../../../../src/phone/carriers/telnyx/client-state.ts';
import { createTelnyxMediaCodec } from '../../../../../src/phone/carriers/telnyx/media-codec.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';

const START = {
  event: 'start',
  sequence_number: '1',
  stream_id: '32DE0DEA-53CB-4B21-89A4-9E1819C043BC',
  start: {
    user_id: '3E6F995F-85F7-4705-9741-53B116D28237',
    call_control_id: 'v2:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ',
    call_session_id: 'ff55a038-6f5d-11ef-9692-02420aeffb1f',
    from: '+13122010094',
    to: '+13122123456',
    client_state: encodeClientState({ kind: 'inbound', callId: 'CAours' }),
    media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
  },
};
const bytesOf = (message: unknown) =>
  Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));

function started(encoding = 'PCMU') {
  const codec = createTelnyxMediaCodec();
  const media_format = { encoding, sample_rate: 8000, channels: 1 };
  codec.read(bytesOf({ ...START, start: { ...START.start, media_format } }));
  return codec;
}

const payloadOf = (message: string) =>
  Buffer.from((JSON.parse(message) as { media: { payload: string } }).media.payload, 'base64');

describe('the messages of a Telnyx media stream', () => {
  it('the start of a Telnyx media stream names the stream, both ids of the call and the format', () => {
    expect(createTelnyxMediaCodec().read(bytesOf(START))).toEqual({
      kind: 'started',
      streamId: START.stream_id,
      callId: 'CAours',
      carrierCallId: START.start.call_control_id,
      format: { encoding: 'mulaw', sampleRateHz: 8_000 },
    });
  });

  it('the Telnyx media codec reads the documented messages', () => {
    const codec = started();
    const head = { sequence_number: '4', stream_id: START.stream_id };
    const media = { track: 'inbound', chunk: '2', timestamp: '5', payload: '/38A' };
    expect(codec.read(bytesOf({ event: 'media', ...head, media }))).toEqual({
      kind: 'media',
      atMs: 5,
      bytes: Uint8Array.of(0xff, 0x7f, 0x00),
    });
    expect(codec.read(bytesOf({ event: 'dtmf', ...head, dtmf: { digit: '1' } }))).toEqual({
      kind: 'digit',
      digit: '1',
    });
    expect(codec.read(bytesOf({ event: 'mark', ...head, mark: { name: 'm' } }))).toEqual({
      kind: 'mark',
      name: 'm',
    });
    expect(codec.read(bytesOf({ event: 'stop', ...head, stop: {} }))).toEqual({ kind: 'stopped' });
    const payload = { code: 100_004, title: 'invalid_media', detail: 'no' };
    expect(codec.read(bytesOf({ event: 'error', ...head, payload }))).toEqual({ kind: 'ignored' });
    expect(codec.read(bytesOf({ event: 'connected', version: '1.0.0' }))).toEqual({
      kind: 'ignored',
    });
  });

  it('the Telnyx media codec gives the position of each frame that arrives out of order', () => {
    const codec = started();
    const times = [40, 0, 20].map((at) => {
      const media = { track: 'inbound', chunk: '1', timestamp: String(at), payload: 'AAAA' };
      const event = codec.read(bytesOf({ event: 'media', media }));
      return event.kind === 'media' && event.atMs;
    });
    expect(times).toEqual([40, 0, 20]);
  });

  it('the Telnyx media codec reads a frame of thirty seconds', () => {
    const payload = Buffer.alloc(240_000, 0x55).toString('base64');
    const media = { track: 'inbound', chunk: '1', timestamp: '0', payload };
    const event = started().read(bytesOf({ event: 'media', media }));
    expect(event.kind === 'media' && event.bytes.length).toBe(240_000);
  });

  it('the Telnyx media codec writes the documented messages, byte for byte', () => {
    const codec = started();
    const sound = Buffer.alloc(160, 0x7f);
    expect(codec.media(sound)).toBe(
      `{"event":"media","media":{"payload":"${sound.toString('base64')}"}}`,
    );
    expect(codec.mark('a "b"')).toBe('{"event":"mark","mark":{"name":"a \\"b\\""}}');
    expect(codec.clear()).toBe('{"event":"clear"}');
  });

  it('the Telnyx media codec pads a frame that is shorter than Telnyx plays', () => {
    const sent = payloadOf(started().media(Uint8Array.of(0x11, 0x7f, 0x00)));
    expect([...sent]).toEqual([0x11, 0x7f, 0x00, ...Array.from({ length: 157 }, () => 0xff)]);
  });

  it('the Telnyx media codec reads an A-law line, and sends the mu-law that was requested', () => {
    const codec = started('PCMA');
    const spoken = Int16Array.from({ length: 200 }, (_, i) => Math.sin(i / 5) * 12_000);
    const alaw = new Uint8Array(200);
    encodeAlaw(spoken, alaw);
    const sent = new Int16Array(200);
    decodeMulaw(payloadOf(codec.media(alaw)), sent);
    const meant = new Int16Array(200);
    decodeAlaw(alaw, meant);
    for (let i = 0; i < 200; i++) {
      expect(Math.abs((sent[i] as number) - (meant[i] as number))).toBeLessThan(520);
    }
  });

  it('the Telnyx media codec reads a linear PCM line, and sends mu-law', () => {
    fc.assert(
      fc.property(fc.int16Array({ maxLength: 40 }), (samples) => {
        const bytes = Buffer.alloc(samples.length * 2);
        samples.forEach((sample, i) => {
          bytes.writeInt16LE(sample, i * 2);
        });
        const sent = payloadOf(started('L16').media(bytes));
        const heard = new Int16Array(samples.length);
        decodeMulaw(sent.subarray(0, samples.length), heard);
        samples.forEach((sample, i) => {
          expect(Math.abs((heard[i] as number) - sample)).toBeLessThanOrEqual(1_100);
        });
      }),
    );
  });

  const start = (change: object) => ({ ...START, start: { ...START.start, ...change } });
  it.each<[string, unknown]>([
    ['no JSON', 'hello'],
    ['no event', {}],
    ['a start without a stream', { ...START, stream_id: undefined }],
    ['a start without a call', start({ call_control_id: 7 })],
    ['a start without a format', start({ media_format: undefined })],
    ['a coding that is not spoken', start({ media_format: { encoding: 'OPUS' } })],
    [
      'a rate that was not asked for',
      start({ media_format: { encoding: 'L16', sample_rate: 16_000 } }),
    ],
    ['a name from the prototype', start({ media_format: { encoding: 'constructor' } })],
    [
      'sound that is no base64',
      { event: 'media', media: { track: 'inbound', timestamp: '1', payload: '?' } },
    ],
    ['a message that is too long', ' '.repeat(PHONE_LIMITS.media.messageBytes + 1)],
  ])('the Telnyx media codec refuses %s', (_, message) => {
    expect(() => createTelnyxMediaCodec().read(bytesOf(message))).toThrow(CallbackMalformed);
  });
});
