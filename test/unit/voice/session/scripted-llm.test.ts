import { expect, it } from 'vitest';
import { createScriptedLlm } from '../../../../src/voice/session/scripted-llm.ts';
import type { Llm, LlmRequest } from '../../../../src/voice/session/voice-pipeline.ts';

const replyOf = (text: string, asked: string[]): Llm['reply'] => {
  return () => {
    asked.push(text);
    return {
      next: async () => undefined,
      tokens: { input: 0, cached: 0, output: 0 },
      cut: undefined,
    };
  };
};

const request = (isPrompt: boolean) => ({ items: [], isPrompt }) as unknown as LlmRequest;

it("a silent caller hears the scripted words, even empty ones, and the model's prompt only without a script", async () => {
  const asked: string[] = [];
  for (const words of ['Hello?', '']) {
    const reply = createScriptedLlm({ reply: replyOf('model', asked) }, () => words).reply(
      request(true),
    );
    expect(await reply.next()).toEqual({ kind: 'text', text: words });
    expect(await reply.next()).toBeUndefined();
  }
  expect(asked).toEqual([]);
  createScriptedLlm({ reply: replyOf('prompt', asked) }).reply(request(true));
  createScriptedLlm({ reply: replyOf('answer', asked) }, () => '').reply(request(false));
  expect(asked).toEqual(['prompt', 'answer']);
});
