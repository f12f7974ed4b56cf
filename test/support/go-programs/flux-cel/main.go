// Runs healthCheckExprs as Flux does: with the library of its own controllers.
//
// Reads one {"exprs":{"current":"…","failed":"…","inProgress":"…"},"object":{…}} in JSON per line. Answers each with one line:
// {"status":"Current","message":"…"}, or {"error":"…"}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Exprs  kustomize.HealthCheckExpressions `json:"exprs"`
	Object json.RawMessage                  `json:"object"`
}

type answer struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "flux-cel:", err)
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
		said, err := judge(asked)
		if err != nil {
			said = answer{Error: err.Error()}
		}
		if err := out.Encode(said); err != nil {
			return err
		}
	}
	return lines.Err()
}

func judge(asked question) (answer, error) {
	evaluator, err := cel.NewStatusEvaluator(&asked.Exprs)
	if err != nil {
		return answer{}, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(asked.Object); err != nil {
		return answer{}, err
	}
	result, err := evaluator.Evaluate(context.Background(), object)
	if err != nil {
		return answer{}, err
	}
	return answer{Status: string(result.Status), Message: result.Message}, nil
}
