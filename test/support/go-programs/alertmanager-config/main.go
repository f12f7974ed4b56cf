// Says what Alertmanager makes of its configuration: with the code that Alertmanager itself reads it by, and routes by.
//
// Reads one {"config":"…","alerts":[{"severity":"…"}]} in JSON per line, the config in YAML. Answers each with one line:
// {"receivers":[["…"],…]}, for each alert the receivers that it reaches, or {"error":"…"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/common/model"
)

type question struct {
	Config string           `json:"config"`
	Alerts []model.LabelSet `json:"alerts"`
}

type answer struct {
	Receivers [][]string `json:"receivers,omitempty"`
	Error     string     `json:"error,omitempty"`
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "alertmanager-config:", err)
		os.Exit(2)
	}
}

func answerAll() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		if err := out.Encode(judge(asked)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func judge(asked question) answer {
	read, err := config.Load(asked.Config)
	if err != nil {
		return answer{Error: err.Error()}
	}
	root := dispatch.NewRoute(read.Route, nil)
	said := answer{Receivers: [][]string{}}
	for _, labels := range asked.Alerts {
		reached := []string{}
		for _, route := range root.Match(labels) {
			reached = append(reached, route.RouteOpts.Receiver)
		}
		said.Receivers = append(said.Receivers, reached)
	}
	return said
}
