import { describe, expect, it } from 'vitest';
import type { GuideEngine, GuideReply } from '../../../../../src/engines/engine.ts';
import {
  EngineBusy,
  EngineInputRefused,
  EngineMissing,
} from '../../../../../src/engines/engine.ts';
import { createLocalGuideRail } from '../../../../../src/models/providers/local/local-guide.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

type Asked = Parameters<GuideEngine['reply']>[0];

/** One raw unit of what is held belongs to the question itself. */
const FACTS = { agentName: 'scout', spendableRaw: 5n, heldRaw: 3n, spentRaw: 2n };
const TOLD = { ...FACTS, spendableRaw: 6n, heldRaw: 2n };

function world(reply: Partial<GuideReply> | Error = {}) {
  const asked: Asked[] = [];
  const guide: GuideEngine = {
    async reply(request) {
      asked.push(request);
      if (reply instanceof Error) throw reply;
      return { text: 'Hello.', usage: { inputTokens: 7, outputTokens: 3 }, ...reply };
    },
  };
  const rail = createLocalGuideRail({
    guide,
    callerFacts: async () => FACTS,
    clock: new ManualClock(),
    random: { bytes: (length) => new Uint8Array(length) },
  });
  const ask = async (body: object, signal = new AbortController().signal) => {
    const outcome = await rail.complete(
      { agentId: 1, heldRaw: 1n, model: 'guide', body: { ...body } },
      signal,
    );
    const json =
      outcome.kind === 'completed' ? JSON.parse(Buffer.from(outcome.body).toString()) : undefined;
    return { outcome, json };
  };
  return { ask, asked };
}

const hello = { messages: [{ role: 'user', content: 'Hi' }] };

describe('the guide as a rail', () => {
  it('the local guide’s rail returns a completion with the guide’s own token count', async () => {
    const { ask } = world();
    const { outcome, json } = await ask(hello);
    expect(outcome).toMatchObject({
      kind: 'completed',
      usage: { inputTokens: 7, cachedTokens: 0, outputTokens: 3 },
    });
    expect(json).toMatchObject({
      object: 'chat.completion',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
    expect(json.id).toMatch(/^chatcmpl-/);
  });

  it('the local guide’s rail repeats its answer for each requested choice and counts all of them', async () => {
    const { json, outcome } = await world().ask({ ...hello, n: 3 });
    expect(json.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
    expect(json.usage).toEqual({ prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 });
    expect(outcome).toMatchObject({ usage: { outputTokens: 9 } });
  });

  it('the local guide’s rail reports an unsupported member as unfit without calling the guide', async () => {
    const { ask, asked } = world();
    const { outcome } = await ask({ ...hello, logprobs: true });
    expect(outcome).toEqual({
      kind: 'unfit',
      param: 'logprobs',
      detail: 'logprobs cannot be served here: this model gives none.',
    });
    expect(asked).toEqual([]);
  });

  it('the local guide’s rail reports the finish reason length for a cut answer', async () => {
    const { json } = await world({ isCut: true }).ask(hello);
    expect(json.choices[0].finish_reason).toBe('length');
  });

  it('the local guide’s rail returns a tool call in the form that the SDKs expect', async () => {
    const toolCall = { name: 'balance', argumentsJson: '{}' };
    const { ask } = world({ text: '', toolCall });
    const { json } = await ask(hello);
    expect(json.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ type: 'function', function: { name: 'balance', arguments: '{}' } }],
      },
    });
  });

  it('the local guide’s rail passes on the agent’s facts, the messages, the tools and the output cap', async () => {
    const { ask, asked } = world();
    await ask({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi ' },
            { type: 'text', text: 'there' },
          ],
        },
        { role: 'assistant', content: null },
      ],
      max_tokens: 9,
      tools: [{ type: 'function', function: { name: 'f', description: 'does' } }],
    });
    expect(asked[0]).toMatchObject({
      facts: TOLD,
      maxTokens: 9,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi there' },
        { role: 'assistant', content: '' },
      ],
      tools: [{ name: 'f', description: 'does', place: 'tools.0.function.parameters' }],
    });
    await ask({
      ...hello,
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'none',
    });
    expect(asked[1]?.tools).toBeUndefined();
  });

  it('the local guide’s rail reports missing data, a busy engine and an oversized input', async () => {
    const outcomeOf = async (error: Error) => (await world(error).ask(hello)).outcome;
    expect(await outcomeOf(new EngineMissing('no embeddings'))).toMatchObject({
      failure: 'missing',
      detail: 'no embeddings',
    });
    expect(await outcomeOf(new EngineBusy(2))).toMatchObject({
      failure: 'busy',
      retryAfterSeconds: 2,
    });
    expect(await outcomeOf(new EngineInputRefused('too long'))).toMatchObject({ kind: 'unfit' });
    expect(await outcomeOf(new Error('bug'))).toMatchObject({ failure: 'broken' });
  });

  it('the local guide’s rail calls no guide for a client that has left', async () => {
    const { ask, asked } = world();
    expect((await ask(hello, AbortSignal.abort())).outcome.kind).toBe('aborted');
    expect(asked).toEqual([]);
  });
});
