package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
)

type layered struct {
	// Of the kubelet's --config; null: it has no such flag.
	Text []byte `json:"text"`
	// Of the files of its --config-dir, in order.
	DropIns [][]byte `json:"dropIns"`
}

type merged struct {
	Effective json.RawMessage `json:"effective,omitempty"`
	// Why it does not start.
	Fault string `json:"fault,omitempty"`
}

func mergeAll(out *json.Encoder) error {
	folder, err := os.MkdirTemp("", "kubelet-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var asked layered
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			return err
		}
		if err := out.Encode(merge(asked, folder)); err != nil {
			return err
		}
	}
	return in.Err()
}

// As NewKubeletCommand of cmd/kubelet/app/server.go: what the files come to before flags and validation.
func merge(asked layered, folder string) (said merged) {
	features := asBuilt.DeepCopy()
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = features, features
	defer func() {
		if broken := recover(); broken != nil {
			said = merged{Fault: fmt.Sprint(broken)}
		}
	}()
	// Drop-ins are merged into the very map and list that the defaults are in.
	thresholds, enforced := maps.Clone(evictionHardByDefault), slices.Clone(v1beta1.DefaultNodeAllocatableEnforcement)
	defer func() {
		clear(evictionHardByDefault)
		maps.Copy(evictionHardByDefault, thresholds)
		v1beta1.DefaultNodeAllocatableEnforcement = enforced
	}()
	kubelet, err := start(asked.Text, folder)
	if err == nil {
		err = mergeInto(kubelet, asked.DropIns)
	}
	var shown any
	if err == nil {
		shown, err = versioned(kubelet)
	}
	if err == nil {
		said.Effective, err = json.Marshal(shown)
	}
	if err != nil {
		return merged{Fault: err.Error()}
	}
	return said
}

func start(text []byte, folder string) (*config.KubeletConfiguration, error) {
	if text == nil {
		return options.NewKubeletConfiguration()
	}
	return load(text, folder)
}

func mergeInto(kubelet *config.KubeletConfiguration, dropIns [][]byte) error {
	if len(dropIns) == 0 {
		return nil
	}
	folder, err := os.MkdirTemp("", "kubelet-drop-ins-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for index, text := range dropIns {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%03d.conf", index)), text, 0o600); err != nil {
			return err
		}
	}
	return mergeDropIns(kubelet, folder)
}
