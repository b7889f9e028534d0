import type { Dispatcher } from 'undici';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { AnswerBody } from './answer-body.ts';
import { EGRESS_LIMITS } from './limits.ts';
import type { Header } from './request-headers.ts';
import { BodyTooLarge, SendFailed, type SendFailure } from './send-failed.ts';

export type GuardedAnswer = {
  readonly status: number;
  /** Headers as they came: spelling, order and repetitions kept, one character a byte, hop-by-hop headers included. */
  readonly headers: readonly Header[];
  /**
   * Body bytes as they came: no coding undone, trailers dropped. Must be read once and to its end, or discarded. Throws
   * BodyTooLarge past the bound, SendFailed when the body breaks off.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Returns the body if all of it has arrived and is unread; it then counts as read. Undefined otherwise. */
  whole(): Uint8Array | undefined;
  /** Ends the exchange. Closes its connection when the body has not arrived whole. */
  discard(): void;
};

export type ExchangeOptions = {
  readonly dispatch: Dispatcher.DispatchOptions;
  readonly firstByteMs: number;
  readonly idleMs: number;
  /** Deadline of the exchange on the monotonic clock. */
  readonly deadlineMs: number;
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Called when the whole answer has arrived and the connection may serve another exchange. */
  readonly onDone: () => void;
  /** Called when the answer that was resolved is over, whole or broken off. Not called when the exchange rejects. */
  readonly onOver: () => void;
};

/** Connection that carries one exchange at a time. */
export interface Carrier {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /**
   * Stops reading from the socket until `proceed`; bytes that were read already still come. Does not use undici's `pause`: a
   * peer that closes while its parser is paused trips an assertion there, which ends the process.
   */
  hold(): void;
  proceed(): void;
  destroy(): void;
}

/**
 * Sends one request on a connection of its own and resolves with the answer. Rejects with SendFailed, whose `beforeBytes` is
 * true only while undici has not begun to write: undici reports the begin by `onRequestStart`, and an exchange that was stopped
 * before aborts there.
 */
export function exchange(carrier: Carrier, options: ExchangeOptions): Promise<GuardedAnswer> {
  return new Promise((resolve, reject) => {
    new Exchange(carrier, options, { resolve, reject }).begin();
  });
}

type Outcome = { resolve(answer: GuardedAnswer): void; reject(error: Error): void };

class Exchange implements Dispatcher.DispatchHandler {
  readonly #carrier: Carrier;
  readonly #options: ExchangeOptions;
  readonly #outcome: Outcome;
  readonly #body: AnswerBody;
  #isStarted = false;
  #isOver = false;
  #isAnswered = false;
  #interim = 0;
  #bytes = 0;
  /** Deadline of the present wait, and time at which the timer next compares it. */
  #dueMs = Number.POSITIVE_INFINITY;
  #looksMs = Number.POSITIVE_INFINITY;
  #timer: TimerHandle | undefined;

  constructor(carrier: Carrier, options: ExchangeOptions, outcome: Outcome) {
    this.#carrier = carrier;
    this.#options = options;
    this.#outcome = outcome;
    this.#body = new AnswerBody({
      resume: () => {
        if (this.#isOver) return;
        this.#await(options.idleMs);
        carrier.proceed();
      },
      abandon: () => this.#stop('aborted'),
    });
  }

  begin(): void {
    const { signal } = this.#options;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) {
      this.#onAbort();
      return;
    }
    this.#await(this.#options.firstByteMs);
    this.#carrier.dispatch(this.#options.dispatch, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Never twice, and not after the request was given up: each would send a request that the caller takes for unsent.
    if (this.#isOver || this.#isStarted) {
      controller.abort(new Error('not to be sent'));
      return;
    }
    this.#isStarted = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    if (this.#isOver) return;
    if (status < 200) {
      if (++this.#interim > EGRESS_LIMITS.response.interim) this.#stop('broken');
      return;
    }
    this.#isAnswered = true;
    this.#await(this.#options.idleMs);
    const headers = headerPairs(controller.rawHeaders as readonly Buffer[]);
    const discard = () => this.#body.abandon();
    const whole = () => this.#body.whole();
    this.#outcome.resolve({ status, headers, body: this.#body, whole, discard });
    this.#checkAnnounced(status, headers);
  }

  /** Stops an answer whose `content-length` exceeds the bound, before its body begins. */
  #checkAnnounced(status: number, headers: readonly Header[]): void {
    const { dispatch, maxResponseBytes } = this.#options;
    if (dispatch.method === 'HEAD' || status === 204 || status === 304) return;
    const announced = headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1];
    if (Number(announced ?? 0) <= maxResponseBytes) return;
    this.#stop('broken', new BodyTooLarge(maxResponseBytes));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.byteLength;
    const { maxResponseBytes, idleMs } = this.#options;
    if (this.#bytes > maxResponseBytes) {
      this.#stop('broken', new BodyTooLarge(maxResponseBytes));
      return;
    }
    this.#await(idleMs);
    if (!this.#body.push(chunk)) this.#carrier.hold();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#carrier.proceed();
    this.#options.onDone();
    this.#body.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#stop('broken', error);
  }

  readonly #onAbort = () => this.#stop('aborted', this.#options.signal.reason);

  #await(ms: number): void {
    const { clock, deadlineMs } = this.#options;
    this.#dueMs = Math.min(clock.monotonicMs() + ms, deadlineMs);
    // The timer checks for a later due time when it fires, so that each chunk needs no timer of its own.
    if (this.#dueMs < this.#looksMs) this.#lookAt(this.#dueMs);
  }

  #lookAt(looksMs: number): void {
    const { clock } = this.#options;
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer);
    this.#looksMs = looksMs;
    this.#timer = clock.setTimeout(() => this.#look(), looksMs - clock.monotonicMs());
  }

  #look(): void {
    const { clock, deadlineMs, idleMs } = this.#options;
    const nowMs = clock.monotonicMs();
    // A slow reader is no fault of the peer; the deadline holds for reader and peer.
    if (this.#body.isFull) this.#dueMs = Math.min(nowMs + idleMs, deadlineMs);
    if (nowMs >= this.#dueMs) this.#stop('timeout');
    else this.#lookAt(this.#dueMs);
  }

  #stop(reason: SendFailure, cause?: unknown): void {
    if (this.#isOver) return;
    this.#finish();
    const beforeBytes = !this.#isStarted;
    const error =
      cause instanceof BodyTooLarge ? cause : new SendFailed(reason, { beforeBytes, cause });
    if (this.#isAnswered) this.#body.fail(error);
    else this.#outcome.reject(error);
    this.#carrier.destroy();
  }

  #finish(): void {
    this.#isOver = true;
    if (this.#timer !== undefined) this.#options.clock.clearTimeout(this.#timer);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    if (this.#isAnswered) this.#options.onOver();
  }
}

function headerPairs(raw: readonly Buffer[]): readonly Header[] {
  const pairs: Header[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    pairs.push([textOf(raw[i]), textOf(raw[i + 1]).replace(/[ \t]+$/, '')]);
  }
  return pairs;
}

const textOf = (bytes: Buffer | undefined) => bytes?.toString('latin1') ?? '';
