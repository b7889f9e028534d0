import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

export type AnvilOptions = {
  /** Seconds between blocks; without it every transaction makes its own block at once. */
  readonly blockTime?: number;
  /** `safe` lies this many blocks behind the head, and `finalized` twice as many. */
  readonly slotsInAnEpoch?: number;
  /** The time of the first block, in seconds; the machine's own without it. */
  readonly timestamp?: number;
};

export type Anvil = {
  readonly url: string;
  /** Ends the chain as an outage would: the port refuses from then on. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

const PLATFORM: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The chain's own binary, without the script around it. */
function binary(): string {
  const require = createRequire(import.meta.url);
  const name = `@foundry-rs/anvil-${process.platform}-${PLATFORM[process.arch]}`;
  return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'anvil');
}

function flags(options: AnvilOptions): string[] {
  const given: readonly (readonly [string, number | undefined])[] = [
    ['--block-time', options.blockTime],
    ['--slots-in-an-epoch', options.slotsInAnEpoch],
    ['--timestamp', options.timestamp],
  ];
  return given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}

const ALWAYS = ['--port', '0', '--chain-id', '8453', '--accounts', '20'];

/**
 * Runs the chain under a shell that holds one end of a pipe from this process: when this process ends, however it ends,
 * the pipe closes and the chain is killed.
 */
const WATCHED = `
exec 9<&0
"$@" </dev/null 9<&- &
chain=$!
( read -r _ <&9; kill -KILL $chain ) 2>/dev/null &
watch=$!
wait $chain 2>/dev/null; code=$?
kill $watch 2>/dev/null
exit $code
`;

/** A local chain with id 8453 on a port of the system's choice. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const command = ['anvil-watchdog', binary(), ...ALWAYS, ...flags(options)];
  const child = spawn('/bin/sh', ['-c', WATCHED, ...command], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  child.stdin.on('error', () => {});
  const stop = async () => {
    child.stdin.end();
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
