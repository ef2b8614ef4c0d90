// pgx by its own interface: binary values, statements prepared and kept.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

var background = context.Background()

func alone(work func(*pgx.Conn) (interface{}, error)) func() (interface{}, error) {
	return func() (interface{}, error) {
		session, err := pgx.Connect(background, "sslmode=disable")
		if err != nil {
			return nil, err
		}
		defer session.Close(background)
		return work(session)
	}
}

type rower interface {
	Query(context.Context, string, ...interface{}) (pgx.Rows, error)
	QueryRow(context.Context, string, ...interface{}) pgx.Row
}

func one(session rower, text string, values ...interface{}) (interface{}, error) {
	var found interface{}
	err := session.QueryRow(background, text, values...).Scan(&found)
	return found, err
}

func number(session rower, text string) (interface{}, error) {
	var found float64
	err := session.QueryRow(background, text).Scan(&found)
	return found, err
}

func asked(name string, values ...interface{}) func() (interface{}, error) {
	return alone(func(session *pgx.Conn) (interface{}, error) {
		return one(session, numbered(name), values...)
	})
}

func encrypted() (interface{}, error) {
	settings, err := pgx.ParseConfig("host=localhost port=" + os.Getenv("DP_TLS_PORT") + " sslmode=require")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(os.Getenv("DP_CERTIFICATE"))
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(text)
	settings.TLSConfig = &tls.Config{RootCAs: known, ServerName: "localhost"}
	session, err := pgx.ConnectConfig(background, settings)
	if err != nil {
		return nil, err
	}
	defer session.Close(background)
	return one(session, statements["one"])
}

func reflection(session *pgx.Conn) (interface{}, error) {
	found := map[string]interface{}{}
	for _, name := range []string{"schemas", "tables", "columns"} {
		rows, err := session.Query(background, statements[name])
		if err != nil {
			return nil, err
		}
		names := []string{}
		for rows.Next() {
			var next string
			if err := rows.Scan(&next); err != nil {
				return nil, err
			}
			names = append(names, next)
		}
		found[name] = names
	}
	return found, nil
}

func groupedSum(session *pgx.Conn) (interface{}, error) {
	rows, err := session.Query(background, statements["grouped_sum"])
	if err != nil {
		return nil, err
	}
	found := map[string]float64{}
	for rows.Next() {
		var status string
		var total float64
		if err := rows.Scan(&status, &total); err != nil {
			return nil, err
		}
		found[status] = total
	}
	return found, rows.Err()
}

func prepared(session *pgx.Conn) (interface{}, error) {
	if _, err := session.Prepare(background, "many", numbered("int")); err != nil {
		return nil, err
	}
	found := []interface{}{}
	for _, n := range []int{2, 4} {
		next, err := one(session, "many", n)
		if err != nil {
			return nil, err
		}
		found = append(found, next)
	}
	return found, nil
}

func transaction(session *pgx.Conn) (interface{}, error) {
	inside, err := session.Begin(background)
	if err != nil {
		return nil, err
	}
	n, err := one(inside, statements["count"])
	if err != nil {
		return nil, err
	}
	if _, err := inside.Exec(background, statements["temporary"]); err != nil {
		return nil, err
	}
	if err := inside.Rollback(background); err != nil {
		return nil, err
	}
	there, err := one(session, statements["is_there"])
	return []interface{}{n, there}, err
}

func cancel(session *pgx.Conn) (interface{}, error) {
	start := time.Now()
	time.AfterFunc(500*time.Millisecond, func() { session.PgConn().CancelRequest(background) })
	_, err := session.Exec(background, statements["sleep"])
	var found *pgconn.PgError
	if errors.As(err, &found) {
		return []interface{}{found.Code, time.Since(start).Seconds()}, nil
	}
	return nil, fmt.Errorf("%T: %v", err, err)
}

func refusal(session *pgx.Conn) (interface{}, error) {
	_, err := session.Exec(background, statements["refused"])
	var found *pgconn.PgError
	if errors.As(err, &found) {
		return []string{found.Code, found.Message, found.Hint}, nil
	}
	return nil, fmt.Errorf("%T: %v", err, err)
}

func afterError(session *pgx.Conn) (interface{}, error) {
	if _, err := session.Exec(background, statements["refused"]); err == nil {
		return nil, fmt.Errorf("was not refused")
	}
	return one(session, statements["count"])
}

func temporaryTable(session *pgx.Conn) (interface{}, error) {
	if _, err := session.Exec(background, statements["temporary"]); err != nil {
		return nil, err
	}
	return number(session, statements["read_temporary"])
}

func batches(session *pgx.Conn) (interface{}, error) {
	inside, err := session.Begin(background)
	if err != nil {
		return nil, err
	}
	if _, err := inside.Exec(background, "DECLARE c CURSOR FOR "+statements["by_status"]); err != nil {
		return nil, err
	}
	found := []int64{}
	for range []int{0, 1} {
		fetched, err := inside.Exec(background, "FETCH 3 FROM c")
		if err != nil {
			return nil, err
		}
		found = append(found, fetched.RowsAffected())
	}
	return found, inside.Rollback(background)
}

func copied(session *pgx.Conn) (interface{}, error) {
	var written bytes.Buffer
	if _, err := session.PgConn().CopyTo(background, &written, statements["copy"]); err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(written.String()), "\n") {
		parts := strings.Split(line, "\t")
		found[parts[0]] = parts[1]
	}
	return found, nil
}

func main() {
	run(os.Getenv("DP_VERSION"), []feature{
		{"connect", asked("one")},
		{"tls", encrypted},
		{"reflection", alone(reflection)},
		{"count", asked("count")},
		{"grouped_sum", alone(groupedSum)},
		{"int_parameter", asked("int", 3)},
		{"text_parameter", asked("text", "paid")},
		{"date_parameter", asked("date", born)},
		{"timestamp_parameter", asked("timestamp", since)},
		{"list_parameter", asked("list", []string{"paid", "shipped"})},
		{"null_parameter", asked("null", nil)},
		{"prepared", alone(prepared)},
		{"time_range", asked("time_range")},
		{"transaction", alone(transaction)},
		{"cancel", alone(cancel)},
		{"refusal", alone(refusal)},
		{"after_error", alone(afterError)},
		{"temporary_table", alone(temporaryTable)},
		{"batches", alone(batches)},
		{"copy", alone(copied)},
	})
}
