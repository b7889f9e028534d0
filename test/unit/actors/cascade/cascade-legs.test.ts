import { expect, test } from 'vitest';
import {
  type CascadeDeps,
  createCascadeLegs,
} from '../../../../src/actors/cascade/cascade-legs.ts';
import { MAIN_PURSE, Purses } from '../../../../src/actors/purses.ts';
import {
  DEFAULT_CONFIG,
  type SessionConfig,
} from '../../../../src/actors/realtime/session-config.ts';
import type { Model, Source } from '../../../../src/gateway/catalogue.ts';
import { speechBoundRaw } from '../../../../src/gateway/speech-usage.ts';
import { LIMITS } from '../../../../src/kernel/limits.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { ManualClock } from '../../../../src/kernel/manual-clock.ts';
import type { Rates } from '../../../../src/kernel/price.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { createSourceRests } from '../../../../src/rails/rest-failing-source.ts';
import { NO_KEYS } from '../../../support/cascade-world.ts';
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
    ...{
      clock,
      log: silentLog,
      random: systemRandom,
      engines: createFakeEngines() as never,
      spender: { agentId: 7 },
    },
    catalogue: { find: () => undefined } as never,
    cascades: {
      ...{ chat: rails, speech: rails, hearing: rails },
      ...{ rests: createSourceRests({ clock }), providerKeys: NO_KEYS },
    },
    plan: {
      model: model('realtime', {}),
      llm: model('text', {}),
      stt: model('stt', {}),
      tts: model('tts', speech),
    },
    purses: new Purses(() => Promise.reject(new Error('nothing is held'))),
    ...{ ownKeys: NO_OWN_KEYS, purseOf: () => MAIN_PURSE },
  };
  const legs = createCascadeLegs(deps);
  return { reserveRaw: (config: SessionConfig) => legs.reserves(config)[MAIN_PURSE] ?? 0n };
}

test('a voice that is billed by its seconds is held for as slowly as it may speak', () => {
  const legs = legsOf({ audio_second: 1_000_000n });
  const atOnce = legs.reserveRaw(DEFAULT_CONFIG);
  expect(atOnce).toBeGreaterThan(0n);
  expect(legs.reserveRaw({ ...DEFAULT_CONFIG, speed: 0.25 })).toBeGreaterThanOrEqual(
    4n * atOnce - 4n,
  );
});

test('and for text of any script: three bytes a character', () => {
  const rates = { audio_second: 1_000_000n };
  const [source] = model('tts', rates).sources as [Source];
  const input = 'x'.repeat(3 * LIMITS.cascadeSpokenChars);
  const bound = speechBoundRaw({ model: 'acme/tts', input }, source);
  expect(legsOf(rates).reserveRaw(DEFAULT_CONFIG)).toBeGreaterThanOrEqual(bound);
});
