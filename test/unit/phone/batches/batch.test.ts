import { describe, expect, it } from 'vitest';
import { orderOf, outcomeOf, retryAfter, workIdOf } from '../../../../src/phone/batches/batch.ts';
import { PLAIN_ORDER } from '../../../support/call-batches.ts';

describe('the outcome of a call', () => {
  it.each([
    ['completed', 'call_ended', 'completed'],
    ['completed', 'voicemail_reached', 'voicemail'],
    ['completed', 'backstop_settled', 'completed'],
    ['pending', 'dial_busy', 'busy'],
    ['pending', 'dial_no_answer', 'no_answer'],
    ['pending', 'call_ended', 'no_answer'],
    ['failed', 'dial_failed', 'failed'],
    ['failed', 'carrier_denied', 'failed'],
    ['failed', 'budget_exhausted', 'failed'],
    ['failed', 'dial_invalid', 'invalid'],
    ['pending', 'agent_ended', 'canceled'],
    ['pending', 'dial_canceled', undefined],
  ] as const)(
    'a batch call that is %s with %s has the outcome %s',
    (status, endReason, outcome) => {
      expect(outcomeOf({ status, endReason })).toBe(outcome);
    },
  );
});

describe('a retry', () => {
  const retries = { busy: { count: 2, waitSeconds: 60 } };

  it('a batch retries the outcomes that it names, up to its number of retries', () => {
    expect([1, 2, 3].map((calls) => retryAfter(retries, 'busy', calls))).toEqual([
      60,
      60,
      undefined,
    ]);
    expect(retryAfter(retries, 'failed', 1)).toBeUndefined();
    expect(retryAfter({}, 'busy', 1)).toBeUndefined();
  });

  it('a batch never retries a call that was a conversation', () => {
    const all = { ...retries, completed: { count: 9, waitSeconds: 1 } };
    expect(retryAfter(all, 'completed', 1)).toBeUndefined();
  });
});

describe('the order of one call of a batch', () => {
  const owner = { agentId: 1, accountId: 'acct', spender: { keyId: 3 } };
  const none = PLAIN_ORDER.overrides;

  it("a batch call takes its recipient's values in place of the batch's values", () => {
    const common = {
      ...none,
      texts: { systemPrompt: 'Common.', beginMessage: 'Hi.' },
      model: 'acme/common',
      voice: { voice: 'amy', conversation: { language: 'en', idleSeconds: 10 } },
    };
    const own = {
      ...none,
      texts: { beginMessage: 'Own.' },
      model: 'acme/own',
      metadata: { id: 7 },
      voice: { conversation: { idleSeconds: null } },
    };
    const shared = { ...PLAIN_ORDER, overrides: common };
    expect(orderOf({ ...owner, shared }, { to: '+1', overrides: own })).toEqual({
      ...PLAIN_ORDER,
      ...owner,
      to: '+1',
      overrides: {
        texts: { systemPrompt: 'Common.', beginMessage: 'Own.' },
        model: 'acme/own',
        variables: undefined,
        metadata: { id: 7 },
        voice: { voice: 'amy', conversation: { language: 'en', idleSeconds: null } },
      },
    });
  });

  it('a batch call has no variables when neither batch nor recipient has any', () => {
    const plain = orderOf({ ...owner, shared: PLAIN_ORDER }, { to: '+1', overrides: none });
    expect(plain.overrides?.variables).toBeUndefined();
  });
});

it('each attempt of each batch row has its own work id', () => {
  const ids = [workIdOf('b', 1, 11), workIdOf('b', 11, 1), workIdOf('b', 1, 1)];
  expect(new Set(ids).size).toBe(3);
});
