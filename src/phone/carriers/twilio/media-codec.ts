import { assert } from '../../../kernel/assert.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { CallbackMalformed, type MediaCodec, type MediaEvent } from '../carrier.ts';
import { createMessageReader } from '../messages/read-message.ts';

/** Creates the codec of one Twilio Media Stream: JSON with sound in base64, mu-law at 8 kHz. */
export function createTwilioMediaCodec(): MediaCodec {
  /**
   * Beginning of each sound message, `{"event":"media","streamSid":…,"media":{"payload":"`, which is the same for the whole
   * stream.
   */
  let mediaHead = '';
  let streamSid = '';

  const named = () => {
    assert(streamSid !== '', 'a stream is written to once it has started');
    return streamSid;
  };

  const reader = createMessageReader({
    carrier: 'twilio',
    started(message) {
      const event = startOf(message);
      streamSid = JSON.stringify(event.streamId);
      mediaHead = `{"event":"media","streamSid":${streamSid},"media":{"payload":"`;
      return event;
    },
  });

  return {
    read: reader.read,
    media(bytes) {
      named();
      const sound = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return `${mediaHead}${sound.toString('base64')}"}}`;
    },
    mark: (name) =>
      `{"event":"mark","streamSid":${named()},"mark":{"name":${JSON.stringify(name)}}}`,
    clear: () => `{"event":"clear","streamSid":${named()}}`,
  };
}

function startOf({ start }: Json): Extract<MediaEvent, { kind: 'started' }> {
  const { streamSid, callSid, mediaFormat, customParameters } = isObject(start) ? start : {};
  const { encoding, sampleRate, channels } = isObject(mediaFormat) ? mediaFormat : {};
  const { call } = isObject(customParameters) ? customParameters : {};
  if (!isId(streamSid) || !isId(callSid)) {
    throw new CallbackMalformed('twilio: a stream without its ids');
  }
  if (encoding !== 'audio/x-mulaw' || Number(sampleRate) !== 8_000 || Number(channels) !== 1) {
    throw new CallbackMalformed('twilio: a stream that is not mono mu-law at 8 kHz');
  }
  return {
    kind: 'started',
    streamId: streamSid,
    callId: isId(call) ? call : undefined,
    carrierCallId: callSid,
    format: { encoding: 'mulaw', sampleRateHz: 8_000 },
  };
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[\w-]{1,128}$/.test(value);
