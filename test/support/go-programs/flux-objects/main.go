// Reads objects of Flux as its controllers have them, and refuses what their types do not know.
//
// Reads one object in JSON per line. Answers each with one line: {"kind":"…"}, or {"error":"…"}.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	helm "github.com/fluxcd/helm-controller/api/v2"
	kustomize "github.com/fluxcd/kustomize-controller/api/v1"
	notification "github.com/fluxcd/notification-controller/api/v1"
	notificationbeta "github.com/fluxcd/notification-controller/api/v1beta3"
	source "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/yaml"
)

type answer struct {
	Kind  string `json:"kind,omitempty"`
	Error string `json:"error,omitempty"`
}

// By apiVersion and kind.
var kinds = map[string]func() any{
	source.GroupVersion.String() + " GitRepository":      func() any { return &source.GitRepository{} },
	source.GroupVersion.String() + " OCIRepository":      func() any { return &source.OCIRepository{} },
	kustomize.GroupVersion.String() + " Kustomization":   func() any { return &kustomize.Kustomization{} },
	helm.GroupVersion.String() + " HelmRelease":          func() any { return &helm.HelmRelease{} },
	notification.GroupVersion.String() + " Receiver":     func() any { return &notification.Receiver{} },
	notificationbeta.GroupVersion.String() + " Provider": func() any { return &notificationbeta.Provider{} },
	notificationbeta.GroupVersion.String() + " Alert":    func() any { return &notificationbeta.Alert{} },
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "flux-objects:", err)
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
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return answer{Error: err.Error()}
	}
	make, known := kinds[head.APIVersion+" "+head.Kind]
	if !known {
		return answer{Error: "not an object of Flux: " + head.APIVersion + " " + head.Kind}
	}
	if err := yaml.UnmarshalStrict(text, make()); err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Kind: head.Kind}
}
