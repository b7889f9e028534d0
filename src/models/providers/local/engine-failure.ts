import { EngineBusy, EngineInputRefused, EngineMissing } from '../../../engines/engine.ts';
import { type Failed, failed, type Unfit } from '../outcome.ts';

/** Maps an error of an engine of this process to the outcome of an upstream. */
export function engineFailure(error: unknown, param: string): Failed | Unfit {
  if (error instanceof EngineMissing) return failed('missing', error.message);
  if (error instanceof EngineBusy) {
    return failed('busy', error.message, null, error.retryAfterSeconds);
  }
  if (error instanceof EngineInputRefused) {
    return { kind: 'unfit', detail: error.message, param: error.param ?? param };
  }
  return failed('broken', error instanceof Error ? error.message : String(error));
}
