import { describe, expect, it } from 'vitest';
import { REALTIME_LIMITS } from '../../../../src/protocols/openai-realtime/limits.ts';
import { openSession } from '../../../support/realtime-session.ts';

describe('ClientCommands', () => {
  it('ClientCommands answers a bad event with an error and keeps the socket open', async () => {
    const { socket, send, session } = await openSession();
    session.frame(Buffer.from('{'));
    send({ type: 'no.such.event', event_id: 'e1' });
    send({ event_id: 'e2' });
    send({ type: 'input_audio_buffer.append', audio: '#### not base64 ####' });
    send({ type: 'session.update', session: { audio: { input: { format: 'flac' } } } });
    send({
      type: 'session.update',
      session: { instructions: 'x'.repeat(REALTIME_LIMITS.instructionsChars + 1) },
    });
    send({ type: 'conversation.item.delete', item_id: 'item_none' });
    const errors = socket.of('error').map(({ error }) => error as Record<string, unknown>);
    expect(errors.map(({ code }) => code)).toEqual([
      'invalid_json',
      'invalid_value',
      'missing_required_parameter',
      'invalid_value',
      'invalid_value',
      'invalid_value',
      'item_delete_invalid_item_id',
    ]);
    expect(errors[1]?.event_id).toBe('e1');
    expect(errors[4]?.param).toBe('session.audio.input.format');
    expect(socket.closed).toBeUndefined();
  });

  it('ClientCommands refuses output_audio_buffer.clear with unsupported_event', async () => {
    const { socket, send } = await openSession();
    send({ type: 'output_audio_buffer.clear', event_id: 'mine' });
    expect(socket.of('error')[0]?.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'unsupported_event',
      event_id: 'mine',
    });
    expect(socket.of('output_audio_buffer.cleared')).toEqual([]);
  });

  it('ClientCommands closes a client that floods the socket with events', async () => {
    const { session, socket, send } = await openSession();
    for (let i = 0; i < 2_001; i++) send({ type: 'input_audio_buffer.clear' });
    await session.settled;
    expect(socket.closed).toEqual({ code: 1008, reason: 'rate_limit_exceeded' });
  });
});
