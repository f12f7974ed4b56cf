package main

import (
	"encoding/json"
	"reflect"

	"github.com/spf13/pflag"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
)

// Texts of which every flag takes one that is not its default.
var tried = []string{
	"true", "false", "7", "70", "7s", "text", "json", "a", "a=7", "a=1,b=2", "cpu=1", "memory=50%", "7M", "1.2.3.4", "1.2.3.4:7", "a=b:NoSchedule",
	"0:memory=1Gi", "AllAlpha=false", "a=1s", "memory.available<5%", "0-1", "unix:///a",
}

// The fields that each flag of the config sets, as found by setting it: what it changes in the config that the kubelet works with.
func shadows() (map[string][]string, error) {
	names := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	options.AddKubeletConfigFlags(names, &config.KubeletConfiguration{})
	known := map[string][]string{}
	var err error
	names.VisitAll(func(one *pflag.Flag) {
		changed := map[string]bool{}
		for _, text := range tried {
			if failed := setsOf(one.Name, text, changed); failed != nil {
				err = failed
			}
		}
		for path := range changed {
			known[one.Name] = append(known[one.Name], path)
		}
	})
	return known, err
}

func setsOf(flag, text string, changed map[string]bool) error {
	kubelet, err := options.NewKubeletConfiguration()
	if err != nil {
		return err
	}
	before, err := asMap(kubelet)
	if err != nil {
		return err
	}
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	options.AddKubeletConfigFlags(flags, kubelet)
	if flags.Set(flag, text) != nil {
		return nil
	}
	after, err := asMap(kubelet)
	if err != nil {
		return err
	}
	compare(before, after, "", changed)
	return nil
}

func asMap(kubelet *config.KubeletConfiguration) (map[string]any, error) {
	shown, err := versioned(kubelet)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	whole := map[string]any{}
	return whole, json.Unmarshal(text, &whole)
}

// The paths at which two objects differ: those of members, where both have an object there.
func compare(before, after map[string]any, prefix string, changed map[string]bool) {
	for name, value := range after {
		old, is := before[name].(map[string]any)
		now, isStill := value.(map[string]any)
		if is && isStill {
			compare(old, now, prefix+name+".", changed)
		} else if !reflect.DeepEqual(before[name], value) {
			changed[prefix+name] = true
		}
	}
	for name := range before {
		if _, is := after[name]; !is {
			changed[prefix+name] = true
		}
	}
}
