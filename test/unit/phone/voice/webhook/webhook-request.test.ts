import { describe, expect, it } from 'vitest';
import { webhookRequest } from '../../../../../src/phone/voice/webhook/webhook-request.ts';
import { said } from '../../../../support/said.ts';

const CALL = {
  callId: 'CA1',
  from: '+14155550100',
  to: '+14155550199',
  direction: 'inbound',
} as const;

const request = (...items: Parameters<typeof webhookRequest>[1]) => {
  const body = webhookRequest(CALL, items);
  return body === undefined ? undefined : JSON.parse(body);
};

describe('the request to a voice webhook', () => {
  it('the request to a voice webhook names the call and its last utterance, with the turns before it', () => {
    expect(
      request(said('assistant', 'Hello, how can I help?'), said('user', 'What are your hours?')),
    ).toEqual({
      type: 'agent.message',
      channel: 'voice',
      callId: 'CA1',
      from: '+14155550100',
      to: '+14155550199',
      direction: 'inbound',
      text: 'What are your hours?',
      recentHistory: [{ role: 'assistant', content: 'Hello, how can I help?' }],
    });
  });

  it('the request to a voice webhook has the digits that it gathered, beside a text without the digits', () => {
    const items = [said('user', '[keypad] 4 digits entered')];
    const asked = JSON.parse(webhookRequest(CALL, items, '4111') ?? '');
    expect(asked).toMatchObject({ text: '[keypad] 4 digits entered', digits: '4111' });
    expect(request(...items)).not.toHaveProperty('digits');
  });

  it('the request to a voice webhook has the last ten turns, oldest first', () => {
    const turns = Array.from({ length: 13 }, (_, i) =>
      said(i % 2 === 0 ? 'user' : 'assistant', `turn ${i}`),
    );
    const { recentHistory, text } = request(...turns);
    expect(text).toBe('turn 12');
    expect(recentHistory.map(({ content }: { content: string }) => content)).toEqual(
      Array.from({ length: 10 }, (_, i) => `turn ${i + 2}`),
    );
  });

  it('the request to a voice webhook has no instructions, actions and empty turns in its history', () => {
    const { recentHistory } = request(
      said('system', 'Be brief.'),
      said('assistant', ''),
      {
        id: 'f',
        type: 'function_call',
        status: 'completed',
        callId: 'c',
        name: 'send_digits',
        arguments: '{}',
      },
      said('user', 'Hi'),
    );
    expect(recentHistory).toEqual([]);
  });

  it('the request to a voice webhook is not made when the caller has said nothing since the last answer', () => {
    expect([request(), request(said('user', 'Hi'), said('assistant', 'Hello'))]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
