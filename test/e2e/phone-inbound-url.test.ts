import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { startReceiver } from '../support/receiver.ts';
import { ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

let world: WholeWorld;
let backend: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  backend = await startReceiver();
  world = await startWorld(
    { SSRF_ALLOW_LOCALHOST: '1' },
    { calleeOf: async () => new QuietCallee() },
  );
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await backend[Symbol.asyncDispose]();
});

async function numbered(name: string) {
  const agent = await world.fund(name, 5_000_000n);
  await rentNumber(world.sql, agent.agentId, `+1415555${2_000 + agent.agentId}`);
  const [row] = await world.sql<{ id: number }[]>`
    select id from phone_numbers where agent_id = ${agent.agentId}`;
  const headers = { authorization: `Bearer ${agent.developerKey}` };
  const base = `${world.url}/v1/developer/agents/${agent.agentId}`;
  const ring = async () =>
    (await ask(`${base}/numbers/${row?.id}/test-ring`, { headers, body: {} })).body.callId;
  const set = (body: object) => ask(`${base}/voice`, { method: 'PATCH', headers, body });
  const read = () => ask(`${base}/voice`, { headers });
  const ended = async (callId: unknown) => {
    const [event] = await world.sql<{ payload: Record<string, unknown> }[]>`
      select payload from events where correlation_id = ${String(callId)} and name = 'call.ended'`;
    return event?.payload;
  };
  return { ...agent, ended, read, ring, set };
}

const says = (answer: object) =>
  backend.answers((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });

it("the secret of an inbound URL is shown once and signs each request, and the URL's responses accept or reject calls", async () => {
  const agent = await numbered('asked');
  const { body } = await agent.set({ inboundUrl: backend.url, beginMessage: 'Stored.' });
  expect(body).toMatchObject({ inboundUrl: `${backend.url}/` });
  const secret = String(body.inboundSecret);
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect((await agent.read()).body).not.toHaveProperty('inboundSecret');

  says({ action: 'accept', beginMessage: 'Hello {{who}}.', variables: { who: 'Ann' } });
  const callId = await agent.ring();
  await expect
    .poll(() => world.sql`select content from call_turns where call_id = ${String(callId)}`, {
      timeout: 20_000,
    })
    .toEqual([{ content: 'Hello Ann.' }]);
  const { body: sent, headers } = backend.received[0] ?? { body: '', headers: {} as never };
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${sent}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  );
  expect(JSON.parse(sent)).toMatchObject({ type: 'call.inbound', callId });
  await ask(`${world.url}/v1/calls/${callId}/hangup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.agentKey}` },
  });

  says({ action: 'reject' });
  expect(await agent.ring()).toBeNull();

  says({ action: 'forward', to: '+14155550177' });
  const forwarded = await agent.ring();
  await expect
    .poll(() => agent.ended(forwarded), { timeout: 40_000 })
    .toMatchObject({
      reason: 'call_transfer',
      ttsRaw: '0',
    });
}, 90_000);
