import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/http/server/metrics.ts';
import { SessionTally } from '../../../../src/voice/live/session-tally.ts';
import { createVoiceMetrics, type VoiceKind } from '../../../../src/voice/live/voice-metrics.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function start(kind: VoiceKind = 'realtime') {
  const clock = new ManualClock();
  const registry = createMetrics({ withProcess: false });
  const metrics = createVoiceMetrics(registry, () => 1);
  return { clock, registry, tally: new SessionTally({ kind, clock, metrics }) };
}

describe('SessionTally', () => {
  it('SessionTally sums up a session, and reports the same numbers to the process metrics', async () => {
    const { clock, registry, tally } = start();
    for (let n = 0; n < 50; n++) {
      tally.arrived(20, clock.monotonicMs());
      clock.advance(20);
    }
    tally.heard(1_000);
    tally.stage('final', 40);
    tally.speechEnded(40);
    clock.advance(60);
    tally.answerBegan();
    clock.advance(100);
    tally.spoke(300);
    clock.advance(450);
    tally.spoke(200);
    tally.turnEnded();
    tally.stage('final', 60);

    expect(tally.close()).toEqual({
      turns: 1,
      interruptions: 0,
      heardSeconds: 1,
      spokenSeconds: 0.5,
      stages: {
        final: { count: 2, meanMs: 50, maxMs: 60 },
        answer: { count: 1, meanMs: 200, maxMs: 200 },
      },
      jitterMs: 0,
      jitterMaxMs: 0,
      underruns: 1,
      underrunMs: 150,
    });
    const rendered = await registry.render();
    for (const line of [
      'svc_voice_turns_total{kind="realtime"} 1',
      'svc_voice_underruns_total{kind="realtime"} 1',
      'svc_voice_audio_seconds_total{kind="realtime"} 1',
      'svc_voice_stage_ms_sum{stage="final",kind="realtime"} 100',
      'svc_voice_stage_ms_sum{stage="answer",kind="realtime"} 200',
      'svc_voice_jitter_ms_count{kind="realtime"} 1',
      'svc_voice_sessions 1',
    ]) {
      expect(rendered).toContain(line);
    }
  });

  it('SessionTally counts an interrupted answer once, however often the interruption is reported', async () => {
    const { registry, tally } = start('relay');
    tally.interrupted();
    tally.answerBegan();
    tally.interrupted();
    tally.interrupted();
    tally.answerBegan();
    expect(tally.close()).toMatchObject({ interruptions: 1 });
    expect(await registry.render()).toContain('svc_voice_interruptions_total{kind="relay"} 1');
  });

  it('SessionTally measures the wait for an answer once, from the last time that its caller fell silent', () => {
    const { clock, tally } = start();
    tally.speechEnded();
    clock.advance(5_000);
    tally.speechEnded(100);
    clock.advance(200);
    tally.spoke(20);
    clock.advance(20);
    tally.spoke(20);
    expect(tally.close().stages).toEqual({ answer: { count: 1, meanMs: 300, maxMs: 300 } });
  });

  it('SessionTally has null for latencies of a session without received audio or without answers', () => {
    const nothing = { jitterMs: null, jitterMaxMs: null };
    expect(start().tally.close()).toMatchObject({ ...nothing, underruns: 0, underrunMs: 0 });
    const { tally } = start('transcription');
    expect(tally.close()).toMatchObject({ ...nothing, underruns: null, underrunMs: null });
  });
});
