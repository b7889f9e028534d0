import { requestErrors } from '../http/route/errors.ts';
import type { Clock } from '../kernel/clock.ts';
import { joinPieces } from '../kernel/long-work.ts';
import type { Spender } from '../ledger/rules/requests.ts';
import { admitHost, askerOf, viewAgent } from '../payments/proxy/admit-call.ts';
import { askVendor, openVendor } from '../payments/proxy/vendor-call.ts';
import type { GuardedAnswer } from '../platform/egress/exchange.ts';
import type { Asker } from '../platform/egress/fair-shares.ts';
import type { GuardedClient } from '../platform/egress/guarded-client.ts';
import { BodyTooLarge, SendFailed } from '../platform/egress/send-failed.ts';
import type { SpendStateReader } from '../spend/limits/spend-state.ts';
import type { BytesShare } from './bytes-in-flight.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import { unfit } from './vendor.ts';

/** Member of the request that has the address, and the kind of file that is accepted from there. */
export type FileRequest = {
  readonly member: 'audioUrl' | 'documentUrl';
  readonly accept: string;
  readonly mostBytes: number;
};

export type FetchedFile = {
  readonly bytes: Buffer;
  /** Address of the file after all redirects. */
  readonly url: string;
  /** `content-type` of the answer; empty when the answer has none. */
  readonly contentType: string;
};

export type FetchFile = (
  url: string,
  wanted: FileRequest,
  caller: FileCaller,
) => Promise<FetchedFile>;

export type FileCaller = {
  readonly asker: Asker;
  /** Throws the refusal when the caller's agent may not call the host. */
  readonly admitHost: (host: string) => Promise<void>;
  /** Memory of this process that the file may take. */
  readonly share: Pick<BytesShare, 'reserve' | 'use'>;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
};

/** Returns the allowlist check and the connection share of the agent that a file is fetched for. */
export type FileCallerOf = (spender: Spender) => Pick<FileCaller, 'admitHost' | 'asker'>;

/**
 * Creates the caller of a file fetch. It reads the agent's spend state for each host, and to find out if the agent has money.
 */
export function fileCallerOf(
  spendState: Pick<SpendStateReader, 'read' | 'recall'>,
  spender: Spender,
): ReturnType<FileCallerOf> {
  const view = () => viewAgent(spendState, spender.agentId);
  return {
    admitHost: (host) => admitHost(view(), host),
    asker: askerOf({ remembered: undefined, read: () => view().read() }, spender),
  };
}

const {
  firstByteMs: audioFirstByteMs,
  idleMs: audioIdleMs,
  timeoutMs: audioMs,
  pace: audioPace,
  redirects: audioRedirects,
} = MARKETPLACE_LIMITS.audio;
const { bytesInFlight } = MARKETPLACE_LIMITS.sale;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

type FileDeps = {
  readonly client: Pick<GuardedClient, 'open' | 'send'>;
  readonly clock: Clock;
};

/**
 * Creates the fetch of files from addresses that a caller chose. Each address on the way is checked by the destination guard
 * and by the agent's allowlist. The fetch throws the refusal.
 */
export const createFileFetch =
  (deps: FileDeps): FetchFile =>
  async (asked, wanted, caller) => {
    const untilMs = deps.clock.monotonicMs() + audioMs;
    let url = asked;
    for (let redirects = 0; ; redirects++) {
      const answer = await openFile(deps, { url, untilMs, ...wanted }, caller);
      const location = REDIRECTS.has(answer.status) ? headerOf(answer, 'location') : undefined;
      if (location !== undefined && redirects < audioRedirects && URL.canParse(location, url)) {
        answer.discard();
        url = new URL(location, url).href;
        continue;
      }
      if (answer.status !== 200) {
        answer.discard();
        throw unfit(wanted.member, `answered ${answer.status}`);
      }
      return {
        url,
        contentType: headerOf(answer, 'content-type') ?? '',
        bytes: await readFile(deps, answer, wanted, caller),
      };
    }
  };

async function openFile(
  { client, clock }: FileDeps,
  {
    accept,
    mostBytes,
    untilMs,
    url,
  }: FileRequest & { readonly url: string; readonly untilMs: number },
  { admitHost, asker, signal }: FileCaller,
): Promise<GuardedAnswer> {
  const destination = await openVendor(client, url, asker);
  await admitHost(destination.host);
  const times = {
    unpaidMs: Math.max(1, untilMs - clock.monotonicMs()),
    idleMs: audioIdleMs,
    firstByteMs: audioFirstByteMs,
    responseBytes: mostBytes,
  };
  const headers = [['accept', accept]] as const;
  const request = { method: 'GET', headers, body: undefined } as const;
  return askVendor(client, destination, request, times, signal);
}

async function readFile(
  { clock }: FileDeps,
  answer: GuardedAnswer,
  { member, mostBytes }: FileRequest,
  { share, signal }: FileCaller,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  try {
    const length = Number(headerOf(answer, 'content-length'));
    if (length > 0 && length <= mostBytes) share.reserve(length * bytesInFlight.file);
    const requirePace = paceOf(clock, member);
    for await (const piece of answer.body) {
      requirePace(piece.byteLength);
      share.use(piece.byteLength * bytesInFlight.file);
      pieces.push(piece);
    }
  } catch (error) {
    answer.discard();
    if (signal.aborted) throw requestErrors.clientClosed();
    if (error instanceof BodyTooLarge) throw requestErrors.payloadTooLarge(mostBytes);
    if (error instanceof SendFailed) throw unfit(member, `broke off (${error.reason})`);
    throw error;
  }
  return joinPieces(pieces);
}

/** Returns a check that throws when a file comes too slowly, since only a few files may be fetched at a time. */
function paceOf(clock: Clock, member: FileRequest['member']): (bytes: number) => void {
  const { afterMs, bytesPerSecond } = audioPace;
  const sinceMs = clock.monotonicMs();
  let seenBytes = 0;
  return (bytes) => {
    seenBytes += bytes;
    const tookMs = clock.monotonicMs() - sinceMs;
    if (tookMs <= afterMs || seenBytes >= (bytesPerSecond * tookMs) / 1_000) return;
    throw unfit(member, `must come with at least ${bytesPerSecond} bytes a second`);
  };
}

const headerOf = ({ headers }: GuardedAnswer, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
