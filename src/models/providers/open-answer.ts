import type { Dispatcher } from 'undici';
import { AnswerBody } from '../../platform/egress/answer-body.ts';
import { MODEL_LIMITS } from '../limits.ts';
import {
  type AnswerBounds,
  AnswerTooLarge,
  AnswerTooSlow,
  type CollectedAnswer,
} from './openai/collect-answer.ts';

/** Answer whose status and headers have arrived. */
export type OpenedAnswer = {
  readonly status: number;
  readonly headers: CollectedAnswer['headers'];
  /** Body of the answer, for one reader, once. Throws when the answer breaks off, exceeds its bound, or is read too slowly. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Cancels the request and drops the unread part of its answer. Has no effect after the end. */
  stop(): void;
};

/**
 * Opens an answer that is read as it comes. Its reader may be behind by `queueBytes`; a slower reader loses the answer, since
 * waiting in undici risks an assertion that ends the process. `onOver` is called once, at any end of the answer.
 */
export function openAnswer(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  bounds: AnswerBounds & { readonly onOver: () => void; readonly queueBytes?: number },
): Promise<OpenedAnswer> {
  return new Promise((resolve, reject) => {
    const {
      clock,
      signal,
      maxBytes,
      onOver,
      queueBytes = MODEL_LIMITS.upstream.streamQueueBytes,
    } = bounds;
    let controller: Dispatcher.DispatchController | undefined;
    let isOver = false;
    let waiting = 0;
    let bytes = 0;
    const body = new AnswerBody({ resume: () => {}, abandon: () => stop(new Error('not wanted')) });
    const finish = () => {
      isOver = true;
      clock.clearTimeout(deadline);
      signal.removeEventListener('abort', onAbort);
      onOver();
    };
    function stop(reason: Error): void {
      if (isOver) return;
      finish();
      controller?.abort(reason);
      body.fail(reason);
      reject(reason);
    }
    const onAbort = () => stop(signal.reason as Error);
    const deadline = clock.setTimeout(() => stop(new AnswerTooSlow()), bounds.totalMs);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started;
        if (isOver) started.abort(new Error('not to be sent'));
      },
      onResponseStart(_controller, status, headers) {
        resolve({
          status,
          headers,
          stop: () => body.abandon(),
          body: counted(body, (taken) => {
            waiting -= taken;
          }),
        });
      },
      onResponseData(_controller, chunk) {
        if (isOver) return;
        bytes += chunk.length;
        waiting += chunk.length;
        body.push(chunk);
        if (bytes > maxBytes || waiting > queueBytes) stop(new AnswerTooLarge());
      },
      onResponseEnd() {
        if (isOver) return;
        finish();
        body.end();
      },
      onResponseError: (_controller, error) => stop(error),
    };
    try {
      dispatcher.dispatch(options, handler);
    } catch (error) {
      stop(error as Error);
    }
  });
}

/** Returns the same pieces as `body` and reports the bytes of each piece that the reader takes. */
const counted = (
  body: AsyncIterable<Uint8Array>,
  onTaken: (bytes: number) => void,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]() {
    const source = body[Symbol.asyncIterator]();
    return {
      async next() {
        const taken = await source.next();
        if (taken.done !== true) onTaken(taken.value.byteLength);
        return taken;
      },
      return: async () => (await source.return?.()) ?? { done: true, value: undefined },
    };
  },
});
