import { z } from 'zod';

const raw = z.string();
const instant = z.string();
const latency = z.object({
  waitMs: z.number(),
  transcriptMs: z.number(),
  firstTokenMs: z.number(),
  firstAudioMs: z.number(),
  firstFrameMs: z.number(),
  totalMs: z.number(),
});
const span = z.object({ count: z.number(), meanMs: z.number(), maxMs: z.number() });
const line = z.object({
  jitterMs: z.number().nullable(),
  jitterMaxMs: z.number().nullable(),
  lateChunks: z.number(),
  gaps: z.number(),
  underruns: z.number(),
  underrunMs: z.number(),
});

export const CallReportAnswer = z.object({
  callId: z.string(),
  direction: z.enum(['inbound', 'outbound']),
  from: z.string(),
  to: z.string(),
  status: z.string(),
  reason: z.string().nullable(),
  answeredBy: z.string().nullable(),
  createdAt: instant,
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  durationSeconds: z.number(),
  /** True when the carrier's report, not this server's own metering, settled the call. */
  backstop: z.boolean(),
  taskId: z.string(),
  customerId: z.string().nullable(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
  receipt: z.object({
    transportRaw: raw,
    sttRaw: raw,
    ttsRaw: raw,
    modelRaw: raw,
    /** Cost of the purchases of the call's tools. */
    toolsRaw: raw,
    totalRaw: raw,
    /** Amount held for undecided purchases of the call's tools. `totalRaw` leaves it out. */
    pendingRaw: raw,
  }),
  summary: z.string(),
  transcript: z.array(
    z.object({
      role: z.enum(['user', 'assistant']),
      text: z.string(),
      /** The part of the text that the caller or callee heard. */
      heard: z.string(),
      interrupted: z.boolean(),
      at: instant,
      latency: latency.nullable(),
    }),
  ),
  /** Tool calls of the model. An outcome of null is not known. */
  tools: z.array(
    z.object({
      name: z.string(),
      arguments: z.string(),
      outcome: z.enum(['done', 'failed']).nullable(),
      costRaw: raw,
      /** Amount held until the purchase of this tool call is decided. */
      pendingRaw: raw,
      at: instant,
      ms: z.number().nullable(),
    }),
  ),
  /** Quality figures of the call. Null: the call was not answered. */
  quality: z
    .object({
      turns: z.object({ user: z.number(), assistant: z.number() }),
      interruptions: z.number(),
      wordsSaid: z.number(),
      wordsHeard: z.number(),
      latency: z.partialRecord(latency.keyof(), span),
      answers: z.array(latency),
      lines: z.array(line),
    })
    .nullable(),
  /** Analysis of the call. Null: the call is not analyzed yet, or was not answered. */
  analysis: z
    .object({
      success: z.boolean(),
      sentiment: z.string().nullable(),
      structuredData: z.record(z.string(), z.unknown()),
    })
    .nullable(),
  recording: z
    .object({
      consent: z.literal('announced'),
      announcedAt: instant,
      status: z.enum(['recording', 'stopped', 'ready', 'failed', 'deleted']),
      durationSeconds: z.number().nullable(),
    })
    .nullable(),
});
