import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../../media/mulaw.ts';
import { DEFAULT_CONFIG } from '../../../../src/voice/session/session-config.ts';
import { VoiceSession } from '../../../../src/voice/session/voice-session.ts';
import { LineClient } from '../../../support/line-client.ts';
import { openInput } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT, settleAll } from '../../../support/voice-world.ts';

const MULAW = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const FRAME_MS = 20;
const COUNT = 'One two three four. Five six seven eight.';

/** A call: a session of the local engines, and a line on which both sides speak in real time. */
async function call(creditRaw = 10_000_000n) {
  const { clock, deps, engines, input, ledger, leastRaw } = await openInput({ creditRaw });
  const line = new LineClient();
  const config = { ...DEFAULT_CONFIG, inputFormat: MULAW, outputFormat: MULAW };
  const session = new VoiceSession(deps, { ...input, config }, line);

  /** The carrier plays a frame of the answer for each frame of the caller, where `plays`. */
  async function hears(pcm: Int16Array, { plays = true } = {}) {
    for (let at = 0; at < pcm.length; at += 160) {
      const frame = new Uint8Array(160);
      encodeMulaw(pcm.subarray(at, at + 160), frame);
      line.lastEventAtMs = clock.monotonicMs();
      session.append(frame, clock.monotonicMs());
      if (plays) line.played();
      clock.advance(FRAME_MS);
      await settleAll();
    }
  }
  const says = async (text: string) => {
    engines.stt.pocketsphinx.script.push(text);
    await hears(tone(400, 8_000));
    await hears(silence(900, 8_000), { plays: false });
  };
  const prompt = () => engines.guide.asked.at(-1)?.messages.map(({ content }) => content);
  const media = () => line.sent.flatMap((sent) => ('media' in sent ? [sent.media] : []));
  return { clock, engines, hears, ledger, leastRaw, line, media, prompt, says, session };
}

describe('a voice session on a telephone line', () => {
  it('a voice session on a phone line hears mu-law and answers in whole mu-law frames', async () => {
    const { line, media, prompt, says } = await call();
    await says('hello there');
    expect(prompt()).toEqual(['hello there']);
    expect(line.transcripts.at(-1)).toBe('hello there');
    expect(line.transcripts[0]).toBe('w1…');
    expect(new Set(media().map(({ length }) => length))).toEqual(new Set([160]));
    // "You said hello there. Is that so?" at 100 ms a word.
    expect(media()).toHaveLength(700 / FRAME_MS);
    expect(line.sent.some((sent) => 'clear' in sent)).toBe(false);
  });

  it("a voice session on a phone line clears the carrier's buffer on barge-in, and keeps the words whose marks came back", async () => {
    const { engines, hears, line, prompt, says } = await call();
    engines.guide.answers.push({ text: COUNT, usage: { inputTokens: 1, outputTokens: 8 } });
    await says('count');
    for (let playedMs = 0; playedMs < 440; playedMs += FRAME_MS) line.played();
    engines.stt.pocketsphinx.script.push('stop');
    await hears(tone(400, 8_000));
    expect(line.sent.at(-1)).toEqual({ clear: true });
    await hears(silence(900, 8_000));
    const [count, heard, stop] = prompt() ?? [];
    expect([count, stop]).toEqual(['count', 'stop']);
    // 440 ms before the caller spoke, and what was played until speech was noticed.
    expect(heard).toMatch(/^One two three four\. ?(Five)?( six)?$/);
  });

  it('a voice session on a phone line keeps an answer whole that was played to its end before the caller spoke', async () => {
    const { engines, hears, line, prompt, says } = await call();
    engines.guide.answers.push({ text: COUNT, usage: { inputTokens: 1, outputTokens: 8 } });
    await says('count');
    while (line.played());
    engines.stt.pocketsphinx.script.push('thanks');
    await hears(tone(400, 8_000));
    await hears(silence(900, 8_000));
    expect(prompt()).toEqual(['count', COUNT, 'thanks']);
    expect(line.sent.some((sent) => 'clear' in sent)).toBe(false);
  });

  it('a voice session on a phone line synthesizes no more speech than the line has room for until frames are played', async () => {
    const { engines, media, line, says } = await call();
    const text = `${'word '.repeat(40)}one. ${'word '.repeat(40)}two.`;
    engines.guide.answers.push({ text, usage: { inputTokens: 1, outputTokens: 82 } });
    await says('talk');
    const before = media().length;
    expect(before).toBeLessThan(270);
    while (line.played());
    await settleAll();
    while (line.played());
    expect(media().length).toBeGreaterThanOrEqual(410);
  });

  it('a voice session on a phone line ends with its reason when the balance is spent, and settles what was said', async () => {
    const { leastRaw } = await call();
    const { ledger, line, says, session } = await call(leastRaw);
    await says('hello');
    await session.settled;
    expect(line.ended?.error?.code).toBe('budget_exhausted');
    expect(ledger.openHolds()).toBe(0);
    expect(ledger.consumedRaw(AGENT)).toBeGreaterThan(0n);
  });
});
