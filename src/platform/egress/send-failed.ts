/**
 * `busy`: no free connection. `unreachable`: no address took a connection. `tls`: none could prove to be the host.
 * `timeout`: a bound of the request passed. `aborted`: the request's signal, or the answer was discarded. `broken`: the
 * connection ended early, or what came is not HTTP, or its head passes a bound.
 */
export type SendFailure = 'busy' | 'unreachable' | 'tls' | 'timeout' | 'aborted' | 'broken';

/** A request that got no answer, or none that is whole. */
export class SendFailed extends Error {
  override readonly name = 'SendFailed';
  readonly reason: SendFailure;
  /**
   * True only when it is certain that no byte of the request was handed to a connection. When false, the peer may have read the
   * whole request or nothing.
   */
  readonly beforeBytes: boolean;

  constructor(reason: SendFailure, options: { beforeBytes: boolean; cause?: unknown }) {
    super(`the request failed: ${reason}`, { cause: options.cause });
    this.reason = reason;
    this.beforeBytes = options.beforeBytes;
  }
}

/** Thrown when a body exceeds its bound. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';

  constructor(maxBytes: number) {
    super(`the body has more than ${maxBytes} bytes`);
  }
}

/** A header that cannot be sent as it is. Nothing was sent. */
export class BadRequestHeader extends Error {
  override readonly name = 'BadRequestHeader';
}
