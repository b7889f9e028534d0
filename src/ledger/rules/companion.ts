/** Rows that record a purchase or a fact, written in the same commit as the posting. */

/** One line of an agent's spend history (`charges`): the purchase behind the amount that a posting moves. */
export type ChargeRow = {
  readonly agentId: number;
  readonly keyId: number | null;
  /** `gateway://<provider>/<model>`, `https://vendor/…`, `phone://<number>/…`. */
  readonly targetUrl: string;
  readonly targetHost: string;
  readonly method: string;
  readonly status: 'success' | 'failed';
  readonly costRaw: bigint;
  readonly model: string | null;
  readonly rail: string | null;
  readonly usage: Readonly<Record<string, number>>;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
  readonly sessionId: string | null;
  /** Whom a vendor payment went to, lower case. */
  readonly payee: string | null;
  readonly responseStatusCode: number | null;
  readonly latencyMs: number | null;
  /** Milliseconds that this server added; `upstreamMs` are the upstream's own. */
  readonly overheadMs: number | null;
  readonly upstreamMs: number | null;
};

/** Milliseconds as a charge row takes them: whole, and within its column, which sessions of weeks are not. */
export const latencyOf = (ms: number): number =>
  Math.min(Math.max(0, Math.round(ms)), 2_147_483_647);

/** One event of the catalogue, stored for delivery. With `agentWallet` null it reaches global webhooks only. */
export type EventRow = {
  readonly name: string;
  readonly accountId: string;
  readonly agentWallet: string | null;
  readonly correlationId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The only webhook that receives the event. Absent: every subscribed webhook. */
  readonly webhookId?: number | null;
};
