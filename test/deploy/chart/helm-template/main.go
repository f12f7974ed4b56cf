// Renders a chart as "helm template" does, with what Helm does it with: Go's text/template and the Sprig functions, from
// Debian's packages, and refuses the values that the chart's schema refuses. It stands in where no helm is installed. Left out is what our chart does not use: dependencies, hooks,
// .Files, lookup, library charts.
//
//	helm-template CHART-DIRECTORY NAMESPACE <VALUES.yaml >MANIFESTS.yaml
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"
)

type values = map[string]interface{}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(directory, namespace string) error {
	chart, err := read(filepath.Join(directory, "Chart.yaml"))
	if err != nil {
		return err
	}
	defaults, err := read(filepath.Join(directory, "values.yaml"))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	given := values{}
	if err := yaml.Unmarshal(text, &given); err != nil {
		return err
	}
	merged := merge(defaults, given)
	if err := check(filepath.Join(directory, "values.schema.json"), merged); err != nil {
		return err
	}
	return render(directory, values{
		"Values":  merged,
		"Chart":   values{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
		"Release": values{"Name": "kubelet-gitops", "Namespace": namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
	})
}

func read(path string) (values, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	into := values{}
	return into, yaml.Unmarshal(text, &into)
}

// As Helm merges values: maps key by key, null takes a default away, anything else takes its place.
func merge(defaults, given values) values {
	merged := values{}
	for key, value := range defaults {
		merged[key] = value
	}
	for key, value := range given {
		below, isMap := value.(map[string]interface{})
		above, wasMap := merged[key].(map[string]interface{})
		switch {
		case value == nil:
			delete(merged, key)
		case isMap && wasMap:
			merged[key] = merge(above, below)
		default:
			merged[key] = value
		}
	}
	return merged
}

// With the library that Helm has for it.
func check(schema string, given values) error {
	text, err := os.ReadFile(schema)
	if err != nil {
		return err
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(text), gojsonschema.NewGoLoader(given))
	if err != nil {
		return err
	}
	var refused []string
	for _, problem := range result.Errors() {
		refused = append(refused, problem.String())
	}
	if len(refused) > 0 {
		return fmt.Errorf("values don't meet the specifications of the schema: %s", strings.Join(refused, "; "))
	}
	return nil
}

func render(directory string, scope values) error {
	files, err := filepath.Glob(filepath.Join(directory, "templates", "*"))
	if err != nil {
		return err
	}
	root := template.New("chart").Option("missingkey=zero")
	root.Funcs(functions(root))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if _, err := root.New(filepath.Base(file)).Parse(string(text)); err != nil {
			return err
		}
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "NOTES.txt" {
			// "helm template" does not show it, and "helm install" fails where it fails.
			if err := root.ExecuteTemplate(io.Discard, name, scope); err != nil {
				return err
			}
		}
		if strings.HasPrefix(name, "_") || !strings.HasSuffix(name, ".yaml") {
			continue
		}
		var made strings.Builder
		if err := root.ExecuteTemplate(&made, name, scope); err != nil {
			return err
		}
		fmt.Printf("---\n# Source: %s\n%s\n", name, strings.ReplaceAll(made.String(), "<no value>", ""))
	}
	return nil
}

// Sprig's, without those that read the environment, and those that Helm adds and our chart uses.
func functions(root *template.Template) template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	all["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	all["include"] = func(name string, scope interface{}) (string, error) {
		var made strings.Builder
		err := root.ExecuteTemplate(&made, name, scope)
		return made.String(), err
	}
	all["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return value, errors.New(message)
		}
		return value, nil
	}
	return all
}
