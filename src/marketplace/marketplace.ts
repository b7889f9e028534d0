import { isUtf8 } from 'node:buffer';
import { requestErrors } from '../http/route/errors.ts';
import type { Clock } from '../kernel/clock.ts';
import { parseJsonInTurns } from '../kernel/json/parse-json-in-turns.ts';
import { isObject } from '../kernel/json.ts';
import type { Memory, MemoryOp } from '../memory/memory.ts';
import { BODIES } from '../memory/memory-shape.ts';
import type {
  MarketAnswer,
  MarketCall,
  MarketPrice,
  Marketplace,
} from '../payments/proxy/marketplace.ts';
import { refusePayment } from '../payments/proxy/refuse-payment.ts';
import { BUDGET_ADVISORY_HEADER } from '../spend/awareness/budget-left.ts';
import type { DocumentJobs } from './documents/document-jobs.ts';
import { marketplaceErrors, OwnRefusal } from './errors.ts';
import { MARKETPLACE_LIMITS } from './limits.ts';
import type { MarketAddress } from './market-address.ts';
import { isService, type ServiceName } from './requests.ts';
import type { VendorSales } from './vendor-sales.ts';

export type MarketplaceDeps = {
  readonly address: MarketAddress;
  readonly shim: VendorSales;
  readonly documents: Pick<DocumentJobs, 'priceOf' | 'submit' | 'read'>;
  /** Memory store for agents. Undefined when this server has none. */
  readonly memory: Memory | undefined;
  readonly clock: Clock;
};

const MEMORY = '/v1/db/vectordb/';

/** Creates the marketplace for callers that come by the proxy. */
export function createMarketplace(deps: MarketplaceDeps): Marketplace {
  const { address } = deps;

  async function answer(call: MarketCall): Promise<MarketAnswer> {
    const path = address.pathOf(call.url) ?? '';
    if (path.startsWith(MEMORY)) return remember(deps, path.slice(MEMORY.length), call);
    if (path.startsWith(DOCUMENTS)) return turnIntoText(deps, path, call);
    const { service, vendor } = serviceAt(path);
    requireMethod(call, 'POST');
    const body = await readBody(call, MARKETPLACE_LIMITS.request.bodyBytes);
    const sale = saleOf(address, call);
    const { advisory, ...served } = await deps.shim.serve({ ...sale, service, vendor, body });
    if (advisory === undefined) return served;
    return { ...served, headers: { ...served.headers, [BUDGET_ADVISORY_HEADER]: advisory } };
  }

  async function price({ body, url }: Pick<MarketCall, 'url' | 'body'>): Promise<MarketPrice> {
    const path = address.pathOf(url) ?? '';
    if (path.startsWith(MEMORY)) {
      if (isMemoryOp(path.slice(MEMORY.length))) return { kind: 'free' };
      throw notFound(path);
    }
    if (path.startsWith(DOCUMENTS)) return deps.documents.priceOf(documentsAt(path).vendor);
    const given = await readBody({ body }, MARKETPLACE_LIMITS.request.bodyBytes);
    return deps.shim.priceOf({ ...serviceAt(path), body: given });
  }

  return {
    priceOf: price,
    get host() {
      return address.host;
    },
    matches: (url) => address.pathOf(url) !== undefined,
    async call(call) {
      try {
        return await answer(call);
      } catch (error) {
        if (error instanceof OwnRefusal) return shown(error);
        throw error;
      }
    },
  };
}

/** Returns the service and the vendor that a path names. Throws the refusal of any other path. */
function serviceAt(path: string): { readonly service: ServiceName; readonly vendor: string } {
  const [, service = '', vendor = '', ...more] = path.replace(/^\/v1(?=\/)/, '').split('/');
  if (path.startsWith('/v1/') && isService(service) && vendor !== '' && more.length === 0) {
    return { service, vendor };
  }
  throw notFound(path);
}

const saleOf = (
  { host }: MarketAddress,
  { accountId, onOver, signal, span, spender, url, workId }: MarketCall,
) => ({
  onOver,
  accountId,
  span,
  spender,
  workId,
  signal,
  host,
  url: addressOf(url),
  refusalOfHold: refusePayment,
});

const DOCUMENTS = '/v1/doc/';

/** Returns the vendor and the job that a path names. Throws the refusal of any other path. */
function documentsAt(path: string): { readonly vendor: string; readonly jobId?: string } {
  const [vendor = '', jobId, ...more] = path.slice(DOCUMENTS.length).split('/');
  if (vendor === '' || jobId === '' || more.length > 0) throw notFound(path);
  return jobId === undefined ? { vendor } : { vendor, jobId };
}

/** Serves documents: a job is created below the path of its vendor, and read below its own path. */
async function turnIntoText(
  { address, documents }: MarketplaceDeps,
  path: string,
  call: MarketCall,
): Promise<MarketAnswer> {
  const { jobId, vendor } = documentsAt(path);
  if (jobId === undefined) {
    requireMethod(call, 'POST');
    const body = await readBody(call, MARKETPLACE_LIMITS.documents.bodyBytes);
    return documents.submit({ ...saleOf(address, call), vendor, body });
  }
  requireMethod(call, 'GET');
  const { accountId, onOver, signal, spender } = call;
  return documents.read({ accountId, agentId: spender.agentId, vendor, jobId, signal, onOver });
}

const JSON_TYPE = { 'content-type': 'application/json' };

async function remember(
  { clock, memory }: MarketplaceDeps,
  op: string,
  call: MarketCall,
): Promise<MarketAnswer> {
  const { signal, span, spender, workId } = call;
  if (!isMemoryOp(op)) throw notFound(`${MEMORY}${op}`);
  requireMethod(call, 'POST');
  if (memory === undefined) {
    throw new OwnRefusal(marketplaceErrors.vendorUnavailable('This server has no memory store.'));
  }
  const askedMs = clock.monotonicMs();
  const { agentId } = spender;
  const asking = { agentId, spender, workId, span };
  const told = await memory.run(op, asking, call.body ?? '', signal);
  const upstreamMs = clock.monotonicMs() - askedMs;
  const answer = free(told.status, told.body, { ...told.headers, ...JSON_TYPE }, upstreamMs);
  // The operation used a model: the model's charge stands in the agent's history by itself.
  return told.bill === undefined
    ? answer
    : { ...answer, costRaw: told.bill.costRaw, payment: told.bill.payment };
}

const isMemoryOp = (op: string): op is MemoryOp => Object.hasOwn(BODIES, op);

/** Returns a refusal in the form of a vendor's answer. */
const shown = ({ error, fields, headers, status }: OwnRefusal): MarketAnswer =>
  free(status, { error, ...fields }, { ...JSON_TYPE, ...headers }, 0);

const free = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  upstreamMs: number,
): MarketAnswer => ({
  status,
  headers,
  upstreamMs,
  costRaw: 0n,
  payment: 'passthrough',
  body: Buffer.from(JSON.stringify(body)),
});

const notFound = (path: string) =>
  new OwnRefusal(
    marketplaceErrors.notFound(
      `The marketplace has nothing at ${path.slice(0, MARKETPLACE_LIMITS.request.pathChars)}.`,
    ),
  );

function requireMethod({ method }: MarketCall, only: 'GET' | 'POST'): void {
  if (method !== only) throw new OwnRefusal(requestErrors.methodNotAllowed([only]));
}

/** Returns the address as it stands in the agent's history: no fragment goes to a vendor. */
function addressOf(url: string): string {
  const at = new URL(url);
  at.hash = '';
  return at.href;
}

async function readBody({ body }: Pick<MarketCall, 'body'>, mostBytes: number): Promise<unknown> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body ?? '{}');
  if (bytes.length > mostBytes) throw new OwnRefusal(requestErrors.payloadTooLarge(mostBytes));
  try {
    if (!isUtf8(bytes)) throw new SyntaxError('no UTF-8');
    const value = await parseJsonInTurns(bytes);
    if (isObject(value) && !Array.isArray(value)) return value;
  } catch {
    // A body that does not parse is refused below, like a body that is no object.
  }
  throw new OwnRefusal(marketplaceErrors.invalidJson());
}
