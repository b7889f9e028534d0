import type { VendorDoor } from '../../models/providers/vendors/vendor-api.ts';
import type { ListPrice } from '../prices/price.ts';

/** What is wanted of a document. */
export type DocumentOrder = {
  /** The language that it is in; the vendor's usual one where there is none. */
  readonly language: string | null;
  readonly format: 'md' | 'html';
};

/** What a vendor says of a job. */
export type JobNews =
  /** `waiting`: the vendor has not said that the job has begun. */
  | { readonly kind: 'waiting' | 'running' }
  | { readonly kind: 'done'; readonly pages: VendorPages }
  | { readonly kind: 'failed'; readonly reason: string };

/** The vendor's own count; undefined where it tells none. */
export type VendorPages = {
  readonly total: number | undefined;
  readonly succeeded: number | undefined;
};

/**
 * Jobs of a vendor that turn a document into text. A job is made, gets its file, and does nothing before it is started:
 * what came before the start costs nothing. Each throws what `VendorDoor` throws, and VendorFailed for an answer that cannot be read.
 */
export type DocumentService = {
  readonly price: ListPrice;
  readonly languages: readonly string[];
  /** Makes a job. Answers the vendor's name of it. */
  readonly create: (door: VendorDoor, order: DocumentOrder) => Promise<string>;
  /** Where the file is to be put, and with which headers. */
  readonly uploadTo: (
    door: VendorDoor,
    vendorJobId: string,
    fileName: string,
  ) => Promise<{ readonly url: string; readonly headers: readonly (readonly [string, string])[] }>;
  readonly start: (door: VendorDoor, vendorJobId: string) => Promise<void>;
  readonly look: (door: VendorDoor, vendorJobId: string) => Promise<JobNews>;
  /** Where the result lies, for some minutes. */
  readonly resultAt: (door: VendorDoor, vendorJobId: string) => Promise<string>;
};
