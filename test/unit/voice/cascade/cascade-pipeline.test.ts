import { expect, test } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import type { Rates } from '../../../../src/kernel/price.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { speechBoundRaw } from '../../../../src/models/speech/speech-usage.ts';
import { turnCapOf } from '../../../../src/phone/calls/opening/plan-voice.ts';
import { MAIN_HOLD, SessionHolds } from '../../../../src/voice/billing/session-holds.ts';
import type { CascadeDeps } from '../../../../src/voice/cascade/cascade-deps.ts';
import {
  cascadeCap,
  createCascadePipeline,
} from '../../../../src/voice/cascade/cascade-pipeline.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import {
  DEFAULT_CONFIG,
  type SessionConfig,
} from '../../../../src/voice/session/session-config.ts';
import { NO_KEYS } from '../../../support/cascade-world.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { createFakeEngines } from '../../../support/voice-fakes.ts';

const model = (modality: Model['modality'], rates: Rates): Model => {
  const source = { rail: 'direct-account', provider: 'acme', upstreamModel: modality } as const;
  const sources: Source[] = [{ ...source, rates, marginBps: 0 }];
  const unknown = { contextWindow: null, maxOutputTokens: null, isOpenWeight: false };
  return { id: `acme/${modality}`, displayName: modality, modality, ...unknown, sources } as Model;
};

function legsOf(speech: Rates) {
  const clock = new ManualClock();
  const rails = { railOf: () => ({ makes: () => true }) as never };
  const deps: CascadeDeps = {
    clock,
    log: silentLog,
    random: systemRandom,
    engines: createFakeEngines() as never,
    spender: { agentId: 7 },
    catalogue: { find: () => undefined } as never,
    cascades: {
      chat: rails,
      speech: rails,
      hearing: rails,
      breaker: createSourceRests({ clock }),
      providerKeys: NO_KEYS,
    },
    plan: {
      model: model('realtime', {}),
      llm: model('text', {}),
      stt: model('stt', {}),
      tts: model('tts', speech),
    },
    sessionHolds: new SessionHolds(() => Promise.reject(new Error('nothing is held'))),
    ownKeys: NO_OWN_KEYS,
    holdNameOf: () => MAIN_HOLD,
  };
  const pipeline = createCascadePipeline(deps);
  return { reserveRaw: (config: SessionConfig) => pipeline.reserves(config)[MAIN_HOLD] ?? 0n };
}

test('the reserve for a synthesizer that bills by the second covers its slowest speech', () => {
  const pipeline = legsOf({ audio_second: 1_000_000n });
  const atOnce = pipeline.reserveRaw(DEFAULT_CONFIG);
  expect(atOnce).toBeGreaterThan(0n);
  expect(pipeline.reserveRaw({ ...DEFAULT_CONFIG, speed: 0.25 })).toBeGreaterThanOrEqual(
    4n * atOnce - 4n,
  );
});

test('the reserve for a synthesizer covers text of any script: three bytes a character', () => {
  const rates = { audio_second: 1_000_000n };
  const [source] = model('tts', rates).sources as [Source];
  const input = 'x'.repeat(3 * VOICE_LIMITS.cascade.spokenChars);
  const bound = speechBoundRaw({ model: 'acme/tts', input }, source);
  expect(legsOf(rates).reserveRaw(DEFAULT_CONFIG)).toBeGreaterThanOrEqual(bound);
});

test('a cascade requests no more tokens of its model than the model can write, in a phone call as well', () => {
  const plan = (maxOutputTokens: number | null) => {
    const llm = { ...model('text', {}), maxOutputTokens };
    return { model: llm, llm, stt: llm, tts: llm };
  };
  const most = (tokens: number | null) => [
    cascadeCap(plan(tokens)).outputTokens,
    turnCapOf(plan(tokens)).outputTokens,
  ];
  expect(most(8)).toEqual([8, 8]);
  expect(most(1_000)).toEqual([1_000, 256]);
  expect(most(null)).toEqual([VOICE_LIMITS.cascade.outputTokens, 256]);
});
