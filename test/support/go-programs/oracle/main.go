// What a kubelet of one minor makes of config files, by its own code. It is compiled within the module of that minor beside this folder,
// for every minor from the same files: what changed between them is called by its types (call.go), and what moved is named in files that
// are compiled for some of them only (since_26.go, until_25.go).
//
//	oracle verdicts <FILES.ndjson     one {"text": BASE64} a line → one answer a line
//	oracle gates                      every feature gate that this kubelet knows, with what it makes of it
//	oracle fields                     the Go type of every field, by path
//	oracle drop-ins <PAIRS.ndjson     one {"text": BASE64, "dropIns": [BASE64, ...]} a line → one answer a line
//	oracle flags                      every flag that this kubelet takes, and why it should not be used any more, if so
//	oracle shadows                    the fields of the config that each flag sets
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/spf13/pflag"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	_ "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
)

// The gates of a kubelet that was told nothing yet.
var asBuilt = utilfeature.DefaultMutableFeatureGate.DeepCopy()

// What the kubelet's own code logs is not for anybody's ears.
var said = os.Stderr

// As cmd/kubelet/app/server.go does before it reads the config.
func init() {
	if err := addLoggingGates(utilfeature.DefaultMutableFeatureGate); err != nil {
		panic(err)
	}
	asBuilt = utilfeature.DefaultMutableFeatureGate.DeepCopy()
	// Where its flags are not as they are by default, some kubelets take no config that logs as JSON.
	var err error
	if os.Stderr, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		panic(err)
	}
}

type question struct {
	Text []byte `json:"text"`
}

func main() {
	if len(os.Args) != 2 {
		fail(fmt.Errorf("usage: oracle verdicts|drop-ins|gates|fields|flags|shadows"))
	}
	out := json.NewEncoder(os.Stdout)
	switch os.Args[1] {
	case "gates":
		fail(out.Encode(gates()))
	case "fields":
		known := map[string]string{}
		walk(reflect.TypeOf(kubeletv1beta1.KubeletConfiguration{}), "", known)
		fail(out.Encode(known))
	case "flags":
		fail(out.Encode(flags()))
	case "shadows":
		known, err := shadows()
		fail(err)
		fail(out.Encode(known))
	case "verdicts":
		fail(answerAll(out))
	case "drop-ins":
		fail(mergeAll(out))
	default:
		fail(fmt.Errorf("unknown command %q", os.Args[1]))
	}
}

func answerAll(out *json.Encoder) error {
	folder, err := os.MkdirTemp("", "kubelet-oracle-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var asked question
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil {
			return err
		}
		if err := out.Encode(judge(asked.Text, folder)); err != nil {
			return err
		}
	}
	return in.Err()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(said, "oracle:", err)
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
	needs := map[featuregate.Feature][]featuregate.Feature{}
	if depends, does := features.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}); does {
		needs = depends.Dependencies()
	}
	known := map[string]gate{}
	for name, spec := range gatesIn(features) {
		one := gate{Stage: fmt.Sprint(spec.PreRelease), Default: spec.Default, Locked: spec.LockToDefault}
		for _, needed := range needs[name] {
			one.Needs = append(one.Needs, string(needed))
		}
		known[string(name)] = one
	}
	return known
}

// As cmd/kubelet/app/server.go puts them together.
func flags() map[string]string {
	all, kubelet := pflag.NewFlagSet("kubelet", pflag.ContinueOnError), &config.KubeletConfiguration{}
	options.NewKubeletFlags().AddFlags(all)
	options.AddKubeletConfigFlags(all, kubelet)
	options.AddGlobalFlags(all)
	known := map[string]string{}
	all.VisitAll(func(one *pflag.Flag) { known[one.Name] = one.Deprecated })
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
