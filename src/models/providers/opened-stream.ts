import type { OpenedAnswer } from './open-answer.ts';
import { failed, type Outcome } from './outcome.ts';
import { outcomeOf, ReportedError } from './reported-error.ts';
import { contentTypeOf } from './upstream-pool.ts';

/**
 * Opens an answer as a stream of events, and resolves when its first event has come. An answer of another type is stopped and
 * counts as a failure. A stream that begins with an error becomes the outcome that the error reports.
 */
export async function openedStream<T>(
  answer: OpenedAnswer,
  begin: () => Promise<T>,
): Promise<Outcome<{ readonly stream: T }>> {
  const { status, stop } = answer;
  if (!contentTypeOf(answer).startsWith('text/event-stream')) {
    stop();
    return failed('broken', 'not a stream', status);
  }
  try {
    return { kind: 'completed', status, stream: await begin() };
  } catch (error) {
    if (error instanceof ReportedError) return outcomeOf(error);
    throw error;
  }
}

/** Returns the stream when its first event has come. */
export async function begun<T extends { begin(): Promise<void> }>(stream: T): Promise<T> {
  await stream.begin();
  return stream;
}
