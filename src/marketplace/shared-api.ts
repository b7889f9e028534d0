import type { HearingApi, SpeechApi } from '../models/providers/vendors/vendor-api.ts';
import { soundOf } from './read-delivery.ts';
import { reportedSeconds } from './tripwires/deviation.ts';
import { modelOf, nameOf, type Service } from './vendor.ts';

type Prices = Parameters<typeof modelOf>[1];

/**
 * Builds the speech service of a vendor whose protocol the gateway speaks, too, with the models that have a price, the usual
 * model first.
 */
export const speakBy = (api: SpeechApi, prices: Prices): Service<'tts'> => ({
  ...(api.mostChars !== undefined && { mostChars: api.mostChars }),
  plan({ model: asked, target_language_code: language, text, voice }) {
    const { model, price } = modelOf(asked, prices);
    const request = api.request({
      text,
      model,
      format: 'mp3',
      ...(voice && { voice: nameOf(voice, voice, 'voice') }),
      ...(language && { language }),
    });
    return { price, ask: async (door) => soundOf(await door.send(request)) };
  },
});

/**
 * Builds the transcription service of a vendor with this API. Some vendors report the seconds of sound that they heard, under
 * the name `secondsIn`; some take `options` as members of their order.
 */
export const hearBy = (
  api: HearingApi,
  prices: Prices,
  secondsIn?: string,
  taken?: ReadonlySet<string>,
): Service<'stt'> => ({
  ...(taken !== undefined && { options: (name) => taken.has(name) }),
  plan({ file, language_code: language, model: asked, options }) {
    const { model, price } = modelOf(asked, prices);
    const heard = {
      file,
      model,
      wantsWords: false,
      ...(language && { language }),
      ...(options && { members: options }),
    };
    return {
      price,
      async ask(door) {
        const { json, text } = await api.hear(door, heard);
        const reported = secondsIn === undefined ? undefined : reportedSeconds(json[secondsIn]);
        return { json: { ...json, text }, reported };
      },
    };
  },
});
