import { refusal } from './refusal.ts';

/** Refusals of the routes of Deepgram's protocol, in addition to the gateway's refusals. */
export const deepgram = {
  /** A file that its caller named by its address, and that cannot be had or is no sound. */
  remoteContent: (why: string) =>
    refusal(400, 'remote_content_error', `The file at this address cannot be used: ${why}`),
  /** Passes an upstream's refusal on, with its status and its words. */
  upstreamRefused: (status: number, message: string, headers: Record<string, string> = {}) =>
    refusal(status, 'upstream_refused', message, {}, { ...headers }),
};
