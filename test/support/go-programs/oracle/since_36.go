package main

import (
	_ "unsafe"

	_ "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
)

//go:linkname mergeKubeletConfigurations k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations
func mergeKubeletConfigurations(*config.KubeletConfiguration, string) ([]string, error)

func mergeDropIns(kubelet *config.KubeletConfiguration, folder string) error {
	_, err := mergeKubeletConfigurations(kubelet, folder)
	return err
}
