import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { createLocalEngines } from '../../../src/engines/local-engines.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { AGENT, asked, messagesWorld, WEATHER } from '../../support/messages-world.ts';
import { DONE, USAGE, usageEvent, wordEvents } from '../../support/stream-upstream.ts';

let engines: LocalEngines;
beforeAll(() => {
  engines = createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });
});
afterAll(() => engines[Symbol.asyncDispose]());
const world = () => messagesWorld(engines);

describe('Anthropic’s SDK, of the guide', () => {
  const guide = { ...asked, model: 'local/guide' };

  it('local/guide over Anthropic’s SDK is answered, streamed and billed as over chat', async () => {
    await using w = await world();
    const question = [{ role: 'user' as const, content: 'What is 2 + 3?' }];
    const { data, response } = await w.claude.messages
      .create({ ...guide, messages: question })
      .withResponse();
    expect(data.content).toMatchObject([{ type: 'text', text: expect.stringContaining('5') }]);
    expect(BigInt(response.headers.get('x-svc-cost-usdc') ?? '0')).toBe(
      w.ledger.consumedRaw(AGENT),
    );
    const streamed = await w.claude.messages
      .stream({ ...guide, messages: question })
      .finalMessage();
    expect(streamed.content).toMatchObject([
      { text: data.content[0]?.type === 'text' && data.content[0].text },
    ]);
    expect(streamed.usage).toMatchObject({
      input_tokens: data.usage.input_tokens,
      output_tokens: data.usage.output_tokens,
    });
    await w.balanced();
  });

  it('local/guide over Anthropic’s SDK calls a requested tool', async () => {
    await using w = await world();
    const { content, stop_reason } = await w.claude.messages.create({
      ...guide,
      tools: [WEATHER],
      tool_choice: { type: 'tool' as const, name: 'weather' },
      messages: [{ role: 'user', content: 'The weather in "Oslo"?' }],
    });
    expect(stop_reason).toBe('tool_use');
    expect(content.at(-1)).toMatchObject({ type: 'tool_use', name: 'weather' });
    await w.balanced();
  });

  it('local/guide over Anthropic’s SDK counts tokens as it bills them, and images and files by size', async () => {
    await using w = await world();
    const { data, response } = await w.claude.messages
      .countTokens({
        model: 'local/guide',
        messages: [{ role: 'user', content: 'What is 2 + 3?' }],
      })
      .withResponse();
    // Eight tokens, and eight around them.
    expect(data).toEqual({ input_tokens: 16 });
    expect(response.headers.get('x-svc-token-count')).toBe('estimate');
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'aGk=' };
    const pictured = await w.claude.messages.countTokens({
      model: 'local/guide',
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    });
    expect(pictured.input_tokens).toBe(1_608);
    expect(w.ledger.charges).toEqual([]);
  });
});

it('local/guide over Anthropic’s SDK answers once under an Idempotency-Key, and replays', async () => {
  await using w = await world();
  w.upstream.play({ pieces: [...wordEvents(['Good.']), usageEvent(USAGE), DONE] });
  const ask = async () => {
    const response = await w.gateway.request('/messages', {
      body: { ...asked, stream: true },
      headers: { 'idempotency-key': 'k' },
    });
    return { text: await response.text(), headers: response.headers };
  };
  const first = await ask();
  const again = await ask();
  expect(again.text).toBe(first.text);
  expect(again.headers.get('x-svc-idempotent-replay')).toBe('true');
  expect(w.upstream.seen).toHaveLength(1);
  await w.balanced();
});
