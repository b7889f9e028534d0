import { describe, expect, it } from 'vitest';
import {
  type SttEngine,
  type SttListener,
  type SttStream,
  UtteranceLost,
} from '../../../../src/engines/engine.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import { createFallbackStt } from '../../../../src/voice/stt/fallback-stt.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { listening } from '../../../support/speech.ts';
import { settleAll } from '../../../support/voice-world.ts';

const RATE = 16_000;
const PIECE = RATE / 10;

/** An engine that hears samples; `streams` is what each of its streams was given. */
class Double implements SttEngine {
  readonly streams: number[][] = [];
  readonly listeners: SttListener[] = [];
  readonly #die: { atOpen?: boolean; atEnd?: boolean; afterPieces?: number };
  ended = 0;
  closed = 0;

  constructor(die: { atOpen?: boolean; atEnd?: boolean; afterPieces?: number } = {}) {
    this.#die = die;
  }

  async open({ listener }: Parameters<SttEngine['open']>[0]): Promise<SttStream> {
    if (this.#die.atOpen) throw new Error('it cannot be opened');
    const heard: number[] = [];
    this.streams.push(heard);
    this.listeners.push(listener);
    return {
      push: (pcm) => {
        heard.push(pcm[0] ?? 0);
        if (heard.length === this.#die.afterPieces) listener.failed(new Error('its socket closed'));
      },
      endUtterance: async () => {
        if (this.#die.atEnd) throw new UtteranceLost('lost', { cause: new Error('no answer') });
        this.ended++;
        listener.transcript({ text: `heard ${heard.join(' ')}`, isFinal: true });
        heard.length = 0;
      },
      close: () => {
        this.closed++;
      },
    };
  }
}

async function openOver(engines: readonly SttEngine[]) {
  const clock = new ManualClock();
  const heard = listening();
  const isFinal = (cause: unknown) => cause instanceof Error && cause.message === 'no money';
  const engine = createFallbackStt({ clock, log: silentLog, engines, isFinal });
  const stream = await engine.open({ sampleRateHz: RATE, listener: heard.listener });
  /** 100 ms a piece; all samples of one are its number. */
  const push = (...pieces: number[]) => {
    for (const piece of pieces) stream.push(new Int16Array(PIECE).fill(piece));
  };
  return { clock, engine, stream, push, finals: heard.finals };
}

describe('a transcriber of several engines', () => {
  it('a fallback transcriber begins with the next engine when the first cannot be opened', async () => {
    const next = new Double();
    const { finals, push, stream } = await openOver([new Double({ atOpen: true }), next]);
    push(1, 2);
    await stream.endUtterance();
    expect(finals()).toEqual(['heard 1 2']);
  });

  it('a fallback transcriber gives the whole open utterance to the next engine when one is lost in the middle', async () => {
    const [first, next] = [new Double({ afterPieces: 2 }), new Double()];
    const { finals, push, stream } = await openOver([first, next]);
    push(1, 2, 3);
    await settleAll();
    push(4);
    await stream.endUtterance();
    expect(finals()).toEqual(['heard 1 2 3 4']);
    expect([first.ended, first.closed, next.ended]).toEqual([0, 1, 1]);
  });

  it('a fallback transcriber gives the whole utterance to the next engine when one is lost at its end', async () => {
    const [first, next] = [new Double({ atEnd: true }), new Double()];
    const { finals, push, stream } = await openOver([first, next]);
    push(1, 2);
    await stream.endUtterance();
    expect(finals()).toEqual(['heard 1 2']);
    expect(first.closed).toBe(1);
  });

  it('a fallback transcriber goes on over two losses in one utterance', async () => {
    const engines = [new Double({ afterPieces: 1 }), new Double({ afterPieces: 2 }), new Double()];
    const { finals, push, stream } = await openOver(engines);
    push(1, 2);
    await settleAll();
    push(3);
    await stream.endUtterance();
    expect(finals()).toEqual(['heard 1 2 3']);
  });

  it('a fallback transcriber loses the utterance after one attempt of each engine, and transcribes the next utterance', async () => {
    const engines = [new Double({ atEnd: true }), new Double({ atEnd: true })];
    const { finals, push, stream } = await openOver(engines);
    push(1);
    const ended = stream.endUtterance();
    await expect(ended).rejects.toBeInstanceOf(UtteranceLost);
    await expect(ended).rejects.toMatchObject({ cause: { message: 'no answer' } });
    expect(engines.map(({ streams }) => streams.length)).toEqual([1, 1]);
    expect(finals()).toEqual([]);
    push(2);
    await expect(stream.endUtterance()).rejects.toBeInstanceOf(UtteranceLost);
    expect(engines.map(({ streams }) => streams.length)).toEqual([2, 2]);
  });

  it('a fallback transcriber does not repeat words that were final before the loss', async () => {
    const [first, next] = [new Double(), new Double()];
    const { finals, push, stream } = await openOver([first, next]);
    push(1, 2);
    first.listeners[0]?.transcript({ text: 'one two', isFinal: true });
    push(3);
    first.listeners[0]?.failed(new Error('its socket closed'));
    await settleAll();
    push(4);
    await stream.endUtterance();
    expect(finals()).toEqual(['one two', 'heard 3 4']);
  });

  it('a fallback transcriber ignores events of an engine that was lost', async () => {
    const [first, next] = [new Double({ afterPieces: 1 }), new Double()];
    const { finals, push, stream } = await openOver([first, next]);
    push(1);
    await settleAll();
    first.listeners[0]?.transcript({ text: 'late', isFinal: true });
    first.listeners[0]?.failed(new Error('once more'));
    await stream.endUtterance();
    expect(finals()).toEqual(['heard 1']);
    expect(next.streams).toHaveLength(1);
  });

  it('a fallback transcriber replays no more than the bound, whatever the length of the utterance', async () => {
    const [first, next] = [new Double(), new Double()];
    const { push, stream } = await openOver([first, next]);
    const pieces = VOICE_LIMITS.transcriber.replayMs / 100 + 20;
    push(...Array.from({ length: pieces }, (_, index) => index));
    first.listeners[0]?.failed(new Error('its socket closed'));
    await settleAll();
    expect(next.streams[0]).toHaveLength(VOICE_LIMITS.transcriber.replayMs / 100);
    expect(next.streams[0]?.at(-1)).toBe(pieces - 1);
    stream.close();
  });

  it('a fallback transcriber opens no further engine once the time for fallbacks is over', async () => {
    const last = new Double();
    const never: SttEngine = { open: () => new Promise(() => {}) };
    const first = new Double({ afterPieces: 1 });
    const { clock, push, stream } = await openOver([first, never, last]);
    push(1);
    const ended = expect(stream.endUtterance()).rejects.toBeInstanceOf(UtteranceLost);
    await settleAll();
    clock.advance(VOICE_LIMITS.transcriber.triesMs);
    await ended;
    expect(last.streams).toEqual([]);
  });

  it('a fallback transcriber closes an engine that opens too late', async () => {
    let opened: (stream: SttStream) => void = () => {};
    const late: SttEngine = { open: () => new Promise((resolve) => (opened = resolve)) };
    const { clock, push, stream } = await openOver([new Double({ afterPieces: 1 }), late]);
    push(1);
    clock.advance(VOICE_LIMITS.transcriber.triesMs);
    await settleAll();
    let closed = 0;
    opened({ push() {}, endUtterance: async () => {}, close: () => void closed++ });
    await settleAll();
    expect(closed).toBe(1);
    stream.close();
  });

  it('a fallback transcriber opens no other engine when the loss is final, such as a spent balance', async () => {
    const next = new Double();
    const poor: SttEngine = {
      open: async () => ({
        push() {},
        endUtterance: async () => {
          throw new Error('no money');
        },
        close() {},
      }),
    };
    const { push, stream } = await openOver([poor, next]);
    push(1);
    await expect(stream.endUtterance()).rejects.toThrow('no money');
    expect(next.streams).toEqual([]);
  });

  it('a fallback transcriber returns to the preferred engine after its backoff', async () => {
    const [first, next] = [new Double({ afterPieces: 1 }), new Double()];
    const { clock, push, stream } = await openOver([first, next]);
    for (const piece of [1, 2]) {
      push(piece);
      await stream.endUtterance();
    }
    expect([first.streams.length, next.streams.length]).toEqual([1, 1]);
    clock.advance(VOICE_LIMITS.transcriber.restMs);
    push(3);
    await stream.endUtterance();
    push(4);
    await settleAll();
    expect(first.streams.length).toBe(2);
    stream.close();
  });

  it('a fallback transcriber opens the engine again that was released between two utterances', async () => {
    const engine = new Double();
    const { finals, push, stream } = await openOver([engine, new Double()]);
    push(1);
    await stream.endUtterance();
    engine.listeners[0]?.released?.();
    push(2);
    await stream.endUtterance();
    expect([engine.streams.length, finals()]).toEqual([2, ['heard 1', 'heard 2']]);
  });

  it('a fallback transcriber leaves no engine open once it is closed, also one that is being opened', async () => {
    const [first, next] = [new Double({ afterPieces: 1 }), new Double()];
    const { push, stream } = await openOver([first, next]);
    push(1);
    stream.close();
    await settleAll();
    expect([first.closed, next.closed]).toEqual([1, next.streams.length]);
  });
});
