import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callEvents } from '../support/call-receipts.ts';
import type { Callee } from '../support/carrier-sim/options.ts';
import type { CarrierSim } from '../support/carrier-sim/start-carrier-sim.ts';
import type { TelnyxSim } from '../support/carrier-sim/telnyx/start-telnyx-sim.ts';
import {
  type CarrierWorld,
  soon,
  startTelnyxWorld,
  startTwilioWorld,
} from '../support/carrier-world.ts';

/** Two minutes of line beyond the longest ringing, and some for the conversation. */
const MAX_SPEND_RAW = 60_000n;
const LINE_RAW = 14_700n;

/** What a line of so many seconds costs. */
const lineRaw = (seconds: unknown) => (LINE_RAW * BigInt(Number(seconds)) + 59n) / 60n;

/** How long the carrier was told to let a call live after its transfer. */
const limitAtTwilio = ({ sim }: CarrierWorld<CarrierSim>, sid: string) =>
  sim.requests
    .filter(({ path }) => path === `Calls/${sid}`)
    .map(({ form }) => /timeLimit="(\d+)"/.exec(form.get('Twiml') ?? '')?.[1])
    .find((seconds) => seconds !== undefined);
const limitAtTelnyx = ({ sim }: CarrierWorld<TelnyxSim>, sid: string) =>
  sim.requests.find(({ path }) => path.includes(sid) && path.includes('transfer'))?.body
    .time_limit_secs;

describe.each([
  ['Twilio', startTwilioWorld, limitAtTwilio],
  ['Telnyx', startTelnyxWorld, limitAtTelnyx],
] as const)('a call that is transferred at %s', (name, start, limitAt) => {
  let world: CarrierWorld<CarrierSim> | CarrierWorld<TelnyxSim>;
  let backend: Server;
  beforeAll(async () => {
    backend = createServer((request, response) => {
      const to = `+1415555${request.url?.slice(1)}`;
      response.end(
        `${JSON.stringify({ text: 'One moment.', action: { name: 'transfer_call', to } })}\n`,
      );
    }).listen(0, '127.0.0.1');
    world = await start({ environment: { SSRF_ALLOW_LOCALHOST: '1' } });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    backend.close();
  });

  /** A call whose far side presses a key and is transferred to that person, who has answered now. */
  async function transferred(line: string, person: Callee) {
    world.callees.set(`+1415555${line}`, { ringMs: 200, ...person });
    const agent = await world.caller(`${name} ${line}`, { presses: [{ atMs: 800, digit: '#' }] });
    const { port } = backend.address() as AddressInfo;
    await world.sql`update voice_settings
      set voice_mode = 'webhook', webhook_url = ${`http://127.0.0.1:${port}/${line}`}
      where agent_id = ${agent.agentId}`;
    const callId = await agent.place({ maxSpendRaw: `${MAX_SPEND_RAW}` });
    await agent.until(callId, { status: 'ending', terminal: false });
    return { agent, callId };
  }

  it.concurrent('a transferred call is billed once, until both parties are gone, and the carrier limits its length by the hold', async () => {
    const { agent, callId } = await transferred('0910', { hangsUpAtMs: 4_000 });
    const [held] = await world.sql<{ raw: bigint }[]>`
      select amount_raw as raw from holds where id = ${callId}`;
    expect(held?.raw).toBe(MAX_SPEND_RAW);
    expect(await callEvents(world.sql, callId)).toEqual([]);
    const seconds = Number(limitAt(world as never, agent.lineOf().sid));
    expect(seconds).toBeGreaterThan(60);
    expect(lineRaw(seconds + 60)).toBeLessThan(MAX_SPEND_RAW);
    await agent.until(callId, { status: 'completed', terminal: true });
    const told = agent.lineOf().durationSeconds;
    expect(told).toBeGreaterThanOrEqual(5);
    // The carrier counts from the answer, and the bill from the stream that opens after it.
    const [passed] = await world.sql<{ seconds: number }[]>`
      select extract(epoch from ended_at - started_at)::float8 as seconds from calls where id = ${callId}`;
    const durationSeconds = Math.ceil(Math.min(told ?? 0, (passed?.seconds ?? 0) + 1));
    const receipt = await agent.settledOnce(callId);
    expect(receipt).toMatchObject({ reason: 'call_transfer', durationSeconds });
    expect(receipt).toMatchObject({ transportRaw: `${lineRaw(durationSeconds)}` });
    expect(receipt).not.toHaveProperty('backstop');
    expect(Number(receipt.ttsRaw)).toBeGreaterThan(0);
  }, 120_000);

  it.concurrent('a transferred call is hung up by its agent', async () => {
    const { agent, callId } = await transferred('0911', { hangsUpAtMs: 3_600_000 });
    await agent.hangUp(callId);
    await soon(() => expect(agent.lineOf().isOver).toBe(true));
    await agent.until(callId, { status: 'completed', terminal: true });
    await agent.settledOnce(callId);
  }, 120_000);

  it.concurrent('a transferred call is hung up once its agent is suspended', async () => {
    const { agent, callId } = await transferred('0912', { hangsUpAtMs: 3_600_000 });
    await world.sql`update agents set status = 'suspended' where id = ${agent.agentId}`;
    await soon(() => expect(agent.lineOf().isOver).toBe(true));
    await soon(async () => expect(await callEvents(world.sql, callId)).toHaveLength(1));
    await agent.settledOnce(callId);
  }, 120_000);
});
