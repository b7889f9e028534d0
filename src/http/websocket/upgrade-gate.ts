import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { connect, type Socket } from 'node:net';
import { type Random, randomHex } from '../../kernel/random.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { ListenError, listenOn } from '../server/listen-on.ts';
import type { UwsModule } from '../server/uws.ts';

const HOST = '127.0.0.1';

/**
 * Runs the upgrades of sockets, which are often decided in a later turn than that of their request. When the cork of an
 * upgraded response ends, uWebSockets.js 20.51 reads memory that the upgrade has freed, and closes the socket when the bytes
 * there since say so (fixed in its v20.79, which needs a newer glibc). Outside of a cork the upgrade is sound, but the library
 * prints a warning on stderr unless some response is corked. The gate therefore corks an idle response of its own, whose client
 * is this process.
 */
export class UpgradeGate {
  readonly #uws: UwsModule;
  readonly #random: Random;
  #app: TemplatedApp | undefined;
  #client: Socket | undefined;
  #idle: HttpResponse | undefined;

  constructor(uws: UwsModule, random: Random) {
    this.#uws = uws;
    this.#random = random;
  }

  /**
   * Opens the gate's listener. Rejects with a `ListenError` when this machine cannot connect to itself; the gate works all the
   * same.
   */
  async open(): Promise<void> {
    const app = this.#uws.App();
    this.#app = app;
    // No other process knows the path, and the listener is closed soon.
    const path = `/${randomHex(this.#random, 16)}`;
    const listening = await listenOn(this.#uws, app, { host: HOST, port: 0 });
    const client = connect(listening.port, HOST);
    this.#client = client;
    try {
      await new Promise<void>((resolve, reject) => {
        app.get(path, (res) => {
          res.onAborted(() => {
            this.#idle = undefined;
          });
          this.#idle = res;
          resolve();
        });
        client.on('error', (cause) =>
          reject(new ListenError(`no connection to ${HOST}`, { cause })),
        );
        client.setTimeout(HTTP_LIMITS.socket.upgradeGateMs, () =>
          client.destroy(new Error('it took too long')),
        );
        client.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`);
      });
    } finally {
      listening.stop();
    }
    client.setTimeout(0);
  }

  /**
   * Runs `work`, which may upgrade a response, in the cork of the idle response. When the idle response was lost, the library
   * prints its warning.
   */
  pass(work: () => void): void {
    if (this.#idle === undefined) work();
    else this.#idle.cork(work);
  }

  close(): void {
    this.#client?.destroy();
    this.#app?.close();
    this.#app = undefined;
  }
}
