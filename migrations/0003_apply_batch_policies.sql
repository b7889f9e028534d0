-- Spending is counted under policies, in the commit that moves the money.
SELECT 1;
