import { ApiError } from '../../kernel/api-error.ts';
import type { SendFailure } from '../../platform/egress/send-failed.ts';

/** `unresolved`: its name is not known. `unreadable`: it asks for a payment that cannot be made here. */
export type VendorFault = SendFailure | 'unresolved' | 'unreadable';

/**
 * Refusal because of the vendor, or the way to the vendor, before anything was paid. A caller with another vendor can attempt
 * that vendor.
 */
export class VendorCallFailed extends ApiError {
  readonly fault: VendorFault;

  constructor(fault: VendorFault, { status, error, fields, headers }: ApiError) {
    super(status, error, { fields, headers });
    this.fault = fault;
  }
}
