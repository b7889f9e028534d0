import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { recallTools } from '../../../src/phone/calls/opening/open-tools.ts';
import type { AgentTool } from '../../../src/phone/tools/agent-tools.ts';
import { CallTools, type ToolCall } from '../../../src/phone/tools/call-tools.ts';
import type { ToolResult } from '../../../src/phone/tools/tool-result.ts';
import {
  beginToolCall,
  findToolCalls,
  forgetToolCalls,
} from '../../../src/phone/tools/tool-store.ts';
import { startCallWorld } from '../../support/call-world.ts';
import { phoneCall } from '../../support/phone-line.ts';

const TOOLS: readonly AgentTool[] = [
  {
    type: 'function',
    name: 'book',
    description: 'Books.',
    parameters: { type: 'object' },
    url: 'https://shop.example/book',
    filler: 'Let me look.',
  },
];

let world: Awaited<ReturnType<typeof startCallWorld>>;
beforeAll(async () => {
  world = await startCallWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** A live call whose model may call `book`; each call of it ends when the test says so. */
async function talking() {
  const { callId } = await world.call(await world.agent(), { answered: true, wantsReport: true });
  const made: { readonly call: ToolCall; readonly end: (result: ToolResult) => void }[] = [];
  const told: string[] = [];
  let tools: CallTools | undefined;
  const phone = await phoneCall({
    events: {
      callTool: (item) => tools?.call(item),
      callerSpoke: () => tools?.callerSpoke(),
    },
  });
  tools = new CallTools({
    clock: phone.clock,
    log: silentLog,
    sql: world.sql,
    callId,
    tools: TOOLS,
    tell: ({ name, outcome }) => told.push(`${name} ${outcome}`),
    run: (call) =>
      new Promise((end) => {
        made.push({ call, end });
      }),
    call: phone.call,
  });
  const calls = (name: string, argumentsJson: string) =>
    phone.engines.guide.answers.push({
      text: '',
      toolCall: { name, argumentsJson },
      usage: { inputTokens: 1, outputTokens: 8 },
    });
  const done = (output: string) => ({ outcome: 'done', output, costRaw: 0n }) as const;
  /** Lets the line and the database run until something is so. */
  async function until(isSo: () => boolean): Promise<void> {
    for (let i = 0; i < 200 && !isSo(); i++) {
      await phone.passes(20);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(isSo()).toBe(true);
  }
  return { ...phone, callId, calls, done, made, told, tools, until };
}

describe('the tools of a hosted call', () => {
  it("the tools of a hosted call are called with the model's arguments, and the model answers with their results", async () => {
    const w = await talking();
    w.calls('book', '{"people":2}');
    await w.says('a table for two', 400);
    await w.until(() => w.made.length === 1);
    expect(w.made[0]?.call).toMatchObject({ tool: TOOLS[0], args: { people: 2 } });
    expect((await findToolCalls(world.sql, w.callId, 9))[0]).toMatchObject({
      name: 'book',
      arguments: '{"people":2}',
      outcome: null,
    });
    w.answers('It is booked.');
    w.made[0]?.end(w.done('{"ok":true}'));
    await w.until(() => w.turns.includes('assistant: It is booked.'));
    expect(w.prompt()).toContain('{"ok":true}');
    expect(w.told).toEqual(['book done']);
    expect((await findToolCalls(world.sql, w.callId, 9))[0]).toMatchObject({
      outcome: 'done',
      result: '{"ok":true}',
      costRaw: 0n,
    });
  });

  it('a slow tool of a hosted call has a filler spoken, and the caller gets answers while the tool runs', async () => {
    const w = await talking();
    w.calls('book', '{}');
    await w.says('a table please', 400);
    await w.until(() => w.made.length === 1);
    await w.until(() => w.turns.includes('assistant: Let me look.'));
    w.answers('Still looking.');
    await w.says('are you there', 400);
    await w.until(() => w.turns.includes('assistant: Still looking.'));
    expect(w.prompt()).toContain('{"status":"running"}');
    w.answers('Done.');
    w.made[0]?.end(w.done('ok'));
    await w.until(() => w.turns.includes('assistant: Done.'));
    expect(w.made).toHaveLength(1);
  });

  it('a tool of a hosted call is called at most once per call id, whichever process wrote the id down', async () => {
    const w = await talking();
    const toolCallId = 'call_7';
    expect(
      await beginToolCall(world.sql, w.callId, { toolCallId, name: 'book', argumentsJson: '{}' }),
    ).toBe(true);
    w.answers('I will not do that twice.');
    w.tools.call({ id: 'item_1', callId: toolCallId, name: 'book', arguments: '{}' });
    await w.until(() => w.turns.includes('assistant: I will not do that twice.'));
    expect(w.made).toEqual([]);
    const notes: string[] = [];
    const call = { callId: w.callId, options: { voice: { tools: TOOLS } } } as never;
    await recallTools({ log: silentLog, sql: world.sql }, call, {
      note: (text) => notes.push(text),
    });
    expect(notes).toEqual([
      '[tool] book was called with {}. It may have been carried out: do not call it again.',
    ]);
  });

  it('a tool call that a model repeats is made once, and the same id with other arguments is another call', async () => {
    const w = await talking();
    w.answers('Both are booked.');
    for (const [id, args] of [
      ['1', '{"n":1}'],
      ['2', '{"n":1}'],
      ['3', '{"n":2}'],
    ] as const) {
      w.tools.call({ id: `item_${id}`, callId: 'call_0', name: 'book', arguments: args });
    }
    await w.until(() => w.made.length === 2);
    expect(w.made.map(({ call }) => [call.toolCallId, call.args])).toEqual([
      ['call_0', { n: 1 }],
      ['call_0.2', { n: 2 }],
    ]);
    for (const { end } of w.made) end(w.done('ok'));
    await w.until(() => w.turns.includes('assistant: Both are booked.'));
  });

  it('the sixth model request in one turn of a hosted call offers no tools', async () => {
    const w = await talking();
    for (let round = 0; round < 5; round++) w.calls('book', `{"n":${round}}`);
    w.answers('That is all.');
    await w.says('book many', 400);
    for (let round = 0; round < 5; round++) {
      await w.until(() => w.made.length === round + 1);
      w.made[round]?.end(w.done('ok'));
    }
    await w.until(() => w.turns.includes('assistant: That is all.'));
    expect(w.engines.guide.asked.at(-1)?.tools).toEqual([]);
    expect(w.made).toHaveLength(5);
  });

  it('a model that goes on calling tools past the limit gets no further request, and the agent apologizes', async () => {
    const w = await talking();
    for (let n = 0; n < 6; n++) {
      w.tools.call({ id: `item_${n}`, callId: `c${n}`, name: 'book', arguments: `{"n":${n}}` });
      if (n < 5) {
        await w.until(() => w.made.length === n + 1);
        w.made[n]?.end(w.done('ok'));
      }
      await w.until(() => !w.tools.isRunning);
      await w.passes(2_000);
    }
    await w.until(() => w.turns.includes('assistant: Sorry, I could not do that.'));
    expect(w.made).toHaveLength(5);
    expect(w.engines.guide.asked).toHaveLength(5);
  });

  it('eight of twelve tool calls in one model response are made', async () => {
    const w = await talking();
    w.answers('Eight are booked.');
    for (let n = 0; n < 12; n++) {
      w.tools.call({ id: `item_${n}`, callId: `c${n}`, name: 'book', arguments: `{"n":${n}}` });
    }
    await w.until(() => w.made.length === 8);
    for (const { end } of w.made) end(w.done('ok'));
    await w.until(() => w.turns.includes('assistant: Eight are booked.'));
    expect(w.made).toHaveLength(8);
    const refused = w.prompt().filter((line) => line.includes('Too many functions were called'));
    expect(refused).toHaveLength(4);
  });

  it('a model that makes one more tool call after each turn gets 100 tool calls in one hosted call', async () => {
    const w = await talking();
    for (let n = 0; n < 105; n++) {
      w.tools.callerSpoke();
      w.tools.call({ id: `item_${n}`, callId: `c${n}`, name: 'book', arguments: `{"n":${n}}` });
      if (n < 100) {
        await w.until(() => w.made.length === n + 1);
        w.made[n]?.end(w.done('ok'));
      }
      await w.until(() => !w.tools.isRunning);
    }
    expect(w.made).toHaveLength(100);
    expect(await findToolCalls(world.sql, w.callId, 200)).toHaveLength(100);
  });

  it('a hosted call makes no tool call with an unknown tool, with arguments that are no object, or after its end', async () => {
    const w = await talking();
    w.answers('I cannot.');
    w.tools.call({ id: 'item_1', callId: 'a', name: 'rob', arguments: '{}' });
    w.tools.call({ id: 'item_2', callId: 'b', name: 'book', arguments: '[1]' });
    await w.until(() => w.turns.includes('assistant: I cannot.'));
    expect(w.prompt().join()).toMatch(/no function rob.*no JSON object/);
    await world.sql`update calls set terminal = true, status = 'completed' where id = ${w.callId}`;
    w.answers('It is over.');
    w.tools.call({ id: 'item_3', callId: 'c', name: 'book', arguments: '{}' });
    await w.until(() => w.turns.includes('assistant: It is over.'));
    expect(w.made).toEqual([]);
    await forgetToolCalls(world.sql, w.callId);
    expect(await findToolCalls(world.sql, w.callId, 9)).toEqual([]);
  });
});
