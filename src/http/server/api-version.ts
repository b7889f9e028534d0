/** Version that `X-Svc-Api-Version` and the capabilities report. It changes when the wire does. */
export const API_VERSION = '1.0.0';
