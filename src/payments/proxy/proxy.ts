import { errors } from '../../kernel/errors.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Destination } from '../../platform/egress/destination-guard.ts';
import type { GuardedAnswer } from '../../platform/egress/exchange.ts';
import type { Header } from '../../platform/egress/request-headers.ts';
import type { BudgetReports } from '../../spend/awareness/budget-left.ts';
import { createCallSlots } from '../reservations/call-slots.ts';
import type { Reservation } from '../reservations/reservation.ts';
import type { Reserved } from '../reservations/reserve-payment.ts';
import { gatherWhole } from './gather-whole.ts';
import { type OpenDeps, openCall } from './open-call.ts';
import { outboundRequest } from './outbound-request.ts';
import type { PassthroughLog } from './passthrough-log.ts';
import { type PayDeps, payVendor } from './pay-vendor.ts';
import type { ProxyRequest } from './proxy-request.ts';
import { valuesOf } from './read-challenge.ts';
import { PASSED_THROUGH, paidHeaders, relayedHeaders } from './relay-headers.ts';

export type ProxyCall = {
  readonly spender: Spender;
  readonly request: ProxyRequest;
  /** Becomes the id of the hold. */
  readonly workId: string | undefined;
  /** Fires when the client leaves: before a payment that ends the call, after it nothing does. */
  readonly signal: AbortSignal;
};

/** A vendor's answer under our receipt. */
export type ProxyAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: readonly Header[];
  readonly body: AsyncIterable<Uint8Array> | Uint8Array;
  readonly upstreamMs: number;
};

export interface VendorProxy {
  /** Throws the proxy's refusals. At most one authorization exists for a call, whatever becomes of it. */
  send(call: ProxyCall): Promise<ProxyAnswer>;
}

export type ProxyDeps = OpenDeps &
  PayDeps & {
    readonly budgets: BudgetReports;
    readonly passthroughs: PassthroughLog;
  };

/** Sends agents' requests to vendors and pays those that ask for it. */
export function createProxy(deps: ProxyDeps): VendorProxy {
  const { clock } = deps;
  const slots = createCallSlots();

  async function send(call: ProxyCall): Promise<ProxyAnswer> {
    const { spender } = call;
    const { url } = call.request;
    const request = outboundRequest(call.request);
    const opened = await openCall(deps, { ...call, url, request });
    const { destination, upstreamMs } = opened;
    if (opened.kind === 'free') {
      deps.passthroughs.add(lineOf(call, destination, opened.answer, upstreamMs));
      requireShort(opened.answer, request.method);
      return relay(opened.answer, PASSED_THROUGH, upstreamMs);
    }
    const { reserved } = opened;
    const paidMs = clock.monotonicMs();
    const { answer, row } = await payVendor(deps, destination, request, reserved);
    requireShort(answer, request.method, row);
    const advisory = await adviseOf(spender, reserved);
    const took = upstreamMs + clock.monotonicMs() - paidMs;
    const relayed = relay(answer, paidHeaders(row.valueRaw, advisory), took);
    const kept = call.workId === undefined ? relayed : await keep(relayed, row);
    await deps.onStep('answering');
    return kept;
  }

  async function adviseOf(spender: Spender, { held }: Reserved): Promise<string | undefined> {
    const { funds, after, hold } = held;
    const left = await deps.budgets.left({ funds, after }, { spender, facts: hold.facts });
    return left.advisory;
  }

  return { send: (call) => slots.take(call.spender.agentId, () => send(call)) };
}

/** What was paid for under a key must be there for its replay, whether or not its reader is. */
async function keep(
  answer: ProxyAnswer,
  { nonce, validBefore }: Reservation,
): Promise<ProxyAnswer> {
  try {
    return await gatherWhole(answer, KEPT_BYTES);
  } catch {
    const detail =
      'The answer broke off after the payment had been taken. Do not send it again: look the reservation up until it is terminal.';
    throw errors.proxy.ambiguous(detail, { nonce, validBefore });
  }
}

const KEPT_BYTES = LIMITS.idempotencyAnswerBytes;

const relay = (
  answer: GuardedAnswer,
  receipt: Readonly<Record<string, string>>,
  upstreamMs: number,
): ProxyAnswer => ({
  status: answer.status,
  headers: receipt,
  lines: relayedHeaders(answer.headers),
  upstreamMs,
  // One that has come goes out in one piece.
  body: answer.whole() ?? answer.body,
});

/** Better refused whole than cut in the middle; one that does not say how long it is can only be cut. */
function requireShort(
  answer: GuardedAnswer,
  method: ProxyRequest['method'],
  paid?: Pick<Reservation, 'nonce' | 'validBefore'>,
): void {
  const [length] = valuesOf(answer, 'content-length');
  const most = LIMITS.vendorResponseBytes;
  const hasNoBody = method === 'HEAD' || answer.status === 204 || answer.status === 304;
  if (hasNoBody || Number(length ?? 0) <= most) return;
  answer.discard();
  if (paid === undefined) throw errors.proxy.responseTooLarge(most);
  const { nonce, validBefore } = paid;
  throw errors.proxy.ambiguous(
    `The vendor has the payment and answers with more than ${most} bytes, which are not relayed. Do not send it again: look the reservation up until it is terminal.`,
    { nonce, validBefore },
  );
}

const lineOf = (
  { spender, request }: ProxyCall,
  { url }: Destination,
  { status }: GuardedAnswer,
  latencyMs: number,
) => ({
  agentId: spender.agentId,
  keyId: spender.keyId ?? null,
  targetUrl: url,
  method: request.method,
  responseStatusCode: status,
  latencyMs: Math.round(latencyMs),
  taskId: spender.taskId ?? null,
  actionId: spender.actionId ?? null,
});
