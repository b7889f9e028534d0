import type { SoundFormat } from '../../../../media/coding.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Random } from '../../../kernel/random.ts';
import { type SpeechDeltas, SpeechEncoder } from '../../../voice/session/speech-encoder.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { CallLine } from './call-line.ts';

/** Mono PCM sound, not yet in the encoding of the line. */
export type CallSound = {
  readonly sampleRateHz: number;
  readonly blocks: Iterable<Int16Array>;
};

/** Opens a sound. Rejects when the sound does not exist or cannot be played. */
export type OpenSound = (signal: AbortSignal) => Promise<CallSound>;

/**
 * Plays sounds that are no answers, one after another, at the pace of playback. Answers wait until the sounds are over. A
 * barge-in stops all of them.
 */
export class LineSounds {
  readonly #line: Pick<CallLine, 'beginSound' | 'endSound' | 'play' | 'room'>;
  readonly #format: SoundFormat;
  readonly #random: Random;
  readonly #log: Log;
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;
  #stopping = new AbortController();

  constructor(options: {
    readonly line: Pick<CallLine, 'beginSound' | 'endSound' | 'play' | 'room'>;
    readonly format: SoundFormat;
    readonly random: Random;
    readonly log: Log;
  }) {
    this.#line = options.line;
    this.#format = options.format;
    this.#random = options.random;
    this.#log = options.log;
  }

  /** Queues a sound. A sound that cannot be opened is logged, and the conversation goes on. */
  play(open: OpenSound): void {
    if (this.#waiting >= PHONE_LIMITS.sound.waiting) {
      this.#log.warn('a sound of a call was not played: too many wait');
      return;
    }
    const { signal } = this.#stopping;
    this.#waiting++;
    this.#line.beginSound();
    this.#tail = this.#tail
      .then(() => this.#perform(open, signal))
      .catch((err: unknown) => {
        if (!signal.aborted) this.#log.warn({ err }, 'a sound of a call was not played');
      })
      .finally(() => {
        if (--this.#waiting === 0) this.#line.endSound();
      });
  }

  /** True while a sound is played or waits. */
  get isActive(): boolean {
    return this.#waiting > 0;
  }

  /** Runs `done` once all queued sounds are sent. Never runs it when they are stopped before. */
  afterSent(done: () => void): void {
    const { signal } = this.#stopping;
    if (!this.isActive) done();
    else void this.#tail.then(() => signal.aborted || done());
  }

  /** Stops the sound in progress and drops the queued sounds. */
  stop(): void {
    if (!this.isActive) return;
    this.#stopping.abort();
    this.#stopping = new AbortController();
  }

  async #perform(open: OpenSound, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { blocks, sampleRateHz } = await open(signal);
    const itemId = newId(this.#random, 'sound_');
    const encoder = new SpeechEncoder(this.#format);
    for (const pcm of blocks) {
      if (!(await this.#send(itemId, encoder.piece(pcm, sampleRateHz), signal))) return;
    }
    await this.#send(itemId, encoder.end(), signal);
  }

  /** Sends encoded sound at the pace of the line. Returns false when the sound was stopped meanwhile. */
  async #send(itemId: string, deltas: SpeechDeltas, signal: AbortSignal): Promise<boolean> {
    while (!deltas.isOver) {
      await this.#line.room(signal, 'sound');
      if (signal.aborted) return false;
      const delta = deltas.next();
      if (delta.length > 0) this.#line.play(itemId, delta);
    }
    return true;
  }
}
