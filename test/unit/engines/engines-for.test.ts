import { describe, expect, it } from 'vitest';
import type { LocalEngines } from '../../../src/engines/engine.ts';
import { enginesFor } from '../../../src/engines/engines-for.ts';

describe('the engines of an agent', () => {
  it('the engines of an agent pass the agent’s id with each request', async () => {
    const asked: unknown[] = [];
    const engines: Pick<LocalEngines, 'tts' | 'guide'> = {
      tts: {
        flite: {
          async *speak({ agentId, text }) {
            asked.push([agentId, text]);
            yield* [];
          },
        },
      },
      guide: {
        async reply({ agentId, maxTokens }) {
          asked.push([agentId, maxTokens]);
          return { text: '', usage: { inputTokens: 0, outputTokens: 0 } };
        },
      },
    };
    const own = enginesFor(engines, 7);
    const { signal } = new AbortController();
    for await (const _ of own.tts.flite.speak({ text: 'Hi', voice: '', signal }));
    const facts = { agentName: '', spendableRaw: 0n, heldRaw: 0n, spentRaw: 0n };
    await own.guide.reply({ messages: [], facts, maxTokens: 3, nowMs: 0 });
    expect(asked).toEqual([
      [7, 'Hi'],
      [7, 3],
    ]);
  });
});
