import { type Clock, sleep } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { MODEL_LIMITS } from '../models/limits.ts';
import {
  VendorFailed,
  type VendorRequest,
  type VendorResponse,
  VendorSaidTooMuch,
} from '../models/providers/vendors/vendor-api.ts';
import { AnswerTooLarge, type Fetch } from '../platform/egress/fetch.ts';
import { OwnRefusal } from './errors.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import type { OpenAccount } from './open-accounts.ts';
import { type AgentVendorClient, VendorRefused } from './vendor.ts';

export type VendorClientDeps = {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  /** Time limit of one order in milliseconds. Default: `MARKETPLACE_LIMITS.sale.vendorMs`. */
  readonly vendorMs?: number | undefined;
};

/**
 * Creates the client for one order at a vendor. Audio adds time to the order's deadline. Redirects are not followed, since they
 * would carry the credential to another address.
 */
export function openVendorClient(
  deps: VendorClientDeps,
  account: OpenAccount | undefined,
  {
    agentId,
    signal,
    soundMs = 0,
  }: { readonly agentId: number; readonly signal: AbortSignal; readonly soundMs?: number },
): AgentVendorClient {
  const { clock, random, vendorMs = MARKETPLACE_LIMITS.sale.vendorMs } = deps;
  const { abandonMs, answerBytes } = MODEL_LIMITS.vendor;
  const { vendorMsPerAudioSecond } = MARKETPLACE_LIMITS.sale;
  const deadlineMs = clock.monotonicMs() + vendorMs + (soundMs / 1_000) * vendorMsPerAudioSecond;
  const leftMs = () => {
    const left = Math.ceil(deadlineMs - clock.monotonicMs());
    if (left <= 0) throw new VendorFailed('took too long');
    return left;
  };
  const exchange = (
    { body, headers = {}, method, path }: VendorRequest,
    bounds: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ) => {
    if (account === undefined) throw new VendorFailed('has no address');
    const url = new URL(account.baseUrl.replace(/\/+$/, '') + path);
    const opened = account.opens({ method, url, ...(body !== undefined && { body }) }, clock);
    return deps.fetch({
      url: url.href,
      method,
      headers: { ...headers, ...opened },
      ...(body !== undefined && { body }),
      maxResponseBytes: answerBytes,
      ...bounds,
    });
  };
  return {
    agentId,
    signal,
    random,
    async send(request) {
      let answer: VendorResponse;
      try {
        const { body, ...head } = await exchange(request, { timeoutMs: leftMs(), signal });
        answer = { ...head, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
      } catch (error) {
        throw failureOf(error);
      }
      if (answer.status >= 200 && answer.status < 300) return answer;
      throw new VendorRefused(answer);
    },
    async abandon(request) {
      try {
        await exchange(request, { timeoutMs: abandonMs });
      } catch {
        // Without the cancellation the vendor finishes the job, which costs only the vendor's time.
      }
    },
    async pause(ms) {
      await sleep(clock, Math.min(ms, leftMs()), signal);
      if (signal.aborted) throw new VendorFailed('is not waited for');
      leftMs();
    },
  };
}

function failureOf(error: unknown): Error {
  // An OwnRefusal, for example of an answer that exceeds this server's memory, is no failure of the vendor.
  if (error instanceof VendorFailed || error instanceof OwnRefusal) return error;
  if (error instanceof AnswerTooLarge)
    return new VendorSaidTooMuch('answers too much', { cause: error });
  const { name } = error as Error;
  const isLate = name === 'TimeoutError';
  return new VendorFailed(isLate ? 'took too long' : 'gave no whole answer', { cause: error });
}
