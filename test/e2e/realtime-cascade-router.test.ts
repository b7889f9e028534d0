import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { done } from '../support/cascade-steps.ts';
import { answer, RATE, say, speak } from '../support/cascade-world.ts';
import { bearer } from '../support/edge.ts';
import { fundsOf, until } from '../support/payment-world.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import {
  type Buyer,
  ROUTER_PRICE_RAW,
  type RouterWorld,
  startRouterWorld,
} from '../support/router-world.ts';
import { sends } from '../support/speech-upstream.ts';
import { jsonAnswer } from '../support/transcription-upstream.ts';
import { bytesOf, tone } from '../support/voice-fakes.ts';

/** Five in a hundred of the router's price, rounded up. */
const MARGIN_RAW = 8n;
const COST_RAW = ROUTER_PRICE_RAW + MARGIN_RAW;
const DEPOSIT_RAW = 100_000n;

let bench: RouterWorld;
beforeAll(async () => {
  bench = await startRouterWorld({
    down: { unpaid: { answer: { kind: 'answer', status: 503 } } },
    dies: { paid: { settle: 'first', answer: { kind: 'drop', after: 'request' } } },
  });
  const { speech, streams } = bench.behind;
  speech.sound = Buffer.from(bytesOf(tone(300, RATE)));
  speech.contentType = 'audio/pcm';
  streams.play({ pieces: answer(['All is well.']) });
}, 60_000);
afterAll(() => bench[Symbol.asyncDispose]());

async function connect({ key }: Buyer, query: Readonly<Record<string, string>>) {
  const url = `${bench.world.url.replace('http', 'ws')}/v1/realtime?${new URLSearchParams(query)}`;
  const client = new RealtimeClient(url, [], bearer(key));
  await client.opened();
  return client;
}

type Row = { rail: string; cost: bigint; host: string; model: string | null };

/** What an agent's history says of its money, once nothing is held any more. */
async function rowsOf({ agentId }: Buyer): Promise<Row[]> {
  const { sql } = bench.world;
  await until(async () => (await fundsOf(sql, agentId)).held === 0n);
  return sql<Row[]>`
    select rail, cost_raw as cost, target_host as host, model from charges
    where agent_id = ${agentId} and cost_raw > 0 order by cost_raw desc`;
}

describe('the parts of a realtime session that routers sell', () => {
  it("the routers of a realtime session are each paid from the agent's wallet, and the session is charged their margins", async () => {
    const { behind, direct } = bench;
    behind.ears.script.push(jsonAnswer({ text: 'how are you' }));
    const buyer = await bench.buyer('all three');
    const asked = direct.seen.length;
    const client = await connect(buyer, {
      model: 'acme/chat',
      stt_model: 'acme/ears',
      tts_model: 'acme/voice',
    });
    speak(client);
    const turn = await done(client);
    expect(turn.output[0]?.content?.[0]?.transcript).toBe('All is well.');
    expect(turn.metadata.cost_raw).toBe(String(3n * COST_RAW));
    client.ws.close();
    const payment = { rail: 'x402', cost: ROUTER_PRICE_RAW, host: 'acme', model: null };
    expect(await rowsOf(buyer)).toEqual([
      payment,
      payment,
      payment,
      { rail: 'x402-router', cost: 3n * MARGIN_RAW, host: 'acme', model: 'acme/chat' },
    ]);
    expect(await fundsOf(bench.world.sql, buyer.agentId)).toEqual({
      spendable: DEPOSIT_RAW - 3n * COST_RAW,
      held: 0n,
      wallet: DEPOSIT_RAW - 3n * ROUTER_PRICE_RAW,
      promised: 0n,
    });
    expect(direct.seen).toHaveLength(asked);
  });

  it('the routers of a realtime session are charged with their margin when the caller leaves during a payment', async () => {
    const { streams } = bench.behind;
    const pieces = answer(['All is well.']);
    streams.play({ pieces, everyMs: 200 });
    const buyer = await bench.buyer('impatient');
    const client = await connect(buyer, { model: 'acme/chat' });
    const asked = streams.seen.length;
    say(client, 'hello');
    await expect.poll(() => streams.seen.length, { timeout: 10_000 }).toBe(asked + 1);
    client.ws.close();
    expect(await rowsOf(buyer)).toEqual([
      { rail: 'x402', cost: ROUTER_PRICE_RAW, host: 'acme', model: null },
      { rail: 'x402-router', cost: MARGIN_RAW, host: 'acme', model: 'acme/chat' },
    ]);
    streams.play({ pieces });
  });

  it("the router of a session's speech is charged with its margin when the caller leaves during its payment", async () => {
    const { speech } = bench.behind;
    const { contentType, sound } = speech;
    speech.plays.push(async (response) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await sends(sound, contentType)(response);
    });
    const buyer = await bench.buyer('impatient of speech');
    const client = await connect(buyer, { model: 'acme/chat', tts_model: 'acme/voice' });
    const asked = speech.seen.length;
    say(client, 'hello');
    await expect.poll(() => speech.seen.length, { timeout: 10_000 }).toBe(asked + 1);
    client.ws.close();
    const [, , margins] = await rowsOf(buyer);
    expect(margins).toMatchObject({ rail: 'x402-router', cost: 2n * MARGIN_RAW });
  });

  it('a realtime session tries the next source when a router fails unpaid', async () => {
    const buyer = await bench.buyer('down');
    const client = await connect(buyer, { model: 'evil/down' });
    say(client, 'hello');
    const turn = await done(client);
    // The account behind it answers without a stream, which is no answer to this.
    expect(turn.status).toBe('failed');
    expect(bench.direct.seen.at(-1)?.body).toMatchObject({ model: 'm', stream: true });
    client.ws.close();
    expect(await rowsOf(buyer)).toEqual([]);
  });

  it('a realtime session tries no other source when a router was paid and does not deliver', async () => {
    const buyer = await bench.buyer('dies');
    const asked = bench.direct.seen.length;
    const client = await connect(buyer, { model: 'evil/dies' });
    client.say({ type: 'session.update', session: { output_modalities: ['text'] } });
    say(client, 'hello');
    const turn = await done(client);
    expect(turn.status_details).toMatchObject({
      error: { code: 'upstream_paid_request_failed_ambiguous' },
    });
    const { sql } = bench.world;
    const [payment] = await sql`
      select nonce from reservations where agent_id = ${buyer.agentId}`;
    expect(JSON.stringify(turn.status_details)).toContain(String(payment?.nonce));
    client.ws.close();
    expect(await rowsOf(buyer)).toMatchObject([{ rail: 'x402', cost: ROUTER_PRICE_RAW }]);
    expect(bench.direct.seen).toHaveLength(asked);
  });

  it('the ledger invariants hold after the router payments of realtime sessions', async () => {
    expect(await checkInvariants(bench.world.sql)).toEqual([]);
  });
});
