import { describe, expect, it } from 'vitest';
import { EngineMissing } from '../../../../src/engines/engine.ts';
import { createGuide } from '../../../../src/engines/guide/guide.ts';
import type { TextContract } from '../../../../src/engines/guide/text-worker.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

const facts = { agentName: '', spendableRaw: 0n, heldRaw: 0n, spentRaw: 0n };
const request = { messages: [], facts, maxTokens: 1, nowMs: 0 };
const answer = { text: 'Hello.', usage: { inputTokens: 1, outputTokens: 2 } };

describe('guide engine', () => {
  it('asks its worker and says what that said', async () => {
    const client = fakeWorkerClient<TextContract>(() => answer);
    const guide = createGuide({ client, requirePresent: () => {} });
    expect(await guide.reply(request)).toEqual(answer);
    expect(client.calls).toEqual([{ method: 'reply', argument: request }]);
  });

  it('says what is missing', async () => {
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
