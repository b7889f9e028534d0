import type { TranscriptDialect } from '../actors/transcription/dialect.ts';
import { type TranscriptionInput, TranscriptionStream } from '../actors/transcription-stream.ts';
import type { VoiceDeps } from '../actors/voice-deps.ts';
import { openPurse, type PurseOwner, sessionPrice } from '../actors/voice-purse.ts';
import type { Model, Source } from '../gateway/catalogue.ts';
import { refuseHold } from '../gateway/refuse-hold.ts';
import { newId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { refuse } from '../kernel/refuse.ts';
import type { Spender } from '../ledger/ledger.ts';
import { admitSession } from './admit-session.ts';
import { requireEngines, requireLiveModel, takeRecogniser } from './take-engine.ts';

export type TranscriptionWish = Pick<TranscriptionInput, 'encoding' | 'sampleRateHz'> & {
  readonly spender: Spender;
  readonly model: string;
  readonly language: string | undefined;
  /** A JSGF grammar, for `local/grammar`. */
  readonly prompt: string | undefined;
  readonly dialect: (served: {
    readonly model: Model;
    readonly source: Source;
  }) => TranscriptDialect;
};

/** Opens a live transcription, its recogniser taken and its first slice held, or throws the refusal of the upgrade. */
export async function openTranscription(
  deps: VoiceDeps,
  wish: TranscriptionWish,
): Promise<TranscriptionStream> {
  const { encoding, language, prompt, sampleRateHz, spender } = wish;
  const served = requireLiveModel(deps.catalogue, wish.model, 'stt');
  const { model, source } = served;
  const engine = source.upstreamModel === 'grammar' ? 'grammar' : 'pocketsphinx';
  requireEngines(deps.engines, [engine]);
  requireEnglish(model.id, language);
  deps.sessions.requireRoom();

  const recogniser = await takeRecogniser(deps.engines.stt[engine], {
    ...(prompt !== undefined && engine === 'grammar' && { grammar: prompt }),
    ...(language !== undefined && { language }),
  });
  const sessionId = newId(deps.random, 'stt_');
  const owner: PurseOwner = { spender, sessionId, kind: 'transcription', model: model.id, source };
  try {
    const slice = { audio_second: LIMITS.transcriptionReserveSeconds };
    const opened = await openPurse(deps, owner, sessionPrice(source, slice));
    if (opened.kind === 'refused') throw refuseHold(opened.refusal);

    const { purse } = opened;
    const dialect = wish.dialect(served);
    const input = { owner, purse, encoding, sampleRateHz, dialect, ...recogniser };
    return admitSession(deps, sessionId, new TranscriptionStream(deps, input));
  } catch (error) {
    recogniser.stt.close();
    throw error;
  }
}

/** The recognisers of this process hear English; who asks for several languages has it among them. */
function requireEnglish(model: string, language: string | undefined): void {
  if (language === undefined || /^(en(glish)?\b.*|multi|)$/i.test(language)) return;
  throw refuse.gateway.invalidRequest(`"${model}" hears English only.`, 'language');
}
