import { LIST } from '../price-list.ts';
import { jsonRequest, soundOf } from '../read-delivery.ts';
import { keyed, modelOf, nameOf, type Vendor } from '../vendor.ts';

const { tts } = LIST.rime;

const MODELS = { mistv2: tts, arcana: tts, mistv3: tts, coda: tts };

/** A voice of each model. */
const VOICES: Readonly<Record<string, string>> = { mistv2: 'cove', coda: 'lyra' };

/** Rime: https://docs.rime.ai/api-reference. */
export const rime: Vendor = {
  name: 'rime',
  title: 'Rime',
  account: keyed('RIME_API_KEY', 'https://users.rime.ai/v1', (key) => ({
    authorization: `Bearer ${key}`,
  })),
  services: {
    tts: {
      mostChars: 3_000,
      plan({ model: asked, target_language_code: lang, text, voice }) {
        const { model, price } = modelOf(asked, MODELS);
        const speaker = nameOf(voice, VOICES[model] ?? 'astra', 'voice');
        const body = { text, speaker, modelId: model, ...(lang && { lang }) };
        return {
          price,
          async ask(door) {
            const request = jsonRequest('/rime-tts', body);
            const headers = { ...request.headers, accept: 'audio/mp3' };
            return soundOf(await door.send({ ...request, headers }));
          },
        };
      },
    },
  },
};
