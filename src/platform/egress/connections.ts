import type { Socket } from 'node:net';
import { Connection } from './connection.ts';
import { EGRESS_LIMITS } from './limits.ts';

export type ConnectionBounds = {
  /** Connections to all origins together, busy and idle. */
  readonly total: number;
  readonly perOrigin: number;
  readonly idle: number;
};

export const CONNECTION_BOUNDS: ConnectionBounds = {
  total: EGRESS_LIMITS.connections.most,
  perOrigin: EGRESS_LIMITS.connections.perOrigin,
  idle: EGRESS_LIMITS.connections.idle,
};

/** Destination and header bound of a connection. Connections with equal lanes are interchangeable. */
export type Lane = {
  readonly origin: string;
  readonly address: string;
  readonly maxHeaderBytes: number;
};

const keyOf = (lane: Lane) => `${lane.origin} ${lane.address} ${lane.maxHeaderBytes}`;

/**
 * Open connections, by origin and address. Idle connections are kept for reuse up to a bound, beyond which the least recently
 * used connection is closed; a busy connection is never closed for another.
 */
export class Connections {
  readonly #bounds: ConnectionBounds;
  readonly #open = new Set<Connection>();
  /** Numbers of sockets that are open or being opened, by origin. */
  readonly #places = new Map<string, number>();
  #placesTaken = 0;
  #isClosed = false;
  /** Idle connections in the order in which they became idle, each with the key of its lane. */
  readonly #idle = new Map<Connection, string>();
  readonly #idleByKey = new Map<string, Connection[]>();

  constructor(bounds: ConnectionBounds = CONNECTION_BOUNDS) {
    this.#bounds = bounds;
  }

  /** Returns the most recently used idle connection of a lane, no longer idle. Undefined when there is none. */
  async reuse(lane: Lane): Promise<Connection | undefined> {
    const key = keyOf(lane);
    for (let last = this.#last(key); last !== undefined; last = this.#last(key)) {
      this.#unIdle(last);
      await last.rested;
      if (!last.isGone) return last;
    }
    return undefined;
  }

  /** Takes a bounded place for a socket that is about to be opened. Returns false when no place is left. */
  takePlace(origin: string): boolean {
    const { perOrigin, total } = this.#bounds;
    if (this.#placesOf(origin) >= perOrigin && !this.#closeOldestIdle(origin)) return false;
    if (this.#placesTaken >= total && !this.#closeOldestIdle()) return false;
    this.#places.set(origin, this.#placesOf(origin) + 1);
    this.#placesTaken++;
    return true;
  }

  /** Gives back the place of a socket that did not open. */
  givePlace(origin: string): void {
    const left = this.#placesOf(origin) - 1;
    if (left <= 0) this.#places.delete(origin);
    else this.#places.set(origin, left);
    this.#placesTaken--;
  }

  /** Puts a socket into the place that was taken for it. The place is given back when the socket closes. */
  add(lane: Lane, socket: Socket): Connection {
    const connection: Connection = new Connection(socket, {
      origin: lane.origin,
      maxHeaderBytes: lane.maxHeaderBytes,
      onGone: () => {
        this.#open.delete(connection);
        this.#unIdle(connection);
        this.givePlace(lane.origin);
      },
    });
    this.#open.add(connection);
    if (this.#isClosed) connection.destroy();
    return connection;
  }

  /** Keeps a connection for reuse once its exchange has ended. */
  release(lane: Lane, connection: Connection): void {
    if (connection.isGone) return;
    connection.rest();
    const key = keyOf(lane);
    this.#idle.set(connection, key);
    const waiting = this.#idleByKey.get(key);
    if (waiting === undefined) this.#idleByKey.set(key, [connection]);
    else waiting.push(connection);
    if (this.#idle.size > this.#bounds.idle) this.#closeOldestIdle();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends all connections, and every connection that is still being opened once it is open. */
  close(): void {
    this.#isClosed = true;
    for (const connection of [...this.#open]) connection.destroy();
  }

  #placesOf(origin: string): number {
    return this.#places.get(origin) ?? 0;
  }

  #closeOldestIdle(origin?: string): boolean {
    for (const [connection, key] of this.#idle) {
      if (origin !== undefined && !key.startsWith(`${origin} `)) continue;
      connection.destroy();
      return true;
    }
    return false;
  }

  #last(key: string): Connection | undefined {
    return this.#idleByKey.get(key)?.at(-1);
  }

  #unIdle(connection: Connection): void {
    const key = this.#idle.get(connection);
    if (key === undefined) return;
    this.#idle.delete(connection);
    const waiting = this.#idleByKey.get(key) ?? [];
    waiting.splice(waiting.lastIndexOf(connection), 1);
    if (waiting.length === 0) this.#idleByKey.delete(key);
  }
}
