import type { Dispatcher } from 'undici';
import { LIMITS } from '../../kernel/limits.ts';
import { AnswerBody } from '../../platform/egress/answer-body.ts';
import {
  type AnswerBounds,
  AnswerTooLarge,
  AnswerTooSlow,
  type CollectedAnswer,
} from './openai/collect-answer.ts';

/** An answer whose head has come. */
export type OpenedAnswer = {
  readonly status: number;
  readonly headers: CollectedAnswer['headers'];
  /** For one reader, once. Throws where the rest does not come, is too much, or is read too slowly. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the request and the rest of its answer. Harmless when it is over. */
  stop(): void;
};

/**
 * Opens an answer that is read while it comes. Its reader may be behind by `queueBytes`; one that is behind
 * by more loses it, since undici can't be made to wait without the risk of an assertion that ends the process.
 * `onOver` hears once of its end, whichever.
 */
export function openAnswer(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  bounds: AnswerBounds & { readonly onOver: () => void; readonly queueBytes?: number },
): Promise<OpenedAnswer> {
  return new Promise((resolve, reject) => {
    const { clock, signal, maxBytes, onOver, queueBytes = LIMITS.streamQueueBytes } = bounds;
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

/** Counts how much its reader has taken. */
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
