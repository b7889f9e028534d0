-- What a call leaves behind: its recording, the price that its carrier takes, and what a transfer says.
CREATE TABLE "call_recordings" (
	"call_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"carrier" text NOT NULL,
	"carrier_recording_id" text,
	"status" text NOT NULL,
	"announced_at" timestamp with time zone NOT NULL,
	"began_ms" integer,
	"stopped_ms" integer,
	"duration_seconds" integer,
	"due_at" timestamp with time zone,
	"deleted_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "call_recordings_status" CHECK ("call_recordings"."status" in ('recording', 'stopped', 'ready', 'failed', 'deleted'))
);
--> statement-breakpoint
ALTER TABLE "call_turns" ADD COLUMN "heard" text;--> statement-breakpoint
ALTER TABLE "call_turns" ADD COLUMN "latency" jsonb;--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "price_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "transfer_summary" text;--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "report_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "voice_settings" ADD COLUMN "record_calls" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "voice_settings" ADD COLUMN "report_calls" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "call_recordings_due" ON "call_recordings" USING btree ("due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "calls_price_due" ON "calls" USING btree ("price_due_at") WHERE price_due_at is not null;--> statement-breakpoint
CREATE INDEX "calls_report_until" ON "calls" USING btree ("report_until") WHERE report_until is not null;