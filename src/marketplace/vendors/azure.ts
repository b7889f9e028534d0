import { isObject } from '../../kernel/json.ts';
import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { formRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { soundOf, transcript } from '../read-delivery.ts';
import { reportedSeconds } from '../tripwires/deviation.ts';
import { keyed, nameOf, unfit, type Vendor } from '../vendor.ts';

/** Neural voices. HD voices and custom voices have other prices. */
const VOICE = /^([a-z]{2,3}-[A-Z][A-Za-z]{1,3}(?:-[A-Za-z]+)?)-[A-Za-z]{1,40}Neural$/;

/** Counts the characters as the vendor does: each Chinese character twice, also in Japanese and Korean texts. */
function characters(text: string): number {
  let count = 0;
  for (const character of text) count += /\p{Script=Han}/u.test(character) ? 2 : 1;
  return count;
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Returns SSML with the text alone: markup in the text is escaped, because it would be billed or call for other voices. */
const ssml = (text: string, voice: string, language: string): string =>
  `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}"><voice name="${voice}">` +
  // XML allows no control characters except tab and line ends, so they are removed.
  `${text.replace(/[^\P{Cc}\t\n\r]/gu, '').replace(/[&<>]/g, (mark) => MARKUP[mark] ?? '')}</voice></speak>`;

/**
 * Azure AI Speech, at the address of a resource:
 * https://learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech and fast-transcription-create.
 */
export const azure: Vendor = {
  name: 'azure',
  title: 'Azure AI Speech',
  account: keyed('AZURE_SPEECH_KEY', null, (key) => ({ 'ocp-apim-subscription-key': key })),
  services: {
    tts: {
      plan({ text, voice: given }) {
        const voice = given ?? 'en-US-JennyNeural';
        const [, language] = VOICE.exec(voice) ?? [];
        if (language === undefined) {
          throw unfit('voice', 'must be a neural voice, such as en-US-JennyNeural');
        }
        return {
          price: LIST.azure.tts,
          characters: characters(text),
          ask: async (door) =>
            soundOf(
              await door.send({
                method: 'POST',
                path: '/tts/cognitiveservices/v1',
                headers: {
                  'content-type': 'application/ssml+xml',
                  'x-microsoft-outputformat': 'audio-24khz-96kbitrate-mono-mp3',
                  'user-agent': 'agent-voice-spend-server',
                },
                body: ssml(text, voice, language),
              }),
            ),
        };
      },
    },
    stt: {
      plan({ file, language_code }) {
        const locale = nameOf(language_code, 'en-US', 'language_code');
        return {
          price: LIST.azure.stt,
          async ask(door) {
            const path = '/speechtotext/transcriptions:transcribe?api-version=2024-11-15';
            const definition = JSON.stringify({ locales: [locale] });
            const form = await formRequest(path, door, { definition }, file, 'audio');
            const heard = await objectOf(await door.send(form));
            const { combinedPhrases: phrases } = heard;
            const [first] = Array.isArray(phrases) ? phrases : [];
            // The answer to silence has no phrase at all.
            const isSilent = Array.isArray(phrases) && phrases.length === 0;
            const text = isSilent ? '' : isObject(first) ? first.text : undefined;
            return transcript(heard, text, reportedSeconds(heard.durationMilliseconds, 1_000));
          },
        };
      },
    },
  },
};
