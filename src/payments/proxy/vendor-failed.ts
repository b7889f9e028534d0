import { ApiError } from '../../kernel/api-error.ts';
import type { SendFailure } from '../../platform/egress/send-failed.ts';

/**
 * Reason of a failed vendor call. `unresolved`: the host name did not resolve. `unreadable`: the vendor requests a payment that
 * this proxy cannot make.
 */
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
