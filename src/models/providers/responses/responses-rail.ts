import type { Json } from '../../../kernel/json.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { Reported } from '../chat-rail.ts';
import type { Outcome } from '../outcome.ts';
import type { PaymentMethod } from '../payment-method.ts';

/** Request to one upstream that speaks the Responses dialect. */
export type ResponsesCall = {
  /** Request body, with the upstream's own name of the model, and `stream`. */
  readonly body: Json;
  readonly paymentMethod?: PaymentMethod | undefined;
  /** Replaces the ids and names in an upstream's response with those that the caller knows. Changes the object itself. */
  readonly dress: (response: Record<string, unknown>) => void;
};

/** Complete response, with the ids and names that the caller knows. */
export type WholeResponse = Reported & {
  readonly response: Json;
  /** JSON of further members of the response, already serialised, without braces. Undefined: no further members. */
  readonly echo?: string | undefined;
};

/** Response that is still arriving. */
export interface ResponseEvents {
  /**
   * Returns the next whole events, except the last event of the response; undefined at the end. Throws StreamBroken when the
   * upstream ends the stream without a last event. For one reader.
   */
  next(): Promise<Uint8Array | undefined>;
  metered(): Reported;
  /** Returns the response so far, which is complete after the last event. `echo` has its further members. */
  response(): Json;
  /** JSON of further members of the response, already serialised, without braces. Undefined: no further members. */
  readonly echo?: string | undefined;
  /** Sequence number of the next event. */
  sequence(): number;
  /** Stops reading and aborts the upstream request. */
  stop(): void;
}

/** A way to responses at one upstream. Failures of the upstream are outcomes and not rejections; `signal` ends the request. */
export interface ResponsesRail {
  respond(call: ResponsesCall, signal: StopSignal): Promise<Outcome<WholeResponse>>;
  /** Requests a streamed response. The outcome is `completed` when content beyond the first events has arrived. */
  stream(
    call: ResponsesCall,
    signal: StopSignal,
  ): Promise<Outcome<{ readonly stream: ResponseEvents }>>;
}
