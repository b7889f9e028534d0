import { expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { SIM_ACCOUNT } from '../support/carrier-sim/options.ts';
import { startCarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import { type HeldServer, startHeldServer } from '../support/held-server.ts';
import type { Step } from '../support/held-server-child.ts';
import { ADMIN_KEY, processPlace } from '../support/process-place.ts';
import { ask, epochSeconds, settledMoney } from '../support/whole-world.ts';

const PUBLIC = 'https://voice.example';
const TO = '+14155550199';
const RENTAL_RAW = 2_000_000n;

/** Where the process of a call dies: before and after each step of its reserve, and of its end. */
const STEPS: readonly Step[] = [
  'opening',
  'opened',
  'journaling',
  'journaled',
  'closing',
  'closed',
];

it('a call whose process is killed in any of its states is settled once, by the other process', async () => {
  await using place = await processPlace();
  if (place.target.kind !== 'url')
    throw new Error('set TEST_DATABASE_URL for the two-process tests');
  const { target } = place;
  let aimed: HeldServer | undefined;
  await using sim = await startCarrierSim({
    numbers: STEPS.map((_, n) => `+1415555${String(7_000 + n)}`),
    callee: () => ({ ringMs: 50 }),
    reach: (url) =>
      url
        .replace(PUBLIC, aimed?.url ?? '')
        .replace(PUBLIC.replace('https', 'wss'), (aimed?.url ?? '').replace('http', 'ws')),
  });
  const environment = {
    ...place.environment,
    PHONE_CARRIER: 'twilio',
    TWILIO_ACCOUNT_SID: SIM_ACCOUNT.accountSid,
    TWILIO_AUTH_TOKEN: SIM_ACCOUNT.authToken,
    TWILIO_BASE_URL: sim.baseUrl,
    PUBLIC_URL: PUBLIC,
  };
  const sql = openSql(target, 4);
  await using kept = await startHeldServer(environment, target);
  const soon = <T>(look: () => Promise<T> | T) =>
    expect.poll(look, { timeout: 60_000, interval: 100 });

  async function fund(step: Step) {
    const agent = await fundAgent(createApi(kept.url), {
      name: `killed ${step}`,
      amountRaw: 6_000_000n,
      adminApiKey: ADMIN_KEY,
      nowSeconds: epochSeconds(),
      said: () => {},
    });
    const headers = { authorization: `Bearer ${agent.agentKey}` };
    const bought = await ask(`${kept.url}/v1/numbers`, { headers, body: { areaCode: '415' } });
    expect(bought.status).toBe(201);
    await sql`insert into voice_settings (agent_id, begin_message)
      values (${agent.agentId}, 'Hello, this is your agent.')`;
    return { agentId: agent.agentId, headers };
  }

  let next = startHeldServer(environment, target);
  for (const step of STEPS) {
    const doomed = await next;
    const { agentId, headers } = await fund(step);
    aimed = doomed;
    const atEnd = step === 'closing' || step === 'closed';
    if (!atEnd) doomed.hold({ step, count: 1, last: 'dies' });
    const placed = await ask(`${doomed.url}/v1/calls`, { headers, body: { toNumber: TO } });
    const callId = String(placed.body.callId);
    const read = async () => (await ask(`${kept.url}/v1/calls/${callId}`, { headers })).body;
    const line = sim.calls.at(-1);
    if (atEnd) {
      await soon(read).toMatchObject({ status: 'in_progress' });
      doomed.hold({ step, count: 1, last: 'dies' });
      await ask(`${doomed.url}/v1/calls/${callId}/hangup`, { headers, method: 'POST' }).catch(
        () => undefined,
      );
    }
    await doomed.died();
    aimed = kept;
    next = startHeldServer(environment, target);
    // It goes on at the other process, or is over; the far side leaves what goes on.
    await soon(() => line?.isOver || (line?.streams.length ?? 0) > 1).toBe(true);
    line?.hangUp();
    await line?.over;
    await soon(async () => {
      await sql`update calls set due_at = now() where id = ${callId} and not terminal`;
      return (await sql`select terminal from calls where id = ${callId}`)[0];
    }).toEqual({ terminal: true });
    const ended = await sql<{ payload: Record<string, string> }[]>`
      select payload from events where correlation_id = ${callId} and name = 'call.ended'`;
    const [call] = await sql`select started_at from calls where id = ${callId}`;
    expect(ended, step).toHaveLength(call?.started_at === null ? 0 : 1);
    const receipt = ended[0]?.payload;
    const legs = ['transportRaw', 'sttRaw', 'ttsRaw'].map((leg) => BigInt(receipt?.[leg] ?? 0));
    const money = await settledMoney(sql, agentId, 60_000);
    const toldRaw = legs.reduce((sum, raw) => sum + raw, RENTAL_RAW);
    expect(money.charged, step).toBe(toldRaw);
    expect(money.spendable, step).toBe(money.credited - toldRaw);
  }
  await (await next).kill();
  expect(await checkInvariants(sql)).toEqual([]);
  await sql.end({ timeout: 1 });
}, 400_000);
