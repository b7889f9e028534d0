import { createHmac, timingSafeEqual } from 'node:crypto';
import type { CallbackRequest } from '../carrier.ts';

/**
 * Header with the token of a media stream. Telnyx does not sign the upgrade of a stream, but sends the token that the stream
 * was opened with.
 */
const TOKEN_HEADER = 'x-telnyx-streaming-auth-token';

export type TelnyxHooks = {
  /** Address of all callbacks. The application at Telnyx must name it, too, so that calls from outside come here. */
  readonly voice: string;
  /** Returns the address of the media stream of a call. */
  media(callId: string): string;
  /** Returns the token that the media stream of this call alone must show. */
  mediaToken(callId: string): string;
  /** Returns true when an upgrade shows the token of the call that it names. */
  isGenuineUpgrade(request: Omit<CallbackRequest, 'body'>): boolean;
};

/** Returns the addresses of a server at this public origin, and the tokens by which its streams are recognised. */
export function hooksOf(deps: {
  readonly publicUrl: string;
  readonly apiKey: string;
}): TelnyxHooks {
  const root = `${deps.publicUrl.replace(/\/+$/, '')}/v1/telephony/telnyx`;
  const mediaToken = (callId: string) =>
    createHmac('sha256', deps.apiKey).update(`media stream ${callId}`).digest('base64url');
  return {
    voice: `${root}/voice`,
    media: (callId) => `${root.replace(/^http/, 'ws')}/media?call=${encodeURIComponent(callId)}`,
    mediaToken,
    isGenuineUpgrade({ url, headers }) {
      const callId = callIdOfUrl(url);
      const shown = headers[TOKEN_HEADER];
      if (callId === undefined || shown === undefined) return false;
      const [a, b] = [Buffer.from(shown), Buffer.from(mediaToken(callId))];
      return a.length === b.length && timingSafeEqual(a, b);
    },
  };
}

/** Returns the call that the address of a media stream names. */
export function callIdOfUrl(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  return new URL(url).searchParams.get('call') ?? undefined;
}
