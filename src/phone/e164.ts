/** A telephone number with its country, as to its form: whether it exists, the dialling guard knows. */
export const E164 = /^\+[1-9]\d{6,14}$/;
