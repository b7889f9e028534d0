/** A URL that this server does not call. `reason` is a sentence for the caller and names no address that was resolved. */
export class BlockedDestination extends Error {
  override readonly name = 'BlockedDestination';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** A host name that could not be resolved, or not in time. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}
