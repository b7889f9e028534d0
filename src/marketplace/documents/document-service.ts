import type { VendorClient } from '../../models/providers/vendors/vendor-api.ts';
import type { ListPrice } from '../prices/price.ts';

/** Options for turning a document into text. */
export type DocumentOrder = {
  /** Language of the document; null for the vendor's default. */
  readonly language: string | null;
  readonly format: 'md' | 'html';
};

/** State of a job, as its vendor reports it. */
export type JobNews =
  /** `waiting`: the vendor has not reported that the job has begun. */
  | { readonly kind: 'waiting' | 'running' }
  | { readonly kind: 'done'; readonly pages: VendorPages }
  | { readonly kind: 'failed'; readonly reason: string };

/** The vendor's own count of pages; undefined for a number that the vendor does not report. */
export type VendorPages = {
  readonly total: number | undefined;
  readonly succeeded: number | undefined;
};

/**
 * Jobs of a vendor that turn a document into text. A job is made, gets its file, and does nothing before it is started: all
 * steps before the start cost nothing. Each call throws the errors of `VendorClient`, and VendorFailed for an answer that cannot
 * be read.
 */
export type DocumentService = {
  readonly price: ListPrice;
  readonly languages: readonly string[];
  /** Creates a job. Returns the vendor's id of the job. */
  readonly create: (door: VendorClient, order: DocumentOrder) => Promise<string>;
  /** Returns the URL and the headers for uploading the file. */
  readonly uploadTo: (
    door: VendorClient,
    vendorJobId: string,
    fileName: string,
  ) => Promise<{ readonly url: string; readonly headers: readonly (readonly [string, string])[] }>;
  readonly start: (door: VendorClient, vendorJobId: string) => Promise<void>;
  readonly look: (door: VendorClient, vendorJobId: string) => Promise<JobNews>;
  /** Returns the URL of the result, which works for some minutes. */
  readonly resultAt: (door: VendorClient, vendorJobId: string) => Promise<string>;
};
