/** How speech is heard, whatever it came as: one rate, and the two steps in which it is judged. */

/** The rate at which speech is detected and recognised. */
export const HEARING_HZ = 16_000;
/** 20 ms, the step of the gate and of the turn detector. */
export const HEARING_FRAME = 320;
/** 32 ms, what the speech model judges at once. */
export const HEARING_WINDOW = 512;
