import { afterAll, beforeAll, expect, it } from 'vitest';
import { numbered } from '../support/call-batches.ts';
import {
  expectNoStall,
  startWatchedServer,
  type WatchedServer,
} from '../support/watched-server.ts';
import { ask } from '../support/whole-world.ts';

let server: WatchedServer;
beforeAll(async () => {
  server = await startWatchedServer('http://127.0.0.1:9/v1');
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

it('a batch of 1,000 recipients with their own messages is admitted without stalling the event loop', async () => {
  const headers = { authorization: `Bearer ${server.keys[0]}` };
  const bought = await ask(`${server.url}/v1/numbers`, { headers, body: { areaCode: '415' } });
  expect(bought.status).toBe(201);
  const order = (count: number) => ({
    startAt: new Date(Date.now() + 3_600_000).toISOString(),
    maxSpendRaw: '100000',
    callingHours: { from: 9, until: 17 },
    systemPrompt: 'You remind {{name}} of the appointment on {{day}} at {{place}}.',
    recipients: numbered(count).map(({ to }) => ({
      to,
      beginMessage: 'Hello {{name}}, you have an appointment with us on {{day}}. Does it suit you?',
      variables: {
        name: `Customer ${to}`,
        day: 'Monday',
        place: 'the office',
        note: 'x'.repeat(500),
      },
      metadata: { crm: to },
    })),
  });
  const post = (count: number) =>
    ask(`${server.url}/v1/calls/batch`, { headers, body: order(count) });
  // Code that runs for the first time is compiled, and the numbering plans are loaded.
  await post(2);
  await expectNoStall(server, async () => {
    const { body, status } = await post(1_000);
    expect([status, body.recipients]).toEqual([201, 1_000]);
  });
  const batches = await ask(`${server.url}/v1/calls/batch?limit=1`, { headers });
  const [batch] = batches.body.batches as { batchId: string }[];
  const url = `${server.url}/v1/calls/batch/${batch?.batchId}`;
  await expectNoStall(server, async () => {
    const read = await ask(`${url}/recipients?limit=1000`, { headers });
    expect(read.body.recipients).toHaveLength(1_000);
  });
  const canceled = await ask(`${url}/cancel`, { headers, body: { hangup: true } });
  expect(canceled.body).toMatchObject({ status: 'canceled', counts: { canceled: 1_000 } });
}, 120_000);
