SELECT p.school, count(*), dp.error(count(*)) AS error_95 FROM registers.pupils p JOIN registers.readers r ON r.email = p.email GROUP BY p.school;
SELECT count(*), avg(r.loans), dp.error(avg(r.loans)) AS error_95 FROM registers.pupils p JOIN registers.readers r ON r.email = p.email WHERE p.grade <= 4;
SELECT count(*), dp.error(count(*)) AS error_95 FROM registers.pupils p JOIN registers.readers r ON r.address = p.address;
