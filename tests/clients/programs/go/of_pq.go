// lib/pq through database/sql.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"

	"github.com/lib/pq"
)

func connected(more string) *sql.DB {
	db, err := sql.Open("postgres", more)
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)
	return db
}

func plain() *sql.DB { return connected("sslmode=disable") }

type rower interface {
	Query(string, ...interface{}) (*sql.Rows, error)
	QueryRow(string, ...interface{}) *sql.Row
}

func one(db rower, text string, values ...interface{}) (interface{}, error) {
	var found string
	err := db.QueryRow(text, values...).Scan(&found)
	return found, err
}

func texts(db rower, text string) ([]string, error) {
	rows, err := db.Query(text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := []string{}
	for rows.Next() {
		var next string
		if err := rows.Scan(&next); err != nil {
			return nil, err
		}
		found = append(found, next)
	}
	return found, rows.Err()
}

func asked(name string, values ...interface{}) func() (interface{}, error) {
	return func() (interface{}, error) {
		db := plain()
		defer db.Close()
		return one(db, numbered(name), values...)
	}
}

func tls() (interface{}, error) {
	db := connected(fmt.Sprintf("host=localhost port=%s sslmode=verify-full sslrootcert=%s",
		os.Getenv("DP_TLS_PORT"), os.Getenv("DP_CERTIFICATE")))
	defer db.Close()
	return one(db, statements["one"])
}

func reflection() (interface{}, error) {
	db := plain()
	defer db.Close()
	found := map[string]interface{}{}
	for _, name := range []string{"schemas", "tables", "columns"} {
		names, err := texts(db, statements[name])
		if err != nil {
			return nil, err
		}
		found[name] = names
	}
	return found, nil
}

func groupedSum() (interface{}, error) {
	db := plain()
	defer db.Close()
	rows, err := db.Query(statements["grouped_sum"])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
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

func prepared() (interface{}, error) {
	db := plain()
	defer db.Close()
	statement, err := db.Prepare(numbered("int"))
	if err != nil {
		return nil, err
	}
	found := []int64{0, 0}
	for at, n := range []int{2, 4} {
		if err := statement.QueryRow(n).Scan(&found[at]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func transaction() (interface{}, error) {
	db := plain()
	defer db.Close()
	inside, err := db.Begin()
	if err != nil {
		return nil, err
	}
	n, err := one(inside, statements["count"])
	if err != nil {
		return nil, err
	}
	if _, err := inside.Exec(statements["temporary"]); err != nil {
		return nil, err
	}
	if err := inside.Rollback(); err != nil {
		return nil, err
	}
	there, err := one(db, statements["is_there"])
	return []interface{}{n, there}, err
}

func cancel() (interface{}, error) {
	db := plain()
	defer db.Close()
	limited, done := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer done()
	start := time.Now()
	_, err := db.ExecContext(limited, statements["sleep"])
	if found, ok := err.(*pq.Error); ok {
		return []interface{}{string(found.Code), time.Since(start).Seconds()}, nil
	}
	return nil, fmt.Errorf("%T: %v", err, err)
}

func refusal() (interface{}, error) {
	db := plain()
	defer db.Close()
	_, err := db.Query(statements["refused"])
	if found, ok := err.(*pq.Error); ok {
		return []string{string(found.Code), found.Message, found.Hint}, nil
	}
	return nil, fmt.Errorf("%T: %v", err, err)
}

func afterError() (interface{}, error) {
	db := plain()
	defer db.Close()
	if _, err := db.Exec(statements["refused"]); err == nil {
		return nil, fmt.Errorf("was not refused")
	}
	return one(db, statements["count"])
}

func temporaryTable() (interface{}, error) {
	db := plain()
	defer db.Close()
	if _, err := db.Exec(statements["temporary"]); err != nil {
		return nil, err
	}
	return one(db, statements["read_temporary"])
}

func batches() (interface{}, error) {
	db := plain()
	defer db.Close()
	inside, err := db.Begin()
	if err != nil {
		return nil, err
	}
	if _, err := inside.Exec("DECLARE c CURSOR FOR " + statements["by_status"]); err != nil {
		return nil, err
	}
	found := []int{}
	for range []int{0, 1} {
		rows, err := inside.Query("FETCH 3 FROM c")
		if err != nil {
			return nil, err
		}
		n := 0
		for rows.Next() {
			n++
		}
		rows.Close()
		found = append(found, n)
	}
	return found, inside.Rollback()
}

func main() {
	run(os.Getenv("DP_VERSION"), []feature{
		{"connect", asked("one")},
		{"tls", tls},
		{"reflection", reflection},
		{"count", asked("count")},
		{"grouped_sum", groupedSum},
		{"int_parameter", asked("int", 3)},
		{"text_parameter", asked("text", "paid")},
		{"date_parameter", asked("date", born)},
		{"timestamp_parameter", asked("timestamp", since)},
		{"list_parameter", asked("list", pq.Array([]string{"paid", "shipped"}))},
		{"null_parameter", asked("null", nil)},
		{"prepared", prepared},
		{"time_range", asked("time_range")},
		{"transaction", transaction},
		{"cancel", cancel},
		{"refusal", refusal},
		{"after_error", afterError},
		{"temporary_table", temporaryTable},
		{"batches", batches},
		{"copy", func() (interface{}, error) { return nil, absent("lib/pq copies in only") }},
	})
}
