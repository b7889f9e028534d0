import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { formRequest, jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { codedSound, transcript } from '../read-delivery.ts';
import {
  keyed,
  modelOf,
  nameOf,
  type OrderPlan,
  unfit,
  type Vendor,
  type VendorOrder,
} from '../vendor.ts';
import { sarvamDocuments } from './sarvam-documents.ts';

const { lid, stt, translate, tts } = LIST.sarvam;

const ENDED = {
  'bulbul:v2':
    'is no model of Sarvam any more (https://docs.sarvam.ai/api/api-guides-tutorials/text-to-speech/how-to/choose-a-model)',
};

const HEARERS = { 'saaras:v3': stt, 'saarika:v2.5': stt };

/** Longest audio that Sarvam transcribes in one request, in seconds. */
const MOST_SECONDS = 30;

const TRANSLATORS = { 'mayura:v1': translate, 'sarvam-translate:v1': translate };

/** Sarvam: https://docs.sarvam.ai/api-reference-docs. */
export const sarvam: Vendor = {
  name: 'sarvam',
  title: 'Sarvam',
  account: keyed('SARVAM_API_KEY', 'https://api.sarvam.ai', (key) => ({
    'api-subscription-key': key,
  })),
  services: {
    tts: {
      mostChars: 2_500,
      plan({ model: asked, target_language_code, text, voice }) {
        const { model, price } = modelOf(asked, { 'bulbul:v3': tts }, { ended: ENDED });
        const body = {
          text,
          model,
          target_language_code: nameOf(target_language_code, 'en-IN', 'target_language_code'),
          speaker: nameOf(voice, 'shubh', 'voice'),
        };
        return {
          price,
          async ask(door) {
            const { audios } = await objectOf(
              await door.send(jsonRequest('/text-to-speech', body)),
            );
            const [first] = Array.isArray(audios) ? audios : [];
            return codedSound(first, 'base64', { made: 'audio/wav' });
          },
        };
      },
    },
    stt: { plan: (order) => hear(order, HEARERS) },
    'stt-translate': { plan: (order) => hear(order, { 'saaras:v3': stt }, 'translate') },
    translate: {
      mostChars: 1_000,
      plan({ model: asked, ...text }) {
        const { model, price } = modelOf(asked, TRANSLATORS);
        return write('/translate', price, { ...text, model });
      },
    },
    transliterate: { mostChars: 1_000, plan: (text) => write('/transliterate', translate, text) },
    lid: { mostChars: 1_000, plan: (text) => write('/text-lid', lid, text) },
  },
  documents: sarvamDocuments,
};

function hear(
  { file, language_code, model: asked }: VendorOrder['stt'],
  models: Parameters<typeof modelOf>[1],
  mode?: 'translate',
): OrderPlan {
  const { model, price } = modelOf(asked, models);
  if (file.durationMs > MOST_SECONDS * 1_000) {
    throw unfit('audioUrl', `must last at most ${MOST_SECONDS} s`);
  }
  return {
    price,
    async ask(door) {
      const fields = { model, mode, language_code };
      const heard = await objectOf(
        await door.send(await formRequest('/speech-to-text', door, fields, file)),
      );
      return transcript(heard, heard.transcript);
    },
  };
}

const write = (
  path: string,
  price: OrderPlan['price'],
  body: Readonly<Record<string, string>>,
): OrderPlan => ({
  price,
  ask: async (door) => ({ json: await objectOf(await door.send(jsonRequest(path, body))) }),
});
