// Reads Applications as Argo CD has them, and refuses what its types do not know.
//
// Reads one object in JSON per line. Answers each with one line: {"kind":"Application"}, or {"error":"…"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"sigs.k8s.io/yaml"
)

type answer struct {
	Kind  string `json:"kind,omitempty"`
	Error string `json:"error,omitempty"`
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "argo-application:", err)
		os.Exit(2)
	}
}

func answerAll() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := out.Encode(judge(lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func judge(text []byte) answer {
	var application v1alpha1.Application
	if err := yaml.UnmarshalStrict(text, &application); err != nil {
		return answer{Error: err.Error()}
	}
	if application.Kind != "Application" || application.APIVersion != v1alpha1.SchemeGroupVersion.String() {
		return answer{Error: "not an Application: " + application.APIVersion + " " + application.Kind}
	}
	return answer{Kind: application.Kind}
}
