import type { TurnPass } from '../vad/turns.ts';

/** Methods of a worker: the argument and the result of each. */
export type Contract = {
  readonly [method: string]: { readonly in: unknown; readonly out: unknown };
};

export type CallMessage = {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
};

/** Requests that the worker finish its received work and exit. */
export type EndMessage = { readonly end: true };

export type ReplyMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: WorkerError };

/** Form in which an error crosses from a worker to its caller. */
export type WorkerError = {
  readonly name: string;
  readonly message: string;
  readonly param?: string | undefined;
};

/** Fields that `worker-bootstrap.mjs` and the worker read from `workerData`. */
export type WorkerStart<Options> = {
  readonly entry: string;
  readonly niceness: number;
  /** Pass for turns at the processor; undefined for workers that take no turns. */
  readonly turn: TurnPass | undefined;
  readonly options: Options;
};
