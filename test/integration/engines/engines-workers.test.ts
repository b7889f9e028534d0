import { afterEach, describe, expect, it } from 'vitest';
import { EngineBusy, EngineCrashed, EngineInputRefused } from '../../../src/engines/engine.ts';
import {
  createWorkerClient,
  type WorkerClient,
} from '../../../src/engines/threads/worker-client.ts';
import { createTurns, type Turns } from '../../../src/engines/vad/turns.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { compiledUrl } from '../../support/compiled.ts';
import type { OddContract } from '../../support/odd-worker.ts';

type Odd = WorkerClient<OddContract>;

const open: Odd[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client[Symbol.asyncDispose]();
});

function odd(bounds: { maxInFlight?: number; hungAfterMs?: number; turns?: Turns } = {}) {
  const client = createWorkerClient<OddContract>({
    name: 'odd',
    clock: systemClock,
    log: silentLog,
    entry: compiledUrl('test/support/odd-worker.ts'),
    options: () => ({}),
    maxInFlight: 8,
    ...bounds,
  });
  open.push(client);
  return client;
}

const goneWith = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a worker as typed calls', () => {
  it('an engine worker answers every call in order, and transfers its buffer both ways', async () => {
    const client = odd();
    const samples = Int16Array.of(1, 2, 3);
    const [echoed, doubled] = await Promise.all([
      client.call('echo', { deep: [1n] }),
      client.call('double', samples, [samples.buffer]),
    ]);
    expect(echoed).toEqual({ deep: [1n] });
    expect(doubled).toEqual(Int16Array.of(2, 4, 6));
    expect(samples.length).toBe(0);
  });

  it('an engine worker returns a refusal as its original error, and continues', async () => {
    const client = odd();
    await expect(client.call('refuse', 'bad grammar')).rejects.toThrow(
      new EngineInputRefused('bad grammar'),
    );
    expect(await client.call('echo', 1)).toBe(1);
  });

  it('an engine worker refuses a call beyond its bound at once', async () => {
    const client = odd({ maxInFlight: 2 });
    const calls = [client.call('echo', 1), client.call('echo', 2)];
    await expect(client.call('echo', 3)).rejects.toThrow(EngineBusy);
    expect(await Promise.all(calls)).toEqual([1, 2]);
  });

  it('a worker that dies fails all its calls, and another worker starts for the next call', async () => {
    const client = odd();
    const errors = await Promise.all([
      goneWith(client.call('exit', null)),
      goneWith(client.call('echo', 1)),
    ]);
    expect(errors.map((error) => error instanceof EngineCrashed)).toEqual([true, true]);
    expect(await client.call('echo', 2)).toBe(2);
  });

  it('an engine that traps is discarded without blaming the caller, and the next call is served', async () => {
    const client = odd();
    const failure = await goneWith(client.call('trap', null));
    expect(failure).toBeInstanceOf(EngineCrashed);
    expect(await client.call('echo', 1)).toBe(1);
  });

  it('a worker that dies repeatedly is paused, and calls are refused with the seconds to wait', async () => {
    const client = odd();
    await goneWith(client.call('exit', null));
    await goneWith(client.call('exit', null));
    const refused = await goneWith(client.call('echo', 1));
    expect(refused).toBeInstanceOf(EngineBusy);
    expect((refused as EngineBusy).retryAfterSeconds).toBeGreaterThan(0);
  });

  it('a worker that hangs is terminated, and the next call is served', async () => {
    const client = odd({ hungAfterMs: 3_000 });
    await client.call('echo', 0);
    expect(await goneWith(client.call('hang', null))).toBeInstanceOf(EngineCrashed);
    expect(await client.call('echo', 1)).toBe(1);
  });

  it('a closed worker fails its waiting calls and refuses new ones', async () => {
    const client = odd();
    await client.call('echo', 0);
    const waiting = goneWith(client.call('hang', null));
    const started = performance.now();
    await client[Symbol.asyncDispose]();
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(await waiting).toBeInstanceOf(EngineCrashed);
    await expect(client.call('echo', 1)).rejects.toThrow(EngineCrashed);
  });

  it('workers take turns at the processor, and none waits behind a dead worker', async () => {
    const turns = createTurns(1);
    // Their first word counts who has asked for a turn.
    const tickets = new Int32Array(turns.pass().memory);
    const clients = [odd({ turns }), odd({ turns }), odd({ turns })];
    await Promise.all(clients.map((client) => client.call('echo', 0)));
    const calls = clients.flatMap((client) => [client.call('spin', 40), client.call('spin', 40)]);
    const spans = (await Promise.all(calls)).toSorted(([a], [b]) => a - b);
    for (const [i, [from]] of spans.entries()) {
      if (i > 0) expect(from).toBeGreaterThanOrEqual((spans[i - 1] as readonly number[])[1] ?? 0);
    }

    const [first, second, third] = clients as [Odd, Odd, Odd];
    const asked = () => tickets[0];
    const before = asked() ?? 0;
    const hanging = goneWith(first.call('hang', null));
    await expect.poll(asked).toBe(before + 1);
    const waiting = goneWith(second.call('spin', 1));
    await expect.poll(asked).toBe(before + 2);
    const last = third.call('spin', 1);
    await expect.poll(asked).toBe(before + 3);
    await second.thread?.terminate();
    await first.thread?.terminate();
    expect(await hanging).toBeInstanceOf(EngineCrashed);
    expect(await waiting).toBeInstanceOf(EngineCrashed);
    expect((await last).length).toBe(2);
  });

  it('a worker gives back its turn pass however its thread ends', async () => {
    const inner = createTurns(1);
    let out = 0;
    const turns: Turns = {
      pass() {
        out++;
        return inner.pass();
      },
      giveBack(pass) {
        out--;
        inner.giveBack(pass);
      },
    };
    const [idle, ended, dying, hung] = [
      odd({ turns }),
      odd({ turns }),
      odd({ turns }),
      odd({ turns, hungAfterMs: 3_000 }),
    ];
    for (const client of [idle, ended, dying, hung]) await client.call('echo', 0);
    expect(out).toBe(4);
    await ended[Symbol.asyncDispose]();
    await goneWith(dying.call('exit', null));
    expect(out).toBe(2);
    const left = new Promise((resolve) => hung.thread?.once('exit', resolve));
    await goneWith(hung.call('hang', null));
    await left;
    expect(out).toBe(1);
    expect(await idle.call('echo', 1)).toBe(1);

    const unstartable = createWorkerClient<OddContract>({
      name: 'odd',
      clock: systemClock,
      log: silentLog,
      entry: compiledUrl('test/support/odd-worker.ts'),
      options() {
        throw new Error('pruned');
      },
      maxInFlight: 8,
      turns,
    });
    await expect(unstartable.call('echo', 0)).rejects.toThrow('pruned');
    expect(out).toBe(1);
  });
});
