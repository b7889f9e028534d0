import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import type { Json } from '../../../src/kernel/json.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { LOCAL_MODELS } from '../../../src/models/catalogue/builtin/local.ts';
import { createLocalGuideRail } from '../../../src/models/providers/local/local-guide.ts';
import {
  type CapturedRequest,
  clientCapture,
  eventsIn,
  replay,
} from '../../support/client-capture.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { CHAT_MODEL, OWN_MODEL, responsesWorld } from '../../support/responses-world.ts';
import {
  DONE,
  type StreamScript,
  toolCallEvents,
  usageEvent,
  wordEvents,
} from '../../support/stream-upstream.ts';

const CODEX = clientCapture('codex');
const [PATCH, PATCHED, SEARCHED, SCRIPT, RAN] = CODEX as [
  CapturedRequest,
  CapturedRequest,
  CapturedRequest,
  CapturedRequest,
  CapturedRequest,
];
const INPUT = '*** Begin Patch\n*** Add File: hi.txt\n+hello "you"\n*** End Patch\n';

let world: Awaited<ReturnType<typeof responsesWorld>>;
const ask = async (request: CapturedRequest, model: string) => {
  const to = { baseUrl: world.gateway.baseUrl, apiKey: AGENT_KEY, model };
  const response = await replay(request, to);
  const events = await eventsIn(response);
  expect({ status: response.status, events: response.status === 200 ? [] : events }).toEqual({
    status: 200,
    events: [],
  });
  return events;
};
/** The items that Codex acts on: it reads none before its end. */
const itemsOf = (events: readonly Json[]) =>
  events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item as Json);

describe('the Codex CLI over an upstream that speaks chat', () => {
  beforeEach(async () => {
    world = await responsesWorld();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  const calls = (name: string, value: object) => {
    const call = { id: 'call_1', type: 'function' };
    const called = { ...call, function: { name, arguments: JSON.stringify(value) } };
    world.chat.play({ pieces: [...toolCallEvents(called), usageEvent(), DONE] });
  };
  const says = (text: string) =>
    world.chat.play({ pieces: [...wordEvents([text]), usageEvent(), DONE] });
  const lastAsked = () => {
    const { messages, tools } = world.chat.seen.at(-1) ?? {};
    return { messages: messages as Json[], tools: tools as { function: { name: string } }[] };
  };
  const toolNames = () => lastAsked().tools.map((tool) => tool.function.name);

  it('Codex over a chat upstream patches files with its custom tool, whose input is the patch text', async () => {
    calls('apply_patch', { input: INPUT });
    const events = await ask(PATCH, CHAT_MODEL);
    expect(itemsOf(events)).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: INPUT },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(toolNames()).toContain('apply_patch');
    expect(JSON.stringify(lastAsked().tools)).toContain('lark grammar');
    expect(await world.charged()).toBeGreaterThan(0n);
  });

  it('Codex over a chat upstream continues after the patch was applied', async () => {
    says('Done.');
    expect(itemsOf(await ask(PATCHED, CHAT_MODEL))).toMatchObject([
      { type: 'message', content: [{ text: 'Done.' }] },
    ]);
    expect(lastAsked().messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ function: { name: 'apply_patch' } }] },
      { role: 'tool', tool_call_id: 'call_1' },
    ]);
  });

  it('Codex over a chat upstream searches its tools, and may call the found tools from then on', async () => {
    calls('tool_search', { query: 'spawn agent' });
    expect(itemsOf(await ask(PATCHED, CHAT_MODEL))).toMatchObject([
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'spawn agent' } },
    ]);
    expect(toolNames()).not.toContain('multi_agent_v1__spawn_agent');
    calls('multi_agent_v1__spawn_agent', { message: 'x' });
    expect(itemsOf(await ask(SEARCHED, CHAT_MODEL))).toMatchObject([
      { type: 'function_call', name: 'spawn_agent', namespace: 'multi_agent_v1' },
    ]);
    expect(toolNames()).toContain('multi_agent_v1__spawn_agent');
  });

  it('Codex over a chat upstream runs scripts with a custom tool from the namespace of an input item', async () => {
    calls('functions__exec', { input: 'text("hi")' });
    expect(itemsOf(await ask(SCRIPT, CHAT_MODEL))).toMatchObject([
      { type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'text("hi")' },
    ]);
    expect(toolNames()).toContain('collaboration__spawn_agent');
    says('Done.');
    await ask(RAN, CHAT_MODEL);
    expect(lastAsked().messages.slice(-2)).toMatchObject([
      { tool_calls: [{ function: { name: 'functions__exec' } }] },
      { role: 'tool', content: expect.stringContaining('characters') },
    ]);
  });
});

/** What Google and Groq both take of a chat. */
const COMMON = [
  'model',
  'messages',
  'max_tokens',
  'temperature',
  'top_p',
  'response_format',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'stream',
  'stream_options',
];

/** Answers only what it knows, as Google and Groq do. */
const strictly =
  (known: readonly string[]) =>
  (asked: Json): StreamScript => {
    const odd = Object.keys(asked).find((member) => !known.includes(member));
    if (odd === undefined) return { pieces: [...wordEvents(['Done.']), usageEvent(), DONE] };
    const error = { code: 400, message: `Unknown name "${odd}": Cannot find field.` };
    const headers = { 'content-type': 'application/json' };
    return { status: 400, headers, pieces: [JSON.stringify({ error })] };
  };

describe('the Codex CLI over an upstream that refuses what it does not know', () => {
  afterEach(() => world[Symbol.asyncDispose]());

  it.each(CODEX.map((request, at) => [at, request] as const))(
    'Codex request %i is served by a strict upstream without the members that its catalogue entry does not name',
    async (_, request) => {
      world = await responsesWorld();
      world.chat.play(strictly(COMMON));
      expect(itemsOf(await ask(request, CHAT_MODEL))).toMatchObject([
        { type: 'message', content: [{ text: 'Done.' }] },
      ]);
    },
  );

  it('a strict upstream gets the members of a Codex request that its catalogue entry names', async () => {
    world = await responsesWorld({ chatMembers: ['prompt_cache_key', 'verbosity'] });
    world.chat.play(strictly([...COMMON, 'prompt_cache_key', 'verbosity']));
    const request = { ...PATCH, body: { ...PATCH.body, user: 'u', safety_identifier: 's' } };
    await ask(request, CHAT_MODEL);
    const { prompt_cache_key } = PATCH.body;
    expect(world.chat.seen.at(-1)).toMatchObject({ prompt_cache_key, verbosity: 'low' });
  });
});

describe('the Codex CLI over an upstream that speaks Responses', () => {
  beforeEach(async () => {
    world = await responsesWorld();
  });
  afterEach(() => world[Symbol.asyncDispose]());

  it.each(CODEX.map((request, at) => [at, request] as const))(
    'Codex request %i is relayed unchanged to an upstream that speaks Responses',
    async (_, request) => {
      const events = await ask(request, OWN_MODEL);
      expect(events.at(-1)).toMatchObject({ type: 'response.completed' });
      const { model: __, ...body } = request.body;
      expect(world.own.seen.at(-1)?.body).toMatchObject({ ...body, store: false });
      expect(await world.charged()).toBeGreaterThan(0n);
    },
  );
});

describe('the Codex CLI over the local guide', () => {
  let engines: LocalEngines;
  beforeAll(async () => {
    const shared = { clock: systemClock, random: systemRandom, log: silentLog };
    engines = createLocalEngines(shared);
    const facts = { agentName: 'scout', spendableRaw: 1n, heldRaw: 0n, spentRaw: 0n };
    world = await responsesWorld({
      localGuide: createLocalGuideRail({
        ...shared,
        guide: engines.guide,
        callerFacts: async () => facts,
      }),
      models: LOCAL_MODELS,
      providers: { local: { baseUrl: null, dialect: 'local' } },
    });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await engines[Symbol.asyncDispose]();
  });

  it.each(CODEX.map((request, at) => [at, request] as const))(
    'Codex request %i gets a complete response from local/guide',
    async (_, request) => {
      const events = await ask(request, 'local/guide');
      expect(events.at(-1)).toMatchObject({
        type: 'response.completed',
        response: { status: 'completed' },
      });
      expect(itemsOf(events)).toHaveLength(1);
    },
  );
});
