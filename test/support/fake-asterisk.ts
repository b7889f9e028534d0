import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { AsteriskPeer } from './asterisk-peer.ts';

/** How a number that is called over the trunk answers: it picks up, or its channel is gone by this cause. */
export type TrunkCallee = { readonly answers: true } | { readonly cause: number };

type Asked = { readonly method: string; readonly path: string; readonly query: URLSearchParams };

/** The REST interface of an Asterisk with a trunk, and the events of its channels. */
export class FakeAsterisk {
  /** What the bridge has asked, in its order, such as `POST /channels/1/ring`. */
  readonly asked: Asked[] = [];
  /** The sound of calls, in the order in which it was opened. */
  readonly peers: AsteriskPeer[] = [];
  /** Why each channel was hung up, by its id. */
  readonly causes = new Map<string, number>();
  readonly variables = new Map<string, string>();
  callee: (to: string) => TrunkCallee = () => ({ answers: true });
  /** What Transfer() leaves behind; undefined: the provider has taken the call, and the channel is gone. */
  referOutcome: readonly [status: string, sipCode: string] | undefined;
  bridgePort = 0;
  /** Attempts to put channels into a bridge that are refused, as those of a channel that Asterisk has just reported. */
  refusesJoins = 0;
  readonly #server = createServer((request, response) => {
    const ask = askedOf(request);
    this.asked.push(ask);
    request.resume();
    if (ask.path.endsWith('/addChannel') && this.refusesJoins > 0) {
      this.refusesJoins--;
      response.writeHead(422).end();
      return;
    }
    const known = ask.method !== 'DELETE' || this.#living.has(idOf(ask.path)) || isBridge(ask);
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      ask.method === 'GET'
        ? JSON.stringify(
            [...this.#living].map(([id, app_data]) => ({ id, dialplan: { app_data } })),
          )
        : '{}',
    );
    queueMicrotask(() => this.#obey(ask));
  });
  readonly #events = new WebSocketServer({ server: this.#server, path: '/ari/events' });
  /** What the dialplan gave each channel to do, by the channel's id. */
  readonly #living = new Map<string, string>();
  readonly #peers = new Map<string, AsteriskPeer>();
  #callers = 0;

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/ari`;
  }

  /** The settings of a bridge that commands this Asterisk. */
  async settings(): Promise<Record<string, string>> {
    return { ARI_URL: await this.listen(), ARI_USER: 'bridge', ARI_PASSWORD: 'secret' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#events.clients) client.terminate();
    for (const peer of this.peers) peer.hangUp();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** A caller rings. Answers the id of their channel. */
  ring(from: string, to: string): string {
    const id = this.leave(`bridge,in,${to}`);
    this.#tell('StasisStart', id, { args: ['in', to], from });
    return id;
  }

  /** Adds a channel of which the bridge hears no event, as one of a bridge before it. Returns its id. */
  leave(appData: string): string {
    const id = `trunk-${++this.#callers}`;
    this.#living.set(id, appData);
    return id;
  }

  /** Cuts the connection to the events, and drops a channel meanwhile. The bridge connects again. */
  loseEvents(id: string): void {
    for (const client of this.#events.clients) client.terminate();
    this.#living.delete(id);
  }

  /** The far side of a channel is gone. */
  hangUp(id: string, cause = 16): void {
    if (!this.#living.delete(id)) return;
    this.causes.set(id, cause);
    this.#peers.get(id)?.hangUp();
    this.#tell('ChannelDestroyed', id, { cause });
  }

  hold(id: string, isHeld: boolean): void {
    this.#peers.get(this.#callOf(id))?.mute(isHeld);
    this.#tell(isHeld ? 'ChannelHold' : 'ChannelUnhold', id);
  }

  wasAsked(method: string, path: string): Asked | undefined {
    return this.asked.findLast((ask) => ask.method === method && ask.path === path);
  }

  get isHeard(): boolean {
    return this.#events.clients.size > 0;
  }

  #callOf(id: string): string {
    return this.#peers.has(id) ? id : ([...this.#peers.keys()].at(-1) ?? '');
  }

  #obey({ method, path, query }: Asked): void {
    const id = idOf(path);
    if (method === 'DELETE' && path.startsWith('/channels/')) {
      this.hangUp(id, Number(query.get('reason_code')));
    }
    if (method === 'POST' && path === '/channels') this.#originate(query);
    if (path.endsWith('/variable')) {
      this.variables.set(String(query.get('variable')), String(query.get('value')));
    }
    if (!path.endsWith('/continue')) return;
    if (this.referOutcome === undefined) this.hangUp(id);
    else {
      const args = ['refer', this.variables.get('BRIDGE_CALL') ?? '', ...this.referOutcome];
      this.#tell('StasisStart', id, { args });
    }
  }

  #originate(query: URLSearchParams): void {
    const id = String(query.get('channelId'));
    const endpoint = String(query.get('endpoint'));
    const args = String(query.get('appArgs')).split(',');
    this.#living.set(id, `bridge,${args}`);
    if (endpoint.startsWith('WebSocket/')) {
      const peer = new AsteriskPeer(this.bridgePort, { call: args[1] ?? '' });
      this.peers.push(peer);
      this.#peers.set(args[1] ?? '', peer);
      this.#tell('StasisStart', id, { args });
      return;
    }
    const callee = this.callee(endpoint);
    this.#tell('ChannelStateChange', id, { state: 'Ringing' });
    if ('answers' in callee) this.#tell('StasisStart', id, { args });
    else this.hangUp(id, callee.cause);
  }

  #tell(
    type: string,
    id: string,
    { from = '', state = 'Up', ...more }: Readonly<Record<string, unknown>> = {},
  ): void {
    const channel = { id, state, caller: { number: from } };
    const message = JSON.stringify({ type, channel, ...more });
    for (const client of this.#events.clients as Set<WebSocket>) client.send(message);
  }
}

const isBridge = ({ path }: Asked): boolean => path.startsWith('/bridges/');
const idOf = (path: string): string => path.split('/')[2] ?? '';

function askedOf(request: IncomingMessage): Asked {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://ari');
  const path = pathname.replace(/^\/ari/, '');
  return { method: request.method ?? '', path, query: searchParams };
}
