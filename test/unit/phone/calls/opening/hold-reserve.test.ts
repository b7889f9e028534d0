import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { minRaw } from '../../../../../src/kernel/amount.ts';
import { systemClock } from '../../../../../src/kernel/clock.ts';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { buildCatalogue } from '../../../../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../../src/models/catalogue/builtin/providers.ts';
import { LOCAL_CASCADE } from '../../../../../src/models/catalogue/catalogue-file.ts';
import type { Call } from '../../../../../src/phone/calls/call.ts';
import {
  createCallMoney,
  phoneSource,
  spenderOf,
} from '../../../../../src/phone/calls/call-money.ts';
import { createCallPipeline } from '../../../../../src/phone/calls/call-pipeline.ts';
import { holdReserve } from '../../../../../src/phone/calls/opening/hold-reserve.ts';
import { leastReserve } from '../../../../../src/phone/calls/opening/least-reserve.ts';
import { planVoice, turnCapOf } from '../../../../../src/phone/calls/opening/plan-voice.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { minuteRaw, RATE_CARD } from '../../../../../src/phone/rate-card.ts';
import { holdTurn } from '../../../../../src/voice/billing/hold-turn.ts';
import { DEFAULT_CONFIG } from '../../../../../src/voice/session/session-config.ts';
import { aCall } from '../../../../support/a-call.ts';
import { railsOf } from '../../../../support/cascade-world.ts';
import { createFakeLedger } from '../../../../support/fake-ledger.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { createVoiceWorld } from '../../../../support/voice-world.ts';

const CEILING_RAW = PHONE_LIMITS.call.ceilingRaw;
const DEFAULT_MODEL = 'openai/gpt-5.4-mini';
const NO_OWN_KEYS = { sourcesOf: () => [], lookUp: async () => {}, noteUse: async () => {} };

let world: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  world = await open();
});
afterAll(() => world.close());

async function open() {
  const catalogue = buildCatalogue({
    providers: new Map(Object.entries(BUILTIN_PROVIDERS)),
    models: BUILTIN_MODELS,
    secret: () => 'sk-server',
  });
  const change = { catalogue };
  const voice = await createVoiceWorld({ clock: new ManualClock(), creditRaw: 0n, change });
  const { cascades, close } = railsOf(catalogue, voice);
  const models = { ...LOCAL_CASCADE, llm: DEFAULT_MODEL };
  return { close, deps: { ...voice.deps, cascades, models } };
}

/** What a call holds of a balance, and whether it can talk. */
async function answered(balanceRaw: bigint, more: Partial<Call> = {}) {
  const { deps } = world;
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: 1, amountRaw: balanceRaw, reference: 'all' });
  const call = aCall(more);
  const money = createCallMoney({ ledger, clock: systemClock, log: silentLog }, call, {
    taken: undefined,
    wallet: null,
  });
  const { kind } = await holdReserve(deps, call, money.holds);
  const { heldRaw } = money.holds;
  if (kind !== 'extended') return { kind, heldRaw, openHolds: ledger.openHolds() };
  const plan = planVoice(deps, call.options.voice, false);
  const cap = turnCapOf(plan);
  const pipeline = createCallPipeline({
    ...deps,
    plan,
    cap,
    ownKeys: NO_OWN_KEYS,
    responder: undefined,
    prompt: () => '',
    source: phoneSource(call),
    spender: spenderOf(call),
    sessionHolds: money.holds,
    holdNameOf: money.holdNameOf,
    meter: money.meter,
    lineSeconds: () => 4,
    pronunciations: [],
    takeSpoken: () => 0,
  });
  const reservesOf = (tokens: number) => pipeline.reserves(DEFAULT_CONFIG, tokens);
  const { verdict } = await holdTurn(money.holds, reservesOf, cap.outputTokens);
  return { kind, heldRaw, turn: verdict.kind };
}

const leastRaw = async (): Promise<bigint> => (await leastReserve(world.deps, aCall()))?.raw ?? -1n;

describe('the reserve of a call from outside', () => {
  it('an inbound call holds the whole balance up to the ceiling, enough for a turn, and with less holds nothing', async () => {
    const least = await leastRaw();
    const near = fc.bigInt({ min: -40n, max: 40n }).map((off) => least + off);
    const balance = fc.oneof(near, fc.bigInt({ min: 1n, max: 2n * CEILING_RAW }));
    await fc.assert(
      fc.asyncProperty(balance, async (balanceRaw) => {
        expect(await answered(balanceRaw)).toEqual(
          balanceRaw < least
            ? { kind: 'refused', heldRaw: 0n, openHolds: 0 }
            : {
                kind: 'extended',
                heldRaw: minRaw(balanceRaw, CEILING_RAW),
                turn: 'extended',
              },
        );
      }),
      { numRuns: 60 },
    );
  });

  it('the least reserve of an inbound call covers a minute and its model, and is unknown for a model that is not sold', async () => {
    const { options } = aCall();
    const voice = { ...options.voice, voiceMode: 'webhook', webhookUrl: 'https://a.test' } as const;
    const least = async (more: object) =>
      (await leastReserve(world.deps, aCall({ options: { ...options, ...more } })))?.raw;
    const line = { direction: 'inbound', detectsMachine: false } as const;
    const ofResponderRaw = await least({ voice });
    expect(ofResponderRaw).toBeGreaterThanOrEqual(minuteRaw(RATE_CARD, line, false));
    expect(await leastRaw()).toBeGreaterThan(ofResponderRaw ?? 0n);
    expect(await least({ voice: { ...options.voice, model: 'gone/talker' } })).toBeUndefined();
  });
});

it('the reserve of a call that its agent placed is the reserve from its placing, or nothing', async () => {
  const placed = { direction: 'outbound', maxSpendRaw: 500_000n } as const;
  expect(await answered(499_999n, placed)).toMatchObject({ kind: 'refused', openHolds: 0 });
  expect(await answered(900_000n, placed)).toMatchObject({ kind: 'extended', heldRaw: 500_000n });
});
