import { describe, expect, it } from 'vitest';
import { openSession, RATE, response } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { settleAll } from '../../../support/voice-world.ts';

describe('ResponseWriter', () => {
  it('ResponseWriter sends the events of a spoken answer in the order that the protocol fixes', async () => {
    const { engines, socket, speak } = await openSession();
    engines.stt.pocketsphinx.script.push('hello there');
    await speak(tone(1_000, RATE));
    await speak(silence(900, RATE));

    const types = socket.types().filter((type, index, all) => type !== all[index - 1]);
    expect(types).toEqual([
      'session.created',
      'conversation.created',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'conversation.item.input_audio_transcription.delta',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'rate_limits.updated',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ]);
    const spoken = socket.of('response.output_audio_transcript.delta').map(({ delta }) => delta);
    expect(spoken.join('')).toBe('You said hello there. Is that so?');
  });

  it('ResponseWriter sends the answer as audio of its spoken length, at most 200 ms a delta', async () => {
    const { socket, say } = await openSession();
    await say('hello');
    const deltas = socket
      .of('response.output_audio.delta')
      .map(({ delta }) => Buffer.from(String(delta), 'base64').length);
    // Six words of 100 ms, as 16-bit sound at 24 kHz.
    expect(deltas.reduce((sum, bytes) => sum + bytes, 0)).toBeCloseTo(600 * 48, -3);
    expect(Math.max(...deltas)).toBeLessThanOrEqual(200 * 48 + 64);
  });

  it('ResponseWriter writes text when text is requested', async () => {
    const { socket, send } = await openSession();
    send({
      type: 'response.create',
      response: { output_modalities: ['text'], metadata: { a: 'b' } },
    });
    await settleAll();
    expect(socket.types()).toContain('response.output_text.done');
    expect(socket.types()).not.toContain('response.output_audio.delta');
    expect(response(socket.of('response.done')[0]).metadata).toMatchObject({ a: 'b' });
  });
});
