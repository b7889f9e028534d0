import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { leastAnswerOf, withMessagesCap } from '../../../../src/models/messages/cap-messages.ts';
import { MessagesRequest } from '../../../../src/models/messages/messages-request.ts';

const request = (more: object = {}) =>
  MessagesRequest.parse({
    model: 'a/b',
    max_tokens: 8_000,
    messages: [{ role: 'user', content: 'x' }],
    ...more,
  });

describe('a Messages request under a cap', () => {
  it('a Messages request stays unchanged under an output cap that is not lower than its own', () => {
    const asked = request();
    expect(withMessagesCap(asked, 8_000)).toBe(asked);
    expect(withMessagesCap(asked, 500)).toEqual({ ...asked, max_tokens: 500 });
  });

  it('an output cap on a Messages request leaves room after its thinking budget, which keeps its minimum', () => {
    const thinking = { type: 'enabled', budget_tokens: 6_000 };
    const asked = request({ thinking });
    expect(withMessagesCap(asked, 7_000).thinking).toEqual(thinking);
    expect(withMessagesCap(asked, 2_000).thinking).toMatchObject({ budget_tokens: 1_984 });
    expect(leastAnswerOf(asked)).toBe(1_024 + MODEL_LIMITS.tokens.leastOutput);
    expect(withMessagesCap(asked, leastAnswerOf(asked)).thinking).toMatchObject({
      budget_tokens: 1_024,
    });
    expect(leastAnswerOf(request({ thinking: { type: 'adaptive' } }))).toBe(
      MODEL_LIMITS.tokens.leastOutput,
    );
    expect(leastAnswerOf(request())).toBe(MODEL_LIMITS.tokens.leastOutput);
  });
});
