import type { SoundFormat } from '../../../media/coding.ts';
import type { Span } from '../../platform/tracing/span.ts';
import { SessionTrace } from '../../voice/live/session-trace.ts';
import type { MediaCodec } from '../carriers/carrier.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { createCallRecorder } from '../recordings/call-recorder.ts';
import { RECORDING_NOTICE } from '../recordings/recording.ts';
import type { CallTools } from '../tools/call-tools.ts';
import type { LineConnection } from '../voice/line/call-line.ts';
import { SilentCaller } from '../voice/silent-caller.ts';
import { noiseSuppressionOf } from '../voice/tuning/turn-settings.ts';
import { findLastTurn } from './actions/action-store.ts';
import { carryOut } from './actions/carry-out.ts';
import { handOff } from './actions/hand-off.ts';
import { NOT_REACHED } from './actions/live-actions.ts';
import { isTransferNote, transferNote } from './actions/transfer-note.ts';
import { transferSeconds } from './actions/transfer-seconds.ts';
import { watchMachine } from './actions/watch-machine.ts';
import { watchMedia } from './actions/watch-media.ts';
import type { Call } from './call.ts';
import type { CallDeps, Responder } from './call-deps.ts';
import type { CallMoney } from './call-money.ts';
import { admitStream } from './call-store.ts';
import { findInjected } from './commands/command-store.ts';
import { closeCall } from './ending/close-call.ts';
import { endRefused } from './ending/end-refused.ts';
import { endUnwanted } from './ending/end-unwanted.ts';
import { followCall } from './feed/follow-call.ts';
import type { LiveCall } from './live-call.ts';
import { openCall } from './open-call.ts';
import { CallPlace } from './opening/call-place.ts';
import { openTools, recallTools } from './opening/open-tools.ts';
import { CUT_OFF, isUngreeted, mayAnnounce, owedBy } from './opening/resumed-history.ts';
import { openLiveCall } from './recorded/open-live-call.ts';
import { findTurns, isLastTurnCut } from './turn-store.ts';
import type { CallTurns } from './turn-writer.ts';

/** Number of earlier turns that a process loads when it takes over a call. */
const REMEMBERED_TURNS = 40;

/** A media stream whose first message was read. */
export type MediaStart = {
  readonly callId: string;
  readonly codec: MediaCodec;
  readonly format: SoundFormat;
  readonly connection: LineConnection;
};

/**
 * Accepts the media stream of a call that is answered now, that lives in this process, or whose process is gone. Returns
 * undefined when the stream is refused; no call changes then.
 */
export async function answerMedia(
  deps: CallDeps,
  start: MediaStart,
): Promise<LiveCall | undefined> {
  const call = await admitStream(deps.sql, start.callId);
  if (call === undefined) return undefined;
  const { callId } = call;
  const isBack = deps.live.get(callId)?.actions.isTransferring === true;
  const note = isBack ? await findLastTurn(deps.sql, callId) : undefined;
  const living = deps.live.get(callId);
  if (living !== undefined) {
    living.attach(start.connection, start.codec);
    living.actions.transferFailed(isTransferNote(note) ? note : transferNote());
    return living;
  }
  const place = new CallPlace();
  deps.sessions.enter(callId, place);
  let live: LiveCall | undefined;
  try {
    live = await openLive(deps, call, start);
    if (live !== undefined) place.opened(live);
    return live;
  } finally {
    // A live call leaves by itself once it is settled.
    if (live === undefined) deps.sessions.leave(callId);
  }
}

/** Opens a call that has no session in this process, under a span that lasts as long as the call. */
async function openLive(
  deps: CallDeps,
  call: Call,
  start: MediaStart,
): Promise<LiveCall | undefined> {
  const { callId, direction } = call;
  const span = deps.tracer?.start('call', {
    attributes: { 'svc.call.id': callId, 'svc.call.direction': direction },
  });
  if (span === undefined) return openSession(deps, call, start);
  let live: LiveCall | undefined;
  try {
    live = await openSession({ ...deps, trace: traceOfCall(deps, span) }, call, start, span);
    return live;
  } finally {
    if (live === undefined) span.end({ error: 'not_opened' });
  }
}

function traceOfCall({ clock }: CallDeps, span: Span): SessionTrace {
  return new SessionTrace({
    clock,
    begin(_, { attributes = {} }) {
      span.set(attributes);
      return span;
    },
  });
}

async function openSession(
  deps: CallDeps,
  call: Call,
  { codec, connection, format }: MediaStart,
  span?: Span,
): Promise<LiveCall | undefined> {
  const { sql, trace } = deps;
  let live: LiveCall | undefined;
  let tools: CallTools | undefined;
  const silent = new SilentCaller({
    isGathering: () => live?.actions.isGathering === true || tools?.isRunning === true,
    giveUp: () => live?.end('inactivity'),
  });
  let spoken = 0;
  const responder = deps.openResponder(call, {
    traceHeaders: span && (() => (trace?.span ?? span).headers),
  });
  const isNew = call.status === 'pending';
  const history = isNew ? [] : await findTurns(sql, call.callId, REMEMBERED_TURNS);
  const injected = isNew ? [] : await findInjected(sql, call.callId);
  const isCut = !isNew && (await isLastTurnCut(sql, call.callId));
  const opened = await openCall(deps, call, {
    format,
    responder,
    mayAnnounce: mayAnnounce(history),
    prompt: () => silent.prompt(),
    spoken() {
      const taken = spoken;
      spoken = 0;
      return taken;
    },
  }).catch((error: unknown) => {
    responder?.close();
    throw error;
  });
  if (opened.kind !== 'opened') {
    responder?.close();
    if (opened.kind === 'refused') await endRefused(deps, call, opened);
    return undefined;
  }
  const { input, money } = opened;
  let heardOut = () => {};
  const over = new Promise<void>((resolve) => {
    heardOut = resolve;
  });
  const recorder = createCallRecorder(deps, call, money);
  const acted = { recorder, transferSeconds: () => transferSeconds(money) };
  const { callId } = call;
  const turns = deps.turns.of(callId);
  live = openLiveCall(deps, {
    input,
    codec,
    format,
    history,
    injected,
    notice: money.expectsRecording ? RECORDING_NOTICE : undefined,
    beginMessage: isUngreeted(history) ? (call.options.voice.beginMessage ?? undefined) : undefined,
    interruption: call.options.voice.conversation?.interruption,
    hearsKeys: responder?.digit !== undefined,
    suppressesNoise: noiseSuppressionOf(call.options.voice.conversation),
    lineLostMs: deps.lineLostMs ?? PHONE_LIMITS.call.lineLostMs,
    longestMs: PHONE_LIMITS.call.longestSeconds * 1_000 - money.lineSeconds() * 1_000,
    spoke(characters) {
      spoken += characters;
    },
    events: {
      ...followCall(deps.feed, callId, {
        act: (action) => carryOut(deps, call, acted, action),
        heard: turns.heard,
      }),
      said(turn) {
        if (turn.role === 'user') silent.isThere();
        turns.add(turn);
      },
      announced: recorder.announced,
      notAnnounced: recorder.notAnnounced,
      digit(digit) {
        silent.isThere();
        responder?.digit?.(digit);
      },
      callTool: (item) => tools?.call(item),
      callerSpoke() {
        tools?.callerSpoke();
        responder?.callerSpoke?.();
      },
      handOff: (data) => {
        void handOff(deps, call, money, data).then(() => live?.end('agent_ended'));
      },
      entered: (digits) => responder?.entered?.(digits),
      interrupted: (heard, heardMs) => responder?.interrupted?.(heard, heardMs),
      answered: () => responder?.answered?.(),
      detached: () => money.freeze(),
      attached: () => money.unfreeze(),
      over: () => heardOut(),
    },
  });
  const opening = live;
  money.followSilence(() => opening.silentMs);
  if (responder === undefined) tools = openTools(deps, call, live, money.holds);
  register(deps, { call, live, money, responder, over, turns });
  if (!isNew) await recallTools(deps, call, live);
  watchMachine(deps, call, live, money.answeredBy);
  watchMedia(deps, call, live);
  live.attach(connection);
  responder?.onManner?.((manner) => live?.setManner(manner));
  responder?.onPreempted?.(() => live?.preempt());
  responder?.onUnprompted?.(() => live?.respond());
  const { forwardTo } = call.options;
  // A transfer that came back has left a note.
  if (forwardTo !== undefined && history.length === 0) {
    live.act({ name: 'transfer_call', to: forwardTo });
  }
  // The previous process may have lost the call during a transfer, before its answer was said, or in the middle of the answer.
  const owed = owedBy(history, isCut);
  if (owed === 'news_of_transfer') live.say(NOT_REACHED);
  if (owed === 'rest_of_answer') live.note(CUT_OFF);
  if (owed === 'answer' || owed === 'rest_of_answer') live.respondAfterNotice();
  deps.engines.warmUp();
  return live;
}

/** Registers a live call with this process until the call is settled and its row says so. */
function register(
  deps: CallDeps,
  {
    responder,
    call,
    live,
    money,
    over,
    turns,
  }: {
    readonly call: Call;
    readonly live: LiveCall;
    readonly money: CallMoney;
    readonly responder: Responder | undefined;
    /** Resolves once the peer has heard the last words. */
    readonly over: Promise<void>;
    readonly turns: Pick<CallTurns, 'flushed'>;
  },
): void {
  const { callId } = call;
  deps.live.set(callId, live);
  endUnwanted(deps, [callId]).catch((err: unknown) =>
    deps.log.error({ err, callId }, 'it is not known whether a call is to end'),
  );
  live.settled
    .then(async () => {
      deps.live.delete(callId);
      responder?.close();
      await closeCall(deps, { call, live, money, over, turns });
    })
    .catch((err: unknown) => deps.log.error({ err, callId }, 'the end of a call was not written'));
}
