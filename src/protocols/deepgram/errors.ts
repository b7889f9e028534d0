import { refusal } from '../../kernel/refusal.ts';

/** Refusals of the routes of Deepgram's protocol, in addition to the gateway's refusals. */
export const deepgramErrors = {
  /** Refusal of a file that the caller named by its URL and that cannot be fetched or is no sound. */
  remoteContent: (why: string) =>
    refusal(400, 'remote_content_error', `The file at this address cannot be used: ${why}`),
  /** Passes an upstream's refusal on, with its status and its words. */
  upstreamRefused: (status: number, message: string, headers: Record<string, string> = {}) =>
    refusal(status, 'upstream_refused', message, {}, { ...headers }),
};
