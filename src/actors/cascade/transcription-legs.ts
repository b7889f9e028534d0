import type { Model } from '../../gateway/catalogue.ts';
import { assert } from '../../kernel/assert.ts';
import { expectedSpeech } from '../realtime/expected-speech.ts';
import type { Legs } from '../realtime/legs.ts';
import { type CascadeDeps, paymentsKnownIn, sumReserves, takeBillFrom } from './cascade-legs.ts';
import { createHearing } from './hearing-leg.ts';
import { createPockets, requireHeld } from './pockets.ts';

/**
 * A session that only transcribes: each utterance is heard by the transcription model that its client names, or else by
 * the one that the session was opened with. It never answers, so that nothing is held for an answer.
 */
export function createTranscriptionLegs(
  deps: Omit<CascadeDeps, 'plan'> & { readonly stt: Model },
): Legs {
  const { ownKeys, purses, stt } = deps;
  const pockets = createPockets(purses);
  const buying = { ...deps, rests: deps.cascades.rests, pocketOf: pockets.of };
  const hearing = createHearing(buying, { usual: stt, takesBareNames: true });
  const reserves: Legs['reserves'] = (config) => sumReserves([hearing.reserve(config)]);
  return {
    ear: (config) => ({
      async open(options) {
        await ownKeys.lookUp(hearing.modelOf(config).id);
        requireHeld(await purses.makeWhole(reserves(config)));
        return hearing.ear(config).open({ ...options, ...expectedSpeech(config) });
      },
    }),
    brain: { reply: neverAnswers },
    voice: { speak: neverAnswers },
    transcriber: (config) => hearing.modelOf(config).id,
    problemOf: hearing.problemOf,
    reserves,
    takeBill: takeBillFrom(buying, pockets),
    paymentsKnown: paymentsKnownIn(deps, pockets),
  };
}

const neverAnswers = (): never => {
  assert(false, 'a transcription session never answers');
};
