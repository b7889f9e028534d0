/**
 * Frames of the voice pipeline: one closed union, each kind with a delivery class. Events that have happened and cannot be
 * undone are `system`; words and audio of a reply are `data`; frames that order `data` are `control`.
 */

/** A piece of the caller's audio as it arrived, already in order. */
type AudioReceived = {
  readonly kind: 'audio_received';
  readonly pcm: Int16Array;
  readonly sampleRateHz: number;
  readonly atMs: number;
};

export type Frame =
  | { readonly kind: 'stream_started'; readonly streamId: string; readonly sampleRateHz: number }
  | { readonly kind: 'stream_stopped'; readonly reason: string }
  | { readonly kind: 'stage_failed'; readonly stage: string; readonly error: Error }
  | { readonly kind: 'interrupted'; readonly atMs: number }
  | AudioReceived
  | { readonly kind: 'digit_received'; readonly digit: string }
  | { readonly kind: 'speech_started'; readonly startMs: number }
  | { readonly kind: 'speech_stopped'; readonly endMs: number }
  | { readonly kind: 'transcript'; readonly text: string; readonly isFinal: boolean }
  /** The peer has played all audio before the mark with this name. */
  | { readonly kind: 'mark_played'; readonly name: string }
  | { readonly kind: 'reply_text'; readonly text: string }
  | {
      readonly kind: 'reply_audio';
      readonly pcm: Int16Array;
      readonly sampleRateHz: number;
      /** The spoken words. The conversation keeps only the words that were heard. */
      readonly text: string;
    }
  | { readonly kind: 'reply_started'; readonly replyId: string }
  | { readonly kind: 'reply_ended'; readonly replyId: string }
  | { readonly kind: 'mark'; readonly name: string };

export type FrameKind = Frame['kind'];

/**
 * `system` frames overtake waiting frames and survive an interruption. `data` and `control` frames keep their order and are
 * dropped by an interruption.
 */
export type DeliveryClass = 'system' | 'data' | 'control';

const DELIVERY: Readonly<Record<FrameKind, DeliveryClass>> = {
  stream_started: 'system',
  stream_stopped: 'system',
  stage_failed: 'system',
  interrupted: 'system',
  audio_received: 'system',
  digit_received: 'system',
  speech_started: 'system',
  speech_stopped: 'system',
  transcript: 'system',
  mark_played: 'system',
  reply_text: 'data',
  reply_audio: 'data',
  reply_started: 'control',
  reply_ended: 'control',
  mark: 'control',
};

/** Returns the delivery class of a kind of frame. */
export const deliveryOf = (kind: FrameKind): DeliveryClass => DELIVERY[kind];

/** Returns true when waiting frames of this kind are dropped at a barge-in. */
export const droppedByInterruption = (kind: FrameKind): boolean => DELIVERY[kind] !== 'system';

/**
 * Frames between two stages. System frames leave first, in their own order; the other frames wait in their order. Beyond the
 * capacity `push` refuses a frame, and the stage before has to wait.
 */
export class FrameQueue {
  readonly #capacity: number;
  readonly #system: Frame[] = [];
  readonly #ordered: Frame[] = [];
  #refused = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get length(): number {
    return this.#system.length + this.#ordered.length;
  }

  get refusedFrames(): number {
    return this.#refused;
  }

  push(frame: Frame): boolean {
    const lane = DELIVERY[frame.kind] === 'system' ? this.#system : this.#ordered;
    // Each lane has the whole capacity, so that a long reply cannot keep a hang-up out.
    if (lane.length >= this.#capacity) {
      this.#refused++;
      return false;
    }
    lane.push(frame);
    return true;
  }

  pull(): Frame | undefined {
    return this.#system.shift() ?? this.#ordered.shift();
  }

  /** Drops all frames that an interruption drops, and returns their number. */
  interrupt(): number {
    return this.#ordered.splice(0).length;
  }
}
