import { isObject } from '../../kernel/json.ts';
import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { codedSound } from '../read-delivery.ts';
import { reportedCharacters } from '../tripwires/deviation.ts';
import { keyed, modelOf, nameOf, type Vendor } from '../vendor.ts';

const { tts, tts2 } = LIST.inworld;

const MODELS = {
  'inworld-tts-1.5-max': tts,
  'inworld-tts-1.5-mini': tts,
  'inworld-tts-1-max': tts,
  'inworld-tts-1': tts,
  'inworld-tts-2': tts2,
};

/** Inworld: https://docs.inworld.ai/api-reference/ttsAPI. Its key comes in base64. */
export const inworld: Vendor = {
  name: 'inworld',
  title: 'Inworld',
  account: keyed('INWORLD_API_KEY', 'https://api.inworld.ai/tts/v1', (key) => ({
    authorization: `Basic ${key}`,
  })),
  services: {
    tts: {
      mostChars: 2_000,
      plan({ model: asked, text, voice }) {
        const { model: modelId, price } = modelOf(asked, MODELS);
        const body = {
          text,
          modelId,
          voiceId: nameOf(voice, 'Ashley', 'voice'),
          audioConfig: { audioEncoding: 'MP3' },
        };
        return {
          price,
          async ask(door) {
            const made = await objectOf(await door.send(jsonRequest('/voice', body)));
            const { usage } = made;
            const count = isObject(usage) ? usage.processedCharactersCount : undefined;
            return codedSound(made.audioContent, 'base64', { reported: reportedCharacters(count) });
          },
        };
      },
    },
  },
};
