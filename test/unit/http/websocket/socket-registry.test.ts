import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HTTP_LIMITS } from '../../../../src/http/limits.ts';
import { createSocketRegistry } from '../../../../src/http/websocket/socket-registry.ts';
import { socketBehavior } from '../../../../src/http/websocket/web-socket.ts';

describe('the registry of open sockets', () => {
  it('the socket registry never exceeds its caps, whatever comes and goes, and ends empty', () => {
    const step = fc.record({
      agentId: fc.integer({ min: 1, max: 3 }),
      address: fc.constantFrom('a', 'b'),
      leave: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const registry = createSocketRegistry({ perAgent: 3, perAddress: 4 });
        const seated: { agentId: number; address: string; release: () => void }[] = [];
        for (const { agentId, address, leave } of steps) {
          if (leave) seated.shift()?.release();
          else {
            const mine = seated.filter((seat) => seat.agentId === agentId).length;
            const here = seated.filter((seat) => seat.address === address).length;
            const reserve = () => registry.reserve({ agentId, keyId: 1, address });
            if (mine < 3 && here < 4) seated.push({ agentId, address, ...reserve() });
            else expect(reserve).toThrow('too_many_connections');
          }
          expect(registry.size).toBe(seated.length);
        }
        for (const seat of seated) {
          seat.release();
          seat.release();
        }
        expect(registry.size).toBe(0);
      }),
    );
  });

  it('the socket registry tells a socket on opening of a revocation or drain that came after its reservation', () => {
    const registry = createSocketRegistry({ perAgent: 9, perAddress: 9 });
    const told: string[] = [];
    const live = (name: string) => ({
      close: (code: number) => told.push(`${name} ${code}`),
      drain: () => told.push(`${name} drain`),
    });
    const revoked = registry.reserve({ agentId: 1, keyId: 1, address: 'a' });
    const kept = registry.reserve({ agentId: 1, keyId: 2, address: 'a' });
    registry.closeAgentSockets(1, 1);
    registry.drain();
    revoked.occupy(live('revoked'));
    kept.occupy(live('kept'));
    expect(told).toEqual(['revoked 1008', 'kept drain']);
  });

  it('the socket registry counts a carrier’s socket under no cap, and closes that socket at shutdown', () => {
    const registry = createSocketRegistry({ perAgent: 1, perAddress: 1 });
    const told: string[] = [];
    const seats = ['first', 'second'].map((name) => {
      const seat = registry.admit();
      seat.occupy({
        close: (code) => told.push(`${name} ${code}`),
        drain: () => told.push(`${name} drain`),
      });
      return seat;
    });
    registry.reserve({ agentId: 0, keyId: 0, address: 'a' }).release();
    registry.closeAgentSockets(0);
    expect([registry.size, told]).toEqual([2, []]);
    registry.drain();
    seats[0]?.release();
    seats[0]?.release();
    registry.closeAll(1012, 'leaving');
    expect([registry.size, told]).toEqual([1, ['first drain', 'second drain', 'second 1012']]);
  });
});

describe('what the library is told', () => {
  it('the socket library’s message limit is above ours, and its idle timeout is in the allowed range', () => {
    const spec = {
      path: '/x',
      credential: 'agent',
      summary: '',
      authenticateFrom: [],
      protocols: [],
      open: () => ({ opened() {}, message() {}, closed() {} }),
    } as const;
    const behavior = socketBehavior({} as Parameters<typeof socketBehavior>[0], spec);
    expect(behavior.maxPayloadLength).toBeGreaterThan(HTTP_LIMITS.socket.messageBytes);
    expect(behavior.maxBackpressure).toBeGreaterThan(0);
    expect(behavior.idleTimeout).toBeGreaterThanOrEqual(8);
    expect(behavior.idleTimeout).toBeLessThanOrEqual(960);
  });
});
