/** Rows that say what money bought or what became true; they ride in the same commit as the posting. */

/** One line of an agent's spend history (`charges`). The posting says how much moved, this says for what. */
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
  /** Ours and theirs, apart: what this server added, and what the upstream took. */
  readonly overheadMs: number | null;
  readonly upstreamMs: number | null;
};

/** One entry of the event catalogue, kept for delivery. `agentWallet` null reaches global webhooks only. */
export type EventRow = {
  readonly name: string;
  readonly accountId: string;
  readonly agentWallet: string | null;
  readonly correlationId: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
};
