import { HEARING_WINDOW } from '../../../media/hearing.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { VadContract } from './vad-worker.ts';

export type VadQueueDeps = {
  readonly clock: Clock;
  readonly lateMs: number;
  /** Sends a batch of windows to the model, and transfers its audio. */
  readonly judge: (batch: VadContract['judge']['in']) => Promise<readonly number[]>;
};

/** Audio windows of all sessions, queued for the voice-activity model. */
export interface VadQueue {
  /** Resolves to the probability of speech in a window, or to NaN when the answer would be late. */
  ask(stream: number, window: Int16Array): Promise<number>;
  /** Makes the worker forget the state of a listener's stream. */
  close(stream: number): void;
}

type Asked = { readonly stream: number; readonly answer: (probability: number) => void };

const { batchFrames: vadBatchFrames } = ENGINE_LIMITS.vad;

/**
 * Creates the queue of windows. One message is in flight at a time, and windows that arrive meanwhile form the next message.
 * When that message is full or its answer is late, a window gets NaN, and the gate decides.
 */
export function createVadQueue({ clock, lateMs, judge }: VadQueueDeps): VadQueue {
  const pcm = new Int16Array(vadBatchFrames * HEARING_WINDOW);
  let waiting: Asked[] = [];
  let closed: number[] = [];
  let onTheWay: Asked[] | undefined;
  let late: TimerHandle | undefined;
  let overdue = false;

  function tooLate() {
    late = undefined;
    overdue = true;
    for (const { answer } of [...(onTheWay ?? []), ...waiting]) answer(Number.NaN);
    waiting = [];
  }

  function arrived(asked: readonly Asked[], probabilities: readonly number[]) {
    if (late !== undefined) clock.clearTimeout(late);
    late = undefined;
    onTheWay = undefined;
    overdue = false;
    for (const [index, { answer }] of asked.entries()) answer(probabilities[index] ?? Number.NaN);
    send();
  }

  function send() {
    if (onTheWay !== undefined || (waiting.length === 0 && closed.length === 0)) return;
    const asked = waiting;
    const batch = {
      streams: asked.map(({ stream }) => stream),
      pcm: pcm.slice(0, asked.length * HEARING_WINDOW),
      closed,
    };
    onTheWay = asked;
    waiting = [];
    closed = [];
    late = clock.setTimeout(tooLate, lateMs);
    judge(batch).then(
      (probabilities) => arrived(asked, probabilities),
      () => arrived(asked, []),
    );
  }

  return {
    ask(stream, window) {
      if (overdue || waiting.length >= vadBatchFrames) return Promise.resolve(Number.NaN);
      return new Promise((answer) => {
        pcm.set(window, waiting.length * HEARING_WINDOW);
        waiting.push({ stream, answer });
        send();
      });
    },
    close(stream) {
      closed.push(stream);
      send();
    },
  };
}
