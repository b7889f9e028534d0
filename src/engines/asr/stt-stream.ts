import { HEARING_HZ } from '../../../media/hearing.ts';
import { Resampler } from '../../../media/resample.ts';
import type { Clock } from '../../kernel/clock.ts';
import {
  EngineBusy,
  EngineCrashed,
  type SttListener,
  type SttStream,
  type Transcript,
} from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import { createWatchdog, type Watchdog } from '../threads/watchdog.ts';
import type { DecoderClient, DecoderPool } from './decoder-pool.ts';
import { createSoundPosts } from './sound-posts.ts';
import type { HearingState } from './stt-contract.ts';

export type SttStreamDeps = {
  readonly clock: Clock;
  readonly pool: DecoderPool;
  readonly sampleRateHz: number;
  readonly listener: SttListener;
  readonly grammar?: string | undefined;
  /** Called with the time that a decoder worked, and the length of the sound. */
  readonly decoded: (workMs: number, soundMs: number) => void;
  /** Called once, when the stream closes or fails. */
  readonly closed: () => void;
};

const POST_SAMPLES = (ENGINE_LIMITS.decoder.postMs * HEARING_HZ) / 1_000;
const SAMPLES_PER_MS = HEARING_HZ / 1_000;
const MAX_BEHIND_POSTS =
  (ENGINE_LIMITS.decoder.behindSeconds * 1_000) / ENGINE_LIMITS.decoder.postMs;
const PATIENCE_SAMPLES = ENGINE_LIMITS.decoder.backlogSeconds * HEARING_HZ;

/** A decoder while this stream has it. */
type Lease = {
  readonly client: DecoderClient;
  /** Samples that were sent and not answered. */
  undecoded: number;
  /** Posts that were answered and have no final transcript. */
  openPosts: number;
};

/**
 * One caller's audio on its way to the decoders, in posts of 100 ms. The stream has a decoder from the first audio of an
 * utterance to its end and keeps the state that the decoder learned; audio waits while a decoder is busy or lost. The listener
 * gets a failure once; after it, and after `close`, everything is ignored and `endUtterance` resolves at once.
 */
export class SharedStream implements SttStream {
  readonly #deps: SttStreamDeps;
  readonly #resampler: Resampler;
  readonly #posts = createSoundPosts(POST_SAMPLES, (pcm) => this.#post(pcm));
  readonly #stalled: Watchdog;
  #isOpen = true;
  #scratch = new Int16Array(0);
  #lease: Lease | undefined;
  /** Cancels the wait for a decoder; undefined when the stream is not waiting. */
  #giveUpWait: (() => void) | undefined;
  /** True while the stream waits for the state of the decoder that it leaves. No other decoder is requested until then. */
  #isLeaving = false;
  #state: HearingState | undefined;
  /** Sound that no decoder was given. */
  #waiting: Int16Array[] = [];
  /** Sound without a final transcript, for the successor of a decoder that is lost. */
  #unfinished: Int16Array[] = [];
  #hasLost = false;
  /** Resolves the promise of the requested end of the utterance. */
  #ended: (() => void) | undefined;

  constructor(deps: SttStreamDeps) {
    this.#deps = deps;
    this.#resampler = new Resampler(deps.sampleRateHz, HEARING_HZ);
    this.#stalled = createWatchdog({
      clock: deps.clock,
      silenceMs: ENGINE_LIMITS.decoder.stallMs,
      isWaiting: () => this.#lease !== undefined,
      silent: () => this.#leaveStalled(),
    });
  }

  push(pcm: Int16Array): void {
    if (!this.#isOpen) return;
    if (this.#deps.sampleRateHz === HEARING_HZ) {
      this.#posts.push(pcm);
      return;
    }
    const target = this.#room(this.#resampler.outputSamples(pcm.length));
    this.#posts.push(target.subarray(0, this.#resampler.push(pcm, target)));
  }

  async endUtterance(): Promise<void> {
    if (!this.#isOpen) return;
    const target = this.#room(this.#resampler.outputSamples(this.#resampler.lookaheadSamples));
    this.#posts.push(target.subarray(0, this.#resampler.flush(target)));
    this.#posts.flush();
    if (!this.#isOpen) return;
    if (this.#lease === undefined && this.#unfinished.length === 0) {
      if (this.#state !== undefined) this.#state = { ...this.#state, saidSamples: 0 };
      return;
    }
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
      if (this.#lease !== undefined && !this.#isLeaving) this.#finish(this.#lease);
      else this.#want();
    });
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stalled.stop();
    this.#release((this.#lease?.undecoded ?? 0) > PATIENCE_SAMPLES);
    this.#waiting = [];
    this.#unfinished = [];
    this.#ended?.();
    this.#deps.closed();
  }

  /**
   * Gives the decoder back when the caller's audio stalls within an utterance, so that it is free for other streams. The next
   * decoder hears the utterance again.
   */
  #leaveStalled(): void {
    const lease = this.#lease;
    if (lease === undefined) return;
    if (lease.undecoded > 0 || this.#isLeaving || this.#ended !== undefined) {
      this.#stalled.watch();
      return;
    }
    this.#release();
    this.#waiting = [...this.#unfinished];
  }

  #release(retire = false): void {
    this.#giveUpWait?.();
    this.#giveUpWait = undefined;
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease !== undefined) this.#deps.pool.giveBack(lease.client, retire);
  }

  #fail(error: unknown): void {
    if (!this.#isOpen) return;
    this.close();
    this.#deps.listener.failed(error instanceof Error ? error : new Error(String(error)));
  }

  /** Sends the audio to a second decoder once more. When that decoder is lost as well, the stream fails. */
  #lost(of: Lease, error: unknown): void {
    if (of !== this.#lease || !this.#isOpen) return;
    this.#release();
    this.#isLeaving = false;
    const isEngine = error instanceof EngineCrashed || error instanceof EngineBusy;
    if (!isEngine || this.#hasLost) {
      this.#fail(error);
      return;
    }
    this.#hasLost = true;
    this.#waiting = [...this.#unfinished];
    this.#want();
  }

  #want(): void {
    const isWanted = this.#waiting.length > 0 || this.#ended !== undefined;
    const hasOne = this.#lease !== undefined || this.#giveUpWait !== undefined || this.#isLeaving;
    if (!this.#isOpen || !isWanted || hasOne) return;
    let isTaken = false;
    const giveUp = this.#deps.pool.take((client) => {
      isTaken = true;
      this.#giveUpWait = undefined;
      this.#begin({ client, undecoded: 0, openPosts: 0 });
    });
    if (!isTaken) this.#giveUpWait = giveUp;
  }

  #begin(lease: Lease): void {
    this.#lease = lease;
    this.#stalled.watch();
    const start = { grammar: this.#deps.grammar, state: this.#state };
    lease.client.call('start', start).catch((error) => this.#lost(lease, error));
    for (const pcm of this.#waiting.splice(0)) this.#send(lease, pcm);
    if (this.#ended !== undefined) this.#finish(lease);
  }

  #send(to: Lease, pcm: Int16Array): void {
    const copy = pcm.slice();
    to.undecoded += pcm.length;
    to.client.call('push', copy, [copy.buffer]).then(
      ({ isBetween, transcripts, workMs }) => {
        if (to !== this.#lease || !this.#isOpen) return;
        to.undecoded -= pcm.length;
        to.openPosts += 1;
        this.#deps.decoded(workMs, pcm.length / SAMPLES_PER_MS);
        this.#deliver(transcripts);
        if (isBetween && to === this.#lease) this.#between(to);
      },
      (error) => this.#lost(to, error),
    );
  }

  /** Everything that was answered has its transcript: a stream that waits may have the decoder. */
  #between(of: Lease): void {
    this.#unfinished.splice(0, of.openPosts);
    of.openPosts = 0;
    this.#hasLost = false;
    const isAsked = this.#deps.pool.waiting > 0 && this.#ended === undefined;
    if (of.undecoded === 0 && isAsked) this.#leave(of);
  }

  #finish(of: Lease): void {
    of.client.call('finish', null).then(
      ({ transcripts }) => {
        if (of !== this.#lease || !this.#isOpen) return;
        this.#deliver(transcripts);
        if (of !== this.#lease) return;
        this.#hasLost = false;
        this.#unfinished = [...this.#waiting];
        this.#leave(of);
        const done = this.#ended;
        this.#ended = undefined;
        done?.();
      },
      (error) => this.#lost(of, error),
    );
  }

  #leave(from: Lease): void {
    this.#isLeaving = true;
    from.client.call('leave', null).then(
      (learned) => {
        if (from !== this.#lease || !this.#isOpen) return;
        this.#state = learned;
        this.#isLeaving = false;
        this.#release();
        this.#want();
      },
      (error) => this.#lost(from, error),
    );
  }

  #deliver(transcripts: readonly Transcript[]): void {
    for (const transcript of transcripts) {
      if (this.#isOpen) this.#deps.listener.transcript(transcript);
    }
  }

  #post(pcm: Int16Array): void {
    if (!this.#isOpen) return;
    this.#stalled.heard();
    this.#unfinished.push(pcm);
    if (this.#unfinished.length > MAX_BEHIND_POSTS) {
      const { behindSeconds: decoderBehindSeconds } = ENGINE_LIMITS.decoder;
      this.#fail(
        new EngineCrashed(`the recogniser is more than ${decoderBehindSeconds} s behind the audio`),
      );
      return;
    }
    const lease = this.#isLeaving || this.#ended !== undefined ? undefined : this.#lease;
    if (lease !== undefined) {
      this.#send(lease, pcm);
      return;
    }
    this.#waiting.push(pcm);
    this.#want();
  }

  #room(samples: number): Int16Array {
    if (this.#scratch.length < samples) this.#scratch = new Int16Array(samples);
    return this.#scratch;
  }
}
