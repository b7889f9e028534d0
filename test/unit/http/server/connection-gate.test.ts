import type { HttpResponse } from 'uWebSockets.js';
import { describe, expect, it } from 'vitest';
import { ConnectionGate, connectionCaps } from '../../../../src/http/server/connection-gate.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** Plays the library and the kernel: connections that open and close, and who is known to have them. */
class Wire {
  readonly clock = new ManualClock();
  readonly gate: ConnectionGate;
  readonly open = new Map<string, number>();
  censuses = 0;
  isListed = true;
  lines = 0;

  constructor(caps: { most: number; perNetwork: number }, proxy = 'none') {
    this.gate = new ConnectionGate({
      caps,
      isClient: (remote) => remote !== proxy,
      takeCensus: async () => {
        this.censuses += 1;
        if (!this.isListed) throw new Error('ENOENT');
        await Promise.resolve();
        return { open: new Map(this.open), lines: this.lines };
      },
      clock: this.clock,
      log: silentLog,
    });
  }

  connect(remote: string): boolean {
    let isClosed = false;
    const res = {
      getRemoteAddressAsText: () => new TextEncoder().encode(remote).buffer,
      close: () => {
        isClosed = true;
        this.hangUp(remote);
      },
    } as unknown as HttpResponse;
    this.open.set(remote, (this.open.get(remote) ?? 0) + 1);
    this.gate.changed(res, 1);
    return !isClosed;
  }

  hangUp(remote: string): void {
    this.open.set(remote, (this.open.get(remote) ?? 1) - 1);
    this.gate.changed({} as HttpResponse, -1);
  }

  connectMany(remote: string, times: number): number {
    return Array.from({ length: times }, () => this.connect(remote)).filter((stays) => stays)
      .length;
  }

  /** Lets a census come to its end, and the next one become due. */
  async settle(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.clock.advance(1_000);
  }
}

describe('the gate of connections', () => {
  it('the connection gate closes a client’s connections beyond its cap, and accepts other clients', async () => {
    const wire = new Wire({ most: 100, perNetwork: 10 });
    expect(wire.connectMany('203.0.113.1', 50)).toBe(10);
    expect(wire.connectMany('203.0.113.2', 5)).toBe(5);
    expect([wire.gate.open, wire.gate.refused]).toEqual([15, 40]);
  });

  it('the connection gate counts an IPv6 /64 as one client', () => {
    const wire = new Wire({ most: 100, perNetwork: 10 });
    const taken = Array.from({ length: 30 }, (_, n) => wire.connect(`2001:db8::${n + 1}`));
    expect(taken.filter((stays) => stays)).toHaveLength(10);
  });

  it('the connection gate accepts a client again whose connections have closed', async () => {
    const wire = new Wire({ most: 100, perNetwork: 10 });
    wire.connectMany('203.0.113.1', 10);
    await wire.settle();
    for (let i = 0; i < 4; i++) wire.hangUp('203.0.113.1');
    expect(wire.connect('203.0.113.1')).toBe(false);
    await wire.settle();
    expect(wire.connectMany('203.0.113.1', 10)).toBe(4);
  });

  it('the connection gate never refuses a client that opens and closes one connection after the other', async () => {
    const wire = new Wire({ most: 100, perNetwork: 10 });
    for (let i = 0; i < 200; i++) {
      expect(wire.connect('203.0.113.1')).toBe(true);
      wire.hangUp('203.0.113.1');
      await wire.settle();
    }
    expect(wire.censuses).toBeLessThan(60);
  });

  it('the connection gate pauses longer after reading a long connection table', async () => {
    const wire = new Wire({ most: 100, perNetwork: 10 });
    wire.lines = 800_000;
    for (let i = 0; i < 20; i++) {
      wire.connect('203.0.113.1');
      await wire.settle();
    }
    // 20 s have gone by, and each rest takes 8.
    expect(wire.censuses).toBeGreaterThan(1);
    expect(wire.censuses).toBeLessThanOrEqual(3);
  });

  it('the connection gate caps all connections together, including WebSockets and those of proxies', () => {
    const wire = new Wire({ most: 20, perNetwork: 5 }, 'proxy');
    expect(wire.connectMany('proxy', 30)).toBe(20);
    wire.gate.upgradedClosed();
    expect(wire.connectMany('proxy', 3)).toBe(1);
  });

  it('the connection gate still caps the sum where the system does not list connections', async () => {
    const wire = new Wire({ most: 20, perNetwork: 5 });
    wire.isListed = false;
    wire.connectMany('203.0.113.1', 6);
    await wire.settle();
    expect(wire.connectMany('203.0.113.1', 30)).toBe(15);
  });
});

describe('the caps of connections', () => {
  it('the connection caps leave descriptors for everything else, and give one client half of them at most', () => {
    expect(connectionCaps(400)).toEqual({ most: 300, perNetwork: 150 });
    expect(connectionCaps(Number.POSITIVE_INFINITY)).toEqual({ most: 20_000, perNetwork: 3_000 });
  });
});
