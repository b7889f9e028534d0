/**
 * `busy`: no free connection. `unreachable`: no address accepted a connection. `tls`: no address had a valid certificate for
 * the host. `timeout`: a time limit of the request passed. `aborted`: the request's signal fired, or the answer was discarded.
 * `broken`: the connection ended early, the answer is not HTTP, or its head exceeds a bound.
 */
export type SendFailure = 'busy' | 'unreachable' | 'tls' | 'timeout' | 'aborted' | 'broken';

/** Thrown when a request got no answer, or no whole answer. */
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

/** Thrown for a header that cannot be sent as it is. Nothing was sent. */
export class BadRequestHeader extends Error {
  override readonly name = 'BadRequestHeader';
}
