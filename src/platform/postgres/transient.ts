import { type Clock, within } from '../../kernel/clock.ts';

/** Error codes of a connection that is gone or was never made. Another attempt may find the server back. */
const CONNECTION = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ERR_STREAM_DESTROYED',
  // This process, or its host, has no socket left for now.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'EAGAIN',
  // The socket's file or the host's name is missing while the server restarts.
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // Connection exceptions (class 08); statement_completion_unknown
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '08007',
  '40003',
  // admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections
  '57P01',
  '57P02',
  '57P03',
  '53300',
  // idle_in_transaction_session_timeout: the server has ended the connection
  '25P03',
]);

/**
 * Error codes of a reachable server that could not carry out a statement now: two calls blocked each other, or it has no
 * capacity.
 */
const NOT_NOW = new Set([
  'CALL_TIMEOUT',
  '25006', // read-only: a standby that is being promoted
  '40001',
  '40P01',
  '55P03',
  '57014',
]);

/** SQLSTATE classes of errors that may pass: connection exceptions, insufficient resources, system errors. */
const NOT_NOW_CLASSES = new Set(['08', '53', '58']);

/**
 * Returns true when the same statement may succeed if it is sent again; any other error is a bug in the statement. The outcome
 * of the first attempt is unknown.
 */
export function isTransient(error: unknown): boolean {
  const code = errorCode(error);
  if (code === undefined) return false;
  // Two processes used the same posting id at once, for two agents: the next look finds the posting.
  if (code === '23505') return constraintOf(error) === 'postings_pkey';
  if (CONNECTION.has(code) || NOT_NOW.has(code)) return true;
  return code.length === 5 && NOT_NOW_CLASSES.has(code.slice(0, 2));
}

/** Returns true when no server answers at the address, so that a start may wait for the server. */
export function isConnectionError(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && CONNECTION.has(code);
}

/**
 * Returns true when the server refuses a value, or a row that exists already: classes 22 and 23 of SQLSTATE. Nothing was
 * written.
 */
export function refusesValue(error: unknown): boolean {
  return /^2[23]...$/.test(errorCode(error) ?? '');
}

/**
 * Returns true when a parameter was a text that no column holds: with NUL as a character, or as an escape within JSON. Nothing
 * was written.
 */
export function refusesText(error: unknown): boolean {
  const code = errorCode(error);
  return code === '22021' || code === '22P05';
}

/**
 * Returns the SQLSTATE or the system's code of an error; of an error about several addresses, that of the first. Undefined when
 * the error has no code.
 */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function constraintOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'constraint_name' in error
    ? error.constraint_name
    : undefined;
}

/** Thrown when a statement has not answered in time. The server may still carry it out. */
export class CallTimeout extends Error {
  override readonly name = 'CallTimeout';
  readonly code = 'CALL_TIMEOUT';
}

/** Resolves with the database's answer, or rejects with `CallTimeout` after `ms`: the driver itself would wait for ever. */
export const answerWithin = <T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> =>
  within(clock, ms, answer, () => {
    throw new CallTimeout('the database has not answered');
  });
