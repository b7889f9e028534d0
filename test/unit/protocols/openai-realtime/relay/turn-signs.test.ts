import { describe, expect, it } from 'vitest';
import { noMetrics } from '../../../../../src/platform/tracing/metrics.ts';
import {
  isAppend,
  isSoundAlone,
  TurnSigns,
} from '../../../../../src/protocols/openai-realtime/relay/turn-signs.ts';
import { SessionTally } from '../../../../../src/voice/live/session-tally.ts';
import { createVoiceMetrics } from '../../../../../src/voice/live/voice-metrics.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

function start() {
  const clock = new ManualClock(0);
  const metrics = createVoiceMetrics(noMetrics, () => 1);
  const tally = new SessionTally({ kind: 'relay', clock, metrics });
  const signs = new TurnSigns({ tally, clock });
  const down = (type: string, fields: object = {}, agoMs = 0) =>
    signs.down(type, Buffer.from(JSON.stringify({ type, ...fields })), clock.monotonicMs() - agoMs);
  /** Base64 of so many bytes of sound. */
  const sound = (bytes: number) => Buffer.alloc(bytes).toString('base64');
  const up = (text: string) => {
    const frame = Buffer.from(text);
    signs.up(frame, isAppend(frame), clock.monotonicMs());
  };
  const append = (bytes: number, lead = '{"type":"input_audio_buffer.append"') =>
    up(`${lead},"audio":"${sound(bytes)}"}`);
  return { clock, down, up, append, sound, signs, tally };
}

const FORMATS = [
  [4_800, undefined],
  [
    800,
    {
      audio: {
        input: { format: { type: 'audio/pcmu' } },
        output: { format: { type: 'audio/pcmu' } },
      },
    },
  ],
  [800, { input_audio_format: 'g711_alaw', output_audio_format: 'g711_alaw' }],
] as const;

describe('the frames of a relayed turn', () => {
  it.each(FORMATS)(
    'the frames of a relayed turn give its stages and its seconds of audio, %d bytes a tenth of a second',
    (bytes, session) => {
      const { append, clock, down, sound, tally } = start();
      if (session !== undefined) down('session.updated', { session });
      for (let n = 0; n < 10; n++) {
        append(bytes);
        clock.advance(100);
      }
      down('input_audio_buffer.speech_stopped');
      clock.advance(150);
      down('response.created');
      clock.advance(50);
      down('response.output_audio.delta', { event_id: 'e', delta: sound(bytes) }, 3);
      clock.advance(100);
      down('response.output_audio.delta', { event_id: 'e', delta: sound(bytes) });
      clock.advance(300);
      down('response.output_audio.delta', { event_id: 'e', delta: sound(bytes) });
      const summary = tally.close();
      expect(summary).toMatchObject({
        stages: {
          answer: { count: 1, meanMs: 200 },
          first_audio: { count: 1, meanMs: 50 },
          forward: { count: 1, meanMs: 3 },
        },
        underruns: 1,
        underrunMs: 200,
        interruptions: 0,
      });
      expect(summary.heardSeconds).toBeCloseTo(1, 1);
      expect(summary.spokenSeconds).toBeCloseTo(0.3, 1);
      expect(summary.jitterMs).toBeLessThan(1);
    },
  );

  it('the frames of a relayed turn are read with blanks in them, and with client-side commits', () => {
    const { append, clock, down, sound, tally, up } = start();
    append(4_800, '{"type": "input_audio_buffer.append"');
    up('{"type": "input_audio_buffer.commit"}');
    clock.advance(70);
    down('response.audio.delta', { delta: sound(480) });
    expect(tally.close()).toMatchObject({
      stages: { answer: { count: 1, meanMs: 70 } },
      heardSeconds: expect.closeTo(0.1, 2),
    });
  });

  it('the frames of a relayed turn show an interruption, and malformed frames count as nothing', () => {
    const { down, signs, tally, up } = start();
    down('response.created');
    down('conversation.item.truncated');
    up('no event at all');
    signs.down('session.updated', Buffer.from('{"type":"session.updated"'), 0);
    down('response.output_audio.delta', { delta: 7 });
    expect(tally.close()).toMatchObject({ interruptions: 1, heardSeconds: 0, spokenSeconds: 0 });
  });
});

describe('a client frame', () => {
  it.each([
    [true, '{"type":"input_audio_buffer.append","audio":"UklGRg=="}'],
    [true, '{"type": "input_audio_buffer.append", "audio": "UklGRg=="}'],
    [true, '{"type":"input_audio_buffer.append","audio":""}'],
    [false, '{"type":"input_audio_buffer.append","audio":"UklGRg==","tools":[]}'],
    [false, '{"type":"input_audio_buffer.append","audio":"","x":"y"}'],
    [false, '{"type":"input_audio_buffer.append","audio":"a\\","session":{"prompt":{}}}"}'],
    [false, '{"type":"input_audio_buffer.append","event_id":"e","audio":"UklGRg=="}'],
    [false, '{"type":"input_audio_buffer.append","audio":"UklGRg==" }'],
    [false, '{"type":"input_audio_buffer.append","audio":"UklGRg=='],
    [false, '{"type":"session.update","session":{}}'],
    [false, ''],
  ])('isSoundAlone is %s for the client frame %s', (isAlone, text) => {
    expect(isSoundAlone(Buffer.from(text))).toBe(isAlone);
  });
});
