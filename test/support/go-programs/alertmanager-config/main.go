// Says what Alertmanager makes of its configuration: with the code that Alertmanager itself reads it by, routes by and writes texts by.
//
// Reads one {"config":"…","alerts":[{"severity":"…"}]} in JSON per line, the config in YAML. Answers each with one line:
// {"receivers":[["…"],…]}, for each alert the receivers that it reaches, or {"error":"…"}. With "annotations":[{"summary":"…"}],
// one for each alert, these are one group, and "texts" is what the receivers of the first one are told of it, by field.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/prometheus/alertmanager/alert"
	"github.com/prometheus/alertmanager/config"
	"github.com/prometheus/alertmanager/dispatch"
	"github.com/prometheus/alertmanager/template"
	"github.com/prometheus/common/model"
)

type question struct {
	Config string           `json:"config"`
	Alerts []model.LabelSet `json:"alerts"`

	Annotations []model.LabelSet `json:"annotations"`
}

type answer struct {
	Receivers [][]string          `json:"receivers,omitempty"`
	Texts     []map[string]string `json:"texts,omitempty"`
	Error     string              `json:"error,omitempty"`
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
	if len(asked.Annotations) == 0 {
		return said
	}
	if said.Texts, err = textsOf(read, said.Receivers[0], asked); err != nil {
		return answer{Error: err.Error()}
	}
	return said
}

func textsOf(read *config.Config, names []string, asked question) ([]map[string]string, error) {
	written, err := template.FromGlobs(nil)
	if err != nil {
		return nil, err
	}
	written.ExternalURL = &url.URL{Scheme: "https", Host: "alertmanager.example"}
	alerts := []*alert.Alert{}
	for i, labels := range asked.Alerts {
		one := model.Alert{Labels: labels, Annotations: asked.Annotations[i], StartsAt: time.Now()}
		alerts = append(alerts, alert.New(one, time.Now(), false))
	}
	all := []map[string]string{}
	for _, name := range names {
		data := written.Data(name, nil, nil, "", alerts...)
		for _, fields := range fieldsOf(read, name) {
			texts := map[string]string{}
			for field, text := range fields {
				if texts[field], err = written.ExecuteTextString(text, data); err != nil {
					return nil, err
				}
			}
			all = append(all, texts)
		}
	}
	return all, nil
}

func fieldsOf(read *config.Config, name string) []map[string]string {
	fields := []map[string]string{}
	for _, receiver := range read.Receivers {
		if receiver.Name != name {
			continue
		}
		for _, pager := range receiver.PagerdutyConfigs {
			texts := map[string]string{"description": pager.Description}
			for key, detail := range pager.Details {
				if text, isText := detail.(string); isText {
					texts[key] = text
				}
			}
			fields = append(fields, texts)
		}
		for _, chat := range receiver.SlackConfigs {
			fields = append(fields, map[string]string{"title": chat.Title, "text": chat.Text})
		}
	}
	return fields
}
