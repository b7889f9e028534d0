import { APP, ari } from './ari.mjs';
import { calls, end, failing, join, newCall, obey, referred, report } from './call.mjs';
import { MachineDetection } from './machine.mjs';
import { hook } from './settings.mjs';
import { hold, unhold } from './sound.mjs';

/** Why a channel is gone, in Twilio's words, by Asterisk's causes (Q.850). */
const STATUS_OF_CAUSE = new Map([
  [17, 'busy'],
  [21, 'busy'],
  [18, 'no-answer'],
  [19, 'no-answer'],
  [20, 'no-answer'],
]);
const NO_SUCH_NUMBER = new Set([1, 3, 22, 28]);
/** Asterisk gives these to a channel that it has given up by itself, when it had rung for long enough. */
const GIVEN_UP = new Set([0, 16, 127]);

const callOf = (channel) => {
  for (const call of calls.values()) if (call.channel === channel && !call.isOver) return call;
  return undefined;
};

/** An event of Asterisk. */
export function fromAri({ args = [], cause, channel, type }) {
  if (type === 'StasisStart')
    return void began(channel, args).catch((e) => console.error(e.message));
  const call = channel && callOf(channel.id);
  if (call === undefined) return;
  if (type === 'ChannelHold') hold(call);
  if (type === 'ChannelUnhold') unhold(call);
  const isRinging = type === 'ChannelStateChange' && channel.state === 'Ringing';
  if (isRinging && call.isOurs && call.status === 'queued') void report(call, 'ringing');
  if (type === 'ChannelDestroyed') void destroyed(call, cause);
}

/** A channel comes from the dialplan: a caller, a callee who has answered, the bridge's own sound, or a failed REFER. */
async function began(channel, [kind, name, ...rest]) {
  if (kind === 'in') return ring(channel, name);
  const call = calls.get(name);
  if (call === undefined || call.isOver) {
    await ari('DELETE', `/channels/${channel.id}`);
    return undefined;
  }
  if (kind === 'media') {
    await ari('POST', '/bridges', { query: { type: 'mixing', bridgeId: call.sid } });
    await join(call, [call.channel, call.media]);
    return call.joined();
  }
  if (kind === 'out') {
    call.answeredAt = Date.now();
    call.limitTimer = setTimeout(() => end(call, 'completed'), call.longestMs);
    if (call.machineUrl !== null) call.machine = new MachineDetection(call.awaitsEnd);
    void report(call, 'in-progress');
    return obey(call, call.voiceUrl).catch(failing(call));
  }
  return referred(call, ...rest).catch(failing(call));
}

function ring(channel, to) {
  const hooks = { voiceUrl: hook('voice'), statusUrl: hook('status') };
  const call = newCall({ channel: channel.id, from: channel.caller.number, to, ...hooks });
  call.status = 'ringing';
  return ari('POST', `/channels/${channel.id}/ring`)
    .then(() => obey(call, call.voiceUrl))
    .catch(failing(call));
}

function destroyed(call, cause) {
  if (call.referring !== undefined && call.answeredAt !== undefined) {
    return referred(call, 'SUCCESS').catch(failing(call));
  }
  if (call.answeredAt !== undefined) return end(call, 'completed');
  if (!call.isOurs) return end(call, 'canceled');
  if (NO_SUCH_NUMBER.has(cause)) return end(call, 'failed', { more: { SipResponseCode: '404' } });
  const ranOut = GIVEN_UP.has(cause) && Date.now() >= call.ringsUntil - 1_000;
  return end(call, STATUS_OF_CAUSE.get(cause) ?? (ranOut ? 'no-answer' : 'failed'));
}

/** Time for the begin of a channel to arrive that is in the list of channels already. */
const BEGIN_MS = 2_000;

/**
 * Called with each new connection to Asterisk's events. Ends the calls whose channels are gone without an event. Hangs up the
 * channels of a bridge that died: their callers would hear silence until they hang up.
 */
export async function forgetLost() {
  const living = JSON.parse((await ari('GET', '/channels')) ?? '[]');
  const ids = new Set(living.map(({ id }) => id));
  for (const call of calls.values())
    if (!call.isOver && !ids.has(call.channel)) void destroyed(call, 0);
  const talking = living.filter(({ dialplan }) =>
    ['in', 'out'].some((kind) => dialplan?.app_data?.startsWith(`${APP},${kind},`)),
  );
  await new Promise((resolve) => setTimeout(resolve, BEGIN_MS));
  for (const { id } of talking) {
    if (callOf(id) !== undefined) continue;
    const wasThere = await ari('DELETE', `/channels/${id}`);
    if (wasThere !== undefined) console.error(`channel ${id} had no call, and was hung up`);
  }
}
