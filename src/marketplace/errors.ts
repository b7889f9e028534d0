import { ApiError } from '../kernel/api-error.ts';
import { mayRetryAfter, NO_RETRY, refusal } from '../kernel/refusal.ts';

/** Refusals of the marketplace and of the vendors behind it. */
export const marketplaceErrors = {
  invalidJson: () => refusal(400, 'Invalid JSON body', 'The body is not a JSON object.'),
  notFound: (detail: string) => refusal(404, 'not_found', detail),
  /** Refuses a call of a vendor that the operator has not set up. The same request would be refused again. */
  vendorUnavailable: (detail: string) => refusal(503, 'vendor_unavailable', detail, {}, NO_RETRY),
  vendorBusy: (detail: string) =>
    refusal(503, 'vendor_unavailable', detail, { retry_after_seconds: 1 }, mayRetryAfter(1)),
};

/** A refusal by the marketplace itself, before anything is charged. The proxy relays it like a vendor's answer. */
export class OwnRefusal extends ApiError {
  constructor({ cause, error, fields, headers, status }: ApiError) {
    super(status, error, { fields, headers, cause });
  }
}
