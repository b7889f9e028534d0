import { describe, expect, it } from 'vitest';
import { createAnthropicRail } from '../../../../../src/models/providers/anthropic/anthropic.ts';
import { WRITES_ANY_DEPTH } from '../../../../support/deep-json.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const rail = () =>
  createAnthropicRail({
    upstream: { baseUrl: 'https://x.example/v1', apiKey: null },
    clock: new ManualClock(),
  });
const call = (more: object = {}) => ({
  agentId: 1,
  heldRaw: 1n,
  model: 'claude',
  body: { messages: [{ role: 'user', content: 'Hi' }], ...more },
});

describe('a Messages upstream as a rail', () => {
  it('the Anthropic rail names a member that it cannot serve before it sends a request', async () => {
    await using anthropic = rail();
    const { signal } = new AbortController();
    expect(await anthropic.complete(call({ n: 2 }), signal)).toEqual({
      kind: 'unfit',
      param: 'n',
      detail: 'n cannot be served here: this model gives one answer a request.',
    });
    expect(await anthropic.complete(call({ messages: [] }), signal)).toMatchObject({
      kind: 'unfit',
    });
  });

  it.skipIf(WRITES_ANY_DEPTH)(
    'the Anthropic rail reports a request too deep to serialize as unfit and not as a provider failure',
    async () => {
      await using anthropic = rail();
      const parameters = JSON.parse(`{"x":${'['.repeat(9_000)}${']'.repeat(9_000)}}`);
      const tools = [{ type: 'function', function: { name: 'f', parameters } }];
      const outcome = await anthropic.complete(call({ tools }), new AbortController().signal);
      expect(outcome).toMatchObject({ kind: 'unfit', detail: expect.stringMatching(/deep/) });
    },
  );

  it('the Anthropic rail sends nothing for a client that has left', async () => {
    await using anthropic = rail();
    expect(await anthropic.complete(call(), AbortSignal.abort())).toEqual({ kind: 'aborted' });
  });
});
