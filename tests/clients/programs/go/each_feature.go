// What each_feature.py does, for programs in Go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

var statements = map[string]string{}

var born = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
var since = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

type feature struct {
	name string
	work func() (interface{}, error)
}

type absent string

func (reason absent) Error() string { return string(reason) }

func numbered(name string) string { return strings.Replace(statements[name], "?", "$1", 1) }

func run(version string, features []feature) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("DP_PROGRAMS"), "statements.txt"))
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if parts := strings.SplitN(line, " = ", 2); len(parts) == 2 {
			statements[parts[0]] = parts[1]
		}
	}
	say(map[string]interface{}{"version": version})
	for _, one := range features {
		line := map[string]interface{}{"feature": one.name}
		value, err := one.work()
		if reason, ok := err.(absent); ok {
			line["not_applicable"] = string(reason)
		} else if err != nil {
			line["error"] = err.Error()
		} else {
			line["value"] = value
		}
		say(line)
	}
}

func say(line map[string]interface{}) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}
