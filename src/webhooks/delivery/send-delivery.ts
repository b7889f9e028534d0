import { setMaxListeners } from 'node:events';
import type { Clock } from '../../kernel/clock.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { BlockedDestination, Unreachable } from '../../platform/egress/blocked-destination.ts';
import type { CheckedDestination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { GuardedClient } from '../../platform/egress/guarded-client.ts';
import type { Header } from '../../platform/egress/request-headers.ts';
import { BodyTooLarge, SendFailed } from '../../platform/egress/send-failed.ts';
import { WEBHOOK_LIMITS } from '../limits.ts';

/** Result of one attempt. `error` is null after any 2xx, whatever the body. */
export type Attempt = {
  readonly statusCode: number | null;
  readonly error: string | null;
  /** Beginning of the response body, without control characters; null when the response has no text. */
  readonly responseBody: string | null;
};

export type SendDelivery = (
  url: string,
  headers: readonly Header[],
  body: string,
) => Promise<Attempt>;

const DESTINATIONS_REMEMBERED = 2_000;

/**
 * Creates the function that posts a delivery once. The guard resolves a host name again after a few seconds, and every
 * connection uses an address that the guard has checked. Every status other than 2xx is a failure, including redirects.
 */
export function createSendDelivery(deps: {
  readonly client: GuardedClient;
  readonly clock: Clock;
  /** Milliseconds after which an attempt times out. */
  readonly attemptMs?: number;
}): SendDelivery {
  const { client, clock } = deps;
  const { answerBytes, answerHeaderBytes, checkedMs } = WEBHOOK_LIMITS.attempt;
  const { attemptMs = WEBHOOK_LIMITS.attempt.timeoutMs } = deps;
  const checked = new RecentMap<
    string,
    { readonly place: Promise<CheckedDestination>; atMs: number }
  >(DESTINATIONS_REMEMBERED);
  const neverAborted = new AbortController().signal;
  // Every current attempt listens to this signal, so Node's warning about many listeners is off.
  setMaxListeners(0, neverAborted);

  function admitted(url: string): Promise<CheckedDestination> {
    const nowMs = clock.monotonicMs();
    const known = checked.get(url);
    if (known !== undefined && nowMs - known.atMs < checkedMs) return known.place;
    const place = client.open(url);
    checked.set(url, { place, atMs: nowMs });
    // A refused destination is not cached, since the next attempt may be allowed.
    place.catch(() => checked.delete(url));
    return place;
  }

  return async (url, headers, body) => {
    try {
      const answer = await client.send(await admitted(url), {
        method: 'POST',
        headers,
        body,
        signal: neverAborted,
        timeouts: {
          connectMs: attemptMs,
          firstByteMs: attemptMs,
          idleMs: attemptMs,
          totalMs: attemptMs,
        },
        maxHeaderBytes: answerHeaderBytes,
        maxResponseBytes: answerBytes,
      });
      const responseBody = await readBeginning(answer);
      const { status } = answer;
      const error = status >= 200 && status < 300 ? null : `HTTP ${status}`;
      return { statusCode: status, error, responseBody };
    } catch (error) {
      return { statusCode: null, error: describeFailure(error, attemptMs), responseBody: null };
    }
  };
}

/** Reads the beginning of the answer's body that the log shows. The status counts even when the body never ends. */
async function readBeginning(answer: GuardedAnswer): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  try {
    const whole = answer.whole();
    if (whole !== undefined) chunks.push(whole);
    else for await (const chunk of answer.body) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof BodyTooLarge || error instanceof SendFailed)) throw error;
  }
  const bytes = Buffer.concat(chunks).subarray(0, WEBHOOK_LIMITS.attempt.shownAnswerBytes);
  // Control characters are removed, since they could move the cursor of a terminal that shows the log.
  const text = bytes.toString('utf8').replace(/[\p{Cc}\p{Cf}]/gu, '');
  return text === '' ? null : text;
}

function describeFailure(error: unknown, attemptMs: number): string {
  if (error instanceof BlockedDestination) return `blocked_destination: ${error.reason}`;
  if (error instanceof Unreachable) return 'The host name does not resolve';
  if (!(error instanceof SendFailed)) throw error;
  switch (error.reason) {
    case 'timeout':
      return `Timed out after ${attemptMs / 1_000}s`;
    case 'unreachable':
      return `connect ${codeOf(error) ?? 'failed'}`;
    case 'tls':
      return 'The TLS certificate is not valid for this host';
    case 'busy':
      return 'Too many connections to this endpoint are open';
    default:
      return 'The connection ended before the answer';
  }
}

/** Returns the system's code of an error or of its cause, such as ECONNREFUSED. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at instanceof AggregateError && at.errors.length > 0) return codeOf(at.errors[0]);
  }
  return undefined;
}
