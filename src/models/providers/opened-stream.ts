import type { OpenedAnswer } from './open-answer.ts';
import { failed, type Outcome } from './outcome.ts';
import { outcomeOf, ReportedError } from './reported-error.ts';
import { contentTypeOf } from './upstream-pool.ts';

/**
 * Reads an opened answer as a stream of events, once its beginning is there. An answer that is none is stopped: a failure. One that
 * begins with an error is what the error says.
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

/** A stream that has begun. */
export async function begun<T extends { begin(): Promise<void> }>(stream: T): Promise<T> {
  await stream.begin();
  return stream;
}
