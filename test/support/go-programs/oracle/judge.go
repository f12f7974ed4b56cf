package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/configfiles"
	utilfs "k8s.io/kubernetes/pkg/util/filesystem"
)

type answer struct {
	// ok, lenient, or reject: and the stage that refuses it.
	Verdict string `json:"verdict"`
	// What the file is refused for, one fault each; what is only reached behind it is not known.
	Faults []string `json:"faults,omitempty"`
	// Why it is not taken strictly: unknown names, keys that are there twice.
	Strict string `json:"strict,omitempty"`
	// What keeps the kubelet from starting although the file passes: what it reads no sooner than there.
	Start     []string `json:"start,omitempty"`
	Effective any      `json:"effective,omitempty"`
}

func refused(stage string, errs ...error) answer {
	said := answer{Verdict: "reject:" + stage}
	for _, err := range errs {
		said.Faults = append(said.Faults, err.Error())
	}
	return said
}

// As NewKubeletCommand of cmd/kubelet/app/server.go, for a kubelet with no flag but --config.
func judge(text []byte, folder string) (said answer) {
	// Defaults and managers ask the gates of the process.
	features := asBuilt.DeepCopy()
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = features, features
	defer func() {
		if broken := recover(); broken != nil {
			said = refused("panic", fmt.Errorf("%v", broken))
		}
	}()
	kubelet, err := load(text, folder)
	if err != nil {
		return refused("load", err)
	}
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	options.NewKubeletFlags().AddFlags(flags)
	options.AddKubeletConfigFlags(flags, kubelet)
	strict := strictly(text)
	if err := features.SetFromMap(kubelet.FeatureGates); err != nil {
		said = refused("featuregates", err)
	} else if errs := logging(kubelet, features); len(errs) > 0 {
		said = refused("logging", errs.ToAggregate().Errors()...)
	} else if errs := validate(kubelet); len(errs) > 0 {
		said = refused("validate", errs...)
	} else if strict != "" {
		said.Verdict = "lenient"
	} else {
		said.Verdict = "ok"
	}
	said.Strict = strict
	// Also of what is refused before: a fault that hides behind another is one all the same.
	if said.Verdict != "reject:featuregates" {
		said.Start = refusedAtStart(kubelet)
	}
	if !strings.HasPrefix(said.Verdict, "reject") {
		if said.Effective, err = versioned(kubelet); err != nil {
			return refused("load", err)
		}
	}
	return said
}

func validate(kubelet *config.KubeletConfiguration) []error {
	// Two fields are judged by this machine's cgroups, and hide what comes behind them; on cgroup v2 they may say anything.
	anywhere := kubelet.DeepCopy()
	unset(anywhere, "FailCgroupV1")
	unset(anywhere, "SingleProcessOOMKill")
	_, err := call(validation.ValidateKubeletConfiguration, anywhere, utilfeature.DefaultFeatureGate)
	if err == nil {
		return nil
	}
	if several, are := err.(utilerrors.Aggregate); are {
		return several.Errors()
	}
	return []error{err}
}

// As loadConfigFile of cmd/kubelet/app/server.go.
func load(text []byte, folder string) (*config.KubeletConfiguration, error) {
	path := filepath.Join(folder, "config")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		fail(err)
	}
	loader, err := configfiles.NewFsLoader(&utilfs.DefaultFs{}, path)
	if err != nil {
		return nil, err
	}
	loaded, err := call(loader.Load)
	if err != nil {
		return nil, err
	}
	kubelet := loaded[0].Interface().(*config.KubeletConfiguration)
	if kubelet.EvictionHard == nil {
		kubelet.EvictionHard = evictionHardByDefault
	} else if fieldOf[bool](kubelet, "MergeDefaultEvictionSettings") {
		for signal, threshold := range evictionHardByDefault {
			if _, exists := kubelet.EvictionHard[signal]; !exists {
				kubelet.EvictionHard[signal] = threshold
			}
		}
	}
	return kubelet, nil
}

// Why the file is not taken strictly; the loader takes it all the same, and only logs this.
func strictly(text []byte) string {
	_, codecs, err := scheme.NewSchemeAndCodecs(serializer.EnableStrict)
	if err != nil {
		return err.Error()
	}
	if _, _, err = codecs.UniversalDecoder().Decode(text, nil, nil); err != nil {
		return err.Error()
	}
	return ""
}

// As /configz shows it.
func versioned(kubelet *config.KubeletConfiguration) (any, error) {
	known, _, err := scheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	shown := &kubeletv1beta1.KubeletConfiguration{}
	return shown, known.Convert(kubelet, shown, nil)
}
