import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { isObject, type Json } from '../../../src/kernel/json.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { anthropicWorld, MODEL } from '../../support/anthropic-world.ts';
import {
  type CapturedRequest,
  clientCapture,
  eventsIn,
  replay,
} from '../../support/client-capture.ts';
import { AGENT_KEY } from '../../support/gateway-world.ts';
import { STREAM, streamed } from '../../support/message-events.ts';
import { messagesWorld } from '../../support/messages-world.ts';
import { openAiWorld } from '../../support/openai-world.ts';
import { DONE, toolCallEvents, usageEvent, wordEvents } from '../../support/stream-upstream.ts';

const CLAUDE_CODE = clientCapture('claude-code');
const [FIRST, SECOND] = CLAUDE_CODE as [CapturedRequest, CapturedRequest];
/** One that starts has more than the pool of a world may spend. */
const within = (request: CapturedRequest): CapturedRequest => ({
  ...request,
  body: { ...request.body, max_tokens: 4_096 },
});

async function ask(
  { gateway }: { readonly gateway: { readonly baseUrl: string } },
  request: CapturedRequest,
  model: string,
) {
  const to = { baseUrl: gateway.baseUrl, apiKey: AGENT_KEY, model };
  const response = await replay(within(request), to);
  const events = await eventsIn(response);
  expect(events.at(-1)).toEqual({ type: 'message_stop' });
  return events;
}

/** What a stream says and calls. */
const told = (events: readonly Json[]) => {
  const all = (member: string) => events.map((event) => event[member]).filter(isObject);
  const [blocks, deltas] = [all('content_block'), all('delta')];
  const joined = (member: string) => deltas.map((delta) => delta[member] ?? '').join('');
  return { blocks, text: joined('text'), input: joined('partial_json') };
};

describe('the Claude Code CLI over an upstream of the OpenAI dialect', () => {
  it('Claude Code calls its tool over an OpenAI upstream, and continues with the result', async () => {
    await using w = await messagesWorld();
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'Bash', arguments: '{"command":"echo hi"}' },
    };
    w.upstream.play({ pieces: [...toolCallEvents(call), usageEvent(), DONE] });
    const called = told(await ask(w, FIRST, 'acme/fast-1'));
    expect(called.blocks).toMatchObject([{ type: 'tool_use', id: 'call_1', name: 'Bash' }]);
    expect(JSON.parse(called.input)).toEqual({ command: 'echo hi' });
    const tools = w.upstream.seen.at(-1)?.tools as Json[];
    expect(tools).toHaveLength((FIRST.body.tools as Json[]).length);
    w.upstream.play({ pieces: [...wordEvents(['Ran it.']), usageEvent(), DONE] });
    expect(told(await ask(w, SECOND, 'acme/fast-1')).text).toBe('Ran it.');
    const messages = w.upstream.seen.at(-1)?.messages as Json[];
    expect(messages.slice(-2)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'Bash' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'from-bash' },
    ]);
    await w.balanced();
  });
});

describe('the Claude Code CLI over OpenAI’s models', () => {
  it.each(['openai/gpt-6-luna', 'openai/gpt-6.1-sol'])(
    'Claude Code calls its tool of %s over OpenAI’s models, with the effort that it requests',
    async (model) => {
      await using w = await openAiWorld();
      w.upstream.play({
        items: [{ think: 'sealed' }, { call: 'Bash', args: '{"command":"echo hi"}' }],
      });
      const called = told(await ask(w, FIRST, model));
      expect(called.blocks).toMatchObject([{ type: 'tool_use', id: 'call_11', name: 'Bash' }]);
      expect(JSON.parse(called.input)).toEqual({ command: 'echo hi' });
      const { body } = w.upstream.seen.at(-1) ?? {};
      expect(body?.tools).toHaveLength((FIRST.body.tools as Json[]).length);
      expect(body?.reasoning).toEqual({ effort: 'high' });
      w.upstream.play({ items: [{ say: ['Ran ', 'it.'] }] });
      expect(told(await ask(w, SECOND, model)).text).toBe('Ran it.');
      const input = w.upstream.seen.at(-1)?.body.input as Json[];
      expect(input.filter(({ type }) => type !== 'message')).toMatchObject([
        { type: 'function_call', call_id: 'call_1', name: 'Bash' },
        { type: 'function_call_output', call_id: 'call_1', output: 'from-bash' },
      ]);
      await w.balanced();
    },
  );
});

describe('the Claude Code CLI over an upstream of its dialect', () => {
  it('Claude Code has its requests and beta features relayed unchanged to an Anthropic upstream', async () => {
    await using w = await anthropicWorld();
    for (const request of CLAUDE_CODE) {
      w.upstream.replies.push(streamed(STREAM));
      expect(told(await ask(w, request, MODEL)).text).toBe('Good morning.');
      const seen = w.upstream.seen.at(-1);
      expect(seen?.body).toEqual({ ...within(request).body, model: 'claude-model' });
      expect(seen?.headers['anthropic-beta']).toBe(request.headers['anthropic-beta']);
    }
    await w.balanced();
  });
});

describe('the Claude Code CLI over the local guide', () => {
  let engines: LocalEngines;
  beforeAll(() => {
    engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
  });
  afterAll(() => engines[Symbol.asyncDispose]());

  it('Claude Code gets a complete response from local/guide', async () => {
    await using w = await messagesWorld(engines);
    for (const request of CLAUDE_CODE) {
      const events = await ask(w, request, 'local/guide');
      expect(told(events).blocks).toHaveLength(1);
    }
    await w.balanced();
  });
});
