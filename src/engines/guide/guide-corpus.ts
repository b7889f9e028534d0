import type { Fact } from './guide-facts.ts';

export type CorpusEntry = {
  /** Short, plain questions. A caller's question is compared with each of them. */
  readonly asks: readonly string[];
  /** A sentence to say, or the fact of the caller that is to be said. */
  readonly answer: string | { readonly fact: Fact };
};

/** A line of ways to ask, then the lines of the answer, indented. Each answer is heard as well as read. */
const TEXT = `
what is my balance | how much money do I have left
  {balance}
how many funds remain in my account | can I still pay for things
  {balance}
how much have I spent | what did I pay so far
  {spent}
what did all my calls cost me | show my total spending
  {spent}
how much is on hold | what amount is reserved right now
  {held}
who are you | are you a language model | what is the guide
  I am the guide built into this server. I am not a language model: I look up answers, do sums, and tell you your
  balance.
what can you do | help me | what can I ask you
  Ask me about your balance, your spending, keys, limits, prices, phone calls, transcription or payments. I also do
  sums and tell the time.
hello | good morning | hi there
  Hello. Ask me about your balance or this server.
thank you | thanks a lot
  You are welcome.
goodbye | bye see you later
  Goodbye.
what is this server | what does this service do
  This is a real-time voice server with a spend layer. An agent has one prepaid balance, and models, speech, phone
  calls and paid requests are taken from it.
how do I add money to my account | how do I fund or top up my agent
  Send USDC on Base to the wallet address of your agent, or ask the operator to credit it. The balance rises when the
  transfer is confirmed.
what happens when I run out of money | what if my balance is empty
  A call that would cost more than you have is refused with status 402 before anything is spent. A live session says
  so and ends.
what is a raw unit | why are amounts such long numbers
  Amounts are raw USDC with six decimals: one million raw units are one dollar.
what is a hold | why is part of my money held
  Whatever costs money first holds an upper bound. When the real cost is known it is charged, and the rest is yours
  again.
can I be charged twice | is a payment ever doubled
  No. Every charge has an identifier that can be settled only once, even if the server stops halfway.
where do I see what each call cost | which header tells the cost
  Every metered answer carries the header X-Svc-Cost-USDC with the exact amount in raw units.
can I get a refund | is unused money given back
  What was held and not used is given back at once. What was used is not refunded.
how do I limit what my agent spends | set a spending cap | what spend controls are there
  Put a budget on a key, cap a session, list the allowed destinations, or add a policy for a task, an API, a vendor, a
  session or a team. They are checked before money moves.
why was my call refused because of a spend limit | what does spend limit exceeded mean
  A spend control of yours would have been passed, so nothing was paid. The answer names the control, the amount
  needed and what was left.
what are the limits | how many agents may I have
  A developer may own five agents, each with five active keys, and ten webhooks. An agent may hold one phone number.
what is the rate limit | how many requests per minute | why am I told too many requests
  A developer key may make one hundred requests a minute; an agent has a bucket of its own for the payment proxy. The
  rate limit headers say what is left; after a 429, wait as long as it says.
how do I get an API key | how do I create a key for my agent
  With your developer key, mint an agent key for the agent. The full key is shown once, so store it at once.
what is the difference between a developer key and an agent key | which key do I use
  A developer key manages agents and keys. An agent key spends: models, speech, calls and paid requests.
I lost my key | my key leaked how do I revoke or rotate it
  Revoke or rotate it with your developer key. The old key stops working at once, and open sockets that used it are
  closed.
how do I sign in | how does a developer log in
  Sign the login message with your wallet and send it to the verify route. You get a session for seven days.
how much does it cost | what are the prices | what do you charge per token
  You pay the metered price of the source plus five percent. Ask for the model list with pricing to see each rate.
estimate the price of a call | what will this call cost before I make it
  The estimate route prices a call without making it.
which models can I use | list the available models
  The models route lists them. Models whose name begins with local run inside this server and need no account
  anywhere.
can I use the openai client library | how do I point my SDK here
  Yes. Set its base address to this server with slash v1 at the end, and use your agent key.
can I bring my own provider key | use my own openai key
  Yes. Use the route for your own key and send the provider key in its header; only a routing fee is charged.
how does the realtime voice session work | how do I talk to a model live
  Open a WebSocket to the realtime route with your agent key. Send audio, and the server hears when you stop, answers
  with speech, and meters each finished turn.
can I interrupt you | what happens when I speak over the answer
  Yes. When you speak, the answer stops, and only what you have heard is kept. Nothing after that is charged.
how do I transcribe audio | how does live transcription work
  Open the transcription stream and send sixteen bit audio. Interim and final transcripts come back, charged by the
  second of audio. A file can be sent in one request too.
how good is the speech recognition | which languages do you speak or understand
  The built-in recogniser knows English only and is basic: about every fourth word of open speech may be wrong. With a
  grammar of commands it is nearly perfect.
which voices are there | how do I make it speak text
  The built-in voices are rms, slt, awb and kal. Send text to the speech route; it is charged by the character.
how do I get a phone number | can you make phone calls
  Buy one US number for your agent by area code. The first month is charged at once, and calls are charged by the
  minute.
what happens to my phone number when I cannot pay | what is the grace period of a number
  If the monthly renewal cannot be paid, the number keeps working for seven days. Then it is released.
what is x402 | how are paid requests paid | how does the payment proxy work
  When a vendor answers with status 402, this server signs a USDC payment on Base from your balance, sends the request
  again, and gives you the answer.
what does payment ambiguous mean | what if the vendor takes the money and fails
  Then the chain decides. The amount stays held until it is known whether the payment happened: paid is charged,
  unpaid is given back.
what does error 401 mean | why do I get a 401 | my key is not accepted
  The key is missing, wrong, revoked or of the wrong kind. Send it as a bearer token.
what does error 402 mean | why do I get a 402 | why is payment required
  Your balance or a spend control did not allow the call. Nothing was spent.
what does error 503 mean | why do I get a 503 | why is the engine busy
  Something the call needs is busy or not installed. Where waiting helps, the answer says how many seconds to wait.
how do retries work | what is an idempotency key
  Send the same idempotency key again within ten minutes and you get the first answer back, byte for byte, without
  paying again.
what are webhooks | how am I told about events
  Register an https address and events are posted to it, signed. A delivery is tried three times.
`;

function readEntry(entry: string): CorpusEntry {
  const [asks = '', ...lines] = entry.trim().split('\n');
  const answer = lines.map((line) => line.trim()).join(' ');
  const fact = /^\{(balance|spent|held)\}$/.exec(answer)?.[1] as Fact | undefined;
  return { asks: asks.split(' | '), answer: fact === undefined ? answer : { fact } };
}

/** Answers of the built-in guide. */
export const GUIDE_CORPUS: readonly CorpusEntry[] = TEXT.split(/\n(?=\S)/)
  .slice(1)
  .map(readEntry);
