import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { joined } from './compiled.ts';

const ROOT = new URL('../..', import.meta.url).pathname;

/** Below the ports that systems give to outgoing connections, of which any may take one that was free just now. */
const PORTS = { first: 12_000, end: 32_000 };
const PORT_TRIES = 50;

/** A port that was free a moment ago: the real server takes a number, not "any". */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries++) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${PORT_TRIES} ports is free`);
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer().listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    probe.on('error', () => resolve(false));
  });

/** `await using` it: what a failing test leaves behind would hold its database and its port. */
export type ServerProcess = AsyncDisposable & {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything it wrote, for a failing test to show. */
  output(): string;
  /** Waits for the exit and gives its code, or the signal that ended it. */
  readonly exited: Promise<number | string>;
  kill(): Promise<void>;
  /** SIGTERM, and the exit code that follows. */
  stop(): Promise<number | string>;
};

export const START_TIMEOUT_MS = 40_000;
const ENTRY = [joined('src/main.ts')];

/** Starts the server exactly as an operator would, in a process of its own, and waits until it listens. */
export async function startServerProcess(
  environment: Record<string, string>,
  options: {
    readonly entry?: readonly string[];
    readonly cwd?: string;
    /** How many files and sockets it may have open. */
    readonly descriptors?: number;
  } = {},
): Promise<ServerProcess> {
  const port = environment.PORT ?? String(await freePort());
  const command = [process.execPath, ...(options.entry ?? ENTRY)];
  const limited =
    options.descriptors === undefined
      ? command
      : ['sh', '-c', `ulimit -n ${options.descriptors}; exec "$@"`, 'sh', ...command];
  const [program = '', ...args] = limited;
  const child = spawn(program, args, {
    cwd: options.cwd ?? ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: port, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stderr?.on('data', (data) => {
    output += data;
  });
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const listening = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the server did not listen:\n${output}`)),
      START_TIMEOUT_MS,
    );
    const settle = (error?: Error) => {
      clearTimeout(timer);
      if (error === undefined) resolve();
      else reject(error);
    };
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      output += `${line}\n`;
      if (line.includes('"msg":"listening"')) settle();
    });
    void exited.then((code) => settle(new Error(`the server ended with ${code}:\n${output}`)));
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    await listening;
  } catch (error) {
    await kill();
    throw error;
  }

  return {
    url: `http://127.0.0.1:${port}`,
    child,
    output: () => output,
    exited,
    kill,
    [Symbol.asyncDispose]: kill,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}
