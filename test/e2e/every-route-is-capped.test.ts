import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../media/wav.ts';
import { refusal } from '../support/web-socket-client.ts';
import {
  ask,
  type Developer,
  moneyOf,
  newDeveloper,
  startWorld,
  type WholeWorld,
} from '../support/whole-world.ts';

let world: WholeWorld;
let developer: Developer;
let names = 0;
beforeAll(async () => {
  world = await startWorld();
  developer = await newDeveloper(world.api, 'capped');
});
afterAll(() => world[Symbol.asyncDispose]());

const TASK = { 'x-svc-task-id': ' Plan ' };
/** Less than anything costs. */
const CAP = { limitRaw: '1' };

async function fundedAgent() {
  const agentId = await developer.createAgent(`capped ${++names}`);
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: '1000000', reference: `funds-${agentId}` },
  });
  const { key } = await developer.mintKey(agentId);
  return { agentId, key, headers: { authorization: `Bearer ${key}` } };
}

type Agent = Awaited<ReturnType<typeof fundedAgent>>;

/** Every way to spend that there is, and what it answers. */
const SPENDING = {
  chat: async ({ headers }: Agent) =>
    ask(`${world.url}/v1/chat/completions`, {
      headers: { ...headers, ...TASK },
      body: {
        model: 'local/guide',
        messages: [{ role: 'user', content: 'What is two plus two?' }],
      },
    }),
  messages: ({ headers }: Agent) =>
    ask(`${world.url}/v1/messages`, {
      headers: { ...headers, ...TASK },
      body: {
        model: 'local/guide',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'What is two plus two?' }],
      },
    }),
  responses: ({ headers }: Agent) =>
    ask(`${world.url}/v1/responses`, {
      headers: { ...headers, ...TASK },
      body: { model: 'local/guide', input: 'What is two plus two?' },
    }),
  embeddings: ({ headers }: Agent) =>
    ask(`${world.url}/v1/embeddings`, {
      headers: { ...headers, ...TASK },
      body: { model: 'local/use-lite', input: Array(200).fill('What is two plus two?') },
    }),
  speech: ({ headers }: Agent) =>
    ask(`${world.url}/v1/audio/speech`, {
      headers: { ...headers, ...TASK },
      body: { model: 'local/flite', input: 'Good morning.', voice: 'alloy' },
    }),
  file: async ({ headers }: Agent) => {
    const form = new FormData();
    form.append('model', 'local/pocketsphinx');
    form.append('file', new File([encodeWav(new Int16Array(16_000), 16_000)], 'a.wav'));
    const request = { method: 'POST', body: form, headers: { ...headers, ...TASK } };
    const answer = await fetch(`${world.url}/v1/audio/transcriptions`, request);
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  },
  transcription: ({ headers }: Agent) =>
    refusal(
      `${world.wsUrl}/v1/audio/transcriptions/stream?model=local/pocketsphinx&sample_rate=16000`,
      [],
      { ...headers, ...TASK },
    ),
  listen: ({ headers }: Agent) =>
    refusal(`${world.wsUrl}/v1/listen?model=local/pocketsphinx`, [], { ...headers, ...TASK }),
  turns: ({ headers }: Agent) =>
    refusal(`${world.wsUrl}/v2/listen?model=local/pocketsphinx`, [], { ...headers, ...TASK }),
  'a file of Deepgram': ({ headers }: Agent) =>
    ask(`${world.url}/v1/listen?model=local/pocketsphinx`, {
      headers: { ...headers, ...TASK, 'content-type': 'audio/wav' },
      body: encodeWav(new Int16Array(16_000), 16_000),
    }),
  'a text of Deepgram': ({ headers }: Agent) =>
    ask(`${world.url}/v1/speak?model=local/flite`, {
      headers: { ...headers, ...TASK },
      body: { text: 'Good morning.' },
    }),
  'a text of Flux': ({ headers }: Agent) =>
    ask(`${world.url}/v2/speak?model=local/flite`, {
      headers: { ...headers, ...TASK },
      body: { text: 'Good morning.' },
    }),
  realtime: ({ headers }: Agent) =>
    refusal(`${world.wsUrl}/v1/realtime?model=local/realtime`, [], { ...headers, ...TASK }),
};

/** Every cap that the specification names, written over HTTP by its owner. */
const CAPS: Record<string, (agent: Agent) => Promise<{ readonly status: number }>> = {
  'a task policy of the agent': ({ headers }) =>
    ask(`${world.url}/v1/agents/policies`, {
      headers,
      body: { kind: 'task', matchKey: 'PLAN', ...CAP },
    }),
  'an api policy of its developer': ({ agentId }) =>
    ask(`${world.url}/v1/developer/agents/${agentId}/policies`, {
      headers: developer.headers,
      body: { kind: 'api', matchKey: 'local', windowKind: 'calendar', calendarUnit: 'day', ...CAP },
    }),
  'a session limit': ({ headers }) =>
    ask(`${world.url}/v1/agents/spend-limit`, { method: 'PUT', headers, body: CAP }),
  'a key budget': async ({ agentId }) => {
    const { body } = await ask(`${world.url}/v1/developer/agents/${agentId}/keys`, {
      headers: developer.headers,
    });
    const [key] = body.keys as { id: number }[];
    return ask(`${world.url}/v1/developer/agents/${agentId}/keys/${key?.id}/budget`, {
      method: 'PUT',
      headers: developer.headers,
      body: { budgetRaw: '1' },
    });
  },
  'a policy of the team': () =>
    ask(`${world.url}/v1/developer/policies`, {
      headers: developer.headers,
      body: { kind: 'task', matchKey: 'plan', ...CAP },
    }),
};

type Body = Readonly<Record<string, unknown>>;

/** What a refusal says in each envelope, and what it should. */
const ofVendor = (way: string, { error }: Body) => {
  const type = way === 'messages' ? 'billing_error' : 'insufficient_quota';
  return [error, { type, code: 'budget_exhausted' }] as const;
};
const ofDeepgram = (body: Body) =>
  [body, { err_code: 'ASR_PAYMENT_REQUIRED', error: 'budget_exhausted' }] as const;

describe('no way to spend goes round', () => {
  it.each(Object.keys(CAPS))('no route can spend past %s', async (name) => {
    const agent = await fundedAgent();
    const free = await SPENDING.chat(agent);
    expect(free.status).toBe(200);
    const before = await moneyOf(world.sql, agent.agentId);
    expect([200, 201]).toContain((await CAPS[name]?.(agent))?.status);
    for (const [way, spend] of Object.entries(SPENDING)) {
      const { status, body } = await spend(agent);
      expect({ way, status }).toEqual({ way, status: 402 });
      const [told, wanted] = 'err_code' in body ? ofDeepgram(body) : ofVendor(way, body);
      expect(told).toMatchObject(wanted);
    }
    expect(await moneyOf(world.sql, agent.agentId)).toEqual(before);
  });
});
