import type { Json } from '../../../kernel/json.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { Reported } from '../chat-rail.ts';
import type { Outcome } from '../outcome.ts';
import type { PaymentMethod } from '../payment-method.ts';

/** One request in the Responses dialect, to one upstream that speaks it. */
export type ResponsesCall = {
  /** Request body, with the upstream's own name of the model, and `stream`. */
  readonly body: Json;
  readonly paymentMethod?: PaymentMethod | undefined;
  /** Puts a response of the upstream, itself and no copy, under our id and under the caller's names. */
  readonly dress: (response: Record<string, unknown>) => void;
};

/** A response that has come whole, dressed. */
export type WholeResponse = Reported & {
  readonly response: Json;
  /** The JSON of members of it that are written already, without braces. Absent: it has no others. */
  readonly echo?: string | undefined;
};

/** A response that is still coming. */
export interface ResponseEvents {
  /**
   * Returns the next whole events, except the last event of the response; undefined at the end. Throws StreamBroken when the
   * upstream ends the stream without a last event. For one reader.
   */
  next(): Promise<Uint8Array | undefined>;
  metered(): Reported;
  /** Returns the response so far, which is whole behind the last event. `echo` holds further members of it. */
  response(): Json;
  /** As that of a whole response. */
  readonly echo?: string | undefined;
  /** Sequence number of the next event. */
  sequence(): number;
  /** Stops buying. */
  stop(): void;
}

/** A way to responses at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request. */
export interface ResponsesRail {
  respond(call: ResponsesCall, signal: StopSignal): Promise<Outcome<WholeResponse>>;
  /** Completed is one of which something has come beside its head. */
  stream(
    call: ResponsesCall,
    signal: StopSignal,
  ): Promise<Outcome<{ readonly stream: ResponseEvents }>>;
}
