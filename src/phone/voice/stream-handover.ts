import type { NamedTimers } from '../calls/named-timers.ts';
import type { MediaCodec } from '../carriers/carrier.ts';
import type { CallLine, LineConnection } from './line/call-line.ts';

/** Milliseconds that a stopping process takes to journal the use of a call. */
const HAND_OVER_MS = 200;

type StreamHandoverDeps = {
  readonly line: Pick<CallLine, 'attach' | 'close' | 'detach' | 'hasReplaced' | 'isAttached'>;
  readonly timers: NamedTimers;
  /** Milliseconds within which the carrier may replace a broken media stream. */
  readonly lineLostMs: number;
  readonly actions: {
    readonly isTransferring: boolean;
    readonly awayMs: number;
    transferred(): void;
  };
  readonly session: { billNow(): void; cancel(): void };
  readonly announcement: { giveUp(): void };
  readonly call: { cutShort(): void; end(reason: string): void; hungUp(): void };
  readonly events: { readonly attached: () => void; readonly detached: () => void };
};

/**
 * Keeps a call alive while its media stream is gone, until the stream comes back to this process or goes on at another process.
 */
export class StreamHandover {
  readonly #deps: StreamHandoverDeps;

  constructor(deps: StreamHandoverDeps) {
    this.#deps = deps;
  }

  /** Attaches the carrier's media stream, for the first time or again, and replaces a stream that is still open. */
  attach(connection: LineConnection, codec: MediaCodec): void {
    const { announcement, events, line, timers } = this.#deps;
    if (line.isAttached) announcement.giveUp();
    timers.cancel('lost');
    events.attached();
    line.attach(connection, codec);
  }

  /**
   * Handles the end of a stream. Another stream may come within `lineLostMs`, counted from the end of digits that the carrier
   * sends. Nothing happens when another stream has replaced this stream.
   */
  detached(connection: LineConnection | undefined): void {
    const { actions, announcement, call, events, line, lineLostMs, timers } = this.#deps;
    if (connection !== undefined && line.hasReplaced(connection)) return;
    announcement.giveUp();
    line.detach();
    // The line is in use: the peer hears the ringing of the transfer's other leg.
    if (actions.isTransferring) return;
    events.detached();
    timers.after('lost', lineLostMs + actions.awayMs, () => call.hungUp());
  }

  /** Ends the line and the last words of a call that is over, because its stream is gone. */
  gone(connection: LineConnection | undefined): void {
    const { events, line } = this.#deps;
    if (!line.isAttached || (connection !== undefined && line.hasReplaced(connection))) return;
    events.detached();
    line.detach();
  }

  /** Closes the stream, because the process stops. Another process may go on with the call. */
  drain(): void {
    const { actions, announcement, call, line, lineLostMs, session, timers } = this.#deps;
    // A call in transfer is not handed over: its line goes on at the carrier.
    if (actions.isTransferring) {
      actions.transferred();
      return;
    }
    announcement.giveUp();
    call.cutShort();
    // Cancels the answer in progress. A scripted answer that has not begun is not cancelled.
    session.cancel();
    session.billNow();
    // By then the journal, which the other process reads, has the use of the call.
    timers.after('hand over', HAND_OVER_MS, () => {
      line.close(1001, 'draining');
      timers.after('lost', lineLostMs, () => call.end('drain'));
    });
  }
}
