import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import { type Random, randomHex } from '../../../kernel/random.ts';
import type {
  CallbackEvent,
  CallParties,
  Carrier,
  CarrierNumbers,
  CarrierStatus,
  Instruction,
  MediaCodec,
  MediaEvent,
} from '../carrier.ts';
import { createLoopbackCodec } from './loopback-codec.ts';
import { type Callee, LoopbackLine } from './loopback-line.ts';
import { LoopbackRecordings } from './loopback-recordings.ts';

const FORMAT = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const RING_MS = 300;

/** A call of this server that receives the messages of a loopback media stream. */
export type LoopbackCall = { media(event: MediaEvent): void; detached(): void };

/** Functions of this server that the loopback carrier calls in place of HTTP. */
export type LoopbackServer = {
  direct(event: Extract<CallbackEvent, { kind: 'answered' }>): Promise<Instruction>;
  hear(event: CallbackEvent): Promise<void>;
  answerMedia(start: {
    readonly callId: string;
    readonly codec: MediaCodec;
    readonly format: typeof FORMAT;
    readonly connection: {
      send(data: string): boolean;
      batch(work: () => void): void;
      close(code: number, reason?: string): void;
    };
  }): Promise<LoopbackCall | undefined>;
};

type LiveLine = CallParties & {
  /** This server's id of the call. Undefined: an incoming call that has not been admitted yet. */
  callId: string | undefined;
  readonly callee: Callee;
  status: CarrierStatus;
  answeredAtMs: number | undefined;
  endedAtMs: number | undefined;
  line: LoopbackLine | undefined;
  call: LoopbackCall | undefined;
  sequence: number;
};

/** Outcome of a call by the last seven digits of its number, in any area code. Every other number answers. */
const UNANSWERED: ReadonlyMap<string, CarrierStatus> = new Map([
  ['5550180', 'busy'],
  ['5550181', 'no-answer'],
  ['5550182', 'failed'],
  ['5550183', 'invalid'],
]);

/** Number of ended calls that the carrier remembers, so that the call sweeper can ask for their duration. */
const KEPT = 100;

/** Creates a carrier inside this process, for development. Its callees are simulated here too. */
export function createLoopbackCarrier(deps: {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly numbers: CarrierNumbers;
  /** Creates the simulated person on the other end of a call, for incoming and outgoing calls. */
  readonly calleeOf: (parties: CallParties) => Promise<Callee>;
  readonly server: () => LoopbackServer;
}): Carrier {
  const { clock, log, random } = deps;
  const lines = new Map<string, LiveLine>();
  const recordings = new LoopbackRecordings(random);

  const report = (carrierCallId: string, live: LiveLine, status: CarrierStatus) => {
    live.status = status;
    return deps.server().hear({
      kind: 'status',
      callId: live.callId,
      carrierCallId,
      status,
      sequence: live.sequence++,
      durationSeconds: secondsOf(live),
      priceRaw: null,
    });
  };
  const secondsOf = ({ answeredAtMs, endedAtMs }: LiveLine): number | null =>
    answeredAtMs === undefined || endedAtMs === undefined
      ? null
      : Math.ceil((endedAtMs - answeredAtMs) / 1_000);
  const failed = (err: unknown) => log.error({ err }, 'a loopback call broke');

  async function open({ from, to }: CallParties, callId: string | undefined) {
    const carrierCallId = `LB${randomHex(random, 16)}`;
    const live: LiveLine = {
      from,
      to,
      callId,
      callee: await deps.calleeOf({ from, to }),
      status: 'queued',
      answeredAtMs: undefined,
      endedAtMs: undefined,
      line: undefined,
      call: undefined,
      sequence: 0,
    };
    lines.set(carrierCallId, live);
    return { carrierCallId, live };
  }

  function end(carrierCallId: string, live: LiveLine, status: CarrierStatus): void {
    if (live.endedAtMs !== undefined) return;
    live.endedAtMs = clock.monotonicMs();
    live.line?.close();
    live.call?.detached();
    report(carrierCallId, live, status).catch(failed);
    finishRecording(carrierCallId);
    if (lines.size > KEPT) {
      const oldest = [...lines].find(([, { endedAtMs }]) => endedAtMs !== undefined);
      if (oldest !== undefined) lines.delete(oldest[0]);
    }
  }

  function finishRecording(carrierCallId: string): void {
    const finished = recordings.finish(carrierCallId);
    if (finished === undefined) return;
    deps
      .server()
      .hear({ kind: 'recording', carrierCallId, ...finished })
      .catch(failed);
  }

  /** Requests the server's instruction when the peer is connected, or its stream has ended. */
  async function connect(carrierCallId: string, live: LiveLine, isAgain: boolean): Promise<void> {
    const { callId, from, to } = live;
    const said = { kind: 'answered', callId, carrierCallId, from, to, isAgain } as const;
    const instruction = await deps.server().direct(said);
    if (live.endedAtMs !== undefined) return;
    if (instruction.kind === 'stream') {
      live.callId = instruction.callId;
      live.answeredAtMs ??= clock.monotonicMs();
      await stream(carrierCallId, live, instruction.callId);
    } else end(carrierCallId, live, live.answeredAtMs === undefined ? 'busy' : 'completed');
  }

  async function stream(carrierCallId: string, live: LiveLine, callId: string): Promise<void> {
    const codec = createLoopbackCodec();
    const encoder = new TextEncoder();
    const line = new LoopbackLine({
      clock,
      callee: live.callee,
      send: (message) => live.call?.media(codec.read(encoder.encode(JSON.stringify(message)))),
      hungUp: () => end(carrierCallId, live, 'completed'),
      tap: (said, heard) => recordings.frame(carrierCallId, said, heard),
    });
    live.line?.close();
    live.line = line;
    live.call = await deps.server().answerMedia({
      callId,
      codec,
      format: FORMAT,
      connection: {
        send(data) {
          line.receive(data);
          return true;
        },
        batch: (work) => work(),
        close() {
          if (live.line !== line) return;
          line.close();
          live.line = undefined;
          live.call?.detached();
          live.call = undefined;
          if (live.endedAtMs === undefined) connect(carrierCallId, live, true).catch(failed);
        },
      },
    });
    if (live.call === undefined) end(carrierCallId, live, 'completed');
  }

  return {
    name: 'loopback',
    numbers: deps.numbers,
    callbacks: undefined,
    openMedia: createLoopbackCodec,
    async ring(parties) {
      const { carrierCallId, live } = await open(parties, undefined);
      await connect(carrierCallId, live, false);
      return live.callId;
    },
    calls: {
      async dial(request) {
        const { carrierCallId, live } = await open(request, request.callId);
        clock.setTimeout(() => {
          report(carrierCallId, live, 'ringing')
            .then(async () => {
              const unanswered = UNANSWERED.get(request.to.slice(-7));
              if (unanswered !== undefined) return end(carrierCallId, live, unanswered);
              live.answeredAtMs = clock.monotonicMs();
              await report(carrierCallId, live, 'in-progress');
              await connect(carrierCallId, live, false);
            })
            .catch(failed);
        }, RING_MS);
        return { carrierCallId };
      },
      async hangUp(carrierCallId) {
        const live = lines.get(carrierCallId);
        if (live === undefined) return;
        end(carrierCallId, live, live.answeredAtMs === undefined ? 'canceled' : 'completed');
      },
      async find(carrierCallId) {
        const live = lines.get(carrierCallId);
        if (live === undefined) return undefined;
        const { status } = live;
        const priceRaw = live.endedAtMs === undefined ? null : 0n;
        return { carrierCallId, status, durationSeconds: secondsOf(live), priceRaw };
      },
      async sendDigits({ carrierCallId }, digits) {
        const live = lines.get(carrierCallId);
        live?.callee.digits?.(digits);
      },
      // The simulated transfer target answers at once, and the call continues without this server.
      async transfer({ callId, carrierCallId }) {
        const live = lines.get(carrierCallId);
        if (live === undefined) return;
        await deps.server().hear({ kind: 'transferred', callId, carrierCallId });
        end(carrierCallId, live, 'completed');
      },
      async startRecording({ carrierCallId }) {
        return recordings.start(carrierCallId);
      },
      async pauseRecording({ carrierCallId }) {
        recordings.pause(carrierCallId, true);
      },
      async resumeRecording({ carrierCallId }) {
        recordings.pause(carrierCallId, false);
      },
      async stopRecording({ carrierCallId }) {
        finishRecording(carrierCallId);
      },
      async findRecording({ carrierCallId }) {
        return recordings.find(carrierCallId);
      },
      async fetchRecording(recordingId) {
        return recordings.wav(recordingId);
      },
      async deleteRecording(recordingId) {
        recordings.delete(recordingId);
      },
    },
  };
}
