package main

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/kubelet/apis/config"
)

// Part of the validation of everything.
func logging(*config.KubeletConfiguration, featuregate.FeatureGate) field.ErrorList { return nil }
