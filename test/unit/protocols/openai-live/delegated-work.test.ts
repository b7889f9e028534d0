import { describe, expect, it } from 'vitest';
import type { TurnCause } from '../../../../machines/voice-turn.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import { DelegatedWork } from '../../../../src/protocols/openai-live/delegated-work.ts';
import { LiveSender } from '../../../../src/protocols/openai-live/live-sender.ts';
import { FakeSocket } from '../../../support/voice-world.ts';

const CALL = {
  id: 'item_1',
  type: 'function_call',
  status: 'completed',
  callId: 'call_1',
  name: 'weather',
  arguments: '{}',
} as const;

function work(target: 'client' | 'responses') {
  const sender = new LiveSender(systemRandom);
  const socket = new FakeSocket();
  sender.attach(socket);
  const responseId = 'resp_1';
  const options = { sender, random: systemRandom, target, responseId, offsetMs: () => 40 };
  return { socket, work: new DelegatedWork(options) };
}

describe('the work that an answer hands over', () => {
  it("delegated work is one delegation, however many tools the answer calls, and ends with the answer's status", () => {
    const ends: [TurnCause | undefined, string][] = [
      [undefined, 'response.completed'],
      [{ kind: 'cancelled', reason: 'turn_detected' }, 'response.incomplete'],
      [{ kind: 'failed', code: 'x', message: 'y' }, 'response.failed'],
    ];
    for (const [cause, type] of ends) {
      const { socket, work: delegated } = work('responses');
      delegated.call(CALL);
      delegated.call({ ...CALL, id: 'item_2', callId: 'call_2' });
      delegated.done(cause, undefined);
      const [created] = socket.of('session.delegation.created');
      expect(created).toMatchObject({ offset_ms: 40, delegation: { response_id: 'resp_1' } });
      const { delegation } = created as unknown as { delegation: { id: string } };
      const events = socket.of('response.event');
      expect(events.map(({ delegation_id }) => delegation_id)).toEqual(
        events.map(() => delegation.id),
      );
      const nested = events.map(({ event }) => event as { type: string; output_index?: number });
      expect(nested.at(-1)?.type).toBe(type);
      expect(nested.filter((event) => event.type === 'response.output_item.done')).toMatchObject([
        { output_index: 0, item: { call_id: 'call_1' } },
        { output_index: 1, item: { call_id: 'call_2' } },
      ]);
    }
  });

  it('delegated work of an application sends its id alone, and an answer without tool calls delegates nothing', () => {
    const client = work('client');
    client.work.call(CALL);
    client.work.done(undefined, undefined);
    expect(client.socket.types()).toEqual(['session.delegation.created']);
    const idle = work('responses');
    idle.work.done(undefined, undefined);
    expect(idle.socket.events).toEqual([]);
  });
});
