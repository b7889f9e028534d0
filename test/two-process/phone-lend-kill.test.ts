import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { callEvents, expectBalanced, legsRaw } from '../support/call-receipts.ts';
import { carrierProcesses, fundAt } from '../support/carrier-processes.ts';
import { buyNumber, RENTAL_RAW, TO } from '../support/carrier-world.ts';
import { startHeldServer } from '../support/held-server.ts';
import { phoneSpeech } from '../support/phone-speech.ts';
import { writeCatalogue } from '../support/process-place.ts';
import {
  DONE,
  streamUpstream,
  toolCallEvents,
  usageEvent,
  wordEvents,
} from '../support/stream-upstream.ts';
import { ask, settledMoney } from '../support/whole-world.ts';

const MODEL = 'acme/thinker';
const THOUGHT = 'What is the best table?';
const DONE_TEXT = 'I have done what I can.';
const RESERVE_RAW = 1_000_000n;
const usage = usageEvent({ prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 });
const THINKING = {
  id: 'call_1',
  type: 'function',
  function: {
    name: 'think',
    arguments: JSON.stringify({ model: MODEL, prompt: THOUGHT }),
  },
};

type Message = { readonly role: string; readonly content: unknown };
const messagesOf = (asked: Record<string, unknown>) => asked.messages as readonly Message[];
const isThought = (asked: Record<string, unknown>) =>
  messagesOf(asked).some(({ content }) => content === THOUGHT);

/** A model whose thoughts never come, and which calls `think` until it reads that the call of it was lost. */
async function thinkingModel() {
  const model = await streamUpstream();
  model.play((asked) => {
    if (isThought(asked)) return { pieces: [], ends: 'hang' };
    const isLost = messagesOf(asked).some(({ content }) =>
      String(content).includes('It may have been carried out'),
    );
    return {
      pieces: [...(isLost ? wordEvents([DONE_TEXT]) : toolCallEvents(THINKING)), usage, DONE],
    };
  });
  return model;
}

it('a call whose process is killed during a tool goes on, pays no unknown purchase and returns the loan of its reserve', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'svc-loans-'));
  await using model = await thinkingModel();
  const question = await phoneSpeech('Please think about a table for me.');
  await using processes = await carrierProcesses({
    numbers: ['+14155557102'],
    callee: () => ({ ringMs: 50, says: [{ atMs: 2_500, bytes: question }] }),
  });
  const { aim, sim, sql, target } = processes;
  const environment = {
    ...processes.environment,
    CATALOG_FILE: writeCatalogue(directory, MODEL, model.baseUrl),
    SSRF_ALLOW_LOCALHOST: '1',
  };
  const doomed = await startHeldServer(environment, target);
  await using kept = await startHeldServer(environment, target);
  const soon = <T>(look: () => Promise<T> | T) =>
    expect.poll(look, { timeout: 60_000, interval: 100 });
  const { agentId, headers } = await fundAt(kept, 'lending', 6_000_000n);
  await buyNumber(kept.url, headers);
  await sql`insert into voice_settings (agent_id, begin_message, model, tools)
    values (${agentId}, 'Hello.', ${MODEL}, ${sql.json([
      { type: 'service', name: 'think', timeoutMs: 30_000, maxCostRaw: '50000' },
    ])})`;
  const held = () => sql<{ raw: bigint; id: string }[]>`
    select id, amount_raw as raw from holds where agent_id = ${agentId}`;

  aim(doomed);
  const placed = await ask(`${doomed.url}/v1/calls`, {
    headers,
    body: { toNumber: TO, maxSpendRaw: `${RESERVE_RAW}` },
  });
  const callId = String(placed.body.callId);
  await soon(() => model.seen.filter(isThought).length).toBe(1);
  const holds = await held();
  expect(holds.length).toBeGreaterThanOrEqual(2);
  // The loan moved money from the reserve to the hold of the purchase, and held nothing twice.
  expect(holds.reduce((sum, { raw }) => sum + raw, 0n)).toBe(RESERVE_RAW);
  aim(kept);
  await doomed.kill();

  const spoken = async () =>
    (
      await sql<{ content: string }[]>`select content from call_turns
        where call_id = ${callId} and role = 'assistant'`
    ).map(({ content }) => content);
  await soon(spoken).toContain(DONE_TEXT);
  expect(model.seen.filter(isThought)).toHaveLength(1);
  sim.calls[0]?.hangUp();
  const isOver = async () => (await sql`select terminal from calls where id = ${callId}`)[0];
  await soon(isOver).toEqual({ terminal: true });
  const ended = await callEvents(sql, callId);
  expect(ended).toHaveLength(1);
  const money = await settledMoney(sql, agentId, 60_000);
  const [models] = await sql<{ raw: bigint }[]>`
    select coalesce(sum(cost_raw), 0)::bigint as raw from charges where model = ${MODEL}`;
  expect(money.charged).toBe(RENTAL_RAW + legsRaw(ended[0]) + (models?.raw ?? 0n));
  await soon(async () => (await held()).length).toBe(0);
  await expectBalanced(sql, agentId);
  expect(await checkInvariants(sql)).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
}, 200_000);
