-- What is sealed does not become smaller: PostgreSQL would try for each row.
ALTER TABLE "model_responses" ALTER COLUMN "sealed" SET STORAGE EXTERNAL;
