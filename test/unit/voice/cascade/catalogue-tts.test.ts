import { describe, expect, it } from 'vitest';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { StopSignal } from '../../../../src/kernel/stop-signal.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { StreamBroken } from '../../../../src/models/providers/openai/answer-reader.ts';
import type { SpeechCall, SpeechRail } from '../../../../src/models/providers/speech-rail.ts';
import { SPEECH_LIMITS } from '../../../../src/models/speech/limits.ts';
import { MAIN_HOLD } from '../../../../src/voice/billing/session-holds.ts';
import { CatalogueTts } from '../../../../src/voice/cascade/catalogue-tts.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import { chargesOn } from '../../../support/charges-on.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { settleAll } from '../../../support/voice-world.ts';

const TEXT = 'one two three four five six seven eight';
/** What half of the text takes, by the expectation of `heard-words.ts`. */
const HALF_MS = (TEXT.length * 1_000) / SPEECH_LIMITS.textBytesPerSecond / 2;
const BYTES_PER_MS = (ENGINE_LIMITS.speech.sampleRateHz * 2) / 1_000;
const sound = (ms: number) => new Uint8Array(2 * Math.ceil((ms * BYTES_PER_MS) / 2));

/** How a source behaves: what it sends, and what it does after that. */
type Play = { readonly ms: number; readonly does: 'ends' | 'breaks' | 'stalls' | 'never begins' };

const never = new Promise<never>(() => {});

function voiceOf(plays: Readonly<Record<string, readonly Play[]>>) {
  const clock = new ManualClock();
  const charges = chargesOn();
  const { tab } = charges;
  const asked: string[] = [];
  const left = new Map(Object.entries(plays).map(([name, list]) => [name, [...list]]));
  const sources = Object.keys(plays).map(
    (provider, nth): Source => ({
      rail: 'direct-account',
      provider,
      upstreamModel: provider,
      marginBps: 0,
      rates: { character: BigInt(nth + 1) * 1_000_000n },
    }),
  );
  const model: Model = {
    id: 'a/b',
    modality: 'tts',
    contextWindow: null,
    maxOutputTokens: null,
    sources,
  };
  const rail = {
    makes: () => true,
    async speak({ input, model: name }: SpeechCall, stop: StopSignal) {
      asked.push(`${name}: ${input}`);
      const play = left.get(name)?.shift() ?? { ms: 10, does: 'ends' };
      if (play.does === 'never begins') {
        return new Promise((resolve) => {
          stop.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true });
        });
      }
      const chunks = [sound(play.ms)];
      const next = async () => {
        const chunk = chunks.shift();
        if (chunk !== undefined || play.does === 'ends') return chunk;
        if (play.does === 'stalls') return never;
        throw new StreamBroken('gone');
      };
      const answer = { kind: 'completed', status: 200, contentType: 'audio/pcm' };
      return { ...answer, sound: { next, usage: () => null, stop() {} } };
    },
  } as unknown as SpeechRail;
  const tts = new CatalogueTts(
    {
      breaker: createSourceRests({ clock }),
      clock,
      log: silentLog,
      random: systemRandom,
      spender: { agentId: 7 },
      chargesOn: () => charges,
      trace: undefined,
    },
    bindModel({
      model,
      rails: { railOf: () => rail },
      ownKeys: NO_OWN_KEYS,
      holdNameOf: () => MAIN_HOLD,
    }),
  );
  /** Speaks while time passes; resolves to the words of the pieces, or the code of the failure. */
  async function speaks(text = TEXT): Promise<string | readonly string[]> {
    const { signal } = new AbortController();
    const words: string[] = [];
    let result: string | readonly string[] | undefined;
    const spoken = (async () => {
      for await (const piece of tts.speak({ text, voice: 'v', speed: 1, signal })) {
        words.push(piece.text);
      }
    })();
    spoken.then(
      () => {
        result = words;
      },
      (error: { code: string }) => {
        result = error.code;
      },
    );
    for (let passed = 0; result === undefined && passed < 60_000; passed += 500) {
      await settleAll();
      if (result === undefined) clock.advance(500);
    }
    return result ?? 'silent for a minute';
  }
  const charged = () => tab.take().map(({ source, usage }) => [source.provider, usage.character]);
  return { asked, charged, clock, speaks };
}

describe('a bought voice', () => {
  it.each(['breaks', 'stalls'] as const)(
    'a synthesizer source that %s in mid-sentence is replaced by the next one, and each source is charged what it said',
    async (does) => {
      const w = voiceOf({ cheap: [{ ms: HALF_MS, does }], dear: [] });
      expect(await w.speaks()).toEqual([TEXT, '']);
      expect(w.asked).toEqual([`cheap: ${TEXT}`, 'dear: five six seven eight']);
      expect(w.charged()).toEqual([
        ['cheap', 'one two three four'.length],
        ['dear', 'five six seven eight'.length],
      ]);
    },
  );

  it('a synthesizer source that breaks off backs off: later sentences begin at the next source until the backoff ends', async () => {
    const w = voiceOf({ cheap: [{ ms: HALF_MS, does: 'breaks' }], dear: [] });
    await w.speaks();
    await w.speaks('More.');
    expect(w.asked.at(-1)).toBe('dear: More.');
    w.clock.advance(VOICE_LIMITS.voice.restMs);
    await w.speaks('And more.');
    expect(w.asked.at(-1)).toBe('cheap: And more.');
  });

  it('a synthesizer source that sends no first sound in time is replaced by the next source', async () => {
    const w = voiceOf({ cheap: [{ ms: 0, does: 'never begins' }], dear: [] });
    expect(await w.speaks()).toEqual([TEXT]);
    expect(w.asked).toEqual([`cheap: ${TEXT}`, `dear: ${TEXT}`]);
    expect(w.charged()).toEqual([['dear', TEXT.length]]);
  });

  it('a synthesizer whose last source stalls too fails within seconds, after one attempt of each source', async () => {
    const stalls = [{ ms: HALF_MS, does: 'stalls' } as const];
    const w = voiceOf({ cheap: stalls, dear: stalls });
    const beganMs = w.clock.monotonicMs();
    expect(await w.speaks()).toBe('upstream_broke_off');
    expect(w.asked).toHaveLength(2);
    expect(w.clock.monotonicMs() - beganMs).toBeLessThan(3 * VOICE_LIMITS.voice.stallMs);
  });
});
