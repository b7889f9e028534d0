import { describe, expect, it } from 'vitest';
import { EngineInputRefused, EngineMissing } from '../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { createGuide, createUseLite } from '../../../../src/engines/text/text-engines.ts';
import type { TextContract } from '../../../../src/engines/text/text-worker.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

function world(requirePresent = () => {}) {
  const client = fakeWorkerClient<TextContract>(({ argument }) => {
    const texts = argument as readonly string[];
    return Float32Array.from({ length: texts.length * 512 }, (_, i) =>
      Number(texts[Math.floor(i / 512)]),
    );
  });
  return { client, engine: createUseLite({ client, requirePresent }) };
}

const pruned = () => {
  throw new EngineMissing('pruned');
};

describe('embedding engine', () => {
  it('the embedding engine gives one vector a text, in order, in small batches', async () => {
    const { client, engine } = world();
    const texts = Array.from({ length: 40 }, (_, i) => String(i));
    const vectors = await engine.embed(texts);
    expect(vectors.map((vector) => [vector.length, vector[0]])).toEqual(
      texts.map((text) => [512, Number(text)]),
    );
    expect(client.calls.map(({ argument }) => (argument as string[]).length)).toEqual([16, 16, 8]);
  });

  it('the embedding engine serves another agent between its batches, whose size depends on the texts’ length', async () => {
    const { client, engine } = world();
    const large = engine.embed(
      Array.from({ length: 64 }, () => `1${' '.repeat(2_047)}`),
      1,
    );
    await engine.embed(['2'], 2);
    const sizes = client.calls.map(({ argument }) => (argument as string[]).length);
    expect(sizes.indexOf(1)).toBeLessThanOrEqual(2);
    await large;
    expect(client.calls.length).toBe(33);
  });

  it('the embedding engine refuses too many and too long texts before any work', async () => {
    const { client, engine } = world();
    const { texts: embedTexts, textChars: embedTextChars } = ENGINE_LIMITS.embedding;
    const many = new Array<string>(embedTexts + 1).fill('1');
    await expect(engine.embed(many)).rejects.toThrow(EngineInputRefused);
    await expect(engine.embed(['1'.repeat(embedTextChars + 1)])).rejects.toThrow(
      EngineInputRefused,
    );
    expect(client.calls).toEqual([]);
  });

  it('the embedding engine names its missing package', async () => {
    const { client, engine } = world(pruned);
    await expect(engine.embed(['1'])).rejects.toThrow(new EngineMissing('pruned'));
    expect(client.calls).toEqual([]);
  });
});

const facts = { agentName: '', spendableRaw: 0n, heldRaw: 0n, spentRaw: 0n };
const request = { messages: [], facts, maxTokens: 1, nowMs: 0 };
const answer = { text: 'Hello.', usage: { inputTokens: 1, outputTokens: 2 } };

describe('guide engine', () => {
  it('the guide engine passes a request to its worker and returns the worker’s reply', async () => {
    const client = fakeWorkerClient<TextContract>(() => answer);
    const guide = createGuide({ client, requirePresent: () => {} });
    expect(await guide.reply(request)).toEqual(answer);
    expect(client.calls).toEqual([{ method: 'reply', argument: request }]);
  });

  it('the guide engine names its missing package', async () => {
    const client = fakeWorkerClient<TextContract>(() => answer);
    const guide = createGuide({
      client,
      requirePresent() {
        throw new EngineMissing('pruned');
      },
    });
    await expect(guide.reply(request)).rejects.toThrow(new EngineMissing('pruned'));
    expect(client.calls).toEqual([]);
  });
});
