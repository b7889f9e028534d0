import { changeVoice } from './change.ts';

/** The same under the other verb that is published for it. */
export const changeVoiceByPost = { ...changeVoice, method: 'POST' } as const;
