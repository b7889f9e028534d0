import { isObject, type Json } from '../../kernel/json.ts';
import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { soundOf, transcript } from '../read-delivery.ts';
import { reportedCharacters, reportedSeconds } from '../tripwires/deviation.ts';
import { keyed, modelOf, unfit, type Vendor, type VendorOrder } from '../vendor.ts';

/** Options that are not passed: they change the bill or send the transcript elsewhere. */
const NOT_PASSED = new Set([
  'version',
  'callback',
  'callback_method',
  'multichannel',
  'channels',
  'encoding',
  'summarize',
  'topics',
  'custom_topic',
  'custom_topic_mode',
  'intents',
  'custom_intent',
  'custom_intent_mode',
  'sentiment',
  'mip_opt_out',
  'redact',
  'keyterm',
  'extra',
]);

const STT_MODELS = { 'nova-3': LIST.deepgram.stt };

/** Deepgram: https://developers.deepgram.com/reference. */
export const deepgram: Vendor = {
  name: 'deepgram',
  title: 'Deepgram',
  account: keyed('DEEPGRAM_API_KEY', 'https://api.deepgram.com/v1', (key) => ({
    authorization: `Token ${key}`,
  })),
  services: {
    tts: {
      mostChars: 2_000,
      plan({ model, text, voice }) {
        // The vendor's models are its voices.
        const name = voice ?? model ?? 'aura-2-thalia-en';
        if (!/^aura-2-[a-z]{1,40}-[a-z]{2}$/.test(name)) {
          throw unfit('voice', 'must be a voice of Aura 2, such as aura-2-thalia-en');
        }
        return {
          price: LIST.deepgram.tts,
          ask: async (door) =>
            soundOf(
              await door.send(jsonRequest(`/speak?model=${name}&encoding=mp3`, { text })),
              (headers) => reportedCharacters(headers['dg-char-count']),
            ),
        };
      },
    },
    stt: {
      options: (name) => !NOT_PASSED.has(name),
      plan(order) {
        const { model, price } = modelOf(modelAsked(order), STT_MODELS);
        const query = queryOf(order, model);
        return {
          price,
          async ask(door) {
            const { bytes, contentType } = order.file;
            const path = `/listen?${query}`;
            const headers = { 'content-type': contentType };
            const heard = await objectOf(
              await door.send({ method: 'POST', path, headers, body: bytes }),
            );
            const { metadata } = heard;
            const seconds = reportedSeconds(isObject(metadata) ? metadata.duration : undefined);
            return transcript(heard, textOf(heard), seconds);
          },
        };
      },
    },
  },
};

/**
 * Returns the model, which may be named among the options, as in the vendor's own query. Throws the refusal of two different
 * models.
 */
function modelAsked({ model, options }: VendorOrder['stt']): string | null | undefined {
  const named = options?.model;
  if (named === undefined) return model;
  if (typeof named !== 'string' || (model ?? named) !== named) {
    throw unfit('options', 'must name the same model as model');
  }
  return named;
}

function queryOf({ language_code, options }: VendorOrder['stt'], model: string): URLSearchParams {
  const query = new URLSearchParams({ model });
  if (typeof language_code === 'string') query.set('language', language_code);
  for (const [name, value] of Object.entries(options ?? {})) {
    if (name === 'model') continue;
    for (const one of Array.isArray(value) ? value : [value]) query.append(name, String(one));
  }
  return query;
}

function textOf({ results }: Json): unknown {
  const channels = isObject(results) ? results.channels : undefined;
  const [channel] = Array.isArray(channels) ? channels : [];
  const [best] =
    isObject(channel) && Array.isArray(channel.alternatives) ? channel.alternatives : [];
  return isObject(best) ? best.transcript : undefined;
}
