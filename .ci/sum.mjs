// Adds up Vitest's JSON reports and prints the closing line. A report that is missing or empty is a failure.
import { readFileSync } from 'node:fs';

const total = { passed: 0, failed: 0, skipped: 0 };
for (const file of process.argv.slice(2)) {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    total.passed += report.numPassedTests;
    total.failed += report.numFailedTests + (report.success || report.numFailedTests > 0 ? 0 : 1);
    total.skipped += report.numPendingTests + report.numTodoTests;
    if (report.numTotalTests === 0) total.failed += 1;
    // Named once more at the end, where whoever looks for them looks first.
    for (const { name, message, assertionResults } of report.testResults) {
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      for (const { fullName, failureMessages } of failed)
        console.log(`FAILED ${name}: ${fullName}\n  ${failureMessages.join('\n').slice(0, 2_000)}`);
      if (failed.length === 0 && message)
        console.log(`FAILED ${name}\n  ${message.slice(0, 2_000)}`);
    }
  } catch (error) {
    console.error(`no test report: ${error.message}`);
    total.failed += 1;
  }
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed === 0 ? 0 : 1;
