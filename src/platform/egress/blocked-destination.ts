/** A URL that this server does not call. `reason` is a sentence for the caller and names no address that was resolved. */
export class BlockedDestination extends Error {
  override readonly name: string = 'BlockedDestination';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** Plain http to a place that is not local, where TLS is required. */
export class PlainHttp extends BlockedDestination {
  override readonly name = 'PlainHttp';

  constructor() {
    super('plain http goes to local addresses alone: name an https URL');
  }
}

/** A host name that could not be resolved, or not in time. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}
