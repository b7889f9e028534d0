import { requestErrors } from '../route/errors.ts';

export type SocketCaps = { readonly perAgent: number; readonly perAddress: number };

/** Place of one socket, from before its upgrade until after its close. */
export interface Seat {
  /**
   * Notes that the socket is open, so that the registry can reach it. Runs the calls that were made for the socket meanwhile.
   */
  occupy(live: LiveSocket): void;
  /** Gives the place back; safe to call more than once. */
  release(): void;
}

export type LiveSocket = {
  close(code: number, reason: string): void;
  drain(): void;
};

export interface SocketRegistry {
  /** Takes a place for an agent's socket. Throws the refusal when no place is free. */
  reserve(owner: {
    readonly agentId: number;
    readonly keyId: number;
    readonly address: string;
  }): Seat;
  /** Takes a place that counts under no cap: a socket of a carrier belongs to no agent and to no address. */
  admit(): Seat;
  /** Closes every socket of an agent, or of one of its keys, with code 1008, even sockets that are still being upgraded. */
  closeAgentSockets(agentId: number, keyId?: number): void;
  /** Notifies every socket, present and later, that the server is leaving. */
  drain(): void;
  closeAll(code: number, reason: string): void;
  readonly size: number;
}

type SeatState = {
  /** Key that opened the socket. Undefined for a socket that no key has opened. */
  readonly keyId?: number;
  live: LiveSocket | undefined;
  verdict: { code: number; reason: string } | undefined;
};

/** Creates the registry, which counts sockets by agent and address and finds them when a key is revoked. */
export function createSocketRegistry(caps: SocketCaps): SocketRegistry {
  const byAgent = new Map<number, Set<SeatState>>();
  const uncapped = new Set<SeatState>();
  const perAddress = new Map<string, number>();
  let draining = false;
  let size = 0;

  const close = (seat: SeatState, code: number, reason: string) => {
    if (seat.live === undefined) seat.verdict = { code, reason };
    else seat.live.close(code, reason);
  };
  // A copy, because a closing socket leaves the set at once.
  const everySeat = () => [...byAgent.values(), uncapped].flatMap((seats) => [...seats]);

  /** Adds a seat to `seats`. `released` runs once, when the seat is given back. */
  function take(seats: Set<SeatState>, seat: SeatState, released: () => void): Seat {
    seats.add(seat);
    size += 1;
    return {
      occupy(live) {
        seat.live = live;
        if (seat.verdict !== undefined) live.close(seat.verdict.code, seat.verdict.reason);
        else if (draining) live.drain();
      },
      release() {
        if (!seats.delete(seat)) return;
        size -= 1;
        released();
      },
    };
  }

  return {
    reserve({ agentId, keyId, address }) {
      const seats = byAgent.get(agentId) ?? new Set<SeatState>();
      const atAddress = perAddress.get(address) ?? 0;
      if (seats.size >= caps.perAgent) throw requestErrors.tooManySockets(caps.perAgent, 'agent');
      if (atAddress >= caps.perAddress) {
        throw requestErrors.tooManySockets(caps.perAddress, 'address');
      }

      byAgent.set(agentId, seats);
      perAddress.set(address, atAddress + 1);
      return take(seats, { keyId, live: undefined, verdict: undefined }, () => {
        if (seats.size === 0 && byAgent.get(agentId) === seats) byAgent.delete(agentId);
        const left = (perAddress.get(address) ?? 1) - 1;
        if (left === 0) perAddress.delete(address);
        else perAddress.set(address, left);
      });
    },
    admit: () => take(uncapped, { live: undefined, verdict: undefined }, () => {}),
    closeAgentSockets(agentId, keyId) {
      for (const seat of [...(byAgent.get(agentId) ?? [])]) {
        if (keyId === undefined || seat.keyId === keyId) close(seat, 1008, 'credential revoked');
      }
    },
    drain() {
      draining = true;
      for (const seat of everySeat()) seat.live?.drain();
    },
    closeAll(code, reason) {
      for (const seat of everySeat()) close(seat, code, reason);
    },
    get size() {
      return size;
    },
  };
}
