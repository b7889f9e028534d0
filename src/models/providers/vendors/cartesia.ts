import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import { objectOf, requireText, spacedWords, textOrNone } from './read-answer.ts';
import type { VendorApi, VendorFormat } from './vendor-api.ts';
import { formRequest, jsonRequest } from './write-request.ts';

/** Default voice: the one in the vendor's first example. */
const VOICE = '694f9389-aac1-45b6-b726-9d9369183238';

const OUTPUTS: Readonly<Record<VendorFormat, object>> = {
  mp3: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
  pcm: { container: 'raw', encoding: 'pcm_s16le', sample_rate: ENGINE_LIMITS.speech.sampleRateHz },
};

/** Cartesia: https://docs.cartesia.ai/api-reference. */
export const cartesiaApi = {
  name: 'cartesia',
  credential: (key) => ({ authorization: `Bearer ${key}`, 'cartesia-version': '2025-04-16' }),
  speech: {
    speeds: { min: 0.6, max: 1.5 },
    request: ({ format, language, model, speed, text, voice = VOICE }) =>
      jsonRequest('/tts/bytes', {
        model_id: model,
        transcript: text,
        voice: { mode: 'id', id: voice },
        output_format: OUTPUTS[format],
        ...(language !== undefined && { language }),
        ...(speed !== undefined && { generation_config: { speed } }),
      }),
  },
  hearing: {
    async hear(door, { file, language, model, wantsWords }) {
      const words = wantsWords ? { 'timestamp_granularities[]': 'word' } : {};
      const form = await formRequest('/stt', door, { model, language, ...words }, file);
      const json = await objectOf(await door.send(form));
      return {
        text: requireText(json.text),
        language: textOrNone(json.language),
        words: await spacedWords(json.words, 'word', 1_000),
        json,
      };
    },
  },
} satisfies VendorApi;
