/**
 * A telephone number in international form, such as `+14155550123`. Only the form is checked; the dialling guard checks whether
 * the number exists.
 */
export const E164 = /^\+[1-9]\d{6,14}$/;
