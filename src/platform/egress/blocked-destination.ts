/** Thrown for a URL that this server does not call. `reason` is a sentence for the caller and names no resolved address. */
export class BlockedDestination extends Error {
  override readonly name: string = 'BlockedDestination';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/** Thrown for plain http to a destination that is not local, when TLS is required. */
export class PlainHttp extends BlockedDestination {
  override readonly name = 'PlainHttp';

  constructor() {
    super('plain http goes to local addresses alone: name an https URL');
  }
}

/** Thrown for a host name that could not be resolved in time. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}
