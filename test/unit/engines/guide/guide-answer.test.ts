import * as encoder from 'gpt-tokenizer/encoding/cl100k_base';
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../src/engines/engine.ts';
import { answerGuide, type GuideRequest } from '../../../../src/engines/guide/guide-answer.ts';
import { GUIDE_CORPUS } from '../../../../src/engines/guide/guide-corpus.ts';
import { createRetriever } from '../../../../src/engines/guide/guide-retrieve.ts';
import { countTokens } from '../../../../src/engines/text/tokens.ts';

const facts = { agentName: 'a', spendableRaw: 5_000_000n, heldRaw: 0n, spentRaw: 0n };
const user = (content: string): ChatMessage => ({ role: 'user', content });

const reply = (messages: readonly ChatMessage[], more: Partial<GuideRequest> = {}) =>
  answerGuide(
    { messages, facts, maxTokens: 100, nowMs: 0, ...more },
    createRetriever(GUIDE_CORPUS),
    encoder,
  );

describe('guide answer', () => {
  it('the guide tells the true balance, and the same every time', async () => {
    const first = await reply([user('What is my balance?')]);
    expect(first.text).toContain('5.000000 USDC');
    expect(await reply([user('What is my balance?')])).toEqual(first);
  });

  it.each([
    ['mary had a little lamb', 'I heard: mary had a little lamb.'],
    ['...', 'I did not hear a question.'],
  ])(
    'the guide answers %j the same way twice running, then differently once',
    async (said, begins) => {
      const messages: ChatMessage[] = [];
      const texts: string[] = [];
      for (let turn = 0; turn < 6; turn++) {
        messages.push(user(said));
        const { text } = await reply(messages);
        messages.push({ role: 'assistant', content: text });
        texts.push(text.startsWith(begins) ? 'same' : text);
      }
      const other = 'I still do not understand. You could ask: what is my balance?';
      expect(texts).toEqual(['same', 'same', other, 'same', 'same', other]);
    },
  );

  it('the guide counts its input and output tokens with a real tokenizer', async () => {
    const messages = [{ role: 'system', content: 'Be brief.' } as const, user('hello')];
    const { text, usage } = await reply(messages);
    expect(usage.inputTokens).toBe(
      countTokens(encoder, 'Be brief.') + countTokens(encoder, 'hello'),
    );
    expect(usage.outputTokens).toBe(countTokens(encoder, text));
  });

  it('the guide answers within its token limit, and reports whether the answer was cut', async () => {
    expect((await reply([user('what is x402')])).isCut).toBe(false);
    const { isCut, text, usage } = await reply([user('what is x402')], { maxTokens: 4 });
    expect(isCut).toBe(true);
    expect(usage.outputTokens).toBeLessThanOrEqual(4);
    expect(text.length).toBeGreaterThan(0);
  });

  it('the guide calls one clearly meant tool, and reads the tool’s result aloud afterwards', async () => {
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

  it('the guide fills a tool’s arguments by its schema, and refuses a schema that has no value', async () => {
    const properties = { city: { type: 'string' }, days: { type: 'integer' } };
    const parameters = { type: 'object', properties, required: ['city'] };
    const place = 'tools.0.function.parameters';
    const tool = { name: 'get_weather', description: 'Weather of a city', place };
    const question = [user('what is the weather in Paris for 3 days')];
    const { toolCall, usage } = await reply(question, { tools: [{ ...tool, parameters }] });
    expect(JSON.parse(toolCall?.argumentsJson ?? '')).toEqual({ city: 'Paris' });
    const bare = await reply(question, { tools: [tool] });
    expect(bare.toolCall?.argumentsJson).toBe('{}');
    expect(usage.inputTokens).toBeGreaterThan(bare.usage.inputTokens);
    const never = { ...parameters, properties: { city: false } };
    const refusal = reply(question, { tools: [{ ...tool, parameters: never }] });
    await expect(refusal).rejects.toMatchObject({
      name: 'EngineInputRefused',
      param: place,
      message:
        'The schema of the tool "get_weather" is satisfied by no value that is known here at city.',
    });
  });

  it('the guide calls a tool for any question where it must, and leaves out a call that the token limit would cut', async () => {
    const tools = ['search', 'get_weather'].map((name) => ({ name, description: `Does ${name}` }));
    const mustCall = { tools, mustCall: true };
    expect((await reply([user('mary had a lamb')], mustCall)).toolCall?.name).toBe('search');
    expect((await reply([user('the weather, please')], mustCall)).toolCall?.name).toBe(
      'get_weather',
    );
    const cut = await reply([user('the weather')], { ...mustCall, maxTokens: 1 });
    expect(cut).toMatchObject({ text: '', isCut: true, usage: { outputTokens: 0 } });
    expect(cut.toolCall).toBeUndefined();
  });

  it('the guide answers in JSON on request, by the schema where there is one', async () => {
    const any = await reply([user('what is 2 + 3')], { format: {} });
    expect(JSON.parse(any.text)).toEqual({ answer: 'That is 5.' });
    const properties = { sum: { type: 'number' }, answer: { type: 'string' } };
    const schema = { type: 'object', properties, required: ['sum', 'answer'] };
    const filled = await reply([user('what is 2 + 3')], { format: { schema } });
    expect(JSON.parse(filled.text)).toEqual({ sum: 5, answer: 'That is 5.' });
    const place = 'response_format.json_schema.schema';
    await expect(reply([user('hi')], { format: { schema: false, place } })).rejects.toMatchObject({
      param: place,
    });
  });

  it('the guide reports the result of every tool', async () => {
    const messages = [
      user('what is the weather'),
      { role: 'tool', content: '{"tempC":21,"sky":["clear","dry"]}' } as const,
      { role: 'tool', content: 'windy' } as const,
    ];
    expect((await reply(messages)).text).toBe(
      'The tool answered: temp C is 21, sky is clear, dry. The tool answered: windy.',
    );
    const empty = await reply([{ role: 'tool', content: '' }]);
    expect(empty.text).toBe('The tool answered nothing.');
  });

  it('the guide ends before the first of the stop texts', async () => {
    const whole = await reply([user('what is x402')]);
    const { isCut, text } = await reply([user('what is x402')], { stop: ['payment', 'status'] });
    expect(whole.text.startsWith(text)).toBe(true);
    expect(text).toMatch(/with $/);
    expect(isCut).toBe(false);
    expect((await reply([user('what is x402')], { stop: ['zebra'] })).text).toBe(whole.text);
  });

  it('the guide repeats an unclear request, up to a length limit, and says that it is no language model', async () => {
    const { text } = await reply([user('mary had a little lamb')]);
    expect(text).toContain('I heard: mary had a little lamb.');
    expect(text).toContain('no language model');
    expect((await reply([user('lamb '.repeat(5_000))])).text.length).toBeLessThan(400);
  });

  it('the guide asks for a question when there is none', async () => {
    expect((await reply([])).text).toContain('did not hear');
    expect((await reply([user(' … ')])).text).toContain('did not hear');
  });
});
