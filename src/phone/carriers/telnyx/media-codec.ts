import { decodeAlaw } from '../../../../media/alaw.ts';
import { encodeMulaw, MULAW_SILENCE } from '../../../../media/mulaw.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { CallbackMalformed, type MediaCodec, type MediaEvent } from '../carrier.ts';
import { createMessageReader } from '../messages/read-message.ts';
import { decodeClientState } from './client-state.ts';

type Started = Extract<MediaEvent, { kind: 'started' }>;

/**
 * L16 is read as little-endian. Telnyx does not document the order: RTP would be big-endian, but reported measurements say
 * little-endian. L16 is not requested, and comes only when a line has no G.711.
 */
const ENCODINGS: ReadonlyMap<unknown, Started['format']['encoding']> = new Map([
  ['PCMU', 'mulaw'],
  ['PCMA', 'alaw'],
  ['L16', 'linear16'],
]);

/** Bytes of 20 ms of mu-law, the shortest chunk that Telnyx plays. */
const SHORTEST_BYTES = 160;

/**
 * Creates the codec of one Telnyx media stream. Sound comes in the line's coding, in frames that may overtake each other. It
 * goes out in mu-law, which `streamOptions` requests; other codings are converted. Silence fills up the end of a sentence that
 * is shorter than Telnyx plays.
 */
export function createTelnyxMediaCodec(): MediaCodec {
  let encoding: Started['format']['encoding'] = 'mulaw';
  const reader = createMessageReader({
    carrier: 'telnyx',
    started(message) {
      const event = startOf(message);
      encoding = event.format.encoding;
      return event;
    },
  });
  return {
    read: reader.read,
    media: (bytes) =>
      `{"event":"media","media":{"payload":"${chunkOf(encoding, bytes).toString('base64')}"}}`,
    mark: (name) => `{"event":"mark","mark":{"name":${JSON.stringify(name)}}}`,
    clear: () => '{"event":"clear"}',
  };
}

function chunkOf(encoding: Started['format']['encoding'], bytes: Uint8Array): Buffer {
  const mulaw = mulawOf(encoding, bytes);
  if (mulaw.length >= SHORTEST_BYTES) return mulaw;
  const chunk = Buffer.alloc(SHORTEST_BYTES, MULAW_SILENCE);
  mulaw.copy(chunk);
  return chunk;
}

function mulawOf(encoding: Started['format']['encoding'], bytes: Uint8Array): Buffer {
  if (encoding === 'mulaw') return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = samplesOf(encoding, bytes);
  const mulaw = Buffer.alloc(samples.length);
  encodeMulaw(samples, mulaw);
  return mulaw;
}

function samplesOf(encoding: 'alaw' | 'linear16', bytes: Uint8Array): Int16Array {
  if (encoding === 'alaw') {
    const samples = new Int16Array(bytes.length);
    decodeAlaw(bytes, samples);
    return samples;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Int16Array.from({ length: bytes.length >> 1 }, (_, i) => view.getInt16(i * 2, true));
}

function startOf({ start, stream_id }: Json): Started {
  const { call_control_id, client_state, media_format } = isObject(start) ? start : {};
  const format = isObject(media_format) ? media_format : {};
  const encoding = ENCODINGS.get(format.encoding);
  if (!isId(stream_id) || !isId(call_control_id)) {
    throw new CallbackMalformed('telnyx: a stream without its ids');
  }
  // Sound goes out at 8 kHz, so `streamOptions` asks for no other rate.
  if (encoding === undefined || Number(format.sample_rate) !== 8_000) {
    throw new CallbackMalformed('telnyx: a stream in a format that was not asked for');
  }
  return {
    kind: 'started',
    streamId: stream_id,
    callId: decodeClientState(client_state)?.callId,
    carrierCallId: call_control_id,
    format: { encoding, sampleRateHz: 8_000 },
  };
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w:.-]{1,256}$/.test(value);
