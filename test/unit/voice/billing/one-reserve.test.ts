import { expect, it } from 'vitest';
import { assert } from '../../../../src/kernel/assert.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createLedger } from '../../../../src/ledger/engine/ledger.ts';
import type { Ledger } from '../../../../src/ledger/rules/ledger.ts';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { holdTurn } from '../../../../src/voice/billing/hold-turn.ts';
import { openSessionHold } from '../../../../src/voice/billing/session-hold.ts';
import { MAIN_HOLD, SessionHolds } from '../../../../src/voice/billing/session-holds.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ACTIVE, MemoryLedger } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { policyOf } from '../../../support/spending.ts';

const AGENT = 7;
const RESERVE = 1_000n;
const source = {
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  rates: {},
  marginBps: 0,
} satisfies Source;

/** A session whose main hold is all that it may spend. */
async function reservedAt(ledger: Ledger, creditRaw = 10_000n) {
  await ledger.credit({ agentId: AGENT, amountRaw: creditRaw, reference: 'test' });
  const deps = { ledger, clock: new ManualClock(), log: silentLog };
  const holdIdOf = (name: string) => `call${name}`;
  const holds = new SessionHolds(
    (name, reserveRaw, isQuiet) =>
      openSessionHold(
        deps,
        {
          spender: { agentId: AGENT },
          sessionId: holdIdOf(name),
          kind: 'call',
          model: name === MAIN_HOLD ? 'phone' : `${name}/talker`,
          source,
        },
        reserveRaw,
        isQuiet,
      ),
    { hasOneReserve: true, holdIdOf },
  );
  await holds.hold(MAIN_HOLD, RESERVE);
  const heldRaw = async () => (await ledger.funds(AGENT))?.heldRaw;
  return { heldRaw, holds };
}

async function reserved(creditRaw?: bigint) {
  const ledger = createFakeLedger();
  return { ...(await reservedAt(ledger, creditRaw)), ledger };
}

it('a second hold of a call takes its amount out of the main hold, so that no more than the reserve is held', async () => {
  const { heldRaw, holds } = await reserved();
  expect(await holds.hold('openai', 300n)).toMatchObject({ kind: 'extended' });
  expect(await heldRaw()).toBe(RESERVE);
  expect(holds.mainFreeRaw).toBe(700n);
  await holds.journal([{ sessionHold: 'openai', costRaw: 200n, usage: {} }]);
  expect(await holds.hold('openai', 300n)).toMatchObject({ kind: 'extended' });
  expect(await heldRaw()).toBe(RESERVE);
  expect(holds.mainFreeRaw).toBe(500n);
});

it('the reserve of a call refuses an amount that it does not have, and names itself as the reason', async () => {
  const { heldRaw, holds } = await reserved();
  await holds.journal([{ sessionHold: MAIN_HOLD, costRaw: 900n, usage: {} }]);
  expect(holds.isReserveSpent).toBe(false);
  const refused = await holds.hold('openai', 101n);
  assert(refused.kind === 'refused', 'the reserve has 100 left');
  expect([100n, 101n].map((openai) => refused.fits?.({ openai }))).toEqual([true, false]);
  expect(await holds.hold(MAIN_HOLD, 101n)).toMatchObject({ kind: 'refused' });
  expect(holds.isReserveSpent).toBe(true);
  expect(await heldRaw()).toBe(RESERVE);
});

it('the reserve holds a turn whole or not at all, and gives a model nothing that the phone line of the turn needs', async () => {
  const { heldRaw, holds } = await reserved();
  expect(await holds.makeWhole({ [MAIN_HOLD]: 600n, openai: 500n })).toMatchObject({
    kind: 'refused',
  });
  expect(holds.mainFreeRaw).toBe(RESERVE);
  expect(await holds.makeWhole({ openai: 400n, [MAIN_HOLD]: 600n })).toEqual({ kind: 'extended' });
  expect([holds.mainFreeRaw, await heldRaw()]).toEqual([600n, RESERVE]);
});

it('near the end of the reserve, a turn gets the longest answer for which phone line and model both have money', async () => {
  const { heldRaw, holds, ledger } = await reserved();
  const reservesOf = (tokens: number) => ({
    [MAIN_HOLD]: 200n + BigInt(tokens),
    openai: 3n * BigInt(tokens),
  });
  expect(await holdTurn(holds, reservesOf, 500)).toEqual({
    verdict: { kind: 'extended' },
    outputTokens: 200,
  });
  const dearest = reservesOf(200);
  await holds.journal([
    { sessionHold: MAIN_HOLD, costRaw: dearest[MAIN_HOLD], usage: {} },
    { sessionHold: 'openai', costRaw: dearest.openai, usage: {} },
  ]);
  await holds.settle({ reason: 'call_ended', status: 'success' });
  const paidRaw = ledger.charges.reduce((sumRaw, { costRaw }) => sumRaw + costRaw, 0n);
  expect([ledger.consumedRaw(AGENT), paidRaw, await heldRaw()]).toEqual([RESERVE, RESERVE, 0n]);
});

it('a cap of the agent on the maker of its model shortens an answer, and suspends no agent while a short one fits', async () => {
  const store = new MemoryLedger();
  const cap = { kind: 'api', matchKind: 'host_exact', matchKey: 'openai' } as const;
  const policy = policyOf({ ...cap, limitRaw: 120n, action: 'suspend_agent' });
  store.addAgent(AGENT, { ...ACTIVE, policies: [policy] });
  const ledger = createLedger({ store, clock: new ManualClock(), log: silentLog });
  const { heldRaw, holds } = await reservedAt(ledger);
  const reservesOf = (tokens: number) => ({ [MAIN_HOLD]: 200n, openai: BigInt(tokens) });
  const held = await holdTurn(holds, reservesOf, 256);
  expect(held).toMatchObject({ verdict: { kind: 'extended' }, outputTokens: 120 });
  await holds.journal([{ sessionHold: 'openai', costRaw: 110n, usage: {} }]);
  const { verdict } = await holdTurn(holds, reservesOf, 256);
  expect(verdict).toMatchObject({ kind: 'refused', refusal: { reason: 'cap_exceeded' } });
  expect(await heldRaw()).toBeLessThanOrEqual(RESERVE);
  expect(store.require(AGENT).rules.status).toBe('suspended');
});

it('an extension of a model in the middle of a turn leaves the phone line its part, until that is billed or held again', async () => {
  const { holds } = await reserved();
  await holds.makeWhole({ [MAIN_HOLD]: 400n, openai: 300n });
  expect(await holds.hold('openai', 601n)).toMatchObject({ kind: 'refused' });
  expect(await holds.holdQuietly('openai', 601n)).toBe(false);
  expect(await holds.hold('openai', 600n)).toEqual({ kind: 'extended' });
  await holds.journal([{ sessionHold: MAIN_HOLD, costRaw: 150n, usage: {} }]);
  expect(await holds.hold('openai', 601n)).toMatchObject({ kind: 'refused' });
  await holds.makeWhole({ [MAIN_HOLD]: 100n });
  expect(await holds.hold('openai', 750n)).toEqual({ kind: 'extended' });
  expect(holds.mainFreeRaw).toBe(100n);
});

it('simultaneous requests to the reserve are served one after another, within the reserve', async () => {
  const { heldRaw, holds } = await reserved();
  const verdicts = await Promise.all(['a', 'b', 'c', 'd'].map((name) => holds.hold(name, 300n)));
  expect(verdicts.map(({ kind }) => kind)).toEqual(['extended', 'extended', 'extended', 'refused']);
  expect(await heldRaw()).toBe(RESERVE);
});

it('a hold that a cap refuses leaves its part of the reserve to the next hold', async () => {
  const { heldRaw, holds, ledger } = await reserved();
  ledger.refuse(AGENT, { reason: 'agent_suspended' });
  expect(await holds.hold('openai', 400n)).toMatchObject({ kind: 'refused' });
  ledger.refuse(AGENT, undefined);
  expect(await holds.hold('groq', 1_000n)).toMatchObject({ kind: 'extended' });
  expect(await heldRaw()).toBe(RESERVE);
});

it('the holds of a reserve are settled together, and nothing stays held', async () => {
  const { heldRaw, holds, ledger } = await reserved();
  await holds.hold('openai', 300n);
  await holds.journal([
    { sessionHold: MAIN_HOLD, costRaw: 40n, usage: {} },
    { sessionHold: 'openai', costRaw: 70n, usage: {} },
  ]);
  await holds.settle({ reason: 'call_ended', status: 'success' });
  expect(await heldRaw()).toBe(0n);
  expect(ledger.consumedRaw(AGENT)).toBe(110n);
});
