import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { EventSender } from '../../../../src/protocols/openai-realtime/event-sender.ts';
import { FakeSocket } from '../../../support/voice-world.ts';

test('EventSender leaves no listener on an abort signal after repeated waits for a slow client', async () => {
  const sender = new EventSender(systemRandom);
  const socket = new FakeSocket();
  sender.attach(socket);
  const { signal } = new AbortController();
  for (let i = 0; i < 20; i++) {
    socket.bufferedAmount = Number.POSITIVE_INFINITY;
    const room = sender.room(signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    socket.bufferedAmount = 0;
    sender.drained();
    await room;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  }
});
