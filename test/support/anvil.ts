import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export type Anvil = {
  readonly url: string;
  /** Ends the chain as an outage would: the port refuses from then on. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const PLATFORM: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The chain's own binary, so that the process started is the process ended. */
function binary(): string {
  const require = createRequire(import.meta.url);
  const name = `@foundry-rs/anvil-${process.platform}-${PLATFORM[process.arch]}`;
  return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
}

/** A local chain with id 8453 on a port of the system's choice. */
export async function startAnvil(): Promise<Anvil> {
  const child = spawn(binary(), ['--port', '0', '--chain-id', '8453'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /Listening on (\S+)/.exec(line)?.[1];
    if (address !== undefined) {
      child.stdout.resume();
      return { url: `http://${address}`, stop, [Symbol.asyncDispose]: stop };
    }
  }
  throw new Error('the local chain ended before it listened');
}
