import type { SoundEncoding } from '../../engines/engine.ts';
import { createOpenAiSpeechRail } from '../providers/openai/openai-speech.ts';
import type { SpeechRail } from '../providers/speech-rail.ts';
import { overHttp, vendorApiOf } from '../providers/vendors/vendor-apis.ts';
import { createVendorSpeechRail } from '../providers/vendors/vendor-speech.ts';
import { type OpenAiRailDeps, openOpenAiRails, type Rails } from '../routing/open-rails.ts';

/** Opens the rails of all providers that a speech model of the catalogue names. */
export const createSpeechRails = (
  deps: OpenAiRailDeps<SpeechRail> & { readonly encoding: SoundEncoding },
): Rails<SpeechRail> =>
  openOpenAiRails(deps, createOpenAiSpeechRail, (dialect, opened) => {
    const api = vendorApiOf(dialect);
    const speech = api?.speech;
    const upstream = overHttp(opened.upstream);
    return speech && createVendorSpeechRail({ ...opened, upstream, api: { ...api, speech } });
  });
