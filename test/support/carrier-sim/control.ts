import type { Callee, Faults } from './options.ts';
import type { Heard } from './playback.ts';
import type { RestAnswer } from './rest.ts';

/** What a script sees of a call, and does to it. */
export type ControlledCall = {
  readonly sid: string;
  readonly from: string;
  readonly to: string;
  readonly direction: string;
  readonly status: string;
  readonly durationSeconds: number | null;
  readonly digitsHeard: readonly string[];
  readonly transfers: readonly object[];
  readonly heard: readonly Heard[];
  readonly stream: { press(digit: string): void; drop(): void } | undefined;
  hangUp(): void;
};

/** What a script asks of a carrier that runs as a program: `/sim/calls`, `/sim/ring`, `/sim/faults`, … */
export function answerControl(
  sim: {
    readonly calls: readonly ControlledCall[];
    readonly faults: Faults;
    readonly ring: (to: string, from: string, callee?: Callee) => ControlledCall;
  },
  method: string,
  path: string,
  body: string,
): RestAnswer {
  const [, , subject, sid, action] = path.split('/');
  if (subject === 'faults' && method === 'POST') {
    return { status: 200, body: Object.assign(sim.faults, JSON.parse(body)) };
  }
  if (subject === 'ring' && method === 'POST') {
    const { to, from } = JSON.parse(body) as { to: string; from: string };
    return { status: 201, body: callBody(sim.ring(to, from)) };
  }
  if (subject !== 'calls') return { status: 404 };
  if (sid === undefined) return { status: 200, body: { calls: sim.calls.map(callBody) } };
  const call = sim.calls.find((one) => one.sid === sid);
  if (call === undefined) return { status: 404 };
  if (action === 'hang-up') call.hangUp();
  if (action === 'drop') call.stream?.drop();
  if (action === 'press') call.stream?.press(body);
  return { status: 200, body: callBody(call) };
}

const callBody = (call: ControlledCall) => ({
  sid: call.sid,
  from: call.from,
  to: call.to,
  direction: call.direction,
  status: call.status,
  durationSeconds: call.durationSeconds,
  digitsHeard: call.digitsHeard,
  transfers: call.transfers,
  heard: call.heard.map(({ atMs, bytes }) => ({
    atMs,
    base64: Buffer.from(bytes).toString('base64'),
  })),
});
