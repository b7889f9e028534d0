import { requestErrors } from '../../http/route/errors.ts';
import type { ApiError } from '../../kernel/api-error.ts';
import { newId } from '../../kernel/ids.ts';
import type { Hold } from '../../ledger/rules/requests.ts';
import { VendorFailed } from '../../models/providers/vendors/vendor-api.ts';
import type { MarketAnswer, MarketPrice, OnOver } from '../../payments/proxy/marketplace.ts';
import { refuseVendor } from '../answer-failure.ts';
import { marketplaceErrors, OwnRefusal } from '../errors.ts';
import { MARKETPLACE_LIMITS } from '../limits.ts';
import { type CallResources, withShare } from '../market-slots.ts';
import { listPriceRaw } from '../prices/price.ts';
import { readShape } from '../read-order.ts';
import type { Sale } from '../sell.ts';
import { unfit, type Vendor } from '../vendor.ts';
import { openVendorClient } from '../vendor-client.ts';
import { fetched, requireFunds } from '../vendor-sales.ts';
import { countPages } from './count-pages.ts';
import { DocumentBody, type DocumentRequest } from './document-request.ts';
import type { DocumentService } from './document-service.ts';
import { type JobRequest, jobRecord } from './job.ts';
import type { JobDeps } from './job-deps.ts';
import { deleteJob, findJob, insertJob, queueJob, withdrawJob } from './job-store.ts';

/** A request for a document job. */
export type JobCall = Sale & {
  readonly accountId: string;
  readonly vendor: string;
  /** Body as it came, read as JSON. */
  readonly body: unknown;
  readonly onOver?: OnOver | undefined;
};

/**
 * Accepts a job: counts the pages of its document, holds the price of the most pages that it may have, and hands the document
 * to the vendor without starting any work. Answers 202 once any process can go on with the job. A submission that is refused or
 * throws costs nothing. Under an Idempotency-Key the job has the id of the key's work, so that a second request finds its hold.
 */
export function submitJob(deps: JobDeps, call: JobCall): Promise<MarketAnswer> {
  return withShare(deps.rooms.shareOf(call.accountId), call, async (served) => {
    const { documents, vendor } = findVendor(deps, call.vendor);
    const asked = readShape<DocumentRequest>(DocumentBody, call.body);
    const order = orderOf(call, documents, asked);
    try {
      const guest = { accountId: call.accountId, agentId: call.spender.agentId };
      // Checks everything that does not need the file before the file is fetched.
      await requireFunds(deps, call, {
        priceRaw: priceRaw(documents, 1),
        // A PDF may hide pages, so the hold covers the largest number of pages (`countPages`).
        heldRaw: priceRaw(documents, MARKETPLACE_LIMITS.documents.pages),
      });
      return await deps.rooms.withFile('files', guest, async () => {
        const bytes = await documentOf(deps, call, served, asked);
        const document = await judge(bytes, served.signal);
        return accept({ ...deps, ...served }, call, {
          vendor,
          documents,
          order,
          bytes,
          ...document,
        });
      });
    } catch (error) {
      if (error instanceof VendorFailed && served.signal.aborted)
        throw requestErrors.clientClosed();
      return refuseVendor(deps, vendor.name, error);
    }
  });
}

function findVendor({ accounts, vendors }: Pick<JobDeps, 'accounts' | 'vendors'>, name: string) {
  const sellers = vendors.filter(({ documents }) => documents !== undefined);
  const vendor = sellers.find((each) => each.name === name);
  if (vendor?.documents === undefined) {
    const names = sellers.map((each) => each.name).join(', ');
    throw new OwnRefusal(
      marketplaceErrors.notFound(`There is no such vendor of doc; there are ${names}.`),
    );
  }
  if (!accounts.has(name)) {
    throw new OwnRefusal(
      marketplaceErrors.vendorUnavailable(`This server has no account with ${name}.`),
    );
  }
  return { vendor, documents: vendor.documents };
}

const priceRaw = ({ price }: DocumentService, pages: number): bigint =>
  listPriceRaw(price, pages * 1_000, MARKETPLACE_LIMITS.marginBps);

/** Returns the price of one page of any document. */
export const pagePrice = (
  deps: Pick<JobDeps, 'accounts' | 'vendors'>,
  name: string,
): MarketPrice => ({
  kind: 'sold',
  priceRaw: priceRaw(findVendor(deps, name).documents, 1),
  per: { quantity: 1, unit: 'page' },
});

function orderOf(
  { host, spender, url }: JobCall,
  { languages }: DocumentService,
  { language_code: language = null, output_format: format }: DocumentRequest,
): JobRequest {
  if (language !== null && !languages.includes(language)) {
    throw own(unfit('language_code', `must be one of ${languages.join(', ')}`));
  }
  return { url, host, spender, language, format: format ?? 'md' };
}

const own = (refusal: ApiError) => new OwnRefusal(refusal);

const DOCUMENT = {
  member: 'documentUrl',
  accept: 'application/pdf,application/zip;q=0.9,*/*;q=0.1',
  mostBytes: MARKETPLACE_LIMITS.documents.fileBytes,
} as const;

async function documentOf(
  { fetchFile, fileCallerOf }: JobDeps,
  { spender }: JobCall,
  { share, signal }: CallResources,
  { documentBase64, documentUrl }: DocumentRequest,
): Promise<Buffer> {
  if (typeof documentBase64 === 'string') {
    share.use(documentBase64.length * MARKETPLACE_LIMITS.sale.bytesInFlight.file);
    return Buffer.from(documentBase64, 'base64');
  }
  const caller = { ...fileCallerOf(spender), share, signal };
  return (await fetched(() => fetchFile(documentUrl ?? '', DOCUMENT, caller))).bytes;
}

/**
 * Returns the kind of a document and the number of pages to hold. Throws the refusal of a document that no vendor
 * takes, and of a client that has left.
 */
async function judge(bytes: Buffer, signal: AbortSignal) {
  const { pages: mostPages } = MARKETPLACE_LIMITS.documents;
  const counted = await countPages(bytes, signal);
  if (counted === undefined) {
    throw own(unfit('documentUrl', 'must be a PDF, or a ZIP archive of JPEG and PNG pages'));
  }
  const { kind, most, pages } = counted;
  if (pages === 0) throw own(unfit('documentUrl', 'must have a page'));
  if (pages !== undefined && pages > mostPages) {
    throw own(unfit('documentUrl', `must have at most ${mostPages} pages; it has ${pages}`));
  }
  return { kind, pagesHeld: Math.min(most, mostPages) };
}

type Submission = {
  readonly vendor: Vendor;
  readonly documents: DocumentService;
  readonly order: JobRequest;
  readonly bytes: Buffer;
  readonly kind: 'pdf' | 'zip';
  readonly pagesHeld: number;
};

async function accept(
  deps: JobDeps & CallResources,
  call: JobCall,
  submission: Submission,
): Promise<MarketAnswer> {
  const { address, clock, onPoint, random, sql } = deps;
  const { documents, order, pagesHeld, vendor } = submission;
  const { accountId, spender, workId } = call;
  const { agentId } = spender;
  const id = workId ?? newId(random, 'job_');
  const heldRaw = priceRaw(documents, pagesHeld);
  const job = { id, agentId, accountId, vendor: vendor.name, asked: order, pagesHeld, heldRaw };
  if (!(await insertJob(sql, job))) throw own(tooMany());
  await onPoint?.('written');
  const askedMs = clock.monotonicMs();
  const hold = await holdFor(deps, call, id, heldRaw);
  await onPoint?.('held');
  try {
    const vendorJobId = await handOver(deps, agentId, submission);
    if (deps.signal.aborted) throw requestErrors.clientClosed();
    if (!(await queueJob(sql, id, vendorJobId))) throw own(tooLate());
  } catch (error) {
    if (await withdraw(deps, hold, vendor.name)) throw error;
    // When only the reply to the commit was lost, the job was accepted, and its caller gets the job.
    if (!(await findJob(sql, job))?.isAccepted) throw error;
  }
  await onPoint?.('queued');
  const stored = await findJob(sql, job);
  const path = `/v1/doc/${vendor.name}/${id}`;
  const result = stored && jobRecord(stored, address.urlOf(path));
  return {
    status: 202,
    headers: { 'content-type': 'application/json', location: path },
    body: Buffer.from(JSON.stringify({ result })),
    costRaw: 0n,
    payment: 'passthrough',
    upstreamMs: clock.monotonicMs() - askedMs,
  };
}

const tooMany = () =>
  marketplaceErrors.vendorBusy('This agent or its account has as many living jobs as it may.');
const tooLate = () => marketplaceErrors.vendorBusy('The vendor took the document too slowly.');

async function holdFor(
  { ledger, sql }: JobDeps,
  { host, refusalOfHold, spender }: JobCall,
  holdId: string,
  amountRaw: bigint,
): Promise<Hold> {
  const destination = { host, payee: null };
  // If the ledger does not answer, the job stays, because money may be held for it. Another process ends the job and the hold.
  const verdict = await ledger.hold({ spender, holdId, amountRaw, destination });
  if (verdict.kind === 'held') return verdict.hold;
  await deleteJob(sql, holdId);
  throw refusalOfHold(verdict.refusal);
}

/** Creates the job at the vendor and uploads the document. The vendor does not start the job yet, and bills nothing. */
async function handOver(
  deps: JobDeps & CallResources,
  agentId: number,
  { bytes, documents, kind, order, vendor }: Submission,
): Promise<string> {
  const { accounts, files, onPoint, signal } = deps;
  const { stepMs } = MARKETPLACE_LIMITS.documents;
  const of = { agentId, signal };
  const bounds = { ...deps, vendorMs: deps.vendorMs ?? stepMs };
  const door = openVendorClient(bounds, accounts.get(vendor.name), of);
  const vendorJobId = await documents.create(door, order);
  await onPoint?.('created');
  const place = await documents.uploadTo(door, vendorJobId, `document.${kind}`);
  await files.put(place, bytes, signal);
  await onPoint?.('uploaded');
  return vendorJobId;
}

/**
 * Withdraws the job first and releases its hold second, since a job that was queued after all needs the hold. Returns false
 * when this process may not release the hold any more.
 */
async function withdraw(
  { ledger, onPoint, sql }: JobDeps,
  hold: Hold,
  source: string,
): Promise<boolean> {
  if (!(await withdrawJob(sql, hold.holdId))) return false;
  await onPoint?.('withdrawn');
  await ledger.settle({ hold, account: 'marketplace', actualRaw: 0n, source });
  await deleteJob(sql, hold.holdId);
  return true;
}
