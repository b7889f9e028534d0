import { type Clock, sleep } from '../../../kernel/clock.ts';
import { type Api, bearer } from './api.ts';

const FACT = 'Please remember that my dog is called Bruno.';
const QUESTION = 'Do you recall what my dog is called?';
const MODEL = 'local/guide';
const TRY_EVERY_MS = 200;
/** Most polls, a minute's worth: the first memory waits until the embedding model is loaded. */
const TRIES = 300;

const text = (name: string, description: string) => ({
  type: 'object',
  properties: { [name]: { type: 'string', description } },
  required: [name],
});

const TOOLS = [
  ['remember', 'Remember a fact for later conversations', text('text', 'The fact')],
  ['recall', 'Recall a fact of an earlier conversation', text('query', 'What to look for')],
].map(([name, description, parameters]) => ({
  type: 'function',
  function: { name, description, parameters },
}));

type Message = {
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
};

type Demo = {
  readonly clock: Clock;
  readonly api: Api;
  readonly agentKey: string;
  readonly said: (line: string) => void;
};

/**
 * Tells the agent a fact in one conversation and asks for it in a second one. The two conversations share only the memory
 * store.
 */
export async function rememberFact(demo: Demo): Promise<void> {
  demo.said(`first conversation:  "${FACT}"`);
  demo.said(`                     ${await converse(demo, FACT)}`);
  demo.said(`second conversation: "${QUESTION}"`);
  const answer = await converse(demo, QUESTION);
  demo.said(`                     ${answer}`);
  if (!answer.includes('Bruno')) throw new Error(`the agent did not remember: ${answer}`);
}

/** Asks one question in a new conversation and returns the answer. The model's tools are the agent's memory. */
async function converse(demo: Demo, question: string): Promise<string> {
  const asked: Message = { role: 'user', content: question };
  const first = await complete(demo, [asked]);
  const [call] = first.tool_calls ?? [];
  if (call === undefined) throw new Error(`the model asked for no memory: ${first.content}`);
  const { name, arguments: given } = call.function;
  const wish = JSON.parse(given) as Record<string, string>;
  const content = name === 'remember' ? await keep(demo, wish) : await find(demo, wish);
  const result: Message = { role: 'tool', tool_call_id: call.id, content };
  return (await complete(demo, [asked, first, result])).content ?? '';
}

async function complete({ api, agentKey }: Demo, messages: readonly Message[]): Promise<Message> {
  const body = { model: MODEL, messages, tools: TOOLS };
  const { choices } = await api.call<{ choices: { message: Message }[] }>(
    'POST',
    '/v1/chat/completions',
    { headers: bearer(agentKey), body },
  );
  const message = choices[0]?.message;
  if (message === undefined) throw new Error('the model answered nothing');
  return message;
}

/** Calls an operation of the memory store through the proxy, as agents of other services do. */
async function store<T>(demo: Demo, operation: string, body: object): Promise<T> {
  const { result } = await demo.api.call<{ result: { data: T } }>('POST', '/v1/proxy/fetch', {
    headers: bearer(demo.agentKey),
    body: {
      url: `${demo.api.baseUrl}/v1/db/vectordb/${operation}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
  });
  return result.data;
}

async function keep(demo: Demo, wish: Record<string, string>): Promise<string> {
  const memories = [{ text: wish.text }];
  const { results } = await store<{ results: { id: string }[] }>(demo, 'ingest', {
    type: 'memory',
    memories,
  });
  const ids = results.map(({ id }) => id);
  for (let tries = 0; tries < TRIES; tries++) {
    const { statuses } = await store<{ statuses: { status: string }[] }>(demo, 'status', { ids });
    if (statuses.every(({ status }) => status === 'completed')) return 'I have kept it.';
    await sleep(demo.clock, TRY_EVERY_MS);
  }
  throw new Error('the memory was not indexed');
}

async function find(demo: Demo, wish: Record<string, string>): Promise<string> {
  const { chunks } = await store<{ chunks: { chunk_content: string }[] }>(demo, 'query', {
    query: wish.query,
    maxResults: 1,
  });
  return chunks[0]?.chunk_content.split('\n')[0] ?? 'I know nothing of it.';
}
