import { expect, it } from 'vitest';
import type { FeedEvent } from '../../../../../src/phone/calls/feed/feed-event.ts';
import { followCall } from '../../../../../src/phone/calls/feed/follow-call.ts';

it('readers of a call get its actions without the digits that it sends', () => {
  const told: FeedEvent[] = [];
  const acted: string[] = [];
  const events = followCall({ tell: (_, event) => void told.push(event) }, 'CA1', {
    act: ({ name }) => void acted.push(name),
    heard: (_, heard) => void acted.push(heard),
  });
  events.act({ name: 'send_digits', digits: '1234' });
  events.act({ name: 'set_language', language: 'es-ES' });
  events.heard('item_1', 'One two');
  events.words?.('user', 'how');
  expect(told).toEqual([
    { type: 'tool', name: 'send_digits' },
    { type: 'tool', name: 'set_language', language: 'es-ES' },
    { type: 'interrupted', heard: 'One two' },
    { type: 'transcript', role: 'user', text: 'how' },
  ]);
  expect(acted).toEqual(['send_digits', 'set_language', 'One two']);
});
