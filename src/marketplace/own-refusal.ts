import { ApiError } from '../kernel/api-error.ts';

/** A refusal by the marketplace itself, before any money: through the proxy it is an answer like a vendor's. */
export class OwnRefusal extends ApiError {
  constructor({ cause, error, fields, headers, status }: ApiError) {
    super(status, error, { fields, headers, cause });
  }
}
