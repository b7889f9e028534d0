import { isObject } from '../../kernel/json.ts';
import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { codedSound } from '../read-delivery.ts';
import { reportedCharacters } from '../tripwires/deviation.ts';
import { keyed, modelOf, unfit, type Vendor, VendorRefused } from '../vendor.ts';

const { hd, turbo } = LIST.minimax;

const MODELS = {
  'speech-02-turbo': turbo,
  'speech-02-hd': hd,
  'speech-2.6-turbo': turbo,
  'speech-2.6-hd': hd,
  'speech-2.8-turbo': turbo,
  'speech-2.8-hd': hd,
};

/** MiniMax: https://platform.minimax.io/docs/api-reference/speech-t2a-http. */
export const minimax: Vendor = {
  name: 'minimax',
  title: 'MiniMax',
  account: keyed('MINIMAX_API_KEY', 'https://api.minimax.io/v1', (key) => ({
    authorization: `Bearer ${key}`,
  })),
  services: {
    tts: {
      plan({ model: asked, target_language_code: language, text, voice }) {
        const { model, price } = modelOf(asked, MODELS);
        const voiceId = voice ?? 'English_expressive_narrator';
        // The vendor's voice names have blanks and brackets, and go into a JSON document.
        if (/\p{Cc}/u.test(voiceId)) throw unfit('voice', 'must have no control characters');
        const body = {
          model,
          text,
          stream: false,
          output_format: 'hex',
          voice_setting: { voice_id: voiceId },
          audio_setting: { format: 'mp3', sample_rate: 32_000, bitrate: 128_000, channel: 1 },
          ...(language && { language_boost: language }),
        };
        return {
          price,
          async ask(door) {
            const answer = await door.send(jsonRequest('/t2a_v2', body));
            const made = await objectOf(answer);
            const { base_resp: verdict, data } = made;
            // The vendor answers refusals with 200.
            if (isObject(verdict) && verdict.status_code !== 0) {
              throw new VendorRefused({ ...answer, status: 502 });
            }
            const { extra_info: extra } = made;
            const count = isObject(extra) ? extra.usage_characters : undefined;
            return codedSound(isObject(data) ? data.audio : undefined, 'hex', {
              reported: reportedCharacters(count),
            });
          },
        };
      },
    },
  },
};
