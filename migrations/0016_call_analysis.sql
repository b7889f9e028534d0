-- A call with a report is analyzed once, by a worker, after its end.
ALTER TABLE "calls" ADD COLUMN "analysis_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "analysis_claims" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "analysis" jsonb;--> statement-breakpoint
CREATE INDEX "calls_analysis_due" ON "calls" USING btree ("analysis_due_at") WHERE analysis_due_at is not null;