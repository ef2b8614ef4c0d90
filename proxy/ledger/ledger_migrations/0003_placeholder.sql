-- In place of the accounting of rho, until that is merged.
SELECT 1;
