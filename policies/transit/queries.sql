SELECT s.name, count(*), dp.error(count(*)) AS error_95 FROM transit.trips t JOIN transit.stations s ON s.code = t.station GROUP BY s.name;
SELECT extract(hour FROM began) AS hour, count(*), dp.error(count(*)) AS error_95 FROM transit.trips GROUP BY 1 ORDER BY 1;
SELECT s.zone, avg(t.minutes), sum(t.fare), dp.error(sum(t.fare)) AS error_95 FROM transit.trips t JOIN transit.stations s ON s.code = t.station GROUP BY s.zone;
