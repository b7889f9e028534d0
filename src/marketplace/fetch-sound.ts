import { probeDuration } from '../../media/duration/probe-duration.ts';
import type { Clock } from '../kernel/clock.ts';
import { errors } from '../kernel/errors.ts';
import { LIMITS } from '../kernel/limits.ts';
import { joinPieces } from '../kernel/long-work.ts';
import type { SoundFile } from '../models/providers/vendors/vendor-api.ts';
import { askVendor, openVendor } from '../payments/proxy/vendor-call.ts';
import type { GuardedAnswer } from '../platform/egress/exchange.ts';
import type { GuardedClient } from '../platform/egress/guarded-client.ts';
import { BodyTooLarge, SendFailed } from '../platform/egress/send-failed.ts';
import type { BytesShare } from './bytes-in-flight.ts';
import { unfit } from './vendor.ts';

export type FetchSound = (audioUrl: string, caller: FileCaller) => Promise<SoundFile>;

export type FileCaller = {
  /** Throws the refusal of a host that the caller's agent may not call. */
  readonly admitHost: (host: string) => Promise<void>;
  /** What the file may have of the memory of this process. */
  readonly share: Pick<BytesShare, 'reserve' | 'use'>;
  /** Fires when the client leaves. */
  readonly signal: AbortSignal;
};

const {
  audioBytes,
  audioFirstByteMs,
  audioIdleMs,
  audioMs,
  audioPace,
  audioRedirects,
  audioSeconds,
  bytesInFlight,
} = LIMITS.marketplace;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches a file of sound from an address that a caller chose, and finds out from its bytes how long it lasts. Each address
 * on the way is judged by the destination guard and by the agent's allowlist. Throws the refusal, also of what is no sound or too long.
 */
export const createSoundFetch =
  (deps: {
    readonly client: Pick<GuardedClient, 'open' | 'send'>;
    readonly clock: Clock;
  }): FetchSound =>
  async (audioUrl, caller) => {
    const untilMs = deps.clock.monotonicMs() + audioMs;
    let url = audioUrl;
    for (let redirects = 0; ; redirects++) {
      const answer = await openFile(deps, url, untilMs, caller);
      const location = REDIRECTS.has(answer.status) ? headerOf(answer, 'location') : undefined;
      if (location !== undefined && redirects < audioRedirects && URL.canParse(location, url)) {
        answer.discard();
        url = new URL(location, url).href;
        continue;
      }
      if (answer.status !== 200) {
        answer.discard();
        throw unfit('audioUrl', `answered ${answer.status}`);
      }
      return readFile(deps, answer, url, caller);
    }
  };

async function openFile(
  { client, clock }: Parameters<typeof createSoundFetch>[0],
  url: string,
  untilMs: number,
  { admitHost, signal }: FileCaller,
): Promise<GuardedAnswer> {
  const destination = await openVendor(client, url);
  await admitHost(destination.host);
  const times = {
    unpaidMs: Math.max(1, untilMs - clock.monotonicMs()),
    idleMs: audioIdleMs,
    firstByteMs: audioFirstByteMs,
    responseBytes: audioBytes,
  };
  const headers = [['accept', 'audio/*,video/*;q=0.9,*/*;q=0.1']] as const;
  const request = { method: 'GET', headers, body: undefined } as const;
  return askVendor(client, destination, request, times, signal);
}

async function readFile(
  { clock }: Pick<Parameters<typeof createSoundFetch>[0], 'clock'>,
  answer: GuardedAnswer,
  url: string,
  { share, signal }: FileCaller,
): Promise<SoundFile> {
  const pieces: Uint8Array[] = [];
  try {
    const length = Number(headerOf(answer, 'content-length'));
    if (length > 0 && length <= audioBytes) share.reserve(length * bytesInFlight.file);
    const requirePace = paceOf(clock);
    for await (const piece of answer.body) {
      requirePace(piece.byteLength);
      share.use(piece.byteLength * bytesInFlight.file);
      pieces.push(piece);
    }
  } catch (error) {
    answer.discard();
    if (signal.aborted) throw errors.request.clientClosed();
    if (error instanceof BodyTooLarge) throw errors.request.payloadTooLarge(audioBytes);
    if (error instanceof SendFailed) throw unfit('audioUrl', `broke off (${error.reason})`);
    throw error;
  }
  const bytes = await joinPieces(pieces);
  const probed = await probeDuration(bytes);
  if (probed.kind === 'refused') throw unfit('audioUrl', probed.reason);
  const { durationMs } = probed;
  if (durationMs > audioSeconds * 1_000) {
    throw unfit('audioUrl', `must last at most ${audioSeconds} s`);
  }
  return { bytes, durationMs, contentType: typeOf(answer), name: fileName(url) };
}

/** Of a file that comes too slowly the rest is not waited for: it has one of a few places. */
function paceOf(clock: Clock): (bytes: number) => void {
  const { afterMs, bytesPerSecond } = audioPace;
  const sinceMs = clock.monotonicMs();
  let seenBytes = 0;
  return (bytes) => {
    seenBytes += bytes;
    const tookMs = clock.monotonicMs() - sinceMs;
    if (tookMs <= afterMs || seenBytes >= (bytesPerSecond * tookMs) / 1_000) return;
    throw unfit('audioUrl', `must come with at least ${bytesPerSecond} bytes a second`);
  };
}

const headerOf = ({ headers }: GuardedAnswer, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1];

/** Vendors look at the bytes; a type that is none would only mislead them. */
function typeOf(answer: GuardedAnswer): string {
  const said = headerOf(answer, 'content-type') ?? '';
  return /^(audio|video)\/[\w.+-]{1,64}$/.test(said) ? said : 'application/octet-stream';
}

/** The last part of a path, since some vendors take the kind of a file from its name. */
function fileName(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  return /^[\w.-]{1,64}$/.test(last) ? last : 'sound';
}
