import { ApiError } from '../kernel/api-error.ts';

/** A refusal by the marketplace itself, before anything is charged. The proxy relays it like a vendor's answer. */
export class OwnRefusal extends ApiError {
  constructor({ cause, error, fields, headers, status }: ApiError) {
    super(status, error, { fields, headers, cause });
  }
}
