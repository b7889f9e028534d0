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
import { startReceiver } from '../support/receiver.ts';
import {
  DONE,
  streamUpstream,
  toolCallEvents,
  usageEvent,
  wordEvents,
} from '../support/stream-upstream.ts';
import { ask, settledMoney } from '../support/whole-world.ts';

const MODEL = 'acme/stubborn';
const BOOKING = {
  id: 'call_1',
  type: 'function',
  function: { name: 'book', arguments: '{"n":1}' },
};
const DONE_TEXT = 'I have done what I can.';
const usage = usageEvent({ prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 });

/** A model that books by the same call in every process, until it has read what became of that. */
async function stubbornModel() {
  const model = await streamUpstream();
  model.play(({ messages }) => {
    const read = (messages as { role: string; content: unknown }[]).some(
      ({ content, role }) => role === 'tool' && !String(content).includes('running'),
    );
    return { pieces: [...(read ? wordEvents([DONE_TEXT]) : toolCallEvents(BOOKING)), usage, DONE] };
  });
  return model;
}

it.each([
  ['while a function is under way', false],
  ['once a function has answered', true],
])(
  'a call whose process is killed %s calls the function once, goes on at the other process and is settled once',
  async (_, answers) => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-tools-'));
    await using shop = await startReceiver();
    await using model = await stubbornModel();
    const question = await phoneSpeech('Please book a table for me.');
    await using processes = await carrierProcesses({
      numbers: ['+14155557101'],
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
    const { agentId, headers } = await fundAt(kept, 'booking', 6_000_000n);
    await buyNumber(kept.url, headers);
    await sql`insert into voice_settings (agent_id, begin_message, model, tools)
      values (${agentId}, 'Hello.', ${MODEL}, ${sql.json([
        {
          type: 'function',
          name: 'book',
          description: 'Books a table.',
          parameters: { type: 'object' },
          url: shop.url,
          timeoutMs: 30_000,
        },
      ])})`;
    shop.answers((_one, response) => {
      if (answers) response.writeHead(200).end('{"booked":true}');
    });

    aim(doomed);
    const placed = await ask(`${doomed.url}/v1/calls`, { headers, body: { toNumber: TO } });
    const callId = String(placed.body.callId);
    const made = () => sql`
      select tool_call_id as id, outcome from call_tools where call_id = ${callId}`;
    await soon(made).toEqual([{ id: 'call_1', outcome: answers ? 'done' : null }]);
    await soon(() => shop.received.length).toBe(1);
    aim(kept);
    await doomed.kill();

    const spoken = async () =>
      (
        await sql<{ content: string }[]>`select content from call_turns
          where call_id = ${callId} and role = 'assistant'`
      ).map(({ content }) => content);
    await soon(spoken).toContain(DONE_TEXT);
    expect(shop.received.map((one) => one.headers['webhook-id'])).toEqual([`${callId}.call_1`]);
    expect(await made()).toEqual([{ id: 'call_1', outcome: answers ? 'done' : null }]);
    const prompt = (model.seen.at(-1)?.messages ?? []) as { content: unknown }[];
    expect(prompt.map(({ content }) => content)).toContain(
      answers
        ? '[tool] book was called with {"n":1}. It brought: {"booked":true}'
        : '[tool] book was called with {"n":1}. It may have been carried out: do not call it again.',
    );

    sim.calls[0]?.hangUp();
    await soon(async () => (await sql`select terminal from calls where id = ${callId}`)[0]).toEqual(
      {
        terminal: true,
      },
    );
    const ended = await callEvents(sql, callId);
    expect(ended).toHaveLength(1);
    const money = await settledMoney(sql, agentId, 60_000);
    const [models] = await sql<{ raw: bigint }[]>`
      select coalesce(sum(cost_raw), 0)::bigint as raw from charges where model = ${MODEL}`;
    expect(models?.raw).toBeGreaterThan(0n);
    expect(money.charged).toBe(RENTAL_RAW + legsRaw(ended[0]) + (models?.raw ?? 0n));
    await expectBalanced(sql, agentId);
    expect(await checkInvariants(sql)).toEqual([]);
    rmSync(directory, { recursive: true, force: true });
  },
  200_000,
);
