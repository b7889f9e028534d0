import { LIST } from '../price-list.ts';
import { formRequest, jsonRequest, objectOf, soundOf, transcript } from '../read-delivery.ts';
import { keyed, modelOf, nameOf, type Vendor } from '../vendor.ts';

const { flash, full, stt } = LIST.elevenlabs;

const TTS_MODELS = {
  eleven_flash_v2_5: flash,
  eleven_flash_v2: flash,
  eleven_turbo_v2_5: flash,
  eleven_turbo_v2: flash,
  eleven_multilingual_v2: full,
  eleven_v3: full,
};

const STT_MODELS = { scribe_v1: stt, scribe_v2: stt };

/** A voice that every account has. */
const VOICE = 'JBFqnCBsd6RMkjVDRZzb';

/** ElevenLabs: https://elevenlabs.io/docs/api-reference. */
export const elevenlabs: Vendor = {
  name: 'elevenlabs',
  title: 'ElevenLabs',
  account: keyed('ELEVENLABS_API_KEY', 'https://api.elevenlabs.io/v1', (key) => ({
    'xi-api-key': key,
  })),
  services: {
    tts: {
      plan({ model: asked, target_language_code: language, text, voice: given }) {
        const { model, price } = modelOf(asked, TTS_MODELS);
        const voice = nameOf(given, VOICE, 'voice');
        const path = `/text-to-speech/${voice}?output_format=mp3_44100_128`;
        const body = { text, model_id: model, ...(language && { language_code: language }) };
        return { price, ask: async (door) => soundOf(await door.send(jsonRequest(path, body))) };
      },
    },
    stt: {
      plan({ file, language_code, model: asked }) {
        const { model, price } = modelOf(asked, STT_MODELS);
        return {
          price,
          async ask(door) {
            const fields = { model_id: model, language_code };
            const form = await formRequest('/speech-to-text', door, fields, file);
            const heard = await objectOf(await door.send(form));
            return transcript(heard, heard.text);
          },
        };
      },
    },
  },
};
