import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../../src/http/server/metrics.ts';
import { phoneCall } from '../../../support/phone-line.ts';

/** A call in which recognition, the responder and the TTS take their time. */
async function slowCall() {
  const registry = createMetrics({ withProcess: false });
  const phone = await phoneCall({ beginMessage: 'Hello there.', metrics: registry });
  const { clock, engines, passes } = phone;
  await passes(1_000);
  const takes = (ms: number) => () =>
    new Promise<void>((resolve) => {
      clock.setTimeout(resolve, ms);
    });
  engines.stt.pocketsphinx.decoding = takes(80);
  engines.guide.thinking = takes(260);
  engines.tts.flite.between = takes(140);
  return { ...phone, registry };
}

describe('the record of a call', () => {
  it("the record of a call has each span from the end of speech to the first sound, and they sum to the caller's wait", async () => {
    const { answers, callee, clock, passes, registry, said, says } = await slowCall();
    const beganMs = clock.monotonicMs();
    answers('One two three.');
    await says('count', 400);
    await passes(1_000);
    const [greeting, question, answer] = said;
    expect(greeting?.latency).toBeUndefined();
    expect(answer?.latency).toEqual({
      waitMs: 504,
      transcriptMs: 80,
      firstTokenMs: 260,
      firstAudioMs: 140,
      firstFrameMs: 0,
      totalMs: 984,
    });
    const firstHeardMs = callee.heardAtMs.find((at) => at > beganMs) ?? 0;
    const waitedMs = firstHeardMs - (beganMs + 400);
    expect(Math.abs(waitedMs - 984)).toBeLessThanOrEqual(40);
    expect(Number(answer?.at) - Number(question?.at)).toBe(984);
    const rendered = await registry.render();
    for (const [stage, ms] of [
      ['wait', 504],
      ['first_token', 260],
      ['synthesis', 140],
      ['first_frame', 0],
      ['answer', 984],
    ]) {
      expect(rendered).toContain(`svc_voice_stage_ms_sum{stage="${stage}",kind="call"} ${ms}`);
    }
  });

  it('the record of a call has the heard words of an answer that the caller interrupts', async () => {
    const { answers, callee, engines, interruptions, passes, registry, said, says } =
      await slowCall();
    answers('One two three four five six seven eight nine ten.');
    await says('count', 400);
    await passes(600);
    engines.stt.pocketsphinx.script.push('stop it now');
    callee.speak(600);
    await passes(1_400);
    expect(said[2]?.content).toBe('One two three four five six seven eight nine ten.');
    const heard = interruptions[0]?.split(' ').length ?? 0;
    expect(heard).toBeGreaterThan(2);
    expect(heard).toBeLessThan(10);
    const rendered = await registry.render();
    expect(rendered).toContain('svc_voice_words_said_total{kind="call"} 12');
    expect(rendered).toContain(`svc_voice_words_unheard_total{kind="call"} ${10 - heard}`);
    expect(rendered).toContain('svc_voice_interruptions_total{kind="call"} 1');
  });

  it('the record of a call counts a pause in the middle of an answer, and audio that comes late', async () => {
    const { answers, call, clock, engines, line, passes, says } = await slowCall();
    expect(call.lineFigures).toMatchObject({ jitterMs: 0, jitterMaxMs: 0, underruns: 0 });
    answers('One two three. Four five six.');
    engines.tts.flite.between = () =>
      new Promise((resolve) => {
        clock.setTimeout(resolve, 600);
      });
    await says('count', 400);
    await passes(2_000);
    expect(call.lineFigures).toMatchObject({ underruns: 1, underrunMs: 300, gaps: 0 });
    line.close();
    const frame = new Uint8Array(160).fill(0xff);
    clock.advance(20);
    call.media({ kind: 'media', atMs: 100_000, bytes: frame });
    clock.advance(80);
    call.media({ kind: 'media', atMs: 100_020, bytes: frame });
    expect(call.lineFigures.jitterMaxMs).toBe(60);
    expect(call.lineFigures.jitterMs).toBeGreaterThan(0);
  });
});
