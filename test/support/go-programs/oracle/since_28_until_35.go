package main

import (
	_ "unsafe"

	_ "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
)

//go:linkname mergeDropIns k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations
func mergeDropIns(kubelet *config.KubeletConfiguration, folder string) error
