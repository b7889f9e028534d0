import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import type { VendorApi, VendorFormat } from './vendor-api.ts';
import { jsonRequest } from './write-request.ts';

/** Default voices of the models that lack the usual default. */
const VOICES: Readonly<Record<string, string>> = { mistv2: 'cove', coda: 'lyra' };

/** Media types that all models of the vendor accept. The vendor's newer names work with its newer models only. */
const TYPES: Readonly<Record<VendorFormat, string>> = { mp3: 'audio/mp3', pcm: 'audio/pcm' };

/** Rime: https://docs.rime.ai/api-reference. */
export const rimeApi = {
  name: 'rime',
  credential: (key) => ({ authorization: `Bearer ${key}` }),
  speech: {
    mostChars: 3_000,
    speeds: { min: 0.25, max: 4 },
    request({ format, language, model, speed, text, voice = VOICES[model] ?? 'astra' }) {
      const request = jsonRequest('/rime-tts', {
        text,
        speaker: voice,
        modelId: model,
        ...(language !== undefined && { lang: language }),
        ...(format === 'pcm' && { samplingRate: ENGINE_LIMITS.speech.sampleRateHz }),
        ...(speed !== undefined && speedOf(model, speed)),
      });
      return { ...request, headers: { ...request.headers, accept: TYPES[format] } };
    },
  },
} satisfies VendorApi;

/** Returns the speed as the parameter of the model. Both parameters lengthen words, so they are the inverse of the speed. */
const speedOf = (model: string, speed: number) =>
  model === 'mistv2' ? { speedAlpha: 1 / speed } : { timeScaleFactor: 1 / speed };
