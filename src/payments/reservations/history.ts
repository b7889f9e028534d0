import { isLive } from '../../../machines/reservation.ts';
import { isoTime } from '../../kernel/clock.ts';
import type { Reservation } from './reservation.ts';

/** A row of an agent's history: one call through the proxy. */
export type ProxyCallRow = {
  /** Id of the call. Paid and free calls share one sequence. */
  readonly id: number;
  /** Null when the target requested no payment. */
  readonly payment: Pick<
    Reservation,
    'nonce' | 'state' | 'valueRaw' | 'payee' | 'txHash' | 'isCorrected'
  > | null;
  readonly keyId: number | null;
  readonly targetUrl: string;
  readonly method: string;
  readonly responseStatusCode: number | null;
  readonly latencyMs: number | null;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Charge of a call without a payment on the chain, made by this server's marketplace. */
  readonly chargedRaw: bigint;
};

/** Returns a call as the agent's history lists it. */
export const callRecord = (agentId: number, row: ProxyCallRow) => ({
  id: row.id,
  agentId,
  targetUrl: row.targetUrl,
  method: row.method,
  status: statusOf(row),
  paymentAmountRaw: amountRaw(row)?.toString() ?? null,
  paymentRecipient: row.payment?.payee ?? null,
  responseStatusCode: row.responseStatusCode,
  latencyMs: row.latencyMs,
  x402TxHash: row.payment?.txHash ?? null,
  nonce: row.payment?.nonce ?? null,
  taskId: row.taskId,
  actionId: row.actionId,
  apiKeyId: row.keyId,
  costRaw: costRaw(row).toString(),
  createdAt: isoTime(row.createdMs),
  updatedAt: isoTime(row.updatedMs),
});

/** Status of the payment, not of the vendor's answer. A free call is a success. */
function statusOf({ payment }: ProxyCallRow): 'pending' | 'success' | 'failed' {
  if (payment === null || payment.state === 'settled') return 'success';
  if (isLive(payment.state)) return 'pending';
  // The payment moved after its release, and was debited then.
  return payment.isCorrected ? 'success' : 'failed';
}

const amountRaw = ({ chargedRaw, payment }: ProxyCallRow): bigint | null =>
  payment?.valueRaw ?? (chargedRaw > 0n ? chargedRaw : null);

/** Returns the amount that the call took from the balance, or that stays held while the chain is undecided. */
const costRaw = (row: ProxyCallRow): bigint =>
  statusOf(row) === 'failed' ? 0n : (amountRaw(row) ?? 0n);
