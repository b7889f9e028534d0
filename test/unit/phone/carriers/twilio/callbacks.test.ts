import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { createTwilioCallbacks } from '../../../../../src/phone/carriers/twilio/callbacks.ts';
import { hooksOf } from '../../../../../src/phone/carriers/twilio/hooks.ts';
import {
  digitsTwiml,
  transferTwiml,
  whisperTwiml,
} from '../../../../../src/phone/carriers/twilio/twiml.ts';

const hooks = hooksOf('https://phone.example/');
const callbacks = createTwilioCallbacks({ authToken: '12345', hooks });
const ASKED = {
  kind: 'answered',
  callId: 'CAours',
  carrierCallId: 'CA9',
  from: '+14155550100',
  to: '+14155550199',
  isAgain: false,
} as const;
const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const AGAIN = 'https://phone.example/v1/telephony/twilio/voice?call=CAours&amp;again=1';

describe('what Twilio is answered', () => {
  it('the TwiML for a call opens the media stream with the call id, and redirects to the voice hook after it', async () => {
    const answer = await callbacks.instruct(ASKED, { kind: 'stream', callId: 'CAours' });
    expect(answer).toEqual({
      status: 200,
      contentType: 'text/xml',
      body:
        `${XML}<Response><Connect><Stream url="wss://phone.example/v1/telephony/twilio/media">` +
        '<Parameter name="call" value="CAours"/></Stream></Connect>' +
        `<Redirect method="POST">${AGAIN}</Redirect></Response>`,
    });
  });

  it("the TwiML of this server equals the TwiML of Twilio's SDK", async () => {
    const response = new twilio.twiml.VoiceResponse();
    const stream = response.connect().stream({ url: hooks.media });
    stream.parameter({ name: 'call', value: 'CAours' });
    response.redirect({ method: 'POST' }, hooks.voiceAgain('CAours'));
    const answer = await callbacks.instruct(ASKED, { kind: 'stream', callId: 'CAours' });
    expect(answer.body).toBe(response.toString());
  });

  it('the TwiML ends a call, and refuses one for a reason', async () => {
    const bodyOf = async (kind: 'hang_up' | 'busy' | 'rejected') =>
      (
        await callbacks.instruct(
          ASKED,
          kind === 'hang_up' ? { kind } : { kind: 'reject', reason: kind },
        )
      ).body;
    expect(await bodyOf('hang_up')).toBe(`${XML}<Response><Hangup/></Response>`);
    expect(await bodyOf('busy')).toBe(`${XML}<Response><Reject reason="busy"/></Response>`);
    expect(await bodyOf('rejected')).toBe(`${XML}<Response><Reject reason="rejected"/></Response>`);
  });

  it('the TwiML acknowledgement is an empty response', () => {
    expect(callbacks.acknowledgement.body).toBe(`${XML}<Response/>`);
  });

  it('the TwiML plays digits and connects numbers, and escapes all values', () => {
    expect(digitsTwiml(hooks, 'CAours', '1w"#')).toBe(
      `${XML}<Response><Play digits="1w&quot;#"/><Redirect method="POST">${AGAIN}</Redirect></Response>`,
    );
    const ORDER = { to: '+14155550123', longestSeconds: 840, whispers: false };
    const reported =
      'statusCallback="https://phone.example/v1/telephony/twilio/transfer?call=CAours" ' +
      'statusCallbackEvent="answered" statusCallbackMethod="POST"';
    expect(transferTwiml(hooks, 'CAours', { ...ORDER, to: '+1<&>\'"' })).toBe(
      `${XML}<Response><Dial action="${AGAIN}" method="POST" timeout="60" timeLimit="840">` +
        `<Number ${reported}>+1&lt;&amp;&gt;&apos;&quot;</Number></Dial></Response>`,
    );
    expect(transferTwiml(hooks, 'CAours', { ...ORDER, whispers: true })).toContain(
      '<Number url="https://phone.example/v1/telephony/twilio/whisper?call=CAours" method="POST" ',
    );
    expect(digitsTwiml(hooks, 'CA/ &', '1')).toContain('call=CA%2F%20%26&amp;again=1');
  });

  it('the TwiML whisper tells a person what a call is about, as escaped text', () => {
    expect(callbacks.whisper?.('A <b>refund</b> & "more"').body).toBe(
      `${XML}<Response><Say>A &lt;b&gt;refund&lt;/b&gt; &amp; &quot;more&quot;</Say></Response>`,
    );
    expect(whisperTwiml(null)).toBe(`${XML}<Response/>`);
  });

  it('each Twilio webhook of this server has one spelling of its address', () => {
    const root = 'https://phone.example/v1/telephony/twilio';
    expect(hooks.voice()).toBe(`${root}/voice`);
    expect(hooks.status()).toBe(`${root}/status`);
    expect(hooks.usage).toBe(`${root}/usage`);
    expect(hooks.machine('CAours')).toBe(`${root}/machine?call=CAours`);
    expect(hooks.recording('CAours')).toBe(`${root}/recording?call=CAours`);
  });

  it('a Twilio request and an upgrade are accepted when the auth token has signed them', () => {
    const url = hooks.voice('CAours');
    const parameters = { CallSid: 'CA9', From: '+14155550100', To: '+14155550199' };
    const signature = twilio.getExpectedTwilioSignature('12345', url, parameters);
    const headers = { 'x-twilio-signature': signature };
    const body = Buffer.from(`${new URLSearchParams(parameters)}`);
    expect(callbacks.isGenuine({ url, headers, body })).toBe(true);
    expect(callbacks.read('voice', { url, headers, body })).toEqual(ASKED);
    const upgrade = twilio.getExpectedTwilioSignature('12345', hooks.media, {});
    expect(
      callbacks.isGenuineUpgrade({
        url: hooks.media,
        headers: { 'x-twilio-signature': upgrade },
      }),
    ).toBe(true);
    expect(callbacks.isGenuineUpgrade({ url: hooks.media, headers })).toBe(false);
  });
});
