import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { codedSound } from '../read-delivery.ts';
import { keyed, unfit, type Vendor } from '../vendor.ts';

/** Voices whose list price is not above the charged price. Studio and Gemini voices cost more, or are counted otherwise. */
const VOICE =
  /^([a-z]{2,3}-[A-Z]{2})-(Chirp3-HD|Chirp-HD|Neural2|Wavenet|Standard|News|Polyglot|Casual)-[A-Za-z]{1,40}$/;

const MOST_BYTES = 5_000;

/** Google Cloud Text-to-Speech: https://cloud.google.com/text-to-speech/docs/reference/rest. */
export const google: Vendor = {
  name: 'google',
  title: 'Google Cloud',
  account: keyed('GOOGLE_CLOUD_API_KEY', 'https://texttospeech.googleapis.com/v1', (key) => ({
    'x-goog-api-key': key,
  })),
  services: {
    tts: {
      plan({ target_language_code: language, text, voice }) {
        if (Buffer.byteLength(text) > MOST_BYTES) {
          throw unfit('text', `must have at most ${MOST_BYTES} bytes`);
        }
        const spoken = typeof voice === 'string' ? VOICE.exec(voice) : undefined;
        if (spoken === null) {
          throw unfit(
            'voice',
            'must be a voice such as en-US-Chirp3-HD-Charon, and of no Studio tier',
          );
        }
        const body = {
          input: { text },
          voice: {
            languageCode: language ?? spoken?.[1] ?? 'en-US',
            ...(typeof voice === 'string' && { name: voice }),
          },
          audioConfig: { audioEncoding: 'MP3' },
        };
        return {
          price: LIST.google.tts,
          async ask(door) {
            const made = await objectOf(await door.send(jsonRequest('/text:synthesize', body)));
            return codedSound(made.audioContent, 'base64');
          },
        };
      },
    },
  },
};
