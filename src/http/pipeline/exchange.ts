import type { Log } from '../../kernel/log.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { Span } from '../../kernel/trace/span.ts';
import type { BodyReading } from '../body/body.ts';
import type { BodyStream } from '../body/body-stream.ts';
import type { AnyRoute } from '../route/route.ts';
import type { IncomingRequest } from './request.ts';

/** Parsed body that another request brought. Its bytes count as bytes of the other request until that request is answered. */
export type GivenBody = {
  readonly given: unknown;
  belongsTo(caller: string): void;
};

/** One request on its way through the pipeline. */
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
  /** Calls back when the request is over, and with it whatever its answer holds in memory. */
  readonly onOver: (callback: () => void) => void;
  /** Made on demand: most requests have nothing to say. */
  readonly log: () => Log;
};
