import { fork } from 'node:child_process';
import { once } from 'node:events';
import WebSocket from 'ws';
import { compiled } from '../test/support/compiled.ts';
import { nextMessage } from '../test/support/next-message.ts';
import { nodeUnderTest } from './cores.ts';
import { processCpu } from './cpu.ts';

/** A server of live sessions, compiled, in a process and on the core that is measured. */
export type Host = {
  readonly port: number;
  /** What it has used so far, in microseconds of CPU. */
  cpu(): number;
  ask<T>(question: string): Promise<T>;
  /** Sends a signal, and does not wait for what comes of it. */
  signal(name: NodeJS.Signals): void;
  end(): Promise<void>;
};

/**
 * Starts a module of this folder that says its `port`, answers requests, and ends with its parent process. One that is
 * not pinned has all cores.
 */
export async function startHost(
  module: string,
  order: object,
  { isPinned = true }: { readonly isPinned?: boolean } = {},
): Promise<Host> {
  const [command, options] = nodeUnderTest(isPinned);
  const child = fork(compiled(`bench/${module}.ts`), [JSON.stringify(order)], {
    execPath: command,
    execArgv: options,
  });
  const exited = once(child, 'exit');
  const { port } = await nextMessage<{ port: number }>(child);
  return {
    port,
    cpu: () => processCpu(child.pid ?? 0),
    ask<T>(question: string) {
      const answer = nextMessage<T>(child);
      child.send(question);
      return answer;
    },
    signal: (name) => void child.kill(name),
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

export type LiveClients = {
  /** In the order of their agents. */
  readonly sockets: readonly WebSocket[];
  /** How many did not last. */
  ended(): number;
  close(): void;
};

/** Opens so many realtime sessions, each of an agent of its own. */
export async function openClients(options: {
  readonly port: number;
  readonly model: string;
  readonly sessions: number;
  readonly heard: (message: Buffer) => void;
}): Promise<LiveClients> {
  const { port, model, sessions, heard } = options;
  const sockets: WebSocket[] = [];

  async function connect(agent: number): Promise<void> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/realtime?model=${model}`, {
      headers: { authorization: `Bearer svc_${agent}` },
      perMessageDeflate: false,
      skipUTF8Validation: true,
      // A mask of zeros is not applied: the core is shared with all other clients.
      generateMask: (mask) => void mask.fill(0),
    });
    socket.on('message', heard);
    socket.on('error', () => {});
    await once(socket, 'open');
    sockets[agent - 1] = socket;
  }

  /** uWebSockets.js may cut a socket right after a late upgrade (docs/decisions/0071): a client connects again then. */
  async function connectAgain(): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      const cut = [...sockets.keys()].filter((at) => !isOpen(sockets[at]));
      if (cut.length === 0) return;
      for (const at of cut) await connect(at + 1);
    }
  }

  for (let agent = 1; agent <= sessions; agent++) await connect(agent);
  await connectAgain();
  return {
    sockets,
    ended: () => sockets.filter((socket) => !isOpen(socket)).length,
    close() {
      for (const socket of sockets) socket.terminate();
    },
  };
}

const isOpen = (socket: WebSocket | undefined): boolean => socket?.readyState === WebSocket.OPEN;

const STEPS_A_FRAME = 10;

/**
 * Has each of so many sessions speak once in every `frameMs`, a tenth of them at a time, so that not all do at once.
 * A session that is late catches up. Resolves to how many times a session spoke.
 */
export async function takeTurns(
  talk: { readonly sessions: number; readonly frameMs: number; readonly forMs: number },
  speak: (session: number) => void,
): Promise<number> {
  const { sessions, frameMs, forMs } = talk;
  const startMs = performance.now();
  let spoken = 0;
  for (let step = 0; step < (forMs / frameMs) * STEPS_A_FRAME; step++) {
    for (let session = step % STEPS_A_FRAME; session < sessions; session += STEPS_A_FRAME) {
      speak(session);
      spoken++;
    }
    const waitMs = startMs + ((step + 1) * frameMs) / STEPS_A_FRAME - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, waitMs)));
  }
  return spoken;
}
