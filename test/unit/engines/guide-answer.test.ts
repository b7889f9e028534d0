import * as encoder from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../src/engines/engine.ts';
import { answerGuide, type GuideRequest } from '../../../src/engines/guide-answer.ts';
import { GUIDE_CORPUS } from '../../../src/engines/guide-corpus.ts';
import { createRetriever } from '../../../src/engines/guide-retrieve.ts';
import { countTokens } from '../../../src/engines/guide-tokens.ts';

const facts = { agentName: 'a', spendableRaw: 5_000_000n, heldRaw: 0n, spentRaw: 0n };
const user = (content: string): ChatMessage => ({ role: 'user', content });

const reply = (messages: readonly ChatMessage[], more: Partial<GuideRequest> = {}) =>
  answerGuide(
    { messages, facts, maxTokens: 100, nowMs: 0, ...more },
    createRetriever(GUIDE_CORPUS),
    encoder,
  );

describe('guide answer', () => {
  it('tells the true balance, and the same every time', async () => {
    const first = await reply([user('What is my balance?')]);
    expect(first.text).toContain('5.000000 USDC');
    expect(await reply([user('What is my balance?')])).toEqual(first);
  });

  it('counts all it was given and all it says with a real tokenizer', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' } as const, user('hello')];
    const { text, usage } = await reply(messages);
    expect(usage.inputTokens).toBe(
      countTokens(encoder, 'Be brief.') + countTokens(encoder, 'hello'),
    );
    expect(usage.outputTokens).toBe(countTokens(encoder, text));
  });

  it('says no more than it may, and whether there was more', async () => {
    expect((await reply([user('what is x402')])).isCut).toBe(false);
    const { isCut, text, usage } = await reply([user('what is x402')], { maxTokens: 4 });
    expect(isCut).toBe(true);
    expect(usage.outputTokens).toBeLessThanOrEqual(4);
    expect(text.length).toBeGreaterThan(0);
  });

  it('calls one tool that is clearly meant, and reads its answer aloud after', async () => {
    const tools = [{ name: 'get_weather', description: 'Weather of a city' }];
    const asked = await reply([user('what is the weather')], { tools });
    expect(asked.toolCall).toEqual({ name: 'get_weather', argumentsJson: '{}' });
    const answered = await reply(
      [user('what is the weather'), { role: 'tool', content: 'sunny' }],
      {
        tools,
      },
    );
    expect(answered.toolCall).toBeUndefined();
    expect(answered.text).toBe('The tool answered: sunny.');
  });

  it('repeats what it does not understand, bounded, and says what it is', async () => {
    const { text } = await reply([user('mary had a little lamb')]);
    expect(text).toContain('I heard: mary had a little lamb.');
    expect(text).toContain('no language model');
    expect((await reply([user('lamb '.repeat(5_000))])).text.length).toBeLessThan(400);
  });

  it('asks for a question when there is none', async () => {
    expect((await reply([])).text).toContain('did not hear');
    expect((await reply([user(' … ')])).text).toContain('did not hear');
  });
});
