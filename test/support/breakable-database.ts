import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';

export type BreakableDatabase = AsyncDisposable & {
  readonly target: DatabaseTarget;
  /** Drops every connection: at once, after what is under way was sent, or with a reset. */
  breakAll(how: 'destroy' | 'end' | 'resetAndDestroy'): void;
};

/** The same database behind a line that can be cut. */
export async function breakable(target: DatabaseTarget): Promise<BreakableDatabase> {
  const lines = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = openFar(target);
    lines.add(near);
    near
      .on('error', () => {})
      .on('close', () => {
        lines.delete(near);
        far.destroy();
      });
    far.on('error', () => {}).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  return {
    target: { kind: 'url', url: nearUrl(target, port) },
    breakAll(how) {
      for (const line of lines) line[how]();
    },
    async [Symbol.asyncDispose]() {
      for (const line of lines) line.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function openFar(target: DatabaseTarget): Socket {
  if (target.kind === 'socket') return connect(join(target.directory, '.s.PGSQL.5432'));
  const { hostname, port } = new URL(target.url);
  return connect(Number(port || '5432'), hostname);
}

function nearUrl(target: DatabaseTarget, port: number): string {
  if (target.kind === 'socket') {
    return `postgres://${target.user}@127.0.0.1:${port}/${target.database}`;
  }
  const url = new URL(target.url);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
