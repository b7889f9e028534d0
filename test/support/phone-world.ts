import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { type Carrier, CarrierFailed } from '../../src/phone/carriers/carrier.ts';
import {
  createLoopbackCarrier,
  type LoopbackServer,
} from '../../src/phone/carriers/loopback/loopback-carrier.ts';
import type { Callee } from '../../src/phone/carriers/loopback/loopback-line.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';

/** A person who listens and says nothing, until a test hangs up. */
export class QuietCallee implements Callee {
  heardFrames = 0;
  isGone = false;

  say(): undefined {}

  hear(frame: Uint8Array | undefined): void {
    if (frame !== undefined) this.heardFrames++;
  }
}

/** One carrier for several servers: it calls the one that a test names. */
export function sharedCarrier(calleeOf: () => Callee) {
  const servers: LoopbackServer[] = [];
  let at = 0;
  let closedAtMs = Number.NaN;
  let unheardMs: number | undefined;
  let hangUpsFail = 0;
  const loopback = createLoopbackCarrier({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    numbers: {
      search: async () => [],
      buy: async ({ phoneNumber }) => ({ carrierNumberId: phoneNumber, phoneNumber }),
      findPurchase: async () => undefined,
      release: async () => {},
    },
    calleeOf: async () => calleeOf(),
    server: () => watched(servers[at] as LoopbackServer),
  });
  /** What a far side says before its stream is answered is lost on this carrier. */
  const watched = (server: LoopbackServer): LoopbackServer => ({
    ...server,
    async answerMedia(start) {
      const { connection } = start;
      const close = (code: number, reason?: string) => {
        closedAtMs = systemClock.monotonicMs();
        connection.close(code, reason);
      };
      const call = await server.answerMedia({ ...start, connection: { ...connection, close } });
      if (!Number.isNaN(closedAtMs)) unheardMs ??= systemClock.monotonicMs() - closedAtMs;
      return call;
    },
  });
  const carrier: Carrier = {
    ...loopback,
    calls: {
      ...loopback.calls,
      async hangUp(carrierCallId) {
        if (hangUpsFail-- > 0) throw new CarrierFailed('away', 'the carrier answered 503');
        await loopback.calls.hangUp(carrierCallId);
      },
    },
  };
  return {
    carrierOf: (server: LoopbackServer): Carrier => {
      servers.push(server);
      return carrier;
    },
    /** Later callbacks and streams go to the server that was started as this one. */
    callServer: (index: number) => {
      at = index;
    },
    /** From the first close of a stream by its server to the next stream that a server takes. */
    unheardMs: () => unheardMs,
    /** So many of the next hang-ups fail. */
    failHangUps: (count: number) => {
      hangUpsFail = count;
    },
  };
}

/** Gives an agent a number that is paid for. */
export async function rentNumber(
  sql: Sql,
  agentId: number,
  phoneNumber = '+14155550100',
): Promise<void> {
  await sql`
    insert into phone_numbers (agent_id, account_id, carrier, phone_number, status,
      monthly_rental_raw, purchase_id, paid_months)
    select id, account_id, 'loopback', ${phoneNumber}, 'active', 2000000, ${`num_${agentId}`}, 1
    from agents where id = ${agentId}`;
}
