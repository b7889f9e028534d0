import type { Dispatcher } from 'undici';
import type { Clock } from '../../../kernel/clock.ts';
import { joinPieces } from '../../../kernel/long-work.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';

export type CollectedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
};

/** Thrown when an answer exceeds its byte limit. The connection was dropped. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/** Thrown when an answer was not complete within its time limit. The connection was dropped. */
export class AnswerTooSlow extends Error {
  override readonly name = 'AnswerTooSlow';
}

export type AnswerBounds = {
  readonly maxBytes: number;
  /** Milliseconds from the call to the last byte, including the wait for a connection. */
  readonly totalMs: number;
  readonly clock: Clock;
  readonly signal: StopSignal;
};

/**
 * Collects one whole answer within its bounds. Rejects at once and drops the request when `signal` fires. Uses a dispatch
 * handler in place of `request()`, which would build a stream for an answer of a few hundred bytes.
 */
export function collectAnswer(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  bounds: AnswerBounds,
): Promise<CollectedAnswer> {
  return new Promise((resolve, reject) => {
    const { clock, signal } = bounds;
    let controller: Dispatcher.DispatchController | undefined;
    let stopped: Error | undefined;
    const stop = (reason: Error) => {
      detach();
      stopped ??= reason;
      controller?.abort(reason);
      reject(reason);
    };
    const onAbort = () => stop(signal.reason as Error);
    const deadline = clock.setTimeout(() => stop(new AnswerTooSlow()), bounds.totalMs);
    const detach = () => {
      clock.clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });

    const chunks: Buffer[] = [];
    let bytes = 0;
    let status = 0;
    let headers: CollectedAnswer['headers'] = {};
    dispatcher.dispatch(options, {
      onRequestStart(started) {
        controller = started;
        if (stopped !== undefined) started.abort(stopped);
      },
      onResponseStart(_controller, statusCode, responseHeaders) {
        status = statusCode;
        headers = responseHeaders;
        const announced = Number(responseHeaders['content-length'] ?? 0);
        if (announced > bounds.maxBytes) stop(new AnswerTooLarge());
      },
      onResponseData(_controller, chunk) {
        bytes += chunk.length;
        if (bytes > bounds.maxBytes) stop(new AnswerTooLarge());
        else chunks.push(chunk);
      },
      onResponseEnd() {
        detach();
        const body = joinPieces(chunks);
        if (!(body instanceof Promise)) resolve({ status, headers, body });
        else void body.then((joined) => resolve({ status, headers, body: joined }));
      },
      onResponseError(_controller, error) {
        detach();
        reject(error);
      },
    });
  });
}
