SELECT date_trunc('day', began) AS day, count(*), dp.error(count(*)) AS error_95 FROM transit.trips GROUP BY 1 ORDER BY 1;
SELECT s.name, count(DISTINCT t.card_id), dp.error(count(DISTINCT t.card_id)) AS error_95 FROM transit.trips t JOIN transit.stations s ON s.code = t.station GROUP BY s.name;
SELECT s.zone, avg(t.minutes), dp.error(avg(t.minutes)) AS error_95 FROM transit.trips t JOIN transit.stations s ON s.code = t.station GROUP BY s.zone;
