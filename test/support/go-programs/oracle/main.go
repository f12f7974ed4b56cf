// What a kubelet of one minor makes of config files, by its own code: decoding, feature gates, logging, validation. It is compiled within
// the module of that minor beside this folder.
//
//	oracle verdicts <FILES.ndjson     one {"text": BASE64} a line → one {"verdict", "message", "effective"} a line
//	oracle gates                      every feature gate that this kubelet knows, with what it makes of it
//	oracle fields                     the Go type of every field, by path
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	logsapi "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	_ "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/scheme"
	"k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
	"k8s.io/kubernetes/pkg/kubelet/kubeletconfig/util/codec"
)

// As cmd/kubelet/app/server.go does before it reads the config.
func init() {
	if err := logsapi.AddFeatureGates(utilfeature.DefaultMutableFeatureGate); err != nil {
		panic(err)
	}
}

type question struct {
	Text []byte `json:"text"`
}

type answer struct {
	// ok, lenient, or reject: and the stage that refuses it.
	Verdict   string `json:"verdict"`
	Message   string `json:"message,omitempty"`
	Effective any    `json:"effective,omitempty"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: oracle verdicts|gates|fields"))
	}
	out := json.NewEncoder(os.Stdout)
	switch os.Args[1] {
	case "gates":
		fail(out.Encode(gates()))
	case "fields":
		known := map[string]string{}
		walk(reflect.TypeFor[kubeletv1beta1.KubeletConfiguration](), "", known)
		fail(out.Encode(known))
	case "verdicts":
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 64<<20)
		for in.Scan() {
			var asked question
			fail(json.Unmarshal(in.Bytes(), &asked))
			fail(out.Encode(judge(asked.Text)))
		}
		fail(in.Err())
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	}
}

type gate struct {
	Stage   string `json:"stage"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked"`
	// Gates that have to be on for this one.
	Needs []string `json:"needs,omitempty"`
}

func gates() map[string]gate {
	features := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	needs := features.Dependencies()
	known := map[string]gate{}
	for name, spec := range features.GetAll() {
		one := gate{Stage: string(spec.PreRelease), Default: spec.Default, Locked: spec.LockToDefault}
		for _, needed := range needs[name] {
			one.Needs = append(one.Needs, string(needed))
		}
		known[string(name)] = one
	}
	return known
}

// Paths as in our own table: names joined with dots, [] after a list.
func walk(structure reflect.Type, prefix string, known map[string]string) {
	for i := range structure.NumField() {
		member := structure.Field(i)
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		inside := member.Type
		if inside.Kind() == reflect.Pointer {
			inside = inside.Elem()
		}
		if name == "" {
			if member.Name != "TypeMeta" && inside.Kind() == reflect.Struct {
				walk(inside, prefix, known)
			}
			continue
		}
		if name == "-" {
			continue
		}
		known[prefix+name] = member.Type.String()
		path := prefix + name + "."
		if inside.Kind() == reflect.Slice {
			inside, path = inside.Elem(), prefix+name+"[]."
		}
		isOurs := strings.Contains(inside.PkgPath(), "kubelet/config") || strings.Contains(inside.PkgPath(), "component-base") || inside.Name() == "Taint"
		if inside.Kind() == reflect.Struct && isOurs {
			walk(inside, path, known)
		}
	}
}

func judge(text []byte) (said answer) {
	defer func() {
		if broken := recover(); broken != nil {
			said = answer{Verdict: "reject:panic", Message: fmt.Sprint(broken)}
		}
	}()
	kubelet, strictly, err := load(text)
	if err != nil {
		return answer{Verdict: "reject:load", Message: err.Error()}
	}
	features := utilfeature.DefaultMutableFeatureGate.DeepCopy()
	if err := features.SetFromMap(kubelet.FeatureGates); err != nil {
		return answer{Verdict: "reject:featuregates", Message: err.Error()}
	}
	if errs := logsapi.Validate(&kubelet.Logging, features, field.NewPath("logging")); len(errs) > 0 {
		return answer{Verdict: "reject:logging", Message: errs.ToAggregate().Error()}
	}
	err = validation.ValidateKubeletConfiguration(kubelet, utilfeature.DefaultFeatureGate)
	if err = utilerrors.FilterOut(err, isAboutThisMachine); err != nil {
		return answer{Verdict: "reject:validate", Message: err.Error()}
	}
	effective, err := versioned(kubelet)
	if err != nil {
		return answer{Verdict: "reject:load", Message: err.Error()}
	}
	if strictly != nil {
		return answer{Verdict: "lenient", Message: strictly.Error(), Effective: effective}
	}
	return answer{Verdict: "ok", Effective: effective}
}

// A kubelet from 1.35 on does not start on cgroup v1, which this machine may have.
func isAboutThisMachine(err error) bool {
	return strings.Contains(err.Error(), "on a host using cgroup v1")
}

// As loadConfigFile of cmd/kubelet/app/server.go. The second error says why the file was not taken strictly.
func load(text []byte) (*config.KubeletConfiguration, error, error) {
	if len(text) == 0 {
		return nil, nil, fmt.Errorf("the file is empty")
	}
	_, codecs, err := scheme.NewSchemeAndCodecs(serializer.EnableStrict)
	if err != nil {
		return nil, nil, err
	}
	_, _, strictly := codecs.UniversalDecoder().Decode(text, nil, nil)
	kubelet, err := codec.DecodeKubeletConfiguration(context.Background(), codecs, text)
	if err != nil {
		return nil, nil, err
	}
	if kubelet.EvictionHard == nil {
		kubelet.EvictionHard = eviction.DefaultEvictionHard
	} else if kubelet.MergeDefaultEvictionSettings {
		for signal, threshold := range eviction.DefaultEvictionHard {
			if _, exists := kubelet.EvictionHard[signal]; !exists {
				kubelet.EvictionHard[signal] = threshold
			}
		}
	}
	return kubelet, strictly, nil
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
