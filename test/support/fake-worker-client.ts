import type { WorkerClient } from '../../src/engines/threads/worker-client.ts';
import type { Contract } from '../../src/engines/threads/worker-protocol.ts';

export type Call = { readonly method: string; readonly argument: unknown };

/** A worker that answers in this thread, through `answer`, and remembers what it was asked. */
export function fakeWorkerClient<C extends Contract>(
  answer: (call: Call) => unknown,
): WorkerClient<C> & { readonly calls: Call[]; disposed: boolean } {
  const calls: Call[] = [];
  const client = {
    calls,
    disposed: false,
    inFlight: 0,
    thread: undefined,
    async call(method: string, argument: unknown) {
      const call = { method, argument };
      calls.push(call);
      return answer(call);
    },
    async [Symbol.asyncDispose]() {
      client.disposed = true;
    },
  };
  return client as unknown as WorkerClient<C> & { readonly calls: Call[]; disposed: boolean };
}
