import type { DatabaseTarget } from '../src/platform/postgres/sql.ts';

export const MEDIA_PATH = '/v1/telephony/twilio/media';

/**
 * What `phone-host` serves: the carrier's socket, its codec and live calls whose rows are in a database, over a ledger in
 * memory; or a socket that sends every message back.
 */
export type PhoneHostOrder = {
  readonly kind: 'bare' | 'live';
  /** Such that answer at once, or the local ones. */
  readonly engines: 'prompt' | 'local';
  readonly calls: number;
  readonly target: DatabaseTarget;
  /** Whether it looks how late each frame is. */
  readonly isTimed: boolean;
  /** What counts as late. */
  readonly lateMs: number;
  /** Searches of 100,000 memories that it makes beside its calls; absent: none. */
  readonly searchesPerSecond?: number;
};
