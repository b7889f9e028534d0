import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import { joined } from './compiled.ts';
import type { ChildAnswer, ChildTask } from './ledger-child.ts';
import { nextMessage } from './next-message.ts';

export type LedgerProcess = {
  run(task: ChildTask): Promise<ChildAnswer>;
  /** Sets it to work, to be killed before it is done. */
  begin(task: ChildTask): void;
  kill(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** A real process with a ledger of its own on the database at `target`. */
export async function ledgerProcess(
  target: DatabaseTarget,
  nodeId: string,
): Promise<LedgerProcess> {
  const child = fork(joined('test/support/ledger-child.ts'), [JSON.stringify(target), nodeId], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await next(child);
  return {
    run(task) {
      child.send(task);
      return next(child);
    },
    begin: (task) => void child.send(task),
    async kill() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

async function next(child: ChildProcess): Promise<ChildAnswer> {
  const answer = await nextMessage<ChildAnswer>(child);
  if (answer.kind === 'failed') throw new Error(answer.message);
  return answer;
}
