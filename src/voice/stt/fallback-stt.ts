import { HEARING_HZ } from '../../../media/hearing.ts';
import {
  type SttEngine,
  type SttListener,
  type SttStream,
  UtteranceLost,
} from '../../engines/engine.ts';
import { type Clock, within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { VOICE_LIMITS } from '../limits.ts';
import { KeptSound } from './kept-sound.ts';
import { asError } from './recogniser-queue.ts';

type FallbackDeps = {
  readonly clock: Clock;
  readonly log: Log;
  /** Engines in the order of preference. Each is tried once in an utterance; one may be named more than once. */
  readonly engines: readonly SttEngine[];
  /** True for a loss that no other engine makes good, such as a balance that is used up. */
  readonly isFinal: (cause: unknown) => boolean;
};

type OpenOptions = Parameters<SttEngine['open']>[0];
type Link = { readonly index: number; readonly engine: SttEngine; readonly stream: SttStream };

const REPLAY_SAMPLES = (VOICE_LIMITS.transcriber.replayMs / 1_000) * HEARING_HZ;

/**
 * Returns a recogniser that moves on to the next engine when one is lost. The next engine gets the audio of the open utterance
 * after its last final words, and only the engine that ends an utterance charges it.
 */
export function createFallbackStt(deps: FallbackDeps): SttEngine {
  const rests = new Map<SttEngine, number>();
  return {
    takesTurns: deps.engines[0]?.takesTurns === true,
    async open(options) {
      const stream = new FallbackStream(deps, rests, options);
      await stream.begin();
      return stream;
    },
  };
}

class FallbackStream implements SttStream {
  readonly #deps: FallbackDeps;
  /** Monotonic time in milliseconds until which each lost engine is not tried again. */
  readonly #rests: Map<SttEngine, number>;
  readonly #options: OpenOptions;
  readonly #kept = new KeptSound(REPLAY_SAMPLES);
  #link: Link | undefined;
  /** Settles when the opening of another engine is over; undefined when no engine is being opened. */
  #opening: Promise<void> | undefined;
  /** Indexes of the engines that were tried in this utterance, and the time when the first engine was lost. */
  #tried: number[] = [];
  #lostAtMs: number | undefined;
  #problem: Error = new Error('no recogniser was opened');
  #isClosed = false;

  constructor(deps: FallbackDeps, rests: Map<SttEngine, number>, options: OpenOptions) {
    this.#deps = deps;
    this.#rests = rests;
    this.#options = options;
  }

  get takesTurns(): boolean {
    const next = this.#deps.engines[this.#next];
    return (this.#link?.stream ?? next)?.takesTurns === true;
  }

  /** Rejects with the last problem where no engine can be opened. */
  async begin(): Promise<void> {
    await this.#openNext();
    if (this.#link === undefined) throw this.#problem;
    this.#nextUtterance();
  }

  push(pcm: Int16Array): void {
    this.#kept.push(pcm);
    if (this.#opening !== undefined) return;
    const link = this.#link;
    if (link === undefined) this.#reopen();
    else this.#guard(link, () => link.stream.push(pcm));
  }

  async endUtterance(): Promise<void> {
    try {
      while (!(await this.#isEnded((stream) => stream.endUtterance()))) this.#reopen();
    } finally {
      this.#nextUtterance();
    }
  }

  async dropUtterance(): Promise<void> {
    await this.#opening;
    const link = this.#link;
    try {
      if (link?.stream.dropUtterance !== undefined) await link.stream.dropUtterance();
      else await link?.stream.endUtterance();
    } catch (error) {
      if (link !== undefined) this.#lost(link, error);
    } finally {
      this.#nextUtterance();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#kept.clear();
    this.#leave();
  }

  /** Ends the utterance at the present engine. Resolves to false when the engine was lost. Throws when no engine is left. */
  async #isEnded(end: (stream: SttStream) => Promise<void>): Promise<boolean> {
    await this.#opening;
    const link = this.#link;
    if (link === undefined) {
      // All words are known already, or nothing was said.
      if (this.#kept.isEmpty) return true;
      if (this.#hasNext) return false;
      throw new UtteranceLost('no recogniser is left', { cause: this.#problem });
    }
    try {
      await end(link.stream);
      return true;
    } catch (error) {
      const cause = error instanceof UtteranceLost ? error.cause : error;
      if (this.#deps.isFinal(cause)) throw error;
      this.#lost(link, cause);
      return this.#isClosed;
    }
  }

  #guard(link: Link, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#lost(link, error);
      this.#reopen();
    }
  }

  #lost(link: Link, error: unknown): void {
    if (this.#link !== link || this.#isClosed) return;
    this.#note(link.engine, error);
    this.#leave();
  }

  #note(engine: SttEngine, error: unknown): void {
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#problem = asError(error);
    this.#lostAtMs ??= nowMs;
    const isLeft = this.#deps.engines.some(
      (one, at) => one === engine && !this.#tried.includes(at),
    );
    if (!isLeft) this.#rests.set(engine, nowMs + VOICE_LIMITS.transcriber.restMs);
    log.warn({ err: error }, 'a recogniser was lost');
  }

  #leave(): void {
    const link = this.#link;
    this.#link = undefined;
    link?.stream.close();
  }

  #nextUtterance(): void {
    this.#kept.clear();
    this.#tried = [];
    this.#lostAtMs = undefined;
    const link = this.#link;
    const best = this.#deps.engines[this.#next];
    // A preferred engine has rested.
    if (link !== undefined && link.engine !== best && this.#isFresh(best)) this.#leave();
    else if (link !== undefined) this.#tried = [link.index];
  }

  /** Index of the first engine that was not tried and does not rest, or else that was not tried; -1: there is none. */
  get #next(): number {
    const { engines } = this.#deps;
    const left = [...engines.keys()].filter((index) => !this.#tried.includes(index));
    const fresh = left.find((index) => this.#isFresh(engines[index]));
    return fresh ?? left[0] ?? -1;
  }

  #isFresh(engine: SttEngine | undefined): boolean {
    if (engine === undefined) return false;
    return (this.#rests.get(engine) ?? 0) <= this.#deps.clock.monotonicMs();
  }

  get #hasNext(): boolean {
    if (this.#isClosed || this.#next === -1) return false;
    const { clock } = this.#deps;
    const sinceMs = clock.monotonicMs() - (this.#lostAtMs ?? clock.monotonicMs());
    return sinceMs < VOICE_LIMITS.transcriber.triesMs;
  }

  #reopen(): void {
    if (this.#opening !== undefined || !this.#hasNext) return;
    this.#opening = this.#openNext().finally(() => {
      this.#opening = undefined;
    });
  }

  /** Opens the next engine that can be, and gives it the sound so far. */
  async #openNext(): Promise<void> {
    while (this.#link === undefined && this.#hasNext) {
      const index = this.#next;
      this.#tried.push(index);
      const engine = this.#deps.engines[index];
      if (engine === undefined) return;
      try {
        await this.#openAt(index, engine);
      } catch (error) {
        this.#note(engine, error);
        if (this.#deps.isFinal(error)) this.#tried = [...this.#deps.engines.keys()];
      }
    }
  }

  async #openAt(index: number, engine: SttEngine): Promise<void> {
    const { clock } = this.#deps;
    let link: Link | undefined;
    let isLate = false;
    const listener = this.#listenerOf(() => link);
    const opened = engine.open({ ...this.#options, listener });
    opened.then((stream) => (isLate || this.#isClosed) && stream.close()).catch(() => {});
    const stream = await within(clock, VOICE_LIMITS.transcriber.triesMs, opened, () => {
      isLate = true;
      throw new Error('a recogniser did not open in time');
    });
    if (this.#isClosed) return;
    const made = { index, engine, stream };
    link = made;
    this.#link = made;
    this.#kept.replay((pcm) => {
      if (this.#link === made) this.#guard(made, () => stream.push(pcm));
    });
  }

  /** Returns a listener for the link `ours`. Events of a link that was replaced are ignored. */
  #listenerOf(ours: () => Link | undefined): SttListener {
    const { listener } = this.#options;
    const isOurs = () => this.#link !== undefined && this.#link === ours() && !this.#isClosed;
    return {
      transcript: (transcript) => {
        if (!isOurs()) return;
        // The next engine would repeat these words.
        if (transcript.isFinal) this.#kept.clear();
        listener.transcript(transcript);
      },
      turn: (sign) => isOurs() && listener.turn?.(sign),
      released: () => {
        if (!isOurs()) return;
        this.#leave();
        this.#nextUtterance();
      },
      failed: (error) => {
        const link = this.#link;
        if (link === undefined || !isOurs()) return;
        this.#lost(link, error);
        if (!this.#kept.isEmpty) this.#reopen();
      },
    };
  }
}
