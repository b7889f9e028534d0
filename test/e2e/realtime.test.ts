import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from '@openai/agents-realtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { synthesise } from '../../src/app/commands/demo/sound.ts';
import { settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const RATE = 24_000;
const STEP_MS = 100;
const FUNDS = 1_000_000n;

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Speaks as a person would: a tenth of a second of sound every tenth of a second, then silence. */
async function speak(session: RealtimeSession, pcm: Int16Array): Promise<void> {
  const step = (RATE * STEP_MS) / 1_000;
  const padded = new Int16Array(pcm.length + RATE);
  padded.set(pcm);
  const startMs = performance.now();
  for (let at = 0, sent = 1; at < padded.length; at += step, sent++) {
    session.sendAudio(padded.slice(at, at + step).buffer);
    const waitMs = startMs + sent * STEP_MS - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

it("OpenAI's realtime client asks aloud, hears its balance, and is charged as the ledger says", async () => {
  const agent = await world.fund('caller', FUNDS);
  const question = await synthesise('What is my balance?', RATE);
  const url = `${world.wsUrl}/v1/realtime?model=local/realtime`;
  const session = new RealtimeSession(new RealtimeAgent({ name: 'caller' }), {
    transport: new OpenAIRealtimeWebSocket({ url }),
    model: 'local/realtime',
  });
  const errors: unknown[] = [];
  session.on('error', (error) => errors.push(error));
  let audioBytes = 0;
  session.on('audio', ({ data }) => {
    audioBytes += data.byteLength;
  });
  const answered = new Promise<void>((resolve) => session.on('agent_end', () => resolve()));

  await session.connect({ apiKey: agent.agentKey });
  await Promise.all([speak(session, question), answered]);
  await expect.poll(() => session.usage.totalTokens).toBeGreaterThan(0);
  const said = JSON.stringify(session.history);
  // What this very session holds and has not spent is not shown to the caller who asks in it.
  const told = [...said.matchAll(/(\d)\.(\d{6}) USDC/g)].map(([, whole, raw]) =>
    BigInt(`${whole}${raw}`),
  );
  expect([said, told]).toEqual([expect.stringMatching(/my balance.*Your balance is/), [FUNDS]]);
  // Half a second of 16-bit sound at the least.
  expect(audioBytes).toBeGreaterThan(RATE);
  expect(errors).toEqual([]);
  session.close();

  const money = await settledMoney(world.sql, agent.agentId);
  expect(money.charged).toBeGreaterThan(0n);
  expect(money.spendable).toBe(FUNDS - money.charged);
  const rows = await world.sql`
    select status, model, method from charges where agent_id = ${agent.agentId}`;
  expect(rows).toEqual([{ status: 'success', model: 'local/realtime', method: 'GET' }]);
});
