-- A call counts under the budget and the value of who placed it, and a purchase has its tags, whichever process charges.
ALTER TABLE "calls" ADD COLUMN "task_value_bps" integer;--> statement-breakpoint
ALTER TABLE "phone_numbers" ADD COLUMN "key_id" integer;--> statement-breakpoint
ALTER TABLE "phone_numbers" ADD COLUMN "task_id" text;--> statement-breakpoint
ALTER TABLE "phone_numbers" ADD COLUMN "action_id" text;--> statement-breakpoint
ALTER TABLE "phone_numbers" ADD COLUMN "customer_id" text;