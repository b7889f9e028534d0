import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import { joined } from './compiled.ts';
import type { ChildOrder, ChildWord } from './held-server-child.ts';
import { nextMessage } from './next-message.ts';

/** A server in a process of its own, whose payments and voice sessions can be held and which can be killed over them. */
export type HeldServer = AsyncDisposable & {
  readonly url: string;
  /** From now on calls stay at a step; those that stand go on, or as many of them as the order lets. */
  hold(order: Omit<Extract<ChildOrder, { kind: 'hold' }>, 'kind'>): void;
  /** Resolves when as many as were asked for stand there; rejects when the process ends before. */
  held(): Promise<void>;
  /** Lets those that are held go on, and holds no more. */
  go(): void;
  /** Resolves when the process is dead; rejects with what it has written where it lives for too long. */
  died(withinMs?: number): Promise<void>;
  kill(): Promise<void>;
  /** What it has written of late, for a test that fails. */
  output(): string;
};

const CHILD = joined('test/support/held-server-child.ts');
const OUTPUT_CHARS = 20_000;
const DIES_WITHIN_MS = 45_000;

export async function startHeldServer(
  environment: Readonly<Record<string, string>>,
  /** Where its database is, when its environment does not say. */
  target?: DatabaseTarget,
): Promise<HeldServer> {
  const child = fork(CHILD, target === undefined ? [] : [JSON.stringify(target)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, LOG_LEVEL: 'warn', ...environment },
  });
  let output = '';
  const listen = (data: Buffer) => {
    output = (output + data.toString()).slice(-OUTPUT_CHARS);
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const word = await nextMessage<ChildWord>(child).catch((error: Error) => {
    throw new Error(`${error.message}:\n${output}`);
  });
  if (word.kind !== 'listening') throw new Error('the server held a call before it listened');
  let held: Promise<ChildWord> | undefined;
  return {
    url: word.url,
    kill,
    output: () => output,
    hold(order) {
      held = nextMessage<ChildWord>(child);
      // One that dies over its order is not asked for it.
      held.catch(() => {});
      child.send({ kind: 'hold', ...order } satisfies ChildOrder);
    },
    async died(withinMs = DIES_WITHIN_MS) {
      const late = new Promise<never>((_, reject) => {
        const say = () => reject(new Error(`not all came so far:\n${output}`));
        setTimeout(say, withinMs).unref();
      });
      await Promise.race([exited, late]);
    },
    async held() {
      await held;
    },
    go: () => void child.send({ kind: 'go' } satisfies ChildOrder),
    [Symbol.asyncDispose]: kill,
  };
}
