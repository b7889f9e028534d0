import { afterAll, beforeAll, expect, it } from 'vitest';
import { startRelayApp } from '../support/relay-app.ts';
import { askingCallees, webhookCall } from '../support/webhook-call.ts';
import { startWorld, type WholeWorld } from '../support/whole-world.ts';

let world: WholeWorld;
let app: Awaited<ReturnType<typeof startRelayApp>>;
beforeAll(async () => {
  app = await startRelayApp();
  world = await startWorld({ SSRF_ALLOW_LOCALHOST: '1' }, await askingCallees());
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

it('a ConversationRelay app that sends text before the call opens is heard after the greeting, and may end the call', async () => {
  const called = webhookCall(world, { name: 'relayed', webhookUrl: app.url, withinMs: 60_000 });
  const session = await app.session();
  session.say({ type: 'text', token: 'Good day.', last: true }, { type: 'end' });
  const { callId } = await called;
  const [ended] = await world.sql<{ payload: Record<string, unknown> }[]>`
    select payload from events where correlation_id = ${callId} and name = 'call.ended'`;
  const ttsRaw = Math.ceil('Hello.Good day.'.length * 52.5);
  expect(ended?.payload).toMatchObject({ reason: 'agent_ended', ttsRaw: String(ttsRaw) });
}, 120_000);
