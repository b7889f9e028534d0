import { HEARING_HZ } from '../../../media/hearing.ts';
import { type SttListener, type SttStream, UtteranceLost } from '../../engines/engine.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import type { TurnEvent, TurnRail, TurnSocket } from '../../models/providers/turns/turn-rail.ts';
import { VOICE_LIMITS } from '../limits.ts';

type TurnStreamParts = {
  readonly clock: Clock;
  readonly listener: SttListener;
  readonly turns: TurnSocket;
  readonly bills: TurnRail['bills'];
  /** Holds the cost of an utterance of `seconds`; then `charge` is called once, or `drop`. Throws StageFailed. */
  readonly hold: (seconds: number) => Promise<{
    readonly charge: (seconds: number) => void;
    readonly drop: () => void;
  }>;
  /** Called when the upstream was lost, so that it is not tried again at once. */
  readonly lost: () => void;
};

/**
 * One session at a recogniser that detects the ends of turns. Audio is sent as it arrives, and each utterance is charged once
 * it has ended here. After `VOICE_LIMITS.turn.idleMs` without speech the session ends and the stream is released.
 */
export class TurnStream implements SttStream {
  readonly takesTurns = true;
  readonly #parts: TurnStreamParts;
  #samples = 0;
  /** From when on the session is not charged yet. */
  #unpaidFromMs: number;
  /** Words of the turn in progress. */
  #words = '';
  /** True when the upstream has ended the last turn of this utterance. */
  #isOver = false;
  /** True when the upstream has sent a message since the utterance began. */
  #isAwake = false;
  #mute = 0;
  #ended: (() => void) | undefined;
  #idle: TimerHandle | undefined;
  #gone: Error | undefined;

  constructor(parts: TurnStreamParts) {
    this.#parts = parts;
    this.#unpaidFromMs = parts.clock.monotonicMs();
    parts.turns.listen({
      event: (event) => this.#take(event),
      closed: (why) => this.#closed(new Error(why)),
    });
    this.#rest();
  }

  push(pcm: Int16Array): void {
    if (this.#gone !== undefined) throw this.#gone;
    this.#wake();
    this.#samples += pcm.length;
    this.#parts.turns.send(pcm);
    if (this.#parts.turns.unsentBytes <= VOICE_LIMITS.relay.untakenBytes) return;
    this.#lose(new Error('the upstream does not take what it is sent'));
    throw this.#gone ?? new Error('the upstream is gone');
  }

  async endUtterance(): Promise<void> {
    const soundMs = (this.#samples * 1_000) / HEARING_HZ;
    this.#samples = 0;
    if (soundMs === 0) return;
    if (this.#gone !== undefined) throw this.#gone;
    const held = await this.#parts.hold(
      (this.#billedMs(soundMs) + VOICE_LIMITS.turn.endMs) / 1_000,
    );
    try {
      await this.#finish();
      this.#requireWords(soundMs);
      held.charge(this.#billedMs(soundMs) / 1_000);
      this.#unpaidFromMs = this.#parts.clock.monotonicMs();
    } finally {
      held.drop();
      this.#isOver = false;
      this.#isAwake = false;
    }
    if (this.#gone === undefined) this.#rest();
  }

  close(): void {
    this.#wake();
    if (this.#gone !== undefined) return;
    this.#gone = new Error('the stream is closed');
    this.#parts.turns.close();
    this.#ended?.();
  }

  /** Part of the time or the sound that is not charged yet. */
  #billedMs(soundMs: number): number {
    const { bills, clock } = this.#parts;
    const ms = bills === 'sound' ? soundMs : clock.monotonicMs() - this.#unpaidFromMs;
    return Math.round(ms);
  }

  /** Ends the turn at the upstream, unless it has ended by itself, and takes its last words. */
  async #finish(): Promise<void> {
    if (this.#isOver) return;
    const waitMs = this.#words === '' ? VOICE_LIMITS.turn.wordsMs : VOICE_LIMITS.turn.endMs;
    const over = this.#untilOver(waitMs);
    this.#parts.turns.endTurn();
    await over;
    if (this.#gone !== undefined) throw new UtteranceLost('lost at its end', { cause: this.#gone });
    if (this.#isOver || this.#words === '') return;
    // Late words would be taken for words of the next utterance.
    const text = this.#words;
    this.#words = '';
    this.#parts.listener.transcript({ text, isFinal: true });
    this.#leave();
  }

  /**
   * Treats the upstream as lost after `VOICE_LIMITS.turn.mute.utterances` long utterances in a row without a word, and throws
   * UtteranceLost.
   */
  #requireWords(soundMs: number): void {
    const { leastMs, utterances } = VOICE_LIMITS.turn.mute;
    if (this.#isAwake) this.#mute = 0;
    else if (soundMs >= leastMs) this.#mute += 1;
    if (this.#mute < utterances) return;
    this.#lose(new Error('the upstream says nothing'));
    throw new UtteranceLost('nothing was said of it', { cause: this.#gone });
  }

  #untilOver(ms: number): Promise<void> {
    const { clock } = this.#parts;
    return new Promise((resolve) => {
      const timer = clock.setTimeout(() => this.#ended?.(), ms);
      this.#ended = () => {
        this.#ended = undefined;
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }

  #take({ kind, text }: TurnEvent): void {
    const { listener } = this.#parts;
    this.#isAwake = true;
    if (kind === 'over') {
      this.#words = '';
      this.#isOver = true;
      if (text !== '') listener.transcript({ text, isFinal: true });
      listener.turn?.('over');
      this.#ended?.();
      return;
    }
    if (text !== '' && text !== this.#words) {
      this.#isOver = false;
      this.#words = text;
      listener.transcript({ text, isFinal: false });
    }
    if (kind !== 'words') listener.turn?.(kind);
  }

  /** Handles a close by the upstream. */
  #closed(error: Error): void {
    const isIdle = this.#samples === 0 && this.#ended === undefined;
    if (isIdle) this.#leave();
    else this.#lose(error);
  }

  #lose(error: Error): void {
    if (this.#gone !== undefined) return;
    this.close();
    this.#gone = error;
    this.#parts.lost();
    this.#parts.listener.failed(error);
  }

  #leave(): void {
    this.close();
    this.#parts.listener.released?.();
  }

  #rest(): void {
    this.#wake();
    this.#idle = this.#parts.clock.setTimeout(() => this.#leave(), VOICE_LIMITS.turn.idleMs);
  }

  #wake(): void {
    if (this.#idle !== undefined) this.#parts.clock.clearTimeout(this.#idle);
    this.#idle = undefined;
  }
}
