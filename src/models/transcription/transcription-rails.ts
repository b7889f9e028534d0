import type { Random } from '../../kernel/random.ts';
import { createOpenAiTranscriptionRail } from '../providers/openai/openai-transcription.ts';
import type { TranscriptionRail } from '../providers/transcription-rail.ts';
import { overHttp, vendorApiOf } from '../providers/vendors/vendor-apis.ts';
import { createVendorTranscriptionRail } from '../providers/vendors/vendor-transcription.ts';
import { type OpenAiRailDeps, openOpenAiRails, type Rails } from '../routing/open-rails.ts';

/** Opens the rails of all providers that a transcription model of the catalogue names. */
export const createTranscriptionRails = (
  deps: OpenAiRailDeps<TranscriptionRail> & { readonly random: Random },
): Rails<TranscriptionRail> =>
  openOpenAiRails(deps, createOpenAiTranscriptionRail, (dialect, opened) => {
    const api = vendorApiOf(dialect);
    const hearing = api?.hearing;
    const upstream = overHttp(opened.upstream);
    return (
      hearing && createVendorTranscriptionRail({ ...opened, upstream, api: { ...api, hearing } })
    );
  });
