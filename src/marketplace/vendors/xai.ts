import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { formRequest, jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { soundOf, transcript } from '../read-delivery.ts';
import { reportedSeconds } from '../tripwires/deviation.ts';
import { keyed, nameOf, type Vendor } from '../vendor.ts';

/**
 * xAI: https://docs.x.ai/developers/rest-api-reference/inference/voice. It has one model for speech and one for transcripts.
 */
export const xai: Vendor = {
  name: 'xai',
  title: 'xAI',
  account: keyed('XAI_API_KEY', 'https://api.x.ai/v1', (key) => ({
    authorization: `Bearer ${key}`,
  })),
  services: {
    tts: {
      mostChars: 15_000,
      plan({ target_language_code, text, voice }) {
        const body = {
          text,
          voice_id: nameOf(voice, 'eve', 'voice'),
          language: nameOf(target_language_code, 'auto', 'target_language_code'),
        };
        return {
          price: LIST.xai.tts,
          ask: async (door) => soundOf(await door.send(jsonRequest('/tts', body))),
        };
      },
    },
    stt: {
      plan: ({ file, language_code: language }) => ({
        price: LIST.xai.stt,
        async ask(door) {
          const form = await formRequest('/stt', door, { language }, file);
          const heard = await objectOf(await door.send(form));
          return transcript(heard, heard.text, reportedSeconds(heard.duration));
        },
      }),
    },
  },
};
