import { isObject, type Json } from '../../../kernel/json.ts';
import { objectOf, requireText, textOrNone, timedWord, wordsOf } from './read-answer.ts';
import { type VendorApi, VendorFailed, type VendorFormat } from './vendor-api.ts';
import { jsonRequest } from './write-request.ts';

/** Default voice, which every account has. */
const VOICE = 'aura-2-thalia-en';

const OUTPUTS: Readonly<Record<VendorFormat, string>> = {
  mp3: 'encoding=mp3',
  pcm: 'encoding=linear16&container=none&sample_rate=24000',
};

/** Deepgram: https://developers.deepgram.com/reference. Each voice is a speech model of its own. */
export const deepgramApi = {
  name: 'deepgram',
  credential: (key) => ({ authorization: `Token ${key}` }),
  speech: {
    // Limits of Aura and Aura 2: https://developers.deepgram.com/docs/tts-models.
    mostChars: 2_000,
    speeds: { min: 0.7, max: 1.5 },
    request({ format, speed, text, voice = VOICE }) {
      const pace = speed === undefined ? '' : `&speed=${speed}`;
      const model = encodeURIComponent(voice);
      return jsonRequest(`/speak?model=${model}&${OUTPUTS[format]}${pace}`, { text });
    },
  },
  hearing: {
    speaksListen: true,
    async hear(door, { file, language, model, options = [] }) {
      const query = new URLSearchParams(
        options.map(([name, value]): [string, string] => [name, value]),
      );
      query.set('model', model);
      if (language !== undefined) query.set('language', language);
      else if (!query.has('detect_language')) query.set('detect_language', 'true');
      if (!query.has('punctuate')) query.set('punctuate', 'true');
      const json = await objectOf(
        await door.send({
          method: 'POST',
          path: `/listen?${query}`,
          headers: { 'content-type': file.contentType },
          body: file.bytes,
        }),
      );
      const { channel, best, results } = bestOf(json);
      return {
        text: requireText(best.transcript),
        language: textOrNone(channel.detected_language) ?? language,
        words: await wordsOf(best.words, (item) =>
          timedWord(item, textOrNone(item.punctuated_word) ?? item.word, 1_000, ' '),
        ),
        json,
        results,
      };
    },
  },
} satisfies VendorApi;

/** Returns the best transcript of the first channel: the audio has only one. */
function bestOf({ results }: Json) {
  const list = isObject(results) && Array.isArray(results.channels) ? results.channels : [];
  const channel: unknown = list[0];
  const alternatives = isObject(channel) ? channel.alternatives : undefined;
  const best: unknown = Array.isArray(alternatives) ? alternatives[0] : undefined;
  if (!isObject(results) || !isObject(channel) || !isObject(best)) {
    throw new VendorFailed('answered without a transcript');
  }
  return { results, channel, best };
}
