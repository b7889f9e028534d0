import { ApiError } from '../../kernel/api-error.ts';
import type { Spender } from '../../ledger/rules/requests.ts';
import type { Attributes, Span } from '../../platform/tracing/span.ts';
import type { BudgetReports } from '../../spend/awareness/budget-left.ts';
import { createCallSlots } from '../reservations/call-slots.ts';
import { callMarketplace } from './call-marketplace.ts';
import type { Marketplace, OnOver } from './marketplace.ts';
import { outboundRequest } from './outbound-request.ts';
import type { PassthroughLog } from './passthrough-log.ts';
import { type PayDeps, payVendor } from './pay-vendor.ts';
import type { ProxyRequest } from './proxy-request.ts';
import { type QuoteCallDeps, quoteCall } from './quote-call.ts';
import { keepWhole, type ProxyAnswer, relayAnswer, requireShort } from './relay-answer.ts';
import { PASSED_THROUGH, paidHeaders } from './relay-headers.ts';
import type { ReportCapHit } from './report-cap-hits.ts';
import { type ReserveDeps, reservePayment } from './reserve-payment.ts';

export type ProxyCall = {
  readonly spender: Spender;
  readonly request: ProxyRequest;
  /** Id that the hold gets. Undefined: the hold gets a new id. */
  readonly workId: string | undefined;
  /** Fires when the client leaves. Before the payment is sent this ends the call; afterwards the signal is ignored. */
  readonly signal: AbortSignal;
  /** Registers a callback for the end of the request, after its answer was sent or abandoned. */
  readonly onOver?: OnOver | undefined;
  /** Parent span of the call. Undefined when the call is not traced. */
  readonly span?: Span | undefined;
};

export interface VendorProxy {
  /**
   * Sends a call and pays its vendor. Throws the proxy's refusals. At most one authorization exists for a call, whatever its
   * outcome.
   */
  send(call: ProxyCall): Promise<ProxyAnswer>;
}

export type ProxyDeps = QuoteCallDeps &
  ReserveDeps &
  PayDeps & {
    readonly budgets: BudgetReports;
    readonly passthroughs: PassthroughLog;
    readonly reportCapHit: ReportCapHit;
    /** Vendors that this server sells itself. Undefined when the server sells none. */
    readonly marketplace: Marketplace | undefined;
    /** Most calls of one agent in a minute. */
    readonly callsPerMinute: number;
  };

/** Creates the proxy, which sends agents' requests to vendors and pays a vendor that requests a payment. */
export function createProxy(deps: ProxyDeps): VendorProxy {
  const slots = createCallSlots({ perMinute: deps.callsPerMinute });

  async function send({
    onOver,
    request: wanted,
    signal,
    span,
    spender,
    workId,
  }: ProxyCall): Promise<ProxyAnswer> {
    const request = outboundRequest(wanted);
    const { url } = wanted;
    const { marketplace } = deps;
    if (marketplace?.matches(url)) {
      return callMarketplace(deps, marketplace, {
        ...request,
        spender,
        url,
        workId,
        signal,
        onOver,
        span,
      });
    }
    const call = { spender, url, request, workId, signal };
    const quoted = await quoteCall(deps, call);
    const { destination, upstreamMs } = quoted;
    if (quoted.kind === 'free') {
      const { answer } = quoted;
      deps.passthroughs.add({
        agentId: spender.agentId,
        keyId: spender.keyId ?? null,
        targetUrl: destination.url,
        method: request.method,
        responseStatusCode: answer.status,
        latencyMs: Math.round(upstreamMs),
        taskId: spender.taskId ?? null,
        actionId: spender.actionId ?? null,
      });
      span?.set(vendorAttributes(answer.status, 0n));
      requireShort(answer, request.method);
      return relayAnswer(answer, PASSED_THROUGH, upstreamMs);
    }
    const reserved = await reservePayment(deps, call, quoted);
    const paidMs = deps.clock.monotonicMs();
    span?.set({ 'svc.hold.id': reserved.held.hold.holdId });
    const { answer, row } = await payVendor(deps, destination, request, reserved);
    span?.set(vendorAttributes(answer.status, row.valueRaw));
    requireShort(answer, request.method, row);
    const { funds, after, hold } = reserved.held;
    const left = await deps.budgets.left({ funds, after }, { spender, facts: hold.facts });
    const tookMs = upstreamMs + deps.clock.monotonicMs() - paidMs;
    const relayed = relayAnswer(answer, paidHeaders(row.valueRaw, left.advisory), tookMs);
    const kept = workId === undefined ? relayed : await keepWhole(relayed, row);
    await deps.onStep('answering');
    return kept;
  }

  return {
    send: (call) =>
      slots.take(call.spender.agentId, () =>
        withVendorSpan(deps, call, send).catch(async (refusal: unknown) => {
          const { request, spender } = call;
          await deps.reportCapHit({ agentId: spender.agentId, url: request.url }, refusal);
          throw refusal;
        }),
      ),
  };
}

/** Sends a call under a span of its own, until the answer begins. Sales of the marketplace have spans of their own. */
async function withVendorSpan<T>(
  { marketplace }: Pick<ProxyDeps, 'marketplace'>,
  call: ProxyCall,
  send: (call: ProxyCall) => Promise<T>,
): Promise<T> {
  const { method, url } = call.request;
  if (call.span === undefined || marketplace?.matches(url)) return send(call);
  const span = call.span.child(`vendor ${method}`, {
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': hostOf(url),
      'svc.agent.id': call.spender.agentId,
    },
  });
  try {
    const answer = await send({ ...call, span });
    span.end();
    return answer;
  } catch (error) {
    span.end({ error: error instanceof ApiError ? error.error : 'failed' });
    throw error;
  }
}

/** Returns the span attributes of a vendor's answer: its status and the amount paid. */
const vendorAttributes = (status: number, costRaw: bigint): Attributes => ({
  'http.response.status_code': status,
  'svc.cost_raw': Number(costRaw),
});

/** Returns the host of a URL without path and query, which may hold secrets. */
const hostOf = (url: string): string | undefined =>
  URL.canParse(url) ? new URL(url).hostname : undefined;
