import { describe, expect, it } from 'vitest';
import { CallbackMalformed } from '../../../../../src/phone/carriers/carrier.ts';
import { createTwilioMediaCodec } from '../../../../../src/phone/carriers/twilio/media-codec.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';

const START = {
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZ18ad3ab5a668481ce02b83e7395059f0',
  start: {
    accountSid: 'AC1',
    streamSid: 'MZ18ad3ab5a668481ce02b83e7395059f0',
    callSid: 'CA123',
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    customParameters: { call: 'CAours' },
  },
};

const bytesOf = (message: unknown) =>
  Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));

function started() {
  const codec = createTwilioMediaCodec();
  const event = codec.read(bytesOf(START));
  return { codec, event };
}

describe('the messages of a Twilio media stream', () => {
  it('the start of a Twilio media stream names the stream, both ids of the call and the format', () => {
    expect(started().event).toEqual({
      kind: 'started',
      streamId: 'MZ18ad3ab5a668481ce02b83e7395059f0',
      callId: 'CAours',
      carrierCallId: 'CA123',
      format: { encoding: 'mulaw', sampleRateHz: 8_000 },
    });
  });

  it('a Twilio media stream without a call parameter starts without a call of ours', () => {
    const start = { ...START.start, customParameters: {} };
    const event = createTwilioMediaCodec().read(bytesOf({ ...START, start }));
    expect(event).toMatchObject({ kind: 'started', callId: undefined });
  });

  it('the Twilio media codec reads the documented messages', () => {
    const { codec } = started();
    const head = { sequenceNumber: '4', streamSid: 'MZ1' };
    const media = { track: 'inbound', chunk: '2', timestamp: '5', payload: '/38A' };
    expect(codec.read(bytesOf({ event: 'media', ...head, media }))).toEqual({
      kind: 'media',
      atMs: 5,
      bytes: Uint8Array.of(0xff, 0x7f, 0x00),
    });
    const dtmf = { track: 'inbound_track', digit: '1' };
    expect(codec.read(bytesOf({ event: 'dtmf', ...head, dtmf }))).toEqual({
      kind: 'digit',
      digit: '1',
    });
    expect(codec.read(bytesOf({ event: 'mark', ...head, mark: { name: 'm 1' } }))).toEqual({
      kind: 'mark',
      name: 'm 1',
    });
    const stop = { accountSid: 'AC1', callSid: 'CA123' };
    expect(codec.read(bytesOf({ event: 'stop', ...head, stop }))).toEqual({ kind: 'stopped' });
    expect(codec.read(bytesOf({ event: 'connected', protocol: 'Call', version: '1.0.0' }))).toEqual(
      { kind: 'ignored' },
    );
  });

  it('the Twilio media codec reads the inbound track and ignores the outbound track', () => {
    const { codec } = started();
    const media = { track: 'outbound', chunk: '2', timestamp: '5', payload: '/38A' };
    expect(codec.read(bytesOf({ event: 'media', media }))).toEqual({ kind: 'ignored' });
  });

  it('the Twilio media codec reads audio whose base64 is escaped, as JSON allows', () => {
    const text =
      '{"event":"media","media":{"track":"inbound","timestamp":7,"payload":"\\/\\u0077=="}}';
    expect(started().codec.read(bytesOf(text))).toEqual({
      kind: 'media',
      atMs: 7,
      bytes: Uint8Array.of(0xff),
    });
  });

  it('the Twilio media codec writes the documented messages, byte for byte', () => {
    const { codec } = started();
    const sid = START.streamSid;
    expect(codec.media(Uint8Array.of(0xff, 0x7f, 0x00))).toBe(
      `{"event":"media","streamSid":"${sid}","media":{"payload":"/38A"}}`,
    );
    expect(codec.mark('a "b"')).toBe(
      `{"event":"mark","streamSid":"${sid}","mark":{"name":"a \\"b\\""}}`,
    );
    expect(codec.clear()).toBe(`{"event":"clear","streamSid":"${sid}"}`);
  });

  it('the Twilio media codec writes to no stream that has not started', () => {
    const codec = createTwilioMediaCodec();
    expect(() => codec.media(Uint8Array.of(1))).toThrow('a stream is written to once');
    expect(() => codec.clear()).toThrow('a stream is written to once');
  });

  const sound = { track: 'inbound', timestamp: '1', payload: 'AAAA' };
  const nested = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  it.each<[string, unknown]>([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['a text', '"media"'],
    ['an object cut off', '{"event":"media","media":{"payload":"AAAA"'],
    ['no event', '{}'],
    ['an event that is no text', { event: 7 }],
    ['sound without its member', { event: 'media' }],
    ['sound that is a text', { event: 'media', media: 'AAAA' }],
    ['sound without a time', { event: 'media', media: { ...sound, timestamp: undefined } }],
    ['a time that is no number', { event: 'media', media: { ...sound, timestamp: 'soon' } }],
    ['a time before the begin', { event: 'media', media: { ...sound, timestamp: -20 } }],
    ['a broken time', { event: 'media', media: { ...sound, timestamp: 1.5 } }],
    ['sound that is a number', { event: 'media', media: { ...sound, payload: 7 } }],
    ['sound that is no base64', { event: 'media', media: { ...sound, payload: 'AA*A' } }],
    ['sound beyond ASCII', { event: 'media', media: { ...sound, payload: 'AAAĀ' } }],
    ['a mark without a name', { event: 'mark', mark: {} }],
    ['a digit without a key', { event: 'dtmf', dtmf: { digit: 1 } }],
    ['a start without its ids', { ...START, start: { ...START.start, callSid: 7 } }],
    [
      'a start in another coding',
      { ...START, start: { ...START.start, mediaFormat: { encoding: 'audio/opus' } } },
    ],
    ['lists without end', nested],
    ['objects without end', '{"event":'.repeat(50_000)],
    ['a member with lists without end', `{"event":"mark","mark":${nested}}`],
    ['a message that is too long', ' '.repeat(PHONE_LIMITS.media.messageBytes + 1)],
  ])('the Twilio media codec refuses %s', (_, message) => {
    expect(() => started().codec.read(bytesOf(message))).toThrow(CallbackMalformed);
  });

  it('the Twilio media codec reads the longest message that a carrier sends', () => {
    const payload = Buffer.alloc(30 * 8_000, 0x55).toString('base64');
    const event = started().codec.read(bytesOf({ event: 'media', media: { ...sound, payload } }));
    expect(event.kind === 'media' && event.bytes.length).toBe(240_000);
  });
});
