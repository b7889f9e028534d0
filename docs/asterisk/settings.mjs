import { createHmac } from 'node:crypto';

/** Read once: a bridge whose settings are wrong does not start. */
export const env = (name, fallback) => {
  const value = process.env[name] ?? fallback;
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};
export const ACCOUNT = env('TWILIO_ACCOUNT_SID');
export const TOKEN = env('TWILIO_AUTH_TOKEN');
export const PUBLIC_URL = env('PUBLIC_URL').replace(/\/+$/, '');
const SERVER_URL = env('SERVER_URL', PUBLIC_URL).replace(/\/+$/, '');
export const TRUNK = env('ARI_TRUNK', 'trunk');
export const NUMBERS = env('NUMBERS').split(',');

/** What Twilio signs: the address, then every field by its name. */
export const sign = (url, form = {}) =>
  createHmac('sha1', TOKEN)
    .update(
      url +
        Object.keys(form)
          .sort()
          .map((name) => name + form[name])
          .join(''),
    )
    .digest('base64');

/** A public address of the server as it is reached from here. */
export const reach = (url) =>
  url
    .replace(PUBLIC_URL, SERVER_URL)
    .replace(PUBLIC_URL.replace(/^http/, 'ws'), SERVER_URL.replace(/^http/, 'ws'));

export const hook = (name) => `${PUBLIC_URL}/v1/telephony/twilio/${name}`;

export async function post(url, form) {
  const answer = await fetch(reach(url), {
    method: 'POST',
    headers: { 'x-twilio-signature': sign(url, form) },
    body: new URLSearchParams(form),
    signal: AbortSignal.timeout(15_000),
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.text();
}

const plain = (xml) =>
  xml.replace(
    /&(lt|gt|quot|apos|amp);/g,
    (_, name) => ({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })[name],
  );
export const first = (pattern, twiml) => {
  const found = pattern.exec(twiml)?.[1];
  return found === undefined ? undefined : plain(found);
};

/** Pauses before the second attempt and each later one. */
const AGAIN_MS = [500, 1_000, 2_000, 4_000, 8_000, 16_000];

/** Does it until it succeeds, or every attempt has failed. */
export async function retried(attempt, waitsMs = AGAIN_MS) {
  for (const waitMs of waitsMs) {
    try {
      return await attempt();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return attempt();
}
