import type { AnsweredBy } from '../../carriers/carrier.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import type { LiveCall } from '../live-call.ts';
import { findAnsweredBy } from './action-store.ts';
import { MachineWatch } from './machine-watch.ts';

/** Watches for an answering machine until the call is settled, if the call was ordered with detection. */
export function watchMachine(
  { clock, log, sql }: CallDeps,
  { callId, options }: Call,
  live: LiveCall,
  learned: (answeredBy: AnsweredBy) => void,
): void {
  if (!options.detectsMachine) return;
  const { actions } = live;
  const watch = new MachineWatch({
    clock,
    log,
    actions,
    learned,
    onMachine: options.onMachine ?? 'continue',
    message: options.machineMessage ?? options.voice.beginMessage ?? '',
    read: () => findAnsweredBy(sql, callId),
  });
  actions.onAnsweredBy((answeredBy) => watch.hear(answeredBy));
  const close = () => watch.close();
  live.settled.then(close, close);
}
