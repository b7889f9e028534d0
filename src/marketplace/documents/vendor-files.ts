import type { Clock } from '../../kernel/clock.ts';
import { VendorFailed } from '../../models/providers/vendors/vendor-api.ts';
import { PAYMENT_LIMITS } from '../../payments/limits.ts';
import { sendVendor } from '../../payments/proxy/vendor-call.ts';
import { BlockedDestination, Unreachable } from '../../platform/egress/blocked-destination.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { GuardedClient, GuardedMethod } from '../../platform/egress/guarded-client.ts';
import { BodyTooLarge, SendFailed } from '../../platform/egress/send-failed.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';

/** Thrown when a vendor's result has more bytes than this server reads. */
export class ResultTooLarge extends VendorFailed {
  override readonly name = 'ResultTooLarge';
}

/**
 * Storage that a vendor names for its files. The addresses are no more trusted than addresses of callers: each passes the same
 * guard, gets no credential, and no redirect is followed. All calls throw VendorFailed.
 */
export interface VendorFiles {
  put(
    place: { readonly url: string; readonly headers: readonly (readonly [string, string])[] },
    bytes: Buffer,
    signal: AbortSignal,
  ): Promise<void>;
  get(url: string, signal: AbortSignal): Promise<Buffer>;
}

export function createVendorFiles(deps: {
  readonly client: Pick<GuardedClient, 'open' | 'send'>;
  readonly clock: Clock;
  /** Time limit of one file in milliseconds. Default: `MARKETPLACE_LIMITS.documents.stepMs`. */
  readonly fileMs?: number | undefined;
}): VendorFiles {
  const { client, fileMs = MARKETPLACE_LIMITS.documents.stepMs } = deps;

  async function exchange(
    url: string,
    request: {
      readonly method: GuardedMethod;
      readonly headers: readonly (readonly [string, string])[];
      readonly body?: Buffer;
    },
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { answerBytes, archiveBytes } = MARKETPLACE_LIMITS.documents;
    const responseBytes = request.method === 'GET' ? archiveBytes : answerBytes;
    const { body, headers, method } = request;
    const bounds = { totalMs: fileMs, idleMs: PAYMENT_LIMITS.proxy.idleMs, responseBytes };
    try {
      const place = await client.open(url);
      const asked = { method, url, headers: [...headers], body };
      const answer = await sendVendor(client, place, asked, bounds, signal);
      const bytes = await readAll(answer);
      if (answer.status >= 200 && answer.status < 300) return bytes;
      throw new VendorFailed(`has a storage that answered ${answer.status}`);
    } catch (error) {
      throw failureOf(error);
    }
  }

  return {
    async put({ headers, url }, bytes, signal) {
      const typed = [...headers, ['content-type', 'application/octet-stream'] as const];
      await exchange(url, { method: 'PUT', headers: typed, body: bytes }, signal);
    },
    get: (url, signal) => exchange(url, { method: 'GET', headers: [] }, signal),
  };
}

async function readAll(answer: GuardedAnswer): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of answer.body) pieces.push(piece);
  return Buffer.concat(pieces);
}

function failureOf(error: unknown): unknown {
  if (error instanceof BodyTooLarge) {
    return new ResultTooLarge('delivered too many bytes', { cause: error });
  }
  if (error instanceof BlockedDestination) {
    return new VendorFailed('named a place that is not asked', { cause: error });
  }
  if (error instanceof Unreachable || error instanceof SendFailed) {
    return new VendorFailed('has a storage that gave no whole answer', { cause: error });
  }
  return error;
}
