import type { Worker } from '../../../kernel/schedule.ts';
import type { CallDeps } from '../call-deps.ts';
import { findUnringing } from './sweep-store.ts';

/** Longest time that a place stays taken after another process has heard of the end or the answer of its call. */
const EVERY_MS = 500;

/** Gives back the places at the recogniser of this process whose calls ring no longer: their carrier told another process. */
export const createPlaceFreer = ({ room, sql }: Pick<CallDeps, 'room' | 'sql'>): Worker => ({
  name: 'free-call-places',
  everyMs: EVERY_MS,
  async tick() {
    const kept = room?.kept ?? [];
    if (room === undefined || kept.length === 0) return;
    for (const callId of await findUnringing(sql, kept)) room.forget(callId);
  },
});
