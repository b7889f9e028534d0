import { createHash } from 'node:crypto';

/** Rows that record a purchase or a fact, written in the same commit as the posting. */

/** One line of an agent's spend history (`charges`): the purchase behind the amount that a posting moves. */
export type ChargeRow = {
  readonly agentId: number;
  readonly keyId: number | null;
  /** Target of the charge: `gateway://<provider>/<model>`, `https://vendor/…` or `phone://<number>/…`. */
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
  /** Wallet of the vendor that was paid, in lower case. Null when no wallet was paid directly. */
  readonly payee: string | null;
  readonly responseStatusCode: number | null;
  readonly latencyMs: number | null;
  /** Milliseconds that this server added; `upstreamMs` are the upstream's own. */
  readonly overheadMs: number | null;
  readonly upstreamMs: number | null;
};

/** Spender of a charge, and the tags of its request. */
type ChargedTo = Pick<ChargeRow, 'agentId'> & {
  readonly [K in 'keyId' | 'taskId' | 'actionId' | 'customerId']?: ChargeRow[K] | undefined;
};

/** Facts of a charge. An absent fact is unknown, or does not apply to the kind of charge. */
type ChargeFacts = Pick<ChargeRow, 'targetUrl' | 'targetHost' | 'method' | 'status' | 'costRaw'> &
  Partial<ChargeRow>;

/** Builds the charge row of a purchase, of every kind. Milliseconds may be fractions. */
export const chargeRow = (
  { actionId = null, agentId, customerId = null, keyId = null, taskId = null }: ChargedTo,
  facts: ChargeFacts,
): ChargeRow => ({
  agentId,
  keyId,
  targetUrl: facts.targetUrl,
  targetHost: facts.targetHost,
  method: facts.method,
  status: facts.status,
  costRaw: facts.costRaw,
  model: facts.model ?? null,
  rail: facts.rail ?? null,
  usage: facts.usage ?? NO_USAGE,
  taskId,
  actionId,
  customerId,
  sessionId: facts.sessionId ?? null,
  payee: facts.payee ?? null,
  responseStatusCode: facts.responseStatusCode ?? null,
  latencyMs: columnMs(facts.latencyMs),
  overheadMs: columnMs(facts.overheadMs),
  upstreamMs: columnMs(facts.upstreamMs),
});

const NO_USAGE = {};

const columnMs = (ms: number | null | undefined): number | null =>
  ms === null || ms === undefined ? null : latencyOf(ms);

/** Returns milliseconds for a column: whole and within its range, which a session of weeks exceeds. */
export const latencyOf = (ms: number): number =>
  Math.min(Math.max(0, Math.round(ms)), 2_147_483_647);

/** An act of the operator, for the trail of acts. */
export type AdminAct = {
  readonly act: string;
  /** Agent, account, reservation or reason that the act is about. */
  readonly target: string;
  readonly detail: Readonly<Record<string, string | number | null>>;
  readonly requestId: string;
  readonly clientAddress: string;
};

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

/** A call of an agent at a voice platform, as its latest report tells it. */
export type PlatformCall = {
  readonly agentId: number;
  readonly provider: string;
  /** Id of the call at the platform. */
  readonly callId: string;
  readonly costRaw: bigint;
  /** Order of the platform's reports: a report of a lower rank never replaces one of a higher rank. */
  readonly rank: number;
  /** Unix milliseconds of the report by the platform's clock. Null when the platform tells no time. */
  readonly saidAtMs: number | null;
  /** Marks of the latest reports, by which a repeat is known. */
  readonly seen: readonly string[];
  /** Names of the events that were sent for the call, the new ones included. */
  readonly told: readonly string[];
  /** Host under which policies count the call. */
  readonly host: string;
  readonly taskId: string | null;
  readonly customerId: string | null;
  readonly durationSeconds: number | null;
};

/** Returns the name of a call among all calls of an agent. The platform's own id may have any characters. */
export const callKeyOf = ({
  callId,
  provider,
}: Pick<PlatformCall, 'callId' | 'provider'>): string =>
  `${provider}:${createHash('sha256').update(callId).digest('base64url')}`;
