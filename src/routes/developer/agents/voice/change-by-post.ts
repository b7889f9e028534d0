import { changeVoice } from './change.ts';

/** Changes the voice, as `changeVoice` does, under the second published verb. */
export const changeVoiceByPost = { ...changeVoice, method: 'POST' } as const;
