import type { CarrierStatus } from '../../../../src/phone/carriers/carrier.ts';
import type { Faults } from '../options.ts';
import type { RestAnswer } from '../rest.ts';
import { type CallLimits, ScriptedCall, type ScriptedCallDeps } from '../scripted-call.ts';
import { newRecording, type TelnyxRecording } from './telnyx-recording.ts';
import { TelnyxStream } from './telnyx-stream.ts';
import type { Kind, TelnyxWebhooks } from './telnyx-webhooks.ts';

export type Body = Readonly<Record<string, unknown>>;

export type TelnyxCallDeps = ScriptedCallDeps & {
  readonly webhooksOf: (faults: Faults) => TelnyxWebhooks;
  readonly connectionId: string;
};

export type TelnyxCallSettings = CallLimits & {
  readonly webhookUrl: string;
  readonly clientState?: string | undefined;
  readonly detectsMachine: boolean;
};

type TelnyxTypes = {
  readonly deps: TelnyxCallDeps;
  readonly direction: 'outgoing' | 'incoming';
  readonly settings: TelnyxCallSettings;
  readonly stream: TelnyxStream;
};

const DIGIT_MS = 100;
/** Telnyx ignores a command whose id it has had within a minute. */
const COMMAND_MS = 60_000;
const MINUTE_PRICE = 0.01;

const CAUSES: ReadonlyMap<CarrierStatus, string> = new Map([
  ['completed', 'normal_clearing'],
  ['busy', 'user_busy'],
  ['no-answer', 'timeout'],
  ['canceled', 'originator_cancel'],
  ['failed', 'unspecified'],
  ['invalid', 'unallocated_number'],
]);

export const refused = (status: number, code: string, title: string): RestAnswer => ({
  status,
  body: { errors: [{ code, title, detail: title }] },
});
const DONE: RestAnswer = { status: 200, body: { data: { result: 'ok' } } };
const OVER = refused(422, '90018', 'Call has already ended');
const NOT_ANSWERED = refused(422, '90034', 'Call not answered yet');

/** One call of Telnyx. It does what commands of its API say. */
export class TelnyxCall extends ScriptedCall<TelnyxTypes> {
  readonly transfers: { readonly to: string; readonly status: string }[] = [];
  clientState: string | undefined = this.settings.clientState;
  recording: TelnyxRecording | undefined;
  readonly #webhooks = this.deps.webhooksOf(this.faults);
  readonly #commands = new Map<string, number>();

  /** Rings at the far side, and goes on as its script says. */
  async place(): Promise<void> {
    this.#report('call.initiated', { state: 'bridging' });
    this.status = 'ringing';
    const { answers } = this.callee;
    if (answers === 'failed' || answers === 'invalid') return this.finish(answers);
    if (!(await this.ringsUntilPickedUp())) return;
    this.#answer('asks');
    if (this.settings.detectsMachine) this.#recognise();
  }

  /** Rings at the server, which answers or rejects the call. */
  ring(): void {
    this.status = 'ringing';
    this.#report('call.initiated', { state: 'parked' }, 'asks');
    const { timeoutMs } = this.settings;
    this.deps.time.after(timeoutMs, () => this.isAnswered || this.finish('no-answer'));
  }

  /** What `POST /v2/calls/{id}/actions/{action}` does and answers. */
  command(action: string, body: Body): RestAnswer {
    if (this.isOver) return OVER;
    if (action === 'hangup' && this.faults.failsHangUps-- > 0) {
      return refused(503, '10007', 'Service unavailable');
    }
    if (this.#isRepeated(body.command_id)) return DONE;
    const act = this.#actions()[action];
    if (act === undefined) return refused(404, '10005', 'Resource not found');
    if (!this.isAnswered && !['answer', 'hangup', 'reject'].includes(action)) return NOT_ANSWERED;
    if (typeof body.client_state === 'string') this.clientState = body.client_state;
    act(body);
    return DONE;
  }

  protected override async reportEnd(): Promise<void> {
    this.#report('call.hangup', {
      state: 'hangup',
      hangup_cause: CAUSES.get(this.status),
      hangup_source: 'callee',
      start_time: new Date().toISOString(),
      end_time: new Date().toISOString(),
    });
    this.#endRecording();
    await this.deps.time.sleep(this.faults.priceDelayMs);
    this.#report('call.cost', {
      status: 'success',
      total_cost: (Math.ceil((this.durationSeconds ?? 0) / 60) * MINUTE_PRICE).toFixed(4),
      billed_duration_secs: this.durationSeconds,
    });
    await this.#webhooks.flush();
  }

  #isRepeated(commandId: unknown): boolean {
    if (typeof commandId !== 'string') return false;
    const now = this.deps.time.now();
    const before = this.#commands.get(commandId);
    this.#commands.set(commandId, before ?? now);
    return before !== undefined && now - before < COMMAND_MS;
  }

  #actions(): Readonly<Record<string, (body: Body) => void>> {
    return {
      answer: (body) => {
        this.#answer('reports');
        if (body.stream_url !== undefined) this.#open(body);
      },
      hangup: () => this.hangUp(),
      reject: ({ cause }) => this.finish(cause === 'USER_BUSY' ? 'busy' : 'failed'),
      streaming_start: (body) => this.#open(body),
      streaming_stop: () => this.stream?.stop(),
      send_dtmf: ({ digits }) => {
        const ms = String(digits).length * DIGIT_MS;
        this.deps.time.after(ms, () => this.isOver || this.digitsHeard.push(String(digits)));
      },
      transfer: (body) => void this.#transfer(body),
      record_start: () => {
        this.recording = newRecording(this);
      },
      record_pause: () => {
        if (this.recording !== undefined) this.recording.pauses++;
      },
      record_resume: () => {},
      record_stop: () => this.#endRecording(),
    };
  }

  #answer(kind: Kind): void {
    if (this.begin()) this.#report('call.answered', { state: 'answered' }, kind);
  }

  #open(options: Body): void {
    if (this.faults.opensNoStream || this.stream?.isOpen) return;
    const streamUrl = String(options.stream_url);
    const stream = new TelnyxStream({
      time: this.deps.time,
      options,
      reachedAt: this.deps.reach(streamUrl),
      callControlId: this.sid,
      clientState: this.clientState,
      line: this.callee.line ?? {},
      faults: this.faults,
      soundAt: (atMs) => this.soundAt(atMs),
      sinceAnswerMs: () => this.sinceAnswerMs(),
      began: (atMs) => {
        this.#report('streaming.started', { stream_url: streamUrl });
        this.speak(atMs);
      },
    });
    this.streams.push(stream);
    void stream.closed.then(({ wasOpen }) => {
      const about = { stream_id: stream.streamId, stream_url: streamUrl };
      const kind = this.isOver ? 'reports' : 'asks';
      this.#report(wasOpen ? 'streaming.stopped' : 'streaming.failed', about, kind);
    });
  }

  /** A second leg to another party; the first ends with it. */
  async #transfer(body: Body): Promise<void> {
    const to = String(body.to);
    const callee = this.deps.calleeOf({ from: this.to, to });
    const { answers = 'human', ringMs = 100, hangsUpAtMs = 1_000 } = callee;
    const isBad = answers === 'busy' || answers === 'failed' || answers === 'no-answer';
    const leg = {
      ...this.#payload(),
      call_control_id: `${this.sid}-to`,
      client_state: body.target_leg_client_state,
      from: this.to,
      to,
    };
    const webhookUrl = String(body.webhook_url ?? this.settings.webhookUrl);
    await this.deps.time.sleep(ringMs);
    if (!isBad && !this.isOver) this.#webhooks.event(webhookUrl, 'call.answered', leg);
    const limitMs = Number(body.time_limit_secs ?? 14_400) * 1_000;
    if (!isBad) await this.deps.time.sleep(Math.min(hangsUpAtMs, limitMs));
    const status = isBad ? answers : 'completed';
    this.transfers.push({ to, status });
    if (this.isOver) return;
    const ended = { ...leg, hangup_cause: CAUSES.get(status) };
    this.#webhooks.event(webhookUrl, 'call.hangup', ended, 'asks');
    if (!isBad) this.finish('completed');
  }

  #recognise(): void {
    this.whenRecognised((answeredBy) => {
      const isMachine = answeredBy.startsWith('machine');
      const result = isMachine ? 'machine' : answeredBy === 'fax' ? 'fax_detected' : answeredBy;
      this.#report('call.machine.detection.ended', { result });
      if (answeredBy.startsWith('machine_end')) {
        this.#report('call.machine.greeting.ended', { result: 'beep_detected' });
      }
    });
  }

  #endRecording(): void {
    const { recording } = this;
    if (recording === undefined || recording.endedAtMs !== undefined) return;
    recording.endedAtMs = this.sinceAnswerMs();
    const endedMs = Date.now();
    this.#report('call.recording.saved', {
      recording_started_at: new Date(
        endedMs - (recording.endedAtMs - recording.beganAtMs),
      ).toISOString(),
      recording_ended_at: new Date(endedMs).toISOString(),
      channels: 'dual',
      recording_urls: { wav: `https://recordings.telnyx.example/${recording.id}.wav` },
    });
  }

  #report(type: string, more: Body, kind?: Kind): void {
    this.#webhooks.event(this.settings.webhookUrl, type, { ...this.#payload(), ...more }, kind);
  }

  #payload(): Body {
    return {
      call_control_id: this.sid,
      call_leg_id: this.sid,
      call_session_id: this.sid,
      connection_id: this.deps.connectionId,
      client_state: this.clientState ?? null,
      direction: this.direction,
      from: this.from,
      to: this.to,
    };
  }
}
