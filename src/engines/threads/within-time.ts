import { createContext, Script } from 'node:vm';

const CALL = new Script('work()');
const context: { work?: () => unknown } = createContext({});

/** Work was still going on when its time was over. */
export class TimeOver extends Error {
  override readonly name = 'TimeOver';
}

/**
 * Runs `work`, which must be synchronous, and returns its result. Throws TimeOver after `ms` milliseconds, wherever the work is
 * at that time, even in a regular expression.
 */
export function withinTime<T>(ms: number, work: () => T): T {
  try {
    context.work = work;
    return CALL.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    const isOver = (error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    throw isOver ? new TimeOver(`took longer than ${ms} ms`) : error;
  } finally {
    delete context.work;
  }
}
