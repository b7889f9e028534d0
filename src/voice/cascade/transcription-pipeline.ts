import { assert } from '../../kernel/assert.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import { expectedSpeech } from '../session/expected-speech.ts';
import type { VoicePipeline } from '../session/voice-pipeline.ts';
import type { CascadeDeps } from './cascade-deps.ts';
import { paymentsKnownIn, sumReserves, takeBillFrom } from './cascade-pipeline.ts';
import { createChargesByHold, requireHeld } from './charges-by-hold.ts';
import { buyingWith } from './pipeline-stage.ts';
import { createTranscriberStage } from './transcriber-stage.ts';

/**
 * Returns the pipeline of a session that only transcribes, with the model in the client's settings or else the model that
 * opened the session. The session never answers, so nothing is held for an answer.
 */
export function createTranscriptionPipeline(
  deps: Omit<CascadeDeps, 'plan'> & { readonly stt: Model },
): VoicePipeline {
  const { ownKeys, sessionHolds, stt } = deps;
  const chargesByHold = createChargesByHold(sessionHolds);
  const buying = buyingWith(deps, chargesByHold);
  const hearing = createTranscriberStage(buying, { usual: stt, takesBareNames: true });
  const reserves: VoicePipeline['reserves'] = (config) => sumReserves([hearing.reserve(config)]);
  return {
    stt: (config) => ({
      takesTurns: hearing.transcriber(config).takesTurns === true,
      async open(options) {
        await ownKeys.lookUp(hearing.modelOf(config).id);
        requireHeld(await sessionHolds.makeWhole(reserves(config)));
        return hearing.transcriber(config).open({ ...options, ...expectedSpeech(config) });
      },
    }),
    llm: { reply: neverAnswers },
    voice: { speak: neverAnswers },
    transcriberModel: (config) => hearing.modelOf(config).id,
    problemOf: hearing.problemOf,
    reserves,
    takeBill: takeBillFrom(buying, chargesByHold),
    paymentsKnown: paymentsKnownIn(deps, chargesByHold),
  };
}

const neverAnswers = (): never => {
  assert(false, 'a transcription session never answers');
};
