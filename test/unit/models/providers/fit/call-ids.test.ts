import { describe, expect, it } from 'vitest';
import {
  ANTHROPIC_CALL_IDS,
  CALL_ID_FORMS,
  CallIds,
  RESPONSE_CALL_IDS,
} from '../../../../../src/models/providers/fit/call-ids.ts';
import { withFittingIds } from '../../../../../src/models/providers/fit/chat-call-ids.ts';
import { withFittingCallIds } from '../../../../../src/models/providers/fit/item-call-ids.ts';

const FORMS = { ...CALL_ID_FORMS, anthropic: ANTHROPIC_CALL_IDS, responses: RESPONSE_CALL_IDS };

describe('the ids of the calls of a conversation', () => {
  it('tool call ids stay unchanged when the vendor accepts them and each occurs once', () => {
    const ids = new CallIds(ANTHROPIC_CALL_IDS);
    expect([ids.call('toolu_1'), ids.call('call_2')]).toEqual(['toolu_1', 'call_2']);
    expect([ids.result('call_2'), ids.result('toolu_1')]).toEqual(['call_2', 'toolu_1']);
  });

  it.each(Object.entries(FORMS))(
    'tool call ids are made to fit the form %s and to be unique',
    (_, form) => {
      const ids = new CallIds(form);
      const given = ['functions.Bash:0', '', '', 'x'.repeat(80), 'callabcd1', 'callabcd1'];
      const made = given.map((id) => ids.call(id));
      expect(made.every((id) => form.fits(id))).toBe(true);
      expect(new Set(made).size).toBe(given.length);
      expect(given.map((id) => ids.result(id))).toEqual(made);
    },
  );

  it('replaced tool call ids stay the same as the chat goes on', () => {
    const first = new CallIds(ANTHROPIC_CALL_IDS);
    const longer = new CallIds(ANTHROPIC_CALL_IDS);
    const made = [first.call('a:0'), first.call('a:0')];
    expect([longer.call('a:0'), longer.call('a:0'), longer.call('a:0')].slice(0, 2)).toEqual(made);
    expect(made[0]).toMatch(/^call_[0-9a-f]{24}$/);
  });

  it('a tool result follows its call when an id is used again in later turns', () => {
    const ids = new CallIds(ANTHROPIC_CALL_IDS);
    const turn = () => [ids.call('call_0'), ids.result('call_0')];
    const [one, two, three] = [turn(), turn(), turn()];
    expect([one, two, three].map(([call, result]) => call === result)).toEqual([true, true, true]);
    expect(one[0]).toBe('call_0');
    expect(new Set([one[0], two[0], three[0]]).size).toBe(3);
  });
});

describe('a request whose ids all fit', () => {
  it('a request whose tool call ids all fit is passed on as the same object', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const chat = {
      messages: [
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'x' },
      ],
    };
    expect(withFittingIds(chat, CALL_ID_FORMS.forty)).toBe(chat);
    const item = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' };
    const request = { input: [item, { type: 'function_call_output', call_id: 'call_1' }] };
    expect(withFittingCallIds(request)).toBe(request);
    expect(withFittingCallIds({ input: 'Hello' })).toEqual({ input: 'Hello' });
  });
});
