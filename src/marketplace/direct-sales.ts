import type { RouteReply } from '../http/route/route.ts';
import type { Spender } from '../ledger/rules/requests.ts';
import { refuseHold } from '../models/purchase/refuse-hold.ts';
import { admitCall, viewAgent } from '../payments/proxy/admit-call.ts';
import { type MarketDeps, noteMarketCall } from '../payments/proxy/call-marketplace.ts';
import type { MarketAnswer, OnOver } from '../payments/proxy/marketplace.ts';
import { marketHeaders } from '../payments/proxy/relay-headers.ts';
import type { Span } from '../platform/tracing/span.ts';
import { BUDGET_ADVISORY_HEADER } from '../spend/awareness/budget-left.ts';
import type { DocumentJobs } from './documents/document-jobs.ts';
import type { JobReading } from './documents/read-job.ts';
import { OwnRefusal } from './errors.ts';
import type { MarketAddress } from './market-address.ts';
import type { ServiceName } from './requests.ts';
import type { Sale } from './sell.ts';
import type { VendorSales } from './vendor-sales.ts';

/** A request for a service that came to the marketplace's own address and not through the proxy. */
type DirectCall = {
  readonly service: ServiceName;
  readonly vendor: string;
  readonly body: unknown;
  readonly spender: Spender;
  readonly workId: string | undefined;
  readonly signal: AbortSignal;
  /** Registers a callback for the end of the request, after its answer was sent or abandoned. */
  readonly onOver?: OnOver | undefined;
  readonly span?: Span | undefined;
};

export interface DirectSales {
  /**
   * Sells a service with the same answers and the same receipt as the proxy. Throws the refusals, also the marketplace's own.
   */
  sell(call: DirectCall): Promise<RouteReply>;
  /** Sells the text of a document in the same way; the document becomes a job. */
  sellDocument(call: Omit<DirectCall, 'service'>): Promise<RouteReply>;
  /** Returns a document job of an agent. The read is free, and used-up caps do not refuse it. */
  readDocument(reading: JobReading): Promise<RouteReply>;
}

/**
 * Sells the marketplace's services to agents that call its address directly. A call is admitted like a call by the
 * proxy.
 */
export function createDirectSales({
  address,
  documents,
  ledger,
  log,
  passthroughs,
  shim,
  spendState,
}: MarketDeps & {
  readonly address: MarketAddress;
  readonly shim: VendorSales;
  readonly documents: Pick<DocumentJobs, 'submit' | 'read'>;
}): DirectSales {
  /** Admits a call, serves it, and adds it to the agent's history. */
  async function serve(
    path: string,
    { spender, ...call }: Omit<DirectCall, 'service' | 'vendor'>,
    run: (sale: Sale & { readonly accountId: string }) => Promise<DirectAnswer>,
  ): Promise<RouteReply> {
    const to = { host: address.host, lastRaw: undefined, refusalOfHold: refuseHold };
    const view = viewAgent(spendState, spender.agentId);
    const { accountId } = await admitCall(ledger, view, spender, to);
    const url = address.urlOf(path);
    const sale = {
      ...call,
      spender,
      accountId,
      url,
      host: address.host,
      refusalOfHold: refuseHold,
    };
    const note = (answer: Parameters<typeof noteMarketCall>[2]) =>
      noteMarketCall({ log, passthroughs }, { method: 'POST', spender, url }, answer);
    const sold = await run(sale).catch(async (refusal) => {
      if (refusal instanceof OwnRefusal) await note(freeOf(refusal));
      throw refusal;
    });
    await note(sold);
    return replyOf(sold);
  }

  return {
    sell: ({ service, vendor, ...call }) =>
      serve(`/v1/${service}/${vendor}`, call, (sale) =>
        shim.serve({ ...call, ...sale, service, vendor }),
      ),
    sellDocument: ({ vendor, ...call }) =>
      serve(`/v1/doc/${vendor}`, call, (sale) => documents.submit({ ...call, ...sale, vendor })),
    readDocument: async (reading) => replyOf(await documents.read(reading)),
  };
}

type DirectAnswer = MarketAnswer & { readonly advisory?: string | undefined };

function replyOf(sold: DirectAnswer): RouteReply {
  const { advisory, body, costRaw, headers, payment, status, upstreamMs } = sold;
  return {
    status,
    body,
    headers: {
      ...headers,
      ...marketHeaders(costRaw, payment),
      ...(advisory !== undefined && { [BUDGET_ADVISORY_HEADER]: advisory }),
    },
    upstreamMs,
  };
}

const freeOf = ({ status }: OwnRefusal) =>
  ({ status, costRaw: 0n, payment: 'passthrough', upstreamMs: 0 }) as const;
