import { expect, vi } from 'vitest';
import { AskingCallee } from './asking-callee.ts';
import { bearer } from './edge.ts';
import { phoneSpeech } from './phone-speech.ts';
import { rentNumber } from './phone-world.ts';
import { ask, type WholeWorld } from './whole-world.ts';

/** Callees that ask one question each, once they have heard the greeting. */
export async function askingCallees() {
  const question = await phoneSpeech('What can you do?');
  const options = { waitsForGreeting: true, answerFrames: Number.POSITIVE_INFINITY };
  return { calleeOf: async () => new AskingCallee(question, options) };
}

/** Places a call of a new agent whose responder is at `webhookUrl`, and waits `withinMs` at most for its end. */
export async function webhookCall(
  world: WholeWorld,
  { name, webhookUrl, withinMs }: { name: string; webhookUrl: string; withinMs: number },
) {
  const agent = await world.fund(name, 5_000_000n);
  await rentNumber(world.sql, agent.agentId, `+1415555${2_000 + agent.agentId}`);
  await world.sql`
    insert into voice_settings (agent_id, voice_mode, webhook_url, begin_message)
    values (${agent.agentId}, 'webhook', ${webhookUrl}, 'Hello.')`;
  const headers = bearer(agent.agentKey);
  const placed = await ask(`${world.url}/v1/calls`, {
    headers,
    body: { toNumber: '+14155550199' },
  });
  const { callId } = placed.body as { callId: string };
  await vi.waitFor(
    async () => {
      const { body } = await ask(`${world.url}/v1/calls/${callId}`, { headers });
      expect(body).toMatchObject({ terminal: true });
    },
    { timeout: withinMs, interval: 100 },
  );
  return { agent, callId, from: placed.body.from };
}
