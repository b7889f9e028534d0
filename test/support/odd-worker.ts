import { wasm } from '../../src/engines/threads/web-assembly.ts';
import { serveWorker } from '../../src/engines/threads/worker-host.ts';

/** A worker that can be told to misbehave. */
export type OddContract = {
  readonly echo: { readonly in: unknown; readonly out: unknown };
  readonly double: { readonly in: Int16Array; readonly out: Int16Array };
  readonly refuse: { readonly in: string; readonly out: null };
  readonly trap: { readonly in: null; readonly out: null };
  readonly exit: { readonly in: null; readonly out: null };
  /** Computes for so many milliseconds and says from when to when. */
  readonly spin: { readonly in: number; readonly out: readonly [number, number] };
  readonly hang: { readonly in: null; readonly out: null };
};

serveWorker<OddContract>({
  echo: (value) => value,
  double(samples, transfer) {
    const doubled = samples.map((sample) => sample * 2);
    transfer(doubled.buffer);
    return doubled;
  },
  refuse(reason) {
    const error = new Error(reason);
    error.name = 'EngineInputRefused';
    throw error;
  },
  exit: () => process.exit(3),
  async trap() {
    // A module whose start function is `unreachable`.
    const code = Buffer.from('0061736d01000000010401600000030201000801000a05010300000b', 'hex');
    new wasm.Instance(await wasm.compile(code), {});
    return null;
  },
  spin(ms) {
    const now = () => performance.timeOrigin + performance.now();
    const from = now();
    while (now() < from + ms);
    return [from, now()];
  },
  hang() {
    for (;;);
  },
});
