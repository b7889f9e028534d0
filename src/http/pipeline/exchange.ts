import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Span } from '../../platform/tracing/span.ts';
import type { BodyReading } from '../body/body.ts';
import type { BodyStream } from '../body/body-stream.ts';
import type { AnyRoute } from '../route/route.ts';
import type { IncomingRequest } from './request.ts';

/** Parsed body that another request brought. Its bytes count as bytes of the other request until that request is answered. */
export type GivenBody = {
  readonly given: unknown;
  belongsTo(caller: string): void;
};

/** State of one request in the pipeline. */
export type Exchange = {
  readonly request: IncomingRequest;
  readonly route: AnyRoute;
  readonly rawParams: readonly (readonly [string, string])[];
  readonly body: BodyReading | BodyStream | GivenBody | undefined;
  readonly requestId: string;
  /** Undefined when the request is not traced. */
  readonly span?: Span | undefined;
  readonly clientAddress: () => string;
  readonly signal: StopSignal;
  /** Registers a callback for the end of the request, when its answer no longer occupies memory. */
  readonly onOver: (callback: () => void) => void;
  /** Id of the work under the request's `Idempotency-Key`. Absent: a new id. */
  readonly workId?: string | undefined;
  /** Returns the request's log. It is made on the first call, since most requests log nothing. */
  readonly log: () => Log;
};
