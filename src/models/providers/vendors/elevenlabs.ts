import { objectOf, requireText, textOrNone, timedWord, wordsOf } from './read-answer.ts';
import type { HeardWord, VendorApi, VendorFormat } from './vendor-api.ts';
import { formRequest, jsonRequest } from './write-request.ts';

/** Default voice, which every account has. */
const VOICE = 'JBFqnCBsd6RMkjVDRZzb';

const OUTPUTS: Readonly<Record<VendorFormat, string>> = {
  mp3: 'mp3_44100_128',
  pcm: 'pcm_24000',
};

/** ElevenLabs: https://elevenlabs.io/docs/api-reference. */
export const elevenlabsApi = {
  name: 'elevenlabs',
  credential: (key) => ({ 'xi-api-key': key }),
  speech: {
    speeds: { min: 0.7, max: 1.2 },
    request: ({ format, language, model, speed, text, voice = VOICE }) =>
      jsonRequest(
        `/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=${OUTPUTS[format]}`,
        {
          text,
          model_id: model,
          ...(language !== undefined && { language_code: language }),
          ...(speed !== undefined && { voice_settings: { speed } }),
        },
      ),
  },
  hearing: {
    async hear(door, { file, language: language_code, model: model_id }) {
      const form = await formRequest('/speech-to-text', door, { model_id, language_code }, file);
      const json = await objectOf(await door.send(form));
      return {
        text: requireText(json.text),
        language: textOrNone(json.language_code),
        words: await gappedWords(json.words),
        json,
      };
    },
  },
} satisfies VendorApi;

/** Returns the words with the gap before each word. The vendor lists gaps as items, since some languages have none. */
function gappedWords(list: unknown): Promise<HeardWord[]> {
  let gap = '';
  return wordsOf(list, (item) => {
    const text = textOrNone(item.text);
    if (item.type === 'spacing') {
      gap = text ?? '';
      return undefined;
    }
    const word = timedWord(item, text, 1_000, gap);
    gap = '';
    return word;
  });
}
