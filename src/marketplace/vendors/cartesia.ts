import { LIST } from '../price-list.ts';
import { formRequest, jsonRequest, objectOf, soundOf, transcript } from '../read-delivery.ts';
import { keyed, modelOf, nameOf, type Vendor } from '../vendor.ts';

const { stt, tts } = LIST.cartesia;

const TTS_MODELS = { 'sonic-3': tts, 'sonic-2': tts, 'sonic-turbo': tts };

/** The voice of the vendor's own first example. */
const VOICE = '694f9389-aac1-45b6-b726-9d9369183238';

const OUTPUT = { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 };

/** Cartesia: https://docs.cartesia.ai/api-reference. */
export const cartesia: Vendor = {
  name: 'cartesia',
  title: 'Cartesia',
  account: keyed('CARTESIA_API_KEY', 'https://api.cartesia.ai', (key) => ({
    authorization: `Bearer ${key}`,
    'cartesia-version': '2025-04-16',
  })),
  services: {
    tts: {
      plan({ model: asked, target_language_code: language, text, voice }) {
        const { model, price } = modelOf(asked, TTS_MODELS);
        const body = {
          model_id: model,
          transcript: text,
          voice: { mode: 'id', id: nameOf(voice, VOICE, 'voice') },
          output_format: OUTPUT,
          ...(language && { language }),
        };
        return {
          price,
          ask: async (door) => soundOf(await door.send(jsonRequest('/tts/bytes', body))),
        };
      },
    },
    stt: {
      plan({ file, language_code: language, model: asked }) {
        const { model, price } = modelOf(asked, { 'ink-whisper': stt });
        return {
          price,
          async ask(door) {
            const form = await formRequest('/stt', door, { model, language }, file);
            const heard = await objectOf(await door.send(form));
            return transcript(heard, heard.text);
          },
        };
      },
    },
  },
};
