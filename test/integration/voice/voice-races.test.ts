import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { checkInvariants } from '../../../src/ledger/store/check-invariants.ts';
import { TURN_COST_RAW, toldCostRaw, USAGE } from '../../support/abused-world.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { bearer, credentialsOf } from '../../support/edge.ts';
import { liveLedger } from '../../support/ledger-load.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { LEAST_TURN_RAW, relayWorld, TURN_RAW } from '../../support/relay-world.ts';

const RELAYED = 750;
const LOCAL = 250;
const SESSIONS = RELAYED + LOCAL;
/** Room for some forty relayed sessions, or for more where local ones are among them. */
const CREDIT_RAW = 40n * TURN_RAW + 1_234n;

let database: TestDatabase;
let ledger: LiveLedger;
beforeAll(async () => {
  database = await testDatabase();
  ledger = liveLedger(database.sql, 'voice races');
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

type Outcome =
  | { readonly kind: 'open'; readonly client: RealtimeClient }
  | { readonly kind: 'refused'; readonly why: string };

/** One of `SESSIONS` that ask at once. */
async function ask(url: string): Promise<Outcome> {
  const client = new RealtimeClient(url, [], bearer('svc_racer'));
  try {
    await client.opened();
    return { kind: 'open', client };
  } catch (error) {
    return { kind: 'refused', why: (error as Error).message };
  }
}

const openIn = (outcomes: readonly Outcome[]): RealtimeClient[] =>
  outcomes.flatMap((outcome) => (outcome.kind === 'open' ? [outcome.client] : []));

const sumOf = (numbers: readonly bigint[]): bigint => numbers.reduce((sum, n) => sum + n, 0n);

const isDone = ({ type }: { readonly type: string }) => type === 'response.done';

it(`the server admits as many of ${SESSIONS} sessions at once as the balance covers, and charges what their clients received`, async () => {
  const { agentId, keyId } = await seedAgent(database.sql);
  await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: 'start' });
  await using world = await relayWorld({
    ledger,
    edge: {
      socketCaps: { perAgent: SESSIONS, perAddress: SESSIONS },
      rateLimits: { gatewayPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
      credentials: credentialsOf({ agentId, keyId }),
    },
  });
  const { upstream, url, sessions } = world;
  const wanted = Array.from({ length: SESSIONS }, (_, i) =>
    i % (SESSIONS / LOCAL) === 0 ? 'local/realtime' : 'acme/alone',
  );
  const outcomes = await Promise.all(wanted.map((model) => ask(url(model))));
  const relayed = openIn(outcomes.filter((_, i) => wanted[i] === 'acme/alone'));
  const local = openIn(outcomes.filter((_, i) => wanted[i] === 'local/realtime'));

  const refusals = outcomes.flatMap((each) => (each.kind === 'refused' ? [each.why] : []));
  expect(new Set(refusals)).toEqual(new Set(['refused 402']));
  expect(refusals.length + relayed.length + local.length).toBe(SESSIONS);
  const holds = await database.sql<{ amount: bigint; model: string }[]>`
    select h.amount_raw as amount, s.model from holds h join sessions s on s.id = h.id
    where h.agent_id = ${agentId}`;
  const heldFor = (model: string) => holds.filter((hold) => hold.model === model);
  const turns = heldFor('acme/alone').map(({ amount }) => amount);
  expect(turns).toHaveLength(relayed.length);
  // Who comes when there is less than a long turn left has a shorter one.
  expect(turns.filter((raw) => raw < LEAST_TURN_RAW || raw > TURN_RAW)).toEqual([]);
  expect(heldFor('local/realtime')).toHaveLength(local.length);
  const heldRaw = sumOf(holds.map(({ amount }) => amount));
  expect(await ledger.funds(agentId)).toMatchObject({
    heldRaw,
    spendableRaw: CREDIT_RAW - heldRaw,
  });
  expect(CREDIT_RAW - heldRaw, 'no session was refused that fitted').toBeLessThan(LEAST_TURN_RAW);
  expect(upstream.asked.count, 'who was refused was never asked for').toBe(relayed.length);
  expect([relayed.length > 0, local.length > 0]).toEqual([true, true]);

  await Promise.all(relayed.map((_, i) => upstream.peer(i)));
  for (const peer of upstream.peers) peer.finish('r1', USAGE);
  for (const client of local) {
    client.say({ type: 'response.create', response: { output_modalities: ['text'] } });
  }
  await Promise.all([...relayed, ...local].map((client) => client.until(isDone)));
  for (const [i, { ws }] of [...relayed, ...local].entries()) {
    if (i % 2 === 0) ws.close();
    else ws.terminate();
  }
  await expect.poll(() => sessions.size, { timeout: 20_000 }).toBe(0);

  const costsOfLocal = local.map((client) => toldCostRaw(client.of('response.done')));
  const expectedRaw = BigInt(relayed.length) * TURN_COST_RAW + sumOf(costsOfLocal);
  const [row] = await database.sql<
    { charged: bigint; lines: number; ended: number; all: number }[]
  >`
    select (select sum(cost_raw)::bigint from charges where agent_id = ${agentId}) as charged,
      (select count(*)::int from charges where agent_id = ${agentId}) as lines,
      (select count(ended_at)::int from sessions where agent_id = ${agentId}) as ended,
      (select count(*)::int from sessions where agent_id = ${agentId}) as all`;
  const admitted = relayed.length + local.length;
  expect(row).toEqual({ charged: expectedRaw, lines: admitted, ended: admitted, all: admitted });
  expect(await ledger.funds(agentId)).toMatchObject({
    heldRaw: 0n,
    spendableRaw: CREDIT_RAW - expectedRaw,
  });
  expect(await checkInvariants(database.sql)).toEqual([]);
}, 60_000);
